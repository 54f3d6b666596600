// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A preemptWay is a way for Slurm to have ordinary jobs preempt scavengers.
type preemptWay struct {
	name       string
	typ, mode  string
	partitions []Partition
	accounting *Accounting
	low, high  []string // options of scavengers, and of ordinary jobs
	other      []string // of jobs that may preempt nobody, and that nobody may preempt
}

// tiersOf are partitions of which the jobs of p preempt those of low.
func tiersOf(mode string) []Partition {
	return []Partition{
		{Name: "p", Default: true, Options: "PriorityTier=10 PreemptMode=OFF"},
		{Name: "low", Options: "PriorityTier=1 PreemptMode=" + mode},
		{Name: "same", Options: "PriorityTier=1 PreemptMode=OFF"},
	}
}

var preemptAccounting = &Accounting{
	QOS:      []QOS{{"scavenge", "Priority=1"}, {"plain", "Priority=50"}, {"urgent", "Priority=100 Preempt=scavenge"}},
	Accounts: []Account{{Name: "a", Users: []User{{Name: Bob}}}},
}

var preemptWays = []preemptWay{
	{
		name: "tiers, requeue", typ: "preempt/partition_prio", mode: "REQUEUE", partitions: tiersOf("REQUEUE"),
		low: []string{"-p", "low", "--requeue"}, other: []string{"-p", "same"},
	},
	{
		name: "tiers, cancel", typ: "preempt/partition_prio", mode: "CANCEL", partitions: tiersOf("CANCEL"),
		low: []string{"-p", "low"}, other: []string{"-p", "same"},
	},
	{
		name: "qos, requeue", typ: "preempt/qos", mode: "REQUEUE", accounting: preemptAccounting,
		low: as(Bob, "--qos=scavenge", "--requeue"), high: as(Bob, "--qos=urgent"), other: as(Bob, "--qos=plain"),
	},
	{
		name: "qos, cancel", typ: "preempt/qos", mode: "CANCEL", accounting: preemptAccounting,
		low: as(Bob, "--qos=scavenge"), high: as(Bob, "--qos=urgent"), other: as(Bob, "--qos=plain"),
	},
}

// preemptMachine is a machine with memory and GPUs for the way.
func preemptMachine(w preemptWay, lines ...string) Config {
	return Config{
		Groups:               Uniform(8, 8, 1),
		PreemptType:          w.typ,
		PreemptMode:          w.mode,
		Partitions:           w.partitions,
		Accounting:           w.accounting,
		SelectTypeParameters: "CR_Core_Memory",
		MinJobAge:            time.Hour,
		CredExpire:           5 * time.Second,
		LogLevel:             "verbose",
		ExtraLines:           append([]string{"DefMemPerCPU=100"}, lines...),
	}
}

// A scavenger is a job that fills some of the machine, and may be preempted.
type scavenger struct {
	args string
	n    int
}

// fill submits scavengers, old ones first, and waits until all run.
func (w preemptWay) fill(t *testing.T, c *Cluster, old, young []scavenger, between time.Duration) []uint32 {
	t.Helper()
	var ids []uint32
	start := func(of []scavenger) {
		for _, s := range of {
			for range s.n {
				args := append(append([]string{"--time=30", "-J", "scavenger"}, w.low...), strings.Fields(s.args)...)
				ids = append(ids, submit(t, c, "sleep 600", args...))
			}
		}
		running(t, c, 30*time.Second, ids...)
	}
	start(old)
	time.Sleep(between)
	start(young)
	return ids
}

// lost is what preemption has cost: runs that did not come to their end.
type lost struct {
	jobs        int
	coreSeconds float64
	ids         []uint32
}

func (l lost) String() string {
	return fmt.Sprintf("%d jobs, %.0f core-seconds: %v", l.jobs, l.coreSeconds, l.ids)
}

// preempted counts the runs of jobs that slurmctld's completion log says were preempted.
func preempted(t *testing.T, c *Cluster) (l lost) {
	t.Helper()
	ended, err := c.Ended()
	require.NoError(t, err)
	for _, e := range ended {
		if e.State != "PREEMPTED" {
			continue
		}
		from, err := time.Parse("2006-01-02T15:04:05", e.Start)
		require.NoError(t, err)
		to, err := time.Parse("2006-01-02T15:04:05", e.End)
		require.NoError(t, err)
		l.jobs++
		l.coreSeconds += float64(e.CPUs) * to.Sub(from).Seconds()
		l.ids = append(l.ids, e.ID)
	}
	return l
}

