// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/slurm/pending"
)

// A wait is a way to have a job wait, what is said of it, and how to mend what that names.
type wait struct {
	name  string
	begin func(*whyBed) uint32
	kind  pending.Kind
	word  string   // the auction's; "": any, or none
	left  string   // the word with which the auction leaves it to Slurm
	says  []string // parts of the answer
	mend  func(*whyBed, *pending.Answer)
}

// whyBed is a cluster whose user Alice asks.
type whyBed struct {
	*testing.T
	c *Cluster
}

func whyMachine() Config {
	return Config{
		Groups: []Group{
			{Nodes: 3, Cores: 8, GPUs: 2, MemoryMB: 8000, Features: "fast"},
			{Nodes: 1, Cores: 8, GPUs: 2, MemoryMB: 8000, Features: "slow"},
		},
		Partitions:           []Partition{{Name: "p", Default: true}, {Name: "q"}},
		SlurmUser:            "slurm",
		SelectTypeParameters: "CR_Core_Memory",
		Licenses:             "lic:2",
		ExtraLines:           []string{"DefMemPerCPU=100"},
	}
}

// as submits a job of Alice's.
func (b *whyBed) job(args string) uint32 {
	b.Helper()
	if !strings.Contains(args, "--time=") {
		args += " --time=30"
	}
	return submit(b.T, b.c, "sleep 600", append(strings.Fields(args), "--uid="+Alice)...)
}

// runs submits a job and waits until it runs.
func (b *whyBed) runs(args string) uint32 {
	b.Helper()
	id := b.job(args)
	running(b.T, b.c, patience, id)
	return id
}

// root changes something as an administrator.
func (b *whyBed) root(args ...string) {
	b.Helper()
	_, err := b.c.Scontrol(b.Context(), args...)
	require.NoError(b, err)
}

// cancel ends jobs by their ids.
func (b *whyBed) cancel(ids ...any) {
	b.Helper()
	for _, id := range ids {
		require.NoError(b, b.c.Scancel(b.Context(), fmt.Sprint(id)))
	}
}

// does runs the first command that the answer says would help, with words replaced.
func (b *whyBed) does(x *pending.Answer, replaced ...string) {
	b.Helper()
	for _, h := range x.Helps {
		if _, rest, ok := strings.Cut(h, "scontrol "); ok {
			command, _, _ := strings.Cut(rest, ", ")
			b.root(strings.Fields(strings.NewReplacer(replaced...).Replace(command))...)
			return
		}
	}
	b.Fatalf("no command in %q", x.Helps)
}

// asks is how a user asks about jobs.
func (b *whyBed) asks(user string) *pending.Asker {
	return &pending.Asker{Now: time.Now, Run: func(ctx context.Context, argv ...string) (string, error) {
		return b.c.RunAs(ctx, user, "", argv...)
	}}
}

func printed(t *testing.T, x *pending.Answer) string {
	t.Helper()
	var text strings.Builder
	require.NoError(t, x.Print(&text, func(s string) string { return s }))
	return text.String()
}

// endsHolders cancels whoever the answer names.
func endsHolders(b *whyBed, x *pending.Answer) {
	b.Helper()
	require.NotEmpty(b, x.Holders)
	for _, h := range x.Holders {
		b.cancel(h.Job)
	}
}

