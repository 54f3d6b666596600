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
	require.NoError(t, c.poll(ctx, 15*time.Second, "the start", func() (bool, error) {
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
	_, err = c.WaitFor(ctx, id, 20*time.Second, "COMPLETED")
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
	release(t, c, ids...)
	running(t, c, 20*time.Second, ids...)
	require.NoError(t, c.KillController(ctx, syscall.SIGKILL))
	c.mu.Lock()
	var asleep []int
	for _, d := range c.slurmds {
		asleep = append(asleep, d.cmd.Process.Pid)
	}
	c.mu.Unlock()
	for _, pid := range asleep {
		require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
	}
	t.Cleanup(func() {
		for _, pid := range asleep {
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
	})
	require.NoError(t, c.StartController(ctx))
	require.NoError(t, c.poll(ctx, 10*time.Second, "slurmctld to ask about the jobs", func() (bool, error) {
		return len(logLines(t, c, fmt.Sprintf("aucsched: after a kill of slurmctld: .* %d had just started", jobs))) == 1, nil
	}))
	time.Sleep(1500 * time.Millisecond) // it has begun: a second for each of them
	begin := time.Now()
	require.NoError(t, c.KillController(ctx, syscall.SIGTERM))
	require.Less(t, time.Since(begin), 9*time.Second, "a question takes a second, and there were %d", jobs)
	for _, pid := range asleep {
		require.NoError(t, syscall.Kill(pid, syscall.SIGCONT))
	}
	require.NoError(t, c.StartController(ctx))
	cancelAll(t, c)
}
