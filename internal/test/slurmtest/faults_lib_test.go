// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A fault hits the calls that it is for, as often as it is to, in stock Slurm too.
func TestFaultsStrike(t *testing.T) {
	beside(t)
	c := cluster(t, stock, Config{Groups: Uniform(2, 4, 0), SlurmUser: "slurm", Faults: true})
	f, ctx := c.Faults(), t.Context()

	t.Run("slow", func(t *testing.T) {
		require.NoError(t, f.Set(OpFsync, Fault{Name: "job_state", Delay: 300 * time.Millisecond}))
		began := time.Now()
		submit(t, c, "true", "-n1", "--time=1", "-H")
		waitSaved(t, c)
		require.NoError(t, c.poll(ctx, patience, "a slow fsync", func() (bool, error) { return f.Hits(OpFsync) > 0, nil }))
		require.Less(t, time.Since(began), 15*time.Second)
		require.NoError(t, f.Set(OpFsync, Fault{}))
		require.Zero(t, f.Hits(OpFsync))
	})
	t.Run("fails a number of times", func(t *testing.T) {
		require.NoError(t, f.Set(OpWrite, Fault{Name: "/script", Error: syscall.ENOSPC, Skip: 1, Times: 2}))
		for _, fails := range []bool{false, true, true, false} {
			// slurmctld writes a job's script as it is submitted
			_, err := c.Sbatch(ctx, []string{"-n1", "--time=1", "-H"}, c.Script("true"))
			require.Equal(t, fails, err != nil, err)
		}
		require.Equal(t, int64(2), f.Hits(OpWrite))
		require.NotEmpty(t, logLines(t, c, "No space left on device"))
		require.NoError(t, f.Clear())
	})
	t.Run("is of one directory", func(t *testing.T) {
		require.NoError(t, f.Set(OpOpen, Fault{Name: "slurm.conf", Error: syscall.EACCES}))
		require.NoError(t, c.Reconfigure(ctx))
		require.Zero(t, f.Hits(OpOpen))
		require.NoError(t, f.Clear())
	})
	t.Run("the clock", func(t *testing.T) {
		for _, by := range []time.Duration{time.Hour, -time.Hour} {
			require.NoError(t, f.ShiftClock(by))
			id := submit(t, c, "true", "-n1", "--time=1", "-H")
			j, err := c.ShowJob(ctx, id)
			require.NoError(t, err)
			require.InDelta(t, time.Now().Add(by).Unix(), when(t, j, "SubmitTime").Unix(), 5)
			if by < 0 {
				continue // stock Slurm's schedulers wait until it is as late again
			}
			id = submit(t, c, "true", "-n1", "--time=1")
			_, err = c.WaitFor(ctx, id, 30*time.Second, "COMPLETED")
			require.NoError(t, err, "jobs run at that time too")
		}
	})
	t.Run("refused", func(t *testing.T) {
		require.Error(t, f.Set(fileOps, Fault{}))
		require.Error(t, f.Set(OpWrite, Fault{Name: strings.Repeat("x", 64)}))
		require.Error(t, f.Set(OpWrite, Fault{Skip: -1}))
	})
	_, err := os.Stat(c.path("state", "job_state"))
	require.NoError(t, err)
}