// waitsOf are those that need no accounting.
var waitsOf = []wait{
	{"held by its user", func(b *whyBed) uint32 { return b.job("-n1 --hold") },
		pending.Held, "", "", []string{"JobHeldUser"}, func(b *whyBed, x *pending.Answer) { b.does(x) }},
	{"cores", func(b *whyBed) uint32 { b.runs("-N4 -n32 --ntasks-per-node=8"); return b.job("-N1 -n8") },
		pending.Resources, "", "", []string{"4 have too few free CPUs", "auction says:  fit"}, endsHolders},
	{"kept for the head", func(b *whyBed) uint32 {
		b.runs("-N3 -n24 --ntasks-per-node=8 --time=20")
		b.job("-N4 -n32 --ntasks-per-node=8 --time=30")
		return b.job("-N1 -n1 --time=60")
	}, pending.Turn, "", "", []string{"there is room", "auction says:"},
		func(b *whyBed, x *pending.Answer) { b.does(x, "TimeLimit=MINUTES", "TimeLimit=5") }},

	{"held by an administrator", func(b *whyBed) uint32 {
		id := b.job("-n1 --begin=now+3600")
		b.root("hold", fmt.Sprint(id))
		b.root("update", fmt.Sprintf("JobId=%d", id), "StartTime=now")
		return id
	}, pending.Held, "", "", []string{"JobHeldAdmin"}, func(b *whyBed, x *pending.Answer) { b.does(x) }},
	{"a dependency", func(b *whyBed) uint32 { return b.job(fmt.Sprintf("-n1 --dependency=afterany:%d", b.runs("-n1"))) },
		pending.Dependency, "", "", []string{"afterany:", "is running"}, func(b *whyBed, x *pending.Answer) {
			var first uint32
			for _, f := range x.Facts {
				_, _ = fmt.Sscanf(f, "job %d is running", &first)
			}
			b.cancel(first)
		}},
	{"its begin", func(b *whyBed) uint32 { return b.job("-n1 --begin=now+3600") },
		pending.BeginTime, "", "", []string{"expected:"}, func(b *whyBed, x *pending.Answer) { b.does(x) }},
	{"a partition that is down", func(b *whyBed) uint32 {
		b.root("update", "PartitionName=q", "State=DOWN")
		return b.job("-n1 -p q")
	}, pending.Partition, "", "", []string{"partition q: State=DOWN"},
		func(b *whyBed, _ *pending.Answer) { b.root("update", "PartitionName=q", "State=UP") }},
	{"a partition's MaxTime", func(b *whyBed) uint32 {
		b.root("update", "PartitionName=q", "MaxTime=10")
		return b.job("-n1 -p q --time=60")
	}, pending.PartitionLimit, "", "", []string{"MaxTime=00:10:00", "TimeLimit=01:00:00"},
		func(b *whyBed, x *pending.Answer) { b.does(x, "MINUTES", "10") }},
	{"a partition's MaxNodes", func(b *whyBed) uint32 {
		b.root("update", "PartitionName=q", "MaxTime=INFINITE", "MaxNodes=1")
		return b.job("-N2 -n2 -p q")
	}, pending.PartitionLimit, "", "", []string{"MaxNodes=1"},
		func(b *whyBed, x *pending.Answer) {
			b.does(x, "NumNodes=N", "NumNodes=1")
			b.root("update", "PartitionName=q", "MaxNodes=UNLIMITED")
		}},
	{"licences", func(b *whyBed) uint32 { b.runs("-n1 -L lic:2"); return b.job("-n1 -L lic:1") },
		pending.Licences, "", "", []string{"lic: 2 of 2 in use"}, endsHolders},
	{"GPUs", func(b *whyBed) uint32 { b.runs("-N4 -n4 --gres=gpu:2"); return b.job("-N1 -n1 --gres=gpu:1") },
		pending.Resources, "", "", []string{"4 have too few free gpu"}, endsHolders},
	{"memory", func(b *whyBed) uint32 { b.runs("-N4 -n4 --mem=7900"); return b.job("-N1 -n1 --mem=4000") },
		pending.Resources, "", "", []string{"4 have too few free MB of memory"}, endsHolders},
	{"whole nodes", func(b *whyBed) uint32 {
		b.runs("-N4 -n4 --ntasks-per-node=1")
		return b.job("-N1 -n1 --exclusive")
	}, pending.Resources, "", "", []string{"4 are not free as a whole"}, endsHolders},
	{"a drained node", func(b *whyBed) uint32 {
		require.NoError(b, b.c.DrainNode(b.Context(), "n0002"))
		return b.job("-N1 -n1 --nodelist=n0002")
	}, pending.NodesDown, "", "", []string{"not up: n0002", "n0002: test"},
		func(b *whyBed, _ *pending.Answer) { require.NoError(b, b.c.ResumeNode(b.Context(), "n0002")) }},
	{"another's reservation", func(b *whyBed) uint32 {
		b.root("create", "reservation", "ReservationName=theirs", "StartTime=now", "Duration=60", "Users=root", "Nodes=n0001")
		return b.job("-N1 -n1 --nodelist=n0001")
	}, pending.NodesDown, "", "", []string{"1 is reserved (theirs)"},
		func(b *whyBed, _ *pending.Answer) { b.root("delete", "ReservationName=theirs") }},
	{"a time limit into maintenance", func(b *whyBed) uint32 {
		b.root("create", "reservation", "ReservationName=soon", "StartTime=now+20minutes", "Duration=60", "Users=root",
			"Nodes=ALL", "Flags=MAINT")
		return b.job("-N1 -n1 --time=60")
	}, pending.ReservedAhead, "", "", []string{"(soon), before its time limit is over"},
		func(b *whyBed, x *pending.Answer) { b.does(x); b.root("delete", "ReservationName=soon") }},
	{"its own reservation", func(b *whyBed) uint32 {
		b.root("create", "reservation", "ReservationName=own", "StartTime=now+1hour", "Duration=60", "Users="+Alice, "Nodes=n0001")
		return b.job("-N1 -n1 --reservation=own --time=5")
	}, pending.Reservation, "", "", []string{"own is inactive"},
		func(b *whyBed, x *pending.Answer) {
			b.root("update", "ReservationName=own", "StartTime=now")
			b.Cleanup(func() {
				ctx := context.Background()
				require.NoError(b, b.c.Scancel(ctx, x.Job))
				require.NoError(b, b.c.WaitEmpty(ctx, 30*time.Second))
				_, err := b.c.Scontrol(ctx, "delete", "ReservationName=own")
				require.NoError(b, err)
			})
		}},
	{"a feature that no node has", func(b *whyBed) uint32 {
		id := b.job("-N1 -n1 -C slow --hold")
		b.root("update", "NodeName=n0004", "AvailableFeatures=other", "ActiveFeatures=other")
		b.root("release", fmt.Sprint(id))
		return id
	}, pending.Impossible, "", "", []string{"4 lack the features slow"},
		func(b *whyBed, x *pending.Answer) { b.does(x, "...", "Features=other") }},
	{"its array's limit", func(b *whyBed) uint32 { return b.job("-n1 --array=1-3%1") },
		pending.ArrayLimit, "", "", []string{"JobArrayTaskLimit", "ArrayTaskThrottle=1", "held by:"},
		func(b *whyBed, x *pending.Answer) { b.does(x, "=N", "=3") }},
	{"a heterogeneous job", func(b *whyBed) uint32 {
		b.runs("-N4 -n32 --ntasks-per-node=8")
		return submit(b.T, b.c, "sleep 600", strings.Fields("-n1 --time=1 --uid="+Alice+" : -n2 -N2 --gres=gpu:1")...)
	}, pending.Resources, "", "hetjob", []string{"heterogeneous"}, endsHolders},
	{"preferred features", func(b *whyBed) uint32 {
		b.runs("-N4 -n32 --ntasks-per-node=8")
		return b.job("-N1 -n1 --prefer=fast")
	}, pending.Resources, "", "features", []string{"without counts and --prefer"}, endsHolders},
}

