// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/slurm/shadow"
)

// shadowed looks on: Slurm alone starts jobs, and the auction says what it would have done.
var shadowed = mode{"shadow", func(t *testing.T, c Config) Config {
	c.SchedulerParameters = join(",", "auc_mode=shadow", c.SchedulerParameters)
	return auction.setup(t, c)
}}

// slowly has Slurm look at the queue so seldom that the auction comes first: by backfill alone.
var slowly = mode{"shadow, slow stock", func(t *testing.T, c Config) Config {
	c.SchedulerParameters = join(",", "auc_mode=shadow,defer,sched_interval=-1,bf_interval=6", c.SchedulerParameters)
	return c.WithAuction(pluginDir(t), quickAuction)
}}

func shadowLog(t *testing.T, c *Cluster) *shadow.Log {
	t.Helper()
	l, err := shadow.ReadFiles(c.path("state", "aucsched.shadow"))
	require.NoError(t, err)
	require.Zero(t, l.Bad, "%v", l.FirstBad)
	return l
}

// shadowRuns waits until the file tells the starts of all the jobs, and returns
// their runs in order.
func shadowRuns(t *testing.T, c *Cluster, ids ...uint32) []*shadow.Run {
	t.Helper()
	found := make([]*shadow.Run, len(ids))
	require.NoError(t, c.poll(t.Context(), patience, "the starts in aucsched.shadow", func() (bool, error) {
		if _, err := os.Stat(c.path("state", "aucsched.shadow")); err != nil {
			return false, nil
		}
		for _, r := range shadowLog(t, c).Runs {
			if i := slices.Index(ids, uint32(r.Key.Job)); i >= 0 && r.Slurm != nil {
				found[i] = r
			}
		}
		return !slices.Contains(found, nil), nil
	}))
	return found
}

// requireNoneStarted has the auction start none of the jobs, and nothing else of it happen either.
func requireNoneStarted(t *testing.T, c *Cluster) {
	t.Helper()
	routes, err := c.Routes()
	require.NoError(t, err)
	for id, r := range routes {
		require.Zero(t, r.Started, "job %d", id)
	}
	s, err := c.Status()
	require.NoError(t, err)
	require.Equal(t, "shadow", s.State)
	require.Zero(t, s.Started)
	require.Zero(t, s.CyclesFailed, s.LastFailure)
	require.Positive(t, s.Cycles)
	log := c.Logs("slurmctld.log", 1<<20)
	for _, word := range []string{"left to Slurm: overdue", "got other cores", "could not be started as decided", "after a restart"} {
		require.NotContains(t, log, word)
	}
}

