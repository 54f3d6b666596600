// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// While a job waits and nothing changes there are no cycles; when nodes come
// free it starts at once.
func TestNothingChanges(t *testing.T) {
	beside(t)
	s := cluster(t, auction, Config{Groups: []Group{{Nodes: 4, Cores: 2}}})
	w := watch(t, s)
	// Slurm's own schedulers ask for a cycle whenever they look at the queue, and may be the
	// first to start a job.
	require.NoError(t, s.SetParameters(t.Context(),
		"auc_interval=1,bf_interval=300,sched_interval=300,sched_min_interval=300000000"))
	first := submit(t, s, "sleep 300", "-N4", "-n8", "--time=10")
	running(t, s, 15*time.Second, first)
	second := submit(t, s, "sleep 1", "-N4", "-n8", "--time=10")
	cycles := func() (run, skipped int64) {
		status, err := s.Status()
		require.NoError(t, err)
		return status.Cycles, status.Skipped
	}
	time.Sleep(5 * time.Second) // the cycles that the submission brings
	waiting, err := s.ShowJob(t.Context(), second)
	require.NoError(t, err)
	require.Equal(t, "PENDING", waiting.State)
	run, skipped := cycles()
	time.Sleep(8 * time.Second)
	runLater, skippedLater := cycles()
	require.LessOrEqual(t, runLater-run, int64(2), "of 8 intervals")
	require.GreaterOrEqual(t, skippedLater-skipped, int64(5))

	require.NoError(t, s.Scancel(t.Context(), fmt.Sprint(first)))
	_, err = s.WaitFor(t.Context(), second, 15*time.Second, "RUNNING", "COMPLETED")
	require.NoError(t, err)
	requireByAuction(t, s, second)
	_, err = w.Look(t.Context())
	require.NoError(t, err)
}