// Ordinary jobs take the machine from scavengers at once, from those who lose least by it. Nobody
// is lost, whoever decides; with the auction less work is lost than with stock Slurm.
func TestScavengers(t *testing.T) {
	beside(t)
	for i, w := range preemptWays {
		t.Run(w.name, func(t *testing.T) {
			if i > 0 { // the first stands for all
				slow(t)
			}
			var losses []lost
			bothModes(t, func(t *testing.T, m mode) {
				if m.name == "stock" {
					slow(t)
				}
				losses = append(losses, scavenge(t, m, w))
			})
			if len(losses) < 2 {
				return // a part of the test was asked for
			}
			t.Logf("stock: %v", losses[0])
			t.Logf("auction: %v", losses[1])
			require.Less(t, losses[1].coreSeconds, losses[0].coreSeconds)
			require.LessOrEqual(t, losses[1].jobs, losses[0].jobs)
		})
	}
}

func scavenge(t *testing.T, m mode, w preemptWay) lost {
	c := cluster(t, m, preemptMachine(w))
	referee := watch(t, c)
	low := w.fill(t, c, []scavenger{{"-N1 -n8", 4}}, []scavenger{{"-N1 -n8", 2}, {"-N1 -n4", 4}}, 12*time.Second)
	var high []uint32
	together(t, c, func() {
		for i := range 6 {
			args := append([]string{"-N1", "-n4", "--time=1", "-J", "ordinary"}, w.high...)
			high = append(high, submit(t, c, "sleep 4", args...))
			referee.Expect(high[i], Ask{CPUs: 4, MaxNodes: 1})
		}
	})
	for _, id := range high {
		j, err := c.WaitFor(t.Context(), id, 60*time.Second, "COMPLETED")
		require.NoError(t, err)
		require.Less(t, waited(t, j), patience, "job %d", id)
	}
	require.NoError(t, c.RanOnce(high))
	l := preempted(t, c)
	if m.name == "auction" {
		requireBid(t, c, high)
		for _, old := range low[:4] {
			require.NotContains(t, l.ids, old, "it lost 12 s more than others, who would do")
		}
	}
	if w.mode == "REQUEUE" { // who lost his place runs again
		running(t, c, 60*time.Second, low...)
	} else {
		jobs, err := c.Jobs(t.Context())
		require.NoError(t, err)
		for _, j := range jobs {
			if j.Name == "scavenger" && j.State != "RUNNING" {
				require.Equal(t, "PREEMPTED", j.State, "job %d", j.ID)
			}
		}
	}
	return l
}

// requireBid wants all of the jobs started by the auction, and no start that failed.
func requireBid(t *testing.T, c *Cluster, ids []uint32) {
	t.Helper()
	routes, err := c.Routes()
	require.NoError(t, err)
	for _, id := range ids {
		require.Empty(t, routes[id].Left, "job %d was left to Slurm", id)
		require.Equal(t, 1, routes[id].Started, "job %d: starts by the auction", id)
	}
	s, err := c.Status()
	require.NoError(t, err)
	require.Zero(t, s.StartsFailed)
}

// Nobody on the same node goes in vain, as with Slurm's own order, which tries the oldest first and
// finds out too late that he might have stayed.
func TestNobodyGoesInVain(t *testing.T) {
	beside(t)
	w := preemptWays[0]
	cfg := preemptMachine(w)
	cfg.Groups = Uniform(1, 16, 0)
	c := cluster(t, auction, cfg)
	low := w.fill(t, c, []scavenger{{"-n4", 1}}, []scavenger{{"-n4", 3}}, 5*time.Second)
	high := submit(t, c, "sleep 1", "-n12", "--time=1")
	_, err := c.WaitFor(t.Context(), high, 30*time.Second, "COMPLETED")
	require.NoError(t, err)
	require.ElementsMatch(t, low[1:], preempted(t, c).ids)
	requireBid(t, c, []uint32{high})
}

