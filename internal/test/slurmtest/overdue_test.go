// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// blind is the auction with a library that starts nothing.
var blind = mode{"blind", func(t *testing.T, c Config) Config {
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skipf("the blind library can't be built: %v", err)
	}
	library := filepath.Join(t.TempDir(), "libblind.so")
	out, err := exec.Command("cc", "-shared", "-fPIC", "-I../../../cshim", "-o", library, "testdata/blind.c").CombinedOutput()
	require.NoError(t, err, "%s", out)
	c.SchedulerParameters = join(",", c.SchedulerParameters, quickStock, "auc_library="+library)
	return c.WithAuction(pluginDir(t), quickAuction)
}}

// waited is how long a job that has started had waited for it.
func waited(t *testing.T, j Job) time.Duration {
	t.Helper()
	return when(t, j, "StartTime").Sub(when(t, j, "SubmitTime"))
}

// noRoom are requests for which there is none beside all the others, at the same moment.
var noRoom = regexp.MustCompile(`--(reservation|nodelist|gpus|mem-per-gpu|gres-flags|tmp|hint|ntasks-per-(socket|core))`)

// Nobody waits longer than the net has it where Slurm would have started him, though the
// auction sees nobody.
func TestNetByTime(t *testing.T) {
	beside(t)
	cfg := leftMachine()
	// Slurm's own schedulers hardly look: they are not what catches them.
	cfg.SchedulerParameters = "bf_interval=600,sched_interval=600," +
		"auc_window=5,auc_depth=5,auc_net_s=5,auc_at_once=no"
	c := cluster(t, blind, cfg)
	w := watch(t, c)
	rows := slices.DeleteFunc(slices.Clone(leftRows), func(r leftRow) bool {
		return r.left != "" && r.left != either || noRoom.MatchString(r.args)
	})
	slices.SortStableFunc(rows, func(a, b leftRow) int { // while there are idle nodes
		return strings.Index(b.args, "--exclusive") - strings.Index(a.args, "--exclusive")
	})
	var ids []uint32
	for _, r := range rows {
		id := submit(t, c, "sleep 30", append(strings.Fields(r.args), "--time=1")...)
		w.Expect(id, r.ask)
		ids = append(ids, id)
	}
	array := submit(t, c, "sleep 30", "-n1", "--time=1", "--array=0-9%6")
	held := submit(t, c, "true", "-n1", "--time=1", "--hold")
	for _, j := range running(t, c, patience, ids...) {
		require.LessOrEqual(t, waited(t, j), patience, "job %d", j.ID)
	}
	limited := submit(t, c, "true", "-n1", "--time=1", "-L", "lic:4") // one is taken
	require.NoError(t, c.poll(t.Context(), patience, "as many tasks of the array as may run", func() (bool, error) {
		jobs, err := c.Jobs(t.Context())
		n := 0
		for _, j := range jobs {
			if j.ArrayID == array && j.State == "RUNNING" {
				n++
			}
		}
		return n == 6, err
	}))
	time.Sleep(7 * time.Second)
	routes, err := c.Routes()
	require.NoError(t, err)
	for _, id := range ids {
		require.Equal(t, "overdue", routes[id].Left, "job %d", id)
		require.Zero(t, routes[id].Started)
	}
	for _, id := range []uint32{held, limited} {
		j, err := c.ShowJob(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, "PENDING", j.State)
		require.Empty(t, routes[id].Left)
	}
	var s Status
	require.NoError(t, c.poll(t.Context(), patience, "the status to have them all", func() (bool, error) {
		var err error
		s, err = c.Status()
		return s.Overdue >= int64(len(ids)), err
	}), "%+v", s)
	require.Equal(t, "on", s.State)
	// the array may be Slurm's already: then its main loop may start it too
	require.LessOrEqual(t, s.Overdue, int64(len(ids)+6))
	require.Zero(t, s.Started)
	require.NoError(t, c.Scancel(t.Context(), fmt.Sprint(held), fmt.Sprint(limited), fmt.Sprint(array)))
}

// What is started as overdue keeps off the nodes that a job before it is to have,
// unless it ends in time.
func TestNetKeepsPlans(t *testing.T) {
	slow(t)
	beside(t)
	c := cluster(t, blind, Config{Groups: Uniform(4, 2, 0), SchedulerParameters: "auc_net_s=4,auc_at_once=no"})
	running(t, c, 15*time.Second, submit(t, c, "sleep 300", "-N2", "-n4", "--time=5"))
	head := submit(t, c, "sleep 300", "-N4", "-n8", "--time=5")
	time.Sleep(3 * time.Second) // backfill plans it
	longer := submit(t, c, "sleep 300", "-N1", "-n1", "--time=10")
	shorter := submit(t, c, "sleep 300", "-N1", "-n1", "--time=2")
	j := running(t, c, 15*time.Second, shorter)[0]
	require.GreaterOrEqual(t, waited(t, j), 3*time.Second)
	time.Sleep(5 * time.Second)
	for _, id := range []uint32{head, longer} {
		j, err := c.ShowJob(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, "PENDING", j.State, "job %d", id)
	}
	// Without the plan there is nothing in its way.
	require.NoError(t, c.Scancel(t.Context(), fmt.Sprint(head)))
	running(t, c, 15*time.Second, longer)
}