// In shadow nothing is started by the auction: jobs start when and where Slurm has them start,
// reasons are Slurm's, and the file tells both sides.
func TestShadow(t *testing.T) {
	beside(t)
	c := cluster(t, slowly, Config{Groups: Uniform(4, 4, 1)})
	// Backfill has just looked when this one runs.
	running(t, c, 40*time.Second, submit(t, c, "sleep 60", "-n1", "--time=2"))
	early := submit(t, c, "sleep 20", "-N2", "--ntasks-per-node=4", "--gres=gpu:1", "--time=2")
	ranged, err := c.Sbatch(t.Context(), []string{"-N1", "-n1", "--gres=gpu:1-1", "--time=2"}, c.Script("sleep 20"))
	require.NoError(t, err)
	never := submit(t, c, "true", "-N4", "--ntasks-per-node=4", "--time=2", "--hold")
	tasks := submit(t, c, "sleep 20", "-n1", "--time=2", "--array=3,5")
	running(t, c, 40*time.Second, early, ranged)
	require.NoError(t, c.Scancel(t.Context(), fmt.Sprint(never)))
	runs := shadowRuns(t, c, early, ranged, tasks)
	requireNoneStarted(t, c)

	o, seconds := runs[0].Outcome(1)
	require.Equal(t, shadow.Earlier, o, "%+v %+v", runs[0].Would, runs[0].Slurm)
	require.Greater(t, seconds, int64(1))
	would := runs[0].Would
	require.Equal(t, []int64{8, 2}, []int64{would.CPUs, would.GPUs})
	require.Regexp(t, `^n\[?\d`, would.Nodes)
	require.Equal(t, []int64{8, 2}, []int64{runs[0].Slurm.CPUs, runs[0].Slurm.GPUs})
	j, err := c.ShowJob(t.Context(), early)
	require.NoError(t, err)
	require.Equal(t, j.NodeList, runs[0].Slurm.Nodes)

	l := shadowLog(t, c)
	require.Positive(t, l.Samples.Count)
	require.Contains(t, []int64{4, 8, 12, 16}, l.Samples.Last.Cores, "of the nodes that were up")
	require.Equal(t, l.Samples.Last.Cores, 4*l.Samples.Last.GPUs)
	require.NoError(t, c.poll(t.Context(), patience, "the job that was cancelled", func() (bool, error) {
		for _, r := range shadowLog(t, c).Runs {
			if uint32(r.Key.Job) == never && r.State == "CANCELLED" {
				o, _ := r.Outcome(1)
				return o == shadow.Cancelled, nil
			}
		}
		return false, nil
	}))
	var found []int64
	for _, r := range l.Runs {
		if uint32(r.Key.Job) == tasks {
			found = append(found, r.Key.Task)
			require.NotNil(t, r.Would, "task %d", r.Key.Task)
		}
	}
	require.Equal(t, []int64{3, 5}, found)

	info, err := os.Stat(c.path("state", "aucsched.shadow"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o644), info.Mode().Perm())
	require.NoError(t, c.SetConfig(func(cfg *Config) {
		cfg.SchedulerParameters = quickAuction + ",auc_mode=shadow"
		cfg.ExtraLines = append(cfg.ExtraLines, "PrivateData=jobs")
	}))
	require.NoError(t, c.Reconfigure(t.Context()))
	require.NoError(t, c.poll(t.Context(), patience, "the file to be its owner's alone", func() (bool, error) {
		info, err := os.Stat(c.path("state", "aucsched.shadow"))
		return err == nil && info.Mode().Perm() == 0o600, nil
	}))

	// And on again: the auction starts what comes.
	require.NoError(t, c.SetParameters(t.Context(), quickStock+","+quickAuction+",auc_mode=on"))
	said := func() (bool, error) { return strings.Contains(c.Logs("slurmctld.log", 1<<20), "aucsched: on: "), nil }
	require.NoError(t, c.poll(t.Context(), patience, "the auction to be on", said))
	started := submit(t, c, "sleep 5", "-n1", "--time=1")
	running(t, c, patience, started)
	requireByAuction(t, c, started)
}

// Cycles that were recorded in shadow, given to the library once more, come to the same decisions.
func TestShadowIsReplayed(t *testing.T) {
	slow(t)
	beside(t)
	replay := t.TempDir() + "/replay"
	out, err := exec.CommandContext(t.Context(), "cc", "-o", replay, "../../../cshim/ctest/replay.c", "-ldl").CombinedOutput()
	require.NoError(t, err, "%s", out)
	record := t.TempDir() + "/record"
	require.NoError(t, os.Chmod(filepath.Dir(record), 0o777))
	c := cluster(t, slowly, Config{Groups: Uniform(16, 8, 2), SchedulerParameters: "auc_record=" + record})
	for i := range 60 { // two times the machine, of all shapes
		args := []string{"--time=1", "-n", fmt.Sprint(4 + i%5), "-N", fmt.Sprint(1 + i%4)}
		if i%3 == 0 {
			args = append(args, fmt.Sprint("--gres=gpu:1-", 1+i%2))
		}
		submit(t, c, fmt.Sprint("sleep ", 1+i%7), args...)
	}
	require.NoError(t, c.WaitEmpty(t.Context(), 120*time.Second))
	requireNoneStarted(t, c)
	out, err = exec.CommandContext(t.Context(), replay, filepath.Join(pluginDir(t), "libaucsched.so"), record).CombinedOutput()
	t.Logf("%s", out)
	require.NoError(t, err, "%s", out)
	var cycles, late, decisions, starts, differ int
	_, err = fmt.Sscanf(string(out), "cycles %d late %d decisions %d starts %d differ %d", &cycles, &late, &decisions, &starts, &differ)
	require.NoError(t, err)
	require.Greater(t, cycles-late, 3, "%s", out)
	require.Greater(t, starts, 20, "%s", out)
	require.Zero(t, differ)
}