// Nobody is stopped for a job that fits on an idle node, with a preset or without, and whether or not
// another job waits. When a stop is needed its place is the preemptor's: a job without the right does
// not get it by way of him.
func TestNobodyIsStoppedWhileThereIsRoom(t *testing.T) {
	beside(t)
	for i, w := range preemptWays {
		for _, preset := range []string{"default", "none"} {
			for _, waiting := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s, preset %s, waiting %v", w.name, preset, waiting), func(t *testing.T) {
					if i > 0 || !waiting {
						slow(t)
					}
					t.Parallel()
					roomBeforeStops(t, w, preset, waiting)
				})
			}
		}
	}
}

func roomBeforeStops(t *testing.T, w preemptWay, preset string, waiting bool) {
	cfg := preemptMachine(w)
	cfg.Groups = Uniform(4, 8, 0)
	cfg.SchedulerParameters = "auc_preset=" + preset
	c := cluster(t, auction, cfg)
	one := func(options []string, args ...string) uint32 {
		return submit(t, c, "sleep 600", slices.Concat([]string{"--time=30", "-N1", "-n8"}, options, args)...)
	}
	victim := one(w.low, "--nodelist=n0003")
	running(t, c, patience, victim, one(w.high, "--nodelist=n0001"), one(w.high, "--nodelist=n0002"))
	if waiting {
		one(w.other, "--nodelist=n0001")
		waitCycles(t, c, 2)
	}
	high, other := one(w.high), one(w.other)
	require.Equal(t, "n0004", running(t, c, patience, high)[0].NodeList)
	waitCycles(t, c, 2)
	require.Empty(t, preempted(t, c).ids)
	running(t, c, time.Second, victim)

	next := one(w.high)
	require.Equal(t, "n0003", running(t, c, patience, next)[0].NodeList)
	require.Equal(t, []uint32{victim}, preempted(t, c).ids)
	_, err := c.WaitFor(t.Context(), other, time.Second, "PENDING")
	require.NoError(t, err, "it has got a place that a stop made")
	requireBid(t, c, []uint32{high, next})
}

// graceful is a machine of two nodes where low jobs have a grace time. Those of same may neither
// preempt nor be preempted; those of top go before all others.
func graceful(grace int) Config {
	w := preemptWays[0]
	w.partitions = tiersOf("REQUEUE")
	w.partitions[1].Options += fmt.Sprintf(" GraceTime=%d", grace)
	w.partitions = append(w.partitions, Partition{Name: "top", Options: "PriorityTier=20 PreemptMode=OFF"})
	cfg := preemptMachine(w)
	cfg.Groups = Uniform(2, 8, 1)
	cfg.SchedulerParameters = "auc_at_once=yes"
	return cfg
}

// A job whose victim has a grace time waits for that, and nobody gets its place meanwhile: not by
// the auction, nor from Slurm.
func TestGrace(t *testing.T) {
	beside(t)
	const grace = 8
	c := cluster(t, auction, graceful(grace))
	referee := watch(t, c)
	stubborn := submit(t, c, "sleep 600", "-p", "low", "--requeue", "--time=30", "-N1", "-n6", "--nodelist=n0001")
	dear := submit(t, c, "sleep 600", "-p", "low", "--requeue", "--time=30", "-N1", "-n8", "--nodelist=n0002")
	running(t, c, patience, stubborn, dear)
	high := submit(t, c, "sleep 3", "-N1", "-n8", "--time=1")
	referee.Expect(high, Ask{CPUs: 8, MaxNodes: 1})
	requireKept(t, c, high, stubborn)
	// There are two idle cores beside it, for which these would do: the auction's, and Slurm's.
	small := submit(t, c, "sleep 600", "-n2", "-p", "same", "--time=30")
	first := submit(t, c, "sleep 600", "-n2", "-p", "top", "--time=30", "-O")
	j, err := c.WaitFor(t.Context(), high, 40*time.Second, "COMPLETED")
	require.NoError(t, err)
	require.Equal(t, "n0001", j.NodeList)
	require.GreaterOrEqual(t, waited(t, j), (grace-1)*time.Second)
	require.Less(t, waited(t, j), grace*time.Second+patience)
	ids := preempted(t, c).ids
	require.Contains(t, ids, stubborn)
	require.Subset(t, []uint32{stubborn, dear}, ids, "Slurm may send the other for the last one")
	requireBid(t, c, []uint32{high})
	running(t, c, 30*time.Second, small, first)
}

