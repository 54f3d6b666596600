// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A job that is suspended after its start was decided, and before its node has heard of it, is
// launched when it goes on.
func TestSuspendedBeforeLaunch(t *testing.T) {
	beside(t)
	c := cluster(t, auction, Config{Groups: Uniform(2, 8, 0), SlurmUser: "slurm", Faults: true})
	ctx := t.Context()
	require.NoError(t, c.Faults().Set(OpFsync, Fault{Name: "job_state", Delay: 700 * time.Millisecond}))
	id := submit(t, c, "sleep 2", "-n2", "--time=1")
	require.NoError(t, c.poll(ctx, patience, "the start", func() (bool, error) {
		return len(logLines(t, c, "aucsched: started")) > 0, nil
	}))
	_, err := c.Scontrol(ctx, "suspend", fmt.Sprint(id))
	require.NoError(t, err)
	require.NoError(t, c.Faults().Clear())
	time.Sleep(3 * time.Second)
	runs, err := c.Starts()
	require.NoError(t, err)
	require.Empty(t, runs, "it was suspended before it was launched")
	_, err = c.Scontrol(ctx, "resume", fmt.Sprint(id))
	require.NoError(t, err)
	_, err = c.WaitFor(ctx, id, patience, "COMPLETED")
	require.NoError(t, err)
	requireOneStartEach(t, c, []uint32{id})
}

// slurmctld ends when it is told to, though it is asking nodes that don't answer about many jobs.
func TestTheEndWaitsForNoNode(t *testing.T) {
	beside(t)
	const jobs = 16
	c := cluster(t, auction, Config{Groups: Uniform(2, jobs, 0)})
	ctx := t.Context()
	var ids []uint32
	for range jobs {
		ids = append(ids, submit(t, c, "sleep 120", "-n2", "--time=3", "--hold"))
	}
	waitSaved(t, c)
	release(t, c, ids...)
	running(t, c, patience, ids...)
	waitSaved(t, c) // or they are waiting still, after the kill
	require.NoError(t, c.KillController(ctx, syscall.SIGKILL))
	wake := asleep(t, c)
	require.NoError(t, c.StartController(ctx))
	require.NoError(t, c.poll(ctx, patience, "slurmctld to ask about the jobs", func() (bool, error) {
		return len(logLines(t, c, fmt.Sprintf("aucsched: after a restart of slurmctld: .* %d had just started", jobs))) == 1, nil
	}))
	time.Sleep(1500 * time.Millisecond) // it has begun: a second for each of them
	begin := time.Now()
	require.NoError(t, c.KillController(ctx, syscall.SIGTERM))
	require.Less(t, time.Since(begin), 12*time.Second, "a question takes a second, and there were %d", jobs)
	wake()
	require.NoError(t, c.StartController(ctx))
	cancelAll(t, c)
}

// Whoever cancels a job while its launch fails, since slurmctld was killed, finds it ended or held
// as on stock: it is not released.
func TestCancelledIsNotReleased(t *testing.T) {
	beside(t)
	const jobs = 16
	c := cluster(t, auction, Config{Groups: Uniform(2, jobs, 0)})
	ctx := t.Context()
	var ids []uint32
	for range jobs {
		ids = append(ids, submit(t, c, "sleep 120", "-n2", "--time=3", "--hold"))
	}
	waitSaved(t, c)
	wake := asleep(t, c)
	release(t, c, ids...)
	running(t, c, patience, ids...)
	waitSaved(t, c) // or they are waiting still, after the kill
	kill(t, c)
	require.NoError(t, c.poll(ctx, patience, "slurmctld to ask about the jobs", func() (bool, error) {
		return len(logLines(t, c, "aucsched: after a restart of slurmctld: .* had just started")) == 1, nil
	}))
	require.NoError(t, c.Scancel(ctx, "--user=root"))
	wake()
	require.NoError(t, c.poll(ctx, patience, "a launch to fail", func() (bool, error) {
		return len(logLines(t, c, "Requeuing JobId")) > 0, nil
	}))
	time.Sleep(4 * time.Second) // the keeper asks each second
	require.Empty(t, logLines(t, c, "when slurmctld was killed: released"))
	cancelAll(t, c)
}

// asleep stops the nodes' daemons until the function it returns is called.
func asleep(t *testing.T, c *Cluster) (wake func()) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	var pids []int
	for _, d := range c.slurmds {
		pids = append(pids, d.cmd.Process.Pid)
	}
	wake = func() {
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
	}
	t.Cleanup(wake)
	for _, pid := range pids {
		require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
	}
	return wake
}