// limitWaits need slurmdbd.
var limitWaits = []wait{
	{"an account's GrpTRES", func(b *whyBed) uint32 { b.runs("-A limited -n4"); return b.job("-A limited -n2") },
		pending.Limit, "", "", []string{"AssocGrpCpuLimit", "GrpTRES of account limited: cpu=4(4)"},
		func(b *whyBed, _ *pending.Answer) {
			b.sacctmgr("modify", "account", "limited", "set", "GrpTRES=cpu=64")
		}},
	{"more than an account's GrpTRES", func(b *whyBed) uint32 { return b.job("-A little -n3") },
		pending.Limit, "", "", []string{"GrpTRES of account little: cpu=2(0)", "asks for 3, the limit is 2: it can't start as it is"},
		func(b *whyBed, _ *pending.Answer) {
			b.sacctmgr("modify", "account", "little", "set", "GrpTRES=cpu=64")
		}},
	{"more than a QOS's MaxTRESPU", func(b *whyBed) uint32 { return b.job("--qos=two -n3") },
		pending.Limit, "", "", []string{"MaxTRESPU of QOS two, " + Alice, "asks for 3, the limit is 2: it can't start as it is"},
		func(b *whyBed, _ *pending.Answer) { b.sacctmgr("modify", "qos", "two", "set", "MaxTRESPU=cpu=9") }},
	{"more than a QOS's MaxTRES", func(b *whyBed) uint32 { return b.job("--qos=one -N2 -n2") },
		pending.Limit, "", "", []string{"MaxTRESPJ of QOS one: ", "asks for 2, the limit is 1: it can't start as it is"},
		func(b *whyBed, _ *pending.Answer) { b.sacctmgr("modify", "qos", "one", "set", "MaxTRES=node=9") }},
	{"a QOS's MaxJobsPU", func(b *whyBed) uint32 { b.runs("--qos=lim -n1"); return b.job("--qos=lim -n1") },
		pending.Limit, "", "", []string{"QOSMaxJobsPerUserLimit", "MaxJobsPU of QOS lim"},
		func(b *whyBed, _ *pending.Answer) { b.sacctmgr("modify", "qos", "lim", "set", "MaxJobsPU=9") }},
	{"an association's MaxJobs", func(b *whyBed) uint32 { b.runs("-A few -n1"); return b.job("-A few -n1") },
		pending.Limit, "", "", []string{"AssocMaxJobsLimit", "MaxJobs of user " + Alice + " in account few: 1(1)"},
		func(b *whyBed, _ *pending.Answer) {
			b.sacctmgr("modify", "user", Alice, "where", "account=few", "set", "MaxJobs=9")
		}},
}

