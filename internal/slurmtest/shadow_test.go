// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/shadow"
)

// shadowed looks on: Slurm alone starts jobs, and the auction says what it would have done.
var shadowed = mode{"shadow", func(t *testing.T, c Config) Config {
	c.SchedulerParameters = join(",", "auc_mode=shadow", c.SchedulerParameters)
	return auction.setup(t, c)
}}

// slowly has Slurm's schedulers look at the queue so seldom that the auction comes first.
var slowly = mode{"shadow, slow stock", func(t *testing.T, c Config) Config {
	c.SchedulerParameters = join(",", "auc_mode=shadow,defer,batch_sched_delay=6,sched_interval=6,bf_interval=6", c.SchedulerParameters)
	return c.WithAuction(pluginDir(t), quickAuction)
}}

func shadowLog(t *testing.T, c *Cluster) *shadow.Log {
	t.Helper()
	l, err := shadow.ReadFiles(c.path("state", "aucsched.shadow"))
	require.NoError(t, err)
	require.Zero(t, l.Bad, "%v", l.FirstBad)
	return l
}

// shadowRuns waits until the file tells the starts of all the jobs, and returns their runs in order.
func shadowRuns(t *testing.T, c *Cluster, ids ...uint32) []*shadow.Run {
	t.Helper()
	found := make([]*shadow.Run, len(ids))
	require.NoError(t, c.poll(t.Context(), 15*time.Second, "the starts in aucsched.shadow", func() (bool, error) {
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
	for _, word := range []string{"left to Slurm: overdue", "got other cores", "could not be started as decided", "after a kill"} {
		require.NotContains(t, log, word)
	}
}

// In shadow nothing is started by the auction: jobs start when and where Slurm has them start, reasons
// are Slurm's, and the file tells both sides.
func TestShadow(t *testing.T) {
	beside(t)
	c := cluster(t, slowly, Config{Groups: Uniform(4, 4, 1)})
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
	require.NotEmpty(t, l.Samples)
	require.Contains(t, []int64{4, 8, 12, 16}, l.Samples[0].Cores, "of the nodes that were up")
	require.Equal(t, l.Samples[0].Cores, 4*l.Samples[0].GPUs)
	require.NoError(t, c.poll(t.Context(), 10*time.Second, "the job that was cancelled", func() (bool, error) {
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
	require.NoError(t, c.poll(t.Context(), 10*time.Second, "the file to be its owner's alone", func() (bool, error) {
		info, err := os.Stat(c.path("state", "aucsched.shadow"))
		return err == nil && info.Mode().Perm() == 0o600, nil
	}))

	// And on again: the auction starts what comes.
	require.NoError(t, c.SetParameters(t.Context(), quickStock+","+quickAuction+",auc_mode=on"))
	said := func() (bool, error) { return strings.Contains(c.Logs("slurmctld.log", 1<<20), "aucsched: on: "), nil }
	require.NoError(t, c.poll(t.Context(), 10*time.Second, "the auction to be on", said))
	started := submit(t, c, "sleep 5", "-n1", "--time=1")
	running(t, c, 15*time.Second, started)
	requireByAuction(t, c, started)
}
