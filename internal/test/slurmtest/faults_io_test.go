// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// faultBed is a cluster whose files and clock can have faults, and whose state has been saved once.
func faultBed(t *testing.T, m mode) *Cluster {
	t.Helper()
	c := cluster(t, m, Config{Groups: Uniform(4, 8, 0), SlurmUser: "slurm", Faults: true})
	submit(t, c, "true", "-n1", "--time=1", "-H")
	require.NoError(t, c.poll(t.Context(), patience, "slurmctld to save its state", func() (bool, error) {
		_, err := os.Stat(c.path("state", "job_state"))
		return err == nil, nil
	}))
	return c
}

// With links of the state as slow as on a file server, nobody reads a state that is being
// replaced, or takes it for another slurmctld's.
func TestSlowLinks(t *testing.T) {
	slow(t)
	beside(t)
	mostlyAuction(t, func(t *testing.T, m mode) {
		c := faultBed(t, m)
		before := len(logLines(t, c, "Jobs may be lost")) // a new slurmctld finds no state
		for _, op := range []FileOp{OpLink, OpUnlink, OpRename} {
			require.NoError(t, c.Faults().Set(op, Fault{Name: "job_state", Delay: 250 * time.Millisecond}))
		}
		var ids []uint32
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		for range 40 {
			<-tick.C
			ids = append(ids, submit(t, c, "sleep 1", "-n1", "--time=1"))
		}
		require.NoError(t, c.poll(t.Context(), 30*time.Second, "the jobs to end", func() (bool, error) {
			ended, err := c.Ended()
			return len(ended) == len(ids), err
		}))
		require.NoError(t, c.RanOnce(ids))
		// Slurm 26.05 renames the file where others link it.
		require.Greater(t, c.Faults().Hits(OpLink)+c.Faults().Hits(OpRename), int64(3), "saves")
		require.Empty(t, logLines(t, c, "Bad job state|moved backwards"))
		require.Len(t, logLines(t, c, "Jobs may be lost"), before)
	})
}

// journaled waits until the journal has the start of a job.
func journaled(t *testing.T, c *Cluster, id uint32) {
	t.Helper()
	require.NoError(t, c.poll(t.Context(), patience, "the journal to have the start", func() (bool, error) {
		text, err := os.ReadFile(c.path("state", "aucsched_journal"))
		return err == nil && strings.Contains("\n"+string(text), fmt.Sprintf("\nS %d ", id)), nil
	}))
}

// noted waits until the scripts of jobs have noted that they run. A job that Slurm says runs may
// not be launched yet; a kill then has it requeued, rightly, and it runs minutes later.
func noted(t *testing.T, c *Cluster, ids ...uint32) {
	t.Helper()
	require.NoError(t, c.poll(t.Context(), patience, "the scripts to begin", func() (bool, error) {
		starts, err := c.Starts()
		begun := map[uint32]bool{}
		for _, s := range starts {
			begun[s.ID] = true
		}
		return !slices.ContainsFunc(ids, func(id uint32) bool { return !begun[id] }), err
	}))
}

// While the disk is full jobs run, once; when there is room again starts are recorded again,
// so that a kill makes none run twice.
func TestFullDisk(t *testing.T) {
	beside(t)
	c := faultBed(t, auction)
	faults, ctx := c.Faults(), t.Context()
	var ids []uint32
	for range 8 {
		ids = append(ids, submit(t, c, "sleep 2", "-n1", "--time=1", "-H"))
	}
	waitSaved(t, c)
	require.NoError(t, faults.FullDisk())
	release(t, c, ids...)
	for _, id := range ids {
		_, err := c.WaitFor(ctx, id, 30*time.Second, "COMPLETED")
		require.NoError(t, err)
	}
	require.Positive(t, faults.Hits(OpWrite))
	require.NoError(t, faults.Clear())
	require.LessOrEqual(t, len(logLines(t, c, "error: (Can't save state|Error writing file).*job_state")),
		40, "what fails is tried less and less often")

	again := submit(t, c, "sleep 1", "-n1", "--time=1")
	running(t, c, patience, again)
	journaled(t, c, again)

	// One line of the journal is cut short.
	require.NoError(t, faults.Set(OpWrite, Fault{Name: "aucsched_journal", Error: syscall.ENOSPC, Part: 3, Times: 1}))
	cut := submit(t, c, "sleep 1", "-n1", "--time=1")
	running(t, c, patience, cut)
	require.Positive(t, faults.Hits(OpWrite))
	last := submit(t, c, "sleep 6", "-n1", "--time=1")
	running(t, c, patience, last)
	journaled(t, c, last)
	noted(t, c, last)
	kill(t, c)
	ids = append(ids, again, cut, last)
	for _, id := range ids {
		_, err := c.WaitFor(ctx, id, 30*time.Second, "COMPLETED")
		require.NoError(t, err)
	}
	starts, err := c.Starts()
	require.NoError(t, err)
	require.Len(t, starts, len(ids), "each started once: %v", starts)
}