// wordsOf are words of the auction that depend on what else waits or is preempted.
var wordsOf = []wait{
	{"lost", func(b *whyBed) uint32 {
		// What is said stays for an interval: then the winner runs, and nothing is free.
		b.parameters("auc_interval=15,auc_delay_ms=15000,auc_reservations=0")
		begin := "--begin=" + time.Now().Add(5*time.Second).Format("2006-01-02T15:04:05")
		b.job("-A free -N4 -n32 --ntasks-per-node=8 " + begin)
		id := b.job("-A free -N1 -n1 " + begin)
		return id
	}, pending.Resources, "lost", "", []string{"auction says:  lost", "other jobs are worth more together", "lost at", "held by:"},
		endsHolders},
	{"kept", func(b *whyBed) uint32 {
		b.runs("-A free -N3 -n24 --ntasks-per-node=8 --time=20")
		id := b.job("-A free -N4 -n32 --ntasks-per-node=8")
		b.job("-A free -N1 -n1 --time=60") // from whom it is kept
		return id
	}, pending.Resources, "kept", "", []string{"auction says:  kept", "a place is kept for it", "expected:"}, endsHolders},
	{"quota", func(b *whyBed) uint32 {
		b.runs("-A free -N1 -n8 --nodelist=n0001")
		b.job("-A limited -N1 -n4 --nodelist=n0001")
		return b.job("-A limited -N1 -n2 --time=60") // it would be in the way, also if all begin in one second
	}, pending.Turn, "quota", "", []string{"there is room", "says:  quota", "a limit or licences would be exceeded", "raises the limit"},
		func(b *whyBed, _ *pending.Answer) {
			b.sacctmgr("modify", "account", "limited", "set", "GrpTRES=cpu=64")
		}},
	{"late", func(b *whyBed) uint32 {
		b.parameters("auc_deadline_ms=1,auc_window=2000,auc_work=0")
		b.runs("-A free -N3 -n24 --ntasks-per-node=8")
		for i := range 8 { // none of which can begin
			b.job(fmt.Sprintf("-A free -N%d -n%d --ntasks-per-node=8 --array=1-100 --time=%d", 2+i%3, 8*(2+i%3), 60+i))
		}
		return b.job("-A free -N1 -n3 --time=5")
	}, pending.Turn, "late", "", []string{"there is room", "auction says:  late", "(auc_deadline_ms)", "gives decisions more time"},
		func(b *whyBed, _ *pending.Answer) {
			more := strings.Replace(b.c.cfg.SchedulerParameters, "auc_deadline_ms=1,", "", 1)
			require.NoError(b, b.c.SetParameters(b.Context(), more))
		}},
	{"preempts", func(b *whyBed) uint32 {
		b.runs("-A free -p low -N4 -n32 --ntasks-per-node=8")
		return b.job("-A free -N1 -n8")
	}, pending.Resources, "preempts", "", []string{"says:  preempts", "starts when the jobs there that are preempted for it have ended"},
		func(b *whyBed, x *pending.Answer) { require.NotEmpty(b, x.Holders, "who is preempted") }},
}