// requireKept waits until a job's place is kept and its victim has heard of its end.
func requireKept(t *testing.T, c *Cluster, id, victim uint32) {
	t.Helper()
	require.NoError(t, c.poll(t.Context(), patience, "the place to be kept", func() (bool, error) {
		log, err := readBounded(c.path("log", "slurmctld.log"))
		return strings.Contains(log, fmt.Sprintf("JobId=%d waits until 1 jobs have ended", id)) &&
			strings.Contains(log, fmt.Sprintf("job_signal: 15 of running JobId=%d ", victim)), err
	}))
}

// A place is nobody's any more when its job does not want it, and a job that loses its place by a
// reconfiguration, or because slurmctld is killed, starts all the same.
func TestPlacesGivenUp(t *testing.T) {
	slow(t)
	beside(t)
	c := cluster(t, auction, graceful(20))
	low := []string{"-p", "low", "--requeue", "--time=30", "-N1"}
	cheap := submit(t, c, "sleep 600", append(low, "-n6", "--nodelist=n0001")...)
	dear := submit(t, c, "sleep 600", append(low, "-n8", "--nodelist=n0002")...)
	running(t, c, patience, cheap, dear)
	cancelled := submit(t, c, "sleep 3", "-N1", "-n8", "--time=1")
	requireKept(t, c, cancelled, cheap)
	small := submit(t, c, "sleep 600", "-n2", "-p", "same", "--time=30")
	waitCycles(t, c, 2)
	_, err := c.WaitFor(t.Context(), small, time.Second, "PENDING")
	require.NoError(t, err, "it runs on a place that is kept")
	require.NoError(t, c.Scancel(t.Context(), fmt.Sprint(cancelled)))
	running(t, c, patience, cheap, small)

	high := submit(t, c, "sleep 3", "-N1", "-n8", "--time=1")
	requireKept(t, c, high, dear)
	_, err = c.Scontrol(t.Context(), "reconfigure")
	require.NoError(t, err)
	waitCycles(t, c, 2)
	require.NoError(t, c.KillController(t.Context(), syscall.SIGKILL))
	require.NoError(t, c.StartController(t.Context()))
	_, err = c.WaitFor(t.Context(), high, 60*time.Second, "COMPLETED")
	require.NoError(t, err)
	require.NoError(t, c.RanOnce([]uint32{high}))
}

// Whom Slurm exempts from preemption for his first seconds is exempt, however cheap he would be.
func TestExempt(t *testing.T) {
	slow(t)
	beside(t)
	const exempt = 20
	cfg := preemptMachine(preemptWays[0], fmt.Sprintf("PreemptExemptTime=00:00:%d", exempt))
	cfg.Groups = Uniform(3, 8, 0)
	c := cluster(t, auction, cfg)
	low := func(args ...string) uint32 {
		return submit(t, c, "sleep 600", append([]string{"-p", "low", "--requeue", "--time=30", "-N1"}, args...)...)
	}
	old := low("-n8")
	running(t, c, patience, old)
	time.Sleep(exempt * time.Second)
	young := []uint32{low("-n4"), low("-n4"), low("-n8")}
	begun := when(t, running(t, c, patience, young...)[2], "StartTime")
	first := submit(t, c, "sleep 60", "-n4", "-N1", "--time=2")
	_, err := c.WaitFor(t.Context(), first, patience, "RUNNING")
	require.NoError(t, err)
	require.Equal(t, []uint32{old}, preempted(t, c).ids)
	second := submit(t, c, "sleep 1", "-n8", "-N1", "--time=1")
	j, err := c.WaitFor(t.Context(), second, 60*time.Second, "COMPLETED")
	require.NoError(t, err)
	require.GreaterOrEqual(t, when(t, j, "StartTime").Sub(begun), (exempt-2)*time.Second)
	require.Less(t, waited(t, j), exempt*time.Second+patience)
	requireBid(t, c, []uint32{first, second})
}