// With auc_partitions and auc_users_share the auction starts the jobs of these alone, and the
// others are Slurm's at once, with nodes of their own and with shared ones.
func TestPartOfTheJobs(t *testing.T) {
	slow(t)
	beside(t)
	c := cluster(t, auction, Config{Groups: Uniform(6, 4, 0), Partitions: []Partition{
		{Name: "p", Nodes: "n[0001-0002]", Default: true}, {Name: "q", Nodes: "n[0003-0004]"},
		{Name: "mix", Nodes: "n[0002-0006]"}, {Name: "ours", Nodes: "n[0005-0006]"},
	}, SchedulerParameters: "auc_partitions=p,ours"})
	w := watch(t, c)
	route := func(want int, left string, id uint32) {
		t.Helper()
		what := fmt.Sprintf("job %d: started %d, left %q", id, want, left)
		require.NoError(t, c.poll(t.Context(), patience, what, func() (bool, error) {
			routes, err := c.Routes()
			return routes[id].Started == want && strings.Contains(routes[id].Left, left), err
		}))
	}
	first := submit(t, c, "sleep 30", "-p", "p", "-N1", "-n4", "--time=1")
	others := submit(t, c, "sleep 30", "-p", "q", "-N1", "-n4", "--time=1")
	shared := submit(t, c, "sleep 30", "-p", "mix", "-N1", "-n4", "--time=1")
	ours := submit(t, c, "sleep 30", "-p", "ours", "-N1", "-n4", "--time=1")
	both := submit(t, c, "sleep 30", "-p", "ours,mix", "-n1", "--time=1")
	running(t, c, patience, first, others, shared, ours, both)
	for _, id := range []uint32{first, ours} {
		route(1, "", id)
	}
	// The other partition is not delayed: its job starts at its submission.
	j, err := c.ShowJob(t.Context(), others)
	require.NoError(t, err)
	require.LessOrEqual(t, waitOf(t, j), time.Second)
	for _, id := range []uint32{others, shared, both} {
		route(0, "", id)
	}
	blocked := submit(t, c, "sleep 1", "-p", "q", "-N2", "-n8", "--time=1")
	route(0, "partition", blocked)
	s, err := c.Status()
	require.NoError(t, err)
	require.Positive(t, s.Handed["partition"])

	// Nobody's jobs are the auction's.
	require.NoError(t, c.SetParameters(t.Context(), quickStock+","+quickAuction+",auc_users_share=0"))
	said := func() (bool, error) { return strings.Contains(c.Logs("slurmctld.log", 1<<20), "users_share=0"), nil }
	require.NoError(t, c.poll(t.Context(), patience, "the share to be known", said))
	later := submit(t, c, "sleep 5", "-p", "ours", "-n1", "--time=1")
	running(t, c, patience, later)
	route(0, "", later)
	waits := submit(t, c, "sleep 5", "-p", "ours", "-N2", "--exclusive", "--time=1")
	route(0, "user", waits)
	_, err = w.Look(t.Context())
	require.NoError(t, err)

	require.NoError(t, c.SetParameters(t.Context(), quickStock+","+quickAuction+",auc_partitions=p,nonsense"))
	said = func() (bool, error) {
		return strings.Contains(c.Logs("slurmctld.log", 1<<20), "auc_partitions=p,nonsense: there is no partition nonsense"), nil
	}
	require.NoError(t, c.poll(t.Context(), patience, "the wrong partition in the log", said))
}

