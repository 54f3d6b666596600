// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Two jobs wait that do not fit beside each other. Without a preset the place is kept for the first,
// with the preset packed for the larger one; each starts as soon as what runs has ended.
func TestThroughputServesTheLargerFirst(t *testing.T) {
	beside(t)
	for _, c := range []struct {
		name, parameters string
		larger           bool
	}{
		{"none", "auc_delay_ms=200,auc_preset=none", false},
		{"packed", "auc_delay_ms=200,auc_preset=packed", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := cluster(t, auction, Config{Groups: []Group{{Nodes: 8, Cores: 4}}, SchedulerParameters: c.parameters})
			w := watch(t, s)
			running(t, s, patience, submit(t, s, "sleep 4", "-N4", "--ntasks-per-node=4", "--time=5"))
			var order []uint32
			together(t, s, func() {
				order = append(order, submit(t, s, "sleep 2", "-N5", "--ntasks-per-node=4", "--time=1"))
				order = append(order, submit(t, s, "sleep 2", "-N8", "--ntasks-per-node=4", "--time=1"))
			})
			if c.larger {
				order[0], order[1] = order[1], order[0]
			}
			running(t, s, 30*time.Second, order[0])
			second, err := s.ShowJob(t.Context(), order[1])
			require.NoError(t, err)
			require.Equal(t, "PENDING", second.State)
			for _, id := range order {
				_, err = s.WaitFor(t.Context(), id, 30*time.Second, "COMPLETED")
				require.NoError(t, err)
			}
			requireByAuction(t, s, order[0])
			_, err = w.Look(t.Context())
			require.NoError(t, err)
		})
	}
}

// Two jobs wait that do not fit beside each other, the first of which may run for an hour. In queue
// order the second would wait for that long; with a preset that plans, as by default, it goes first.
func TestPresetPlansAhead(t *testing.T) {
	beside(t)
	for parameters, planned := range map[string]bool{
		"auc_delay_ms=200,auc_preset=none": false, "auc_delay_ms=200": true,
		"auc_delay_ms=200,auc_preset=throughput": true,
	} {
		t.Run(parameters, func(t *testing.T) {
			s := cluster(t, auction, Config{Groups: []Group{{Nodes: 8, Cores: 4}}, SchedulerParameters: parameters})
			w := watch(t, s)
			running(t, s, patience, submit(t, s, "sleep 4", "-N4", "--ntasks-per-node=4", "--time=5"))
			var order []uint32
			together(t, s, func() {
				order = append(order, submit(t, s, "sleep 2", "-N5", "--ntasks-per-node=4", "--time=60"))
				order = append(order, submit(t, s, "sleep 2", "-N5", "--ntasks-per-node=4", "--time=1"))
			})
			if planned {
				order[0], order[1] = order[1], order[0]
			}
			running(t, s, 30*time.Second, order[0])
			second, err := s.ShowJob(t.Context(), order[1])
			require.NoError(t, err)
			require.Equal(t, "PENDING", second.State)
			for _, id := range order {
				_, err = s.WaitFor(t.Context(), id, 30*time.Second, "COMPLETED")
				require.NoError(t, err)
			}
			requireByAuction(t, s, order[0])
			_, err = w.Look(t.Context())
			require.NoError(t, err)
		})
	}
}

// A job lies in two blocks of nodes at most, even if more pieces would do now.
func TestCompactKeepsJobsTogether(t *testing.T) {
	slow(t)
	beside(t)
	for parameters, waits := range map[string]bool{"auc_delay_ms=200": false, "auc_delay_ms=200,auc_compact=yes": true} {
		t.Run(parameters, func(t *testing.T) {
			s := cluster(t, auction, Config{Groups: []Group{{Nodes: 8, Cores: 4}}, SchedulerParameters: parameters})
			w := watch(t, s)
			for _, node := range []string{"n0002", "n0004", "n0006"} {
				running(t, s, patience, submit(t, s, "sleep 8", "-w", node, "--exclusive", "--time=1"))
			}
			id := submit(t, s, "sleep 1", "-N5", "--ntasks-per-node=4", "--time=1")
			time.Sleep(4 * time.Second) // several cycles
			j, err := s.ShowJob(t.Context(), id)
			require.NoError(t, err)
			require.Equal(t, waits, j.State == "PENDING", j.State)
			_, err = s.WaitFor(t.Context(), id, 40*time.Second, "COMPLETED")
			require.NoError(t, err)
			requireByAuction(t, s, id)
			_, err = w.Look(t.Context())
			require.NoError(t, err)
		})
	}
}