// parameters are added to those of the cluster; testWaits takes them back.
func (b *whyBed) parameters(more string) {
	b.Helper()
	require.NoError(b, b.c.SetParameters(b.Context(), join(",", b.c.cfg.SchedulerParameters, more)))
}

func (b *whyBed) sacctmgr(args ...string) {
	b.Helper()
	_, err := b.c.Sacctmgr(b.Context(), args...)
	require.NoError(b, err)
}

// The first three kinds, in a few seconds.
func TestWhySoon(t *testing.T) {
	beside(t)
	c := cluster(t, auction, whyMachine())
	testWaits(t, c, waitsOf[:3])
}

// All kinds: what the answer names is mended, and the job starts.
func TestWhy(t *testing.T) {
	slow(t)
	beside(t)
	c := cluster(t, auction, whyMachine())
	testWaits(t, c, waitsOf[3:])
}

func TestWhyLimits(t *testing.T) {
	slow(t)
	beside(t)
	cfg := whyMachine()
	cfg.Accounting = &Accounting{
		QOS: []QOS{{"lim", "MaxJobsPU=1"}, {"two", "MaxTRESPU=cpu=2"}, {"one", "MaxTRES=node=1"}},
		Accounts: []Account{
			{Name: "little", Limits: "GrpTRES=cpu=2", Users: []User{{Name: Alice}}},
			{Name: "limited", Limits: "GrpTRES=cpu=4", Users: []User{{Name: Alice}}},
			{Name: "few", Users: []User{{Alice, "MaxJobs=1"}}},
		},
	}
	testWaits(t, cluster(t, auction, cfg), limitWaits)
}

// Words that the auction has for jobs of which others come first.
func TestWhyWords(t *testing.T) {
	slow(t)
	beside(t)
	cfg := whyMachine()
	cfg.Partitions = []Partition{
		{Name: "p", Default: true, Options: "PriorityTier=10 PreemptMode=OFF"},
		{Name: "low", Options: "PriorityTier=1 PreemptMode=CANCEL GraceTime=15"},
	}
	cfg.PreemptType, cfg.PreemptMode = "preempt/partition_prio", "CANCEL"
	cfg.Accounting = &Accounting{Accounts: []Account{
		{Name: "limited", Limits: "GrpTRES=cpu=4", Users: []User{{Name: Alice}}},
		{Name: "free", Users: []User{{Name: Alice}}},
	}}
	testWaits(t, cluster(t, auction, cfg), wordsOf)
}

func testWaits(t *testing.T, c *Cluster, waits []wait) {
	parameters := c.cfg.SchedulerParameters
	for _, w := range waits {
		t.Run(w.name, func(t *testing.T) {
			t.Cleanup(func() {
				require.NoError(t, c.Scancel(context.Background(), "--user="+Alice))
				require.NoError(t, c.WaitEmpty(context.Background(), 30*time.Second))
				if c.cfg.SchedulerParameters != parameters {
					require.NoError(t, c.SetParameters(context.Background(), parameters))
				}
			})
			b := &whyBed{t, c}
			id := w.begin(b)
			var x *pending.Answer
			var took time.Duration
			var err error
			err2 := c.poll(t.Context(), patience, "the answer", func() (bool, error) {
				began := time.Now()
				if x, err = b.asks(Alice).Why(t.Context(), fmt.Sprint(id)); err != nil {
					return false, err
				}
				took = time.Since(began)
				text := printed(t, x)
				for _, part := range w.says {
					if !strings.Contains(text, part) {
						return false, nil
					}
				}
				v := cmp.Or(x.Auction, &pending.Verdict{})
				return x.Kind == w.kind && (w.left == "" || v.Left == w.left) && (w.word == "" || v.Word == w.word), nil
			})
			require.NoError(t, err)
			require.NoError(t, err2, "%s: %s", x.Kind, printed(t, x))
			t.Logf("%v\n%s", took.Round(time.Millisecond), printed(t, x))
			require.Less(t, took, 15*time.Second, "a second, and this machine is busy")
			w.mend(b, x)
			_, err = c.WaitFor(t.Context(), id, 30*time.Second, "RUNNING", "COMPLETED")
			require.NoError(t, err)
		})
	}
}