// waitOf is how long a job that has started waited.
func waitOf(t *testing.T, j Job) time.Duration {
	t.Helper()
	var at [2]time.Time
	for i, f := range []string{"SubmitTime", "StartTime"} {
		var err error
		at[i], err = time.Parse("2006-01-02T15:04:05", j.Fields[f])
		require.NoError(t, err, f)
	}
	return at[1].Sub(at[0])
}

// What is written outlasts slurmctld, with kills too; a place that can't be
// written is said so once.
func TestShadowOutlastsSlurmctld(t *testing.T) {
	slow(t)
	beside(t)
	c := cluster(t, slowly, Config{Groups: Uniform(4, 4, 0)})
	before := submit(t, c, "sleep 1", "-n4", "--time=1")
	shadowRuns(t, c, before)
	require.NoError(t, c.KillController(t.Context(), syscall.SIGKILL))
	require.NoError(t, c.StartController(t.Context()))
	after := submit(t, c, "sleep 1", "-n4", "--time=1")
	shadowRuns(t, c, before, after)
	requireNoneStarted(t, c)

	file := c.path("state", "aucsched.shadow")
	require.NoError(t, os.Rename(file, file+".kept"))
	require.NoError(t, os.Mkdir(file, 0o755))
	fault := "can't write " + file + ": "
	said := func(words string) func() (bool, error) {
		return func() (bool, error) { return strings.Contains(c.Logs("slurmctld.log", 1<<20), words), nil }
	}
	submit(t, c, "sleep 1", "-n4", "--time=1")
	require.NoError(t, c.poll(t.Context(), patience, fault, said(fault)))
	submit(t, c, "sleep 1", "-n4", "--time=1")
	time.Sleep(3 * time.Second) // some cycles
	require.Equal(t, 1, strings.Count(c.Logs("slurmctld.log", 1<<20), fault))
	require.NoError(t, os.Remove(file))
	again := file + " is written again"
	submit(t, c, "sleep 1", "-n4", "--time=1")
	require.NoError(t, c.poll(t.Context(), patience, again, said(again)))
	require.FileExists(t, file)
}

// What shadow costs slurmctld, beside the auction and stock, on the same queue.
func TestShadowCosts(t *testing.T) {
	slow(t)
	bed(t)
	n := nodes(t)
	for _, m := range []mode{stock, auction, shadowed} {
		t.Run(m.name, func(t *testing.T) {
			c := cluster(t, m, Config{Groups: Uniform(n, 12, 3)})
			ids := submitLoad(t, c, n)
			time.Sleep(12 * time.Second)
			d, err := c.Sdiag(t.Context())
			require.NoError(t, err)
			all, _ := startRate(t, c, ids)
			fmt.Printf("%-8s %d nodes, %d jobs: started in 12 s %d; sdiag main, us: mean %d max %d; backfill: mean %d max %d\n",
				m.name, n, len(ids), all, d.Main.Mean, d.Main.Max, d.Backfill.Mean, d.Backfill.Max)
			require.Positive(t, all)
			if m.name == "stock" {
				return
			}
			s, err := c.Status()
			require.NoError(t, err)
			fmt.Printf("%-8s cycles %d; snapshot, us: mean %.0f max %.0f; locks without starts: mean %.0f max %.0f; "+
				"starts: mean %.0f max %.0f\n", m.name, s.Cycles, s.Snapshot.Mean, s.Snapshot.Max, s.Lock.Mean, s.Lock.Max,
				s.StartFigure.Mean, s.StartFigure.Max)
			require.Positive(t, s.Cycles)
			if m.name == "shadow" {
				require.Zero(t, s.StartFigure.Max, "nothing is started")
				requireNoneStarted(t, c)
			}
		})
	}
}