// Links that fail make Slurm lose the file of its state with each save. The auction has it saved no
// oftener than Slurm itself does then, and at once when links are made again.
func TestLinksFail(t *testing.T) {
	beside(t)
	c := faultBed(t, auction)
	faults := c.Faults()
	var ids []uint32
	for range 20 {
		ids = append(ids, submit(t, c, "sleep 20", "-n1", "--time=1", "-H"))
	}
	waitSaved(t, c)
	before := len(logLines(t, c, "Jobs may be lost"))
	require.NoError(t, faults.Set(OpLink, Fault{Error: syscall.EIO}))
	for _, id := range ids {
		release(t, c, id) // and starts, which is to be saved
		time.Sleep(200 * time.Millisecond)
	}
	running(t, c, patience, ids...)
	require.NotEmpty(t, logLines(t, c, "could not be saved"))
	require.LessOrEqual(t, len(logLines(t, c, "Jobs may be lost"))-before, 3, "saves without a file before them")
	require.NoError(t, faults.Clear())
	noted(t, c, ids...)
	time.Sleep(time.Second) // they were launched unsaved
	kill(t, c)
	running(t, c, patience, ids...)
	starts, err := c.Starts()
	require.NoError(t, err)
	require.Len(t, starts, len(ids), "each started once: %v", starts)
}

// The wall clock is set, an hour ahead and back, and the auction goes on deciding.
func TestClockIsSet(t *testing.T) {
	beside(t)
	c := faultBed(t, auction)
	for _, by := range []time.Duration{time.Hour, 0} {
		require.NoError(t, c.Faults().ShiftClock(by))
		now := time.Now().Add(by)
		time.Sleep(1500 * time.Millisecond) // nobody asks for a cycle
		later := submit(t, c, "true", "-n1", "--time=1", "--begin="+now.Add(6*time.Second).Format("2006-01-02T15:04:05"))
		_, err := c.WaitFor(t.Context(), later, patience, "COMPLETED")
		require.NoError(t, err, "when the clock was set to %v", now)
		id := submit(t, c, "true", "-n1", "--time=1")
		_, err = c.WaitFor(t.Context(), id, patience, "COMPLETED")
		require.NoError(t, err)
		requireByAuction(t, c, id)
	}
}

// The claim on jobs ends when it was to end, also if the clock is set back meanwhile and the
// thread that has claimed them hangs.
func TestClaimEndsBySteadyClock(t *testing.T) {
	beside(t)
	c := faultBed(t, auction)
	require.NoError(t, c.Faults().Set(OpFsync, Fault{Name: "job_state", Delay: 40 * time.Second}))
	submit(t, c, "sleep 300", "-n1", "--time=10") // its start is saved, and that hangs
	require.NoError(t, c.poll(t.Context(), patience, "the thread to hang",
		func() (bool, error) { return c.Faults().Hits(OpFsync) > 0, nil }))
	require.NoError(t, c.Faults().ShiftClock(-time.Hour))
	time.Sleep(13 * time.Second) // it was to last for 10 s
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err := c.Srun(ctx, "-n1", "--time=1", "true")
	require.NoError(t, err, "Slurm starts it at once")
}

// Where Slurm always has something to save it saves without a rest, and what is started is saved in
// time all the same. Whoever switches that off in the middle of it has Slurm's own saving go on.
func TestSavesWhileMuchHappens(t *testing.T) {
	slow(t)
	beside(t)
	c := faultBed(t, auction)
	ctx, cancel := context.WithCancel(t.Context())
	require.NoError(t, c.Faults().Set(OpFsync, Fault{Name: "job_state", Delay: 150 * time.Millisecond}))
	var busy sync.WaitGroup
	for range 2 {
		busy.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				_, _ = c.Scontrol(ctx, "update", "JobId=1", fmt.Sprint("Comment=", i))
			}
		})
	}
	var ids []uint32
	for range 10 {
		ids = append(ids, submit(t, c, "sleep 1", "-n1", "--time=1"))
		time.Sleep(700 * time.Millisecond)
	}
	require.Greater(t, c.Faults().Hits(OpFsync), int64(20), "saves")
	time.Sleep(time.Second)
	cancel()
	busy.Wait()
	require.NoError(t, c.Faults().Clear())
	for _, id := range ids {
		_, err := c.WaitFor(t.Context(), id, patience, "COMPLETED")
		require.NoError(t, err)
	}
	require.Empty(t, logLines(t, c, "could not be saved"))
	for range 2 {
		waitSaved(t, c)
	}
}
