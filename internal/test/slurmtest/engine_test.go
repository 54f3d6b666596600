// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// waitState waits for a state of the auction whose text has a part, and returns the status then.
func waitState(t *testing.T, c *Cluster, state, part string) (s Status) {
	t.Helper()
	require.NoError(t, c.poll(t.Context(), patience, "the state "+state+" "+part, func() (bool, error) {
		s, _ = c.Status()
		return s.State == state && strings.Contains(s.StateText, part), nil
	}), "%+v", s)
	return s
}

// enginePid waits for an engine, a child of slurmctld's that has the library.
func enginePid(t *testing.T, c *Cluster) int {
	t.Helper()
	var s Status
	require.NoError(t, c.poll(t.Context(), patience, "an engine", func() (bool, error) {
		s, _ = c.Status()
		return s.State == "on" && s.EnginePid > 0 && syscall.Kill(s.EnginePid, 0) == nil, nil
	}), "%+v", s)
	require.NotEqual(t, s.Pid, s.EnginePid)
	return s.EnginePid
}

// Whenever the engine is killed, or stopped for good, slurmctld goes on: no job is lost or runs twice,
// and the auction is back by itself.
func TestEngineKilled(t *testing.T) {
	beside(t)
	c := cluster(t, auction, Config{Groups: Uniform(8, 8, 2)})
	w := watch(t, c)
	rng := rand.New(rand.NewPCG(23, 1))
	controller := waitState(t, c, "on", "").Pid
	var ids []uint32
	kills := 0
	for round := range 10 {
		for range 6 {
			id := submit(t, c, "sleep 1", "-n4", "--time=1")
			w.Expect(id, Ask{CPUs: 4})
			ids = append(ids, id)
		}
		s, err := c.Status()
		require.NoError(t, err)
		if s.EnginePid > 0 {
			signal := syscall.SIGKILL
			if round == 5 {
				signal = syscall.SIGSTOP // it is killed when it has not answered in time
			}
			if syscall.Kill(s.EnginePid, signal) == nil {
				kills++
			}
		}
		time.Sleep(time.Duration(rng.IntN(1500)) * time.Millisecond)
	}
	require.Positive(t, kills)
	for _, id := range ids {
		_, err := c.WaitFor(t.Context(), id, patience, "COMPLETED")
		require.NoError(t, err)
	}
	require.NoError(t, c.RanOnce(ids))
	require.NotZero(t, enginePid(t, c))
	require.Equal(t, controller, waitState(t, c, "on", "").Pid, "slurmctld is the one that was started")
	id := submit(t, c, "sleep 1", "-n4", "--time=1")
	running(t, c, patience, id)
	requireByAuction(t, c, id)
	require.NotEmpty(t, logLines(t, c, `error: aucsched: the engine \(pid \d+\) was ended by signal 9`))
}

// ownPlugins is a copy of the plug-ins for one test, and the engine's program in it, which it may move away.
func ownPlugins(t *testing.T) (dir, program string) {
	t.Helper()
	above, err := os.MkdirTemp("", "slurmtest")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(above) }) // after the cluster's end
	dir = filepath.Join(above, "p")
	require.NoError(t, os.CopyFS(dir, os.DirFS(pluginDir(t))))
	return dir, filepath.Join(dir, "aucsched-engine")
}

// Where no engine can be started Slurm's own schedulers have all jobs, until one can.
func TestEngineAbsent(t *testing.T) {
	beside(t)
	plugins, program := ownPlugins(t)
	c := cluster(t, stock, Config{Groups: Uniform(8, 8, 2)}.WithAuction(plugins, quickAuction))
	pid := enginePid(t, c)
	require.NoError(t, os.Rename(program, program+".away"))
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	filler := submit(t, c, "sleep 60", "-N8", "--ntasks-per-node=8", "--time=2")
	running(t, c, patience, filler) // by whomever
	waiting := submit(t, c, "sleep 1", "-n4", "--time=1")
	waitState(t, c, "failing", "aucsched-engine: No such file") // before that it was ended by a signal
	require.NoError(t, c.Scancel(t.Context(), fmt.Sprint(filler)))
	_, err := c.WaitFor(t.Context(), waiting, patience, "COMPLETED")
	require.NoError(t, err)
	require.NoError(t, os.Rename(program+".away", program))
	filler = submit(t, c, "sleep 60", "-N8", "--ntasks-per-node=8", "--time=2")
	submit(t, c, "sleep 1", "-n4", "--time=1")
	running(t, c, patience, filler)
	require.NotEqual(t, pid, enginePid(t, c))
	require.NoError(t, c.RanOnce([]uint32{waiting}))
}

// When the engine dies within a cycle and no other can be started, Slurm has the jobs that waited for it at
// once. Its schedulers have looked at them before, when they were the auction's, and would not do so
// again for half a minute by themselves.
func TestSlurmTakesOver(t *testing.T) {
	bed(t)
	plugins, program := ownPlugins(t)
	c := cluster(t, mode{"Slurm's own intervals", func(_ *testing.T, c Config) Config {
		c.SchedulerParameters = "batch_sched_delay=1"
		return c.WithAuction(plugins, quickAuction)
	}}, Config{Groups: Uniform(8, 8, 2)})
	pid := enginePid(t, c)
	require.NoError(t, os.Rename(program, program+".away"))
	require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
	var ids []uint32
	for range 4 {
		ids = append(ids, submit(t, c, "sleep 30", "-N8", "--ntasks-per-node=2", "--time=1"))
	}
	time.Sleep(4 * time.Second) // longer than batch_sched_delay, shorter than an engine may take
	jobs, err := c.Jobs(t.Context())
	require.NoError(t, err)
	require.Len(t, jobs, len(ids))
	for _, j := range jobs {
		require.Equal(t, "PENDING", j.State)
	}
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	killed := time.Now()
	running(t, c, patience, ids...)
	took := time.Since(killed)
	t.Log("all ran", took, "after the engine was killed")
	require.Less(t, took, 3*time.Second)
}
