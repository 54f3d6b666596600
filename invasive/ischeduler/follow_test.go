// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package ischeduler

import (
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/slurm"
)

func outsideJob(id invasive.JobID, cores uint32) Outside {
	return Outside{ID: id, Submitted: time.Now(), Spec: Spec{Args: []string{slurm.Command, "x"}, MinCores: cores}}
}

// Jobs keep the numbers that another programme gave them; to say the same again does nothing; who
// waits, and isn't there any more, is taken back.
func TestFollow(t *testing.T) {
	dir := t.TempDir()
	home, e := filepath.Join(dir, "s"), hypervisor(t, dir)
	s, c, stop := startScheduler(t, home, 3, nobody(dir), "by sbatch")
	list := []Outside{outsideJob(70, 1), outsideJob(7, 5), outsideJob(71, 4)}
	for range 2 {
		require.NoError(t, s.Follow(list))
		jobs, err := c.List(context.Background())
		require.NoError(t, err)
		require.Len(t, jobs, 3)
	}
	require.NoError(t, s.Follow(nil), "only the iHypervisor can tell that it doesn't have them")
	stop()

	s, c, stop = startScheduler(t, home, 3, e, "by sbatch") // it has its journal
	want := map[uint64]string{7: "waiting", 70: "done", 71: "done"}
	require.Eventually(t, func() bool { return assert.ObjectsAreEqual(want, states(t, c)) }, patience, 5*time.Millisecond)

	_, err := c.Submit(context.Background(), &Spec{Args: []string{"true"}})
	require.EqualError(t, err, "jobs[0]: by sbatch")
	require.EqualError(t, c.Cancel(context.Background(), 7), "by sbatch")
	bad := outsideJob(9, 2)
	bad.Spec.Kind = "soft"
	require.ErrorContains(t, s.Follow([]Outside{outsideJob(7, 5), bad, outsideJob(10, 5)}), `job 9: kind: "soft"`)
	require.ErrorContains(t, s.Follow([]Outside{outsideJob(7, 5), outsideJob(10, 5), outsideJob(11, 5), outsideJob(12, 5)}),
		"job 12: the queue is full")
	stop()

	s, c, _ = startScheduler(t, home, 3, e, "by sbatch")
	require.Eventually(t, func() bool { st, err := c.Status(context.Background()); return err == nil && st.Connected },
		patience, time.Millisecond)
	require.NoError(t, s.Follow([]Outside{outsideJob(11, 5)}))
	want = map[uint64]string{7: "cancelled", 10: "cancelled", 11: "waiting"}
	require.Eventually(t, func() bool { return assert.ObjectsAreEqual(want, states(t, c)) }, patience, 5*time.Millisecond)
}

// While Slurm doesn't answer, nothing is known to be gone.
func TestFollowSlurm(t *testing.T) {
	dir := t.TempDir()
	s, c, _ := startScheduler(t, filepath.Join(dir, "s"), 10, hypervisor(t, dir), "by sbatch")
	require.Eventually(t, func() bool { st, err := c.Status(context.Background()); return err == nil && st.Connected },
		patience, time.Millisecond)
	var asked atomic.Int32
	held := func(context.Context) ([]slurm.Held, map[uint64]error, error) {
		waits := slurm.Held{ID: 5, Name: "n", MinCores: 5, MaxCores: 8, Kind: "malleable",
			Points: 3, Submitted: time.Unix(1000, 0), Limit: 90 * time.Second,
			Deadline: time.Unix(1060, 0)}
		switch n := asked.Add(1); {
		case n == 1:
			return []slurm.Held{waits}, map[uint64]error{6: errors.New("no note")}, nil
		case n < 5:
			return nil, nil, slurm.ErrDown
		}
		return nil, nil, nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); s.FollowSlurm(ctx, held, 20*time.Millisecond) }()
	defer func() { cancel(); <-done }()
	require.Eventually(t, func() bool { return asked.Load() >= 3 }, patience, time.Millisecond)
	if list, err := c.List(context.Background()); asked.Load() < 5 {
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.Equal(t, Info{ID: 5, State: "waiting", Kind: "malleable", MinCores: 5,
			MaxCores: 8, Priority: 3, Since: time.Unix(1000, 0).UTC(),
			Deadline: time.Unix(1060, 0).UTC(), Args: []string{slurm.Command, "n"}}, list[0])
	}
	require.Eventually(t, func() bool { return states(t, c)[5] == "cancelled" }, patience, time.Millisecond)
}

// A deadline that has passed is pressing, one in centuries is none.
func TestDeadlinesOfSlurm(t *testing.T) {
	submitted := time.Unix(1000, 0)
	for after, want := range map[time.Duration]uint32{
		time.Minute: 60, 1500 * time.Millisecond: 2, -time.Hour: 1, invasive.MaxSeconds *
			time.Second: invasive.MaxSeconds, (invasive.MaxSeconds + 1) * time.Second: 0,
	} {
		list := outside([]slurm.Held{{ID: 1, MinCores: 1, MaxCores: 1, Kind: "rigid",
			Submitted: submitted, Deadline: submitted.Add(after)}})
		assert.Equal(t, want, list[0].Spec.Deadline, "%v", after)
	}
	assert.Zero(t, outside([]slurm.Held{{ID: 1, Submitted: submitted}})[0].Spec.Deadline)
}