// A small scavenger that runs turns nothing off: what others ask for is auctioned.
func TestBesideAScavenger(t *testing.T) {
	slow(t)
	beside(t)
	for _, w := range preemptWays {
		t.Run(w.name, func(t *testing.T) {
			c := cluster(t, auction, preemptMachine(w))
			low := w.fill(t, c, nil, []scavenger{{"-n1", 1}}, 0)
			var ids []uint32
			together(t, c, func() {
				for i := range 20 {
					args := append([]string{"--time=1", "-n", fmt.Sprint(1 + i%4)}, w.high...)
					ids = append(ids, submit(t, c, "sleep 2", args...))
				}
			})
			for _, id := range ids {
				_, err := c.WaitFor(t.Context(), id, 60*time.Second, "COMPLETED")
				require.NoError(t, err)
			}
			requireBid(t, c, ids)
			require.Empty(t, preempted(t, c).ids, "there was room for all")
			running(t, c, time.Second, low...)
		})
	}
}

// Whatever ordinary jobs ask for, they start, and nobody's run is lost but by preemption: memory,
// GPUs, arrays, whole nodes, ranges, several partitions and alternative requests, beside
// scavengers of all sizes.
func TestScavengersOfAllKinds(t *testing.T) {
	slow(t)
	beside(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	w := preemptWays[0]
	w.partitions = append(tiersOf("REQUEUE"), Partition{Name: "more", Nodes: "n[0001-0004]", Options: "PriorityTier=5 PreemptMode=OFF"})
	cfg := preemptMachine(w)
	cfg.Groups = []Group{{Nodes: 6, Sockets: 2, Cores: 4, MemoryMB: 8000, GPUs: 2}}
	c := cluster(t, auction, cfg)
	referee := watch(t, c)
	var low []uint32
	for range 30 {
		args := append([]string{"--time=30", fmt.Sprint("-n", 1+rng.IntN(8)), fmt.Sprint("--mem-per-cpu=", 50+rng.IntN(900))}, w.low...)
		switch rng.IntN(4) {
		case 0:
			args = append(args, "-N1", "--gres=gpu:1")
		case 1:
			args = append(args, "-N1")
		}
		low = append(low, submit(t, c, "sleep 600", args...))
	}
	waitCycles(t, c, 4)
	var high []uint32
	together(t, c, func() {
		for i := range 24 {
			kind := kinds[i%len(kinds)]
			script := strings.Replace(c.Script("sleep 2"), "\n", "\n"+kind.alternative, 1)
			args := append(strings.Fields(kind.args), "--time=1", fmt.Sprint("--mem-per-cpu=", 50+rng.IntN(500)))
			id, err := c.Sbatch(t.Context(), args, script)
			require.NoError(t, err)
			high = append(high, id)
		}
	})
	for _, id := range high {
		_, err := c.WaitFor(t.Context(), id, 2*time.Minute, "COMPLETED")
		require.NoError(t, err)
	}
	require.NotEmpty(t, preempted(t, c).ids)
	_, err := referee.Look(t.Context())
	require.NoError(t, err)
	s, err := c.Status()
	require.NoError(t, err)
	require.LessOrEqual(t, s.StartsFailed, int64(3))
	jobs, err := c.Jobs(t.Context())
	require.NoError(t, err)
	for _, j := range jobs {
		if slices.Contains(low, j.ID) {
			require.Contains(t, []string{"PENDING", "RUNNING", "COMPLETING"}, j.State, "scavenger %d", j.ID)
		}
	}
	t.Logf("%v; %d starts failed", preempted(t, c), s.StartsFailed)
}

var kinds = []struct{ args, alternative string }{
	{args: "-n4"}, {args: "-n12"}, {args: "-N2 -n2 --ntasks-per-node=1 --gres=gpu:1-2"}, {args: "-N1 -n2 --array=1-3"},
	{args: "-N1 --exclusive -n1"}, {args: "-n3 -p more,p"}, {args: "-N2-4 -n8"},
	{"-n40", "#AUCSCHED --alternative -n6\n"},
}
