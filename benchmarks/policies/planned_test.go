// SPDX-License-Identifier: BSD-3-Clause

package policies

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// Of two jobs that do not fit beside each other the plan has the short one first, and of many that
// wait nobody is lost.
func TestPlanned(t *testing.T) {
	p, err := NewPlanned(false, 0)
	require.NoError(t, err)
	require.Equal(t, "plan", p.Name())
	job := func(id string, cores int, submit, duration int64) workload.Job {
		return workload.Job{Job: core.Job{ID: id, Request: bids.Request{Cores: cores}, TimeLimit: duration, Priority: 9},
			Submit: submit, Duration: duration}
	}
	start := map[string]int64{}
	cfg := sim.NewConfig([]nodeset.Capacity{{Cores: 2}, {Cores: 2}, {Cores: 2}, {Cores: 2}})
	cfg.OnEnd = func(r sim.Record) { start[r.Job.ID] = r.Start }
	_, err = sim.Run(context.Background(), cfg, p, []workload.Job{job("J1", 8, 0, 100), job("J2", 6, 10, 1000), job("J3", 6, 10, 60)})
	require.NoError(t, err)
	require.Len(t, start, 3)
	require.Less(t, start["J3"], start["J2"])
	_, err = NewPlanned(false, -1)
	require.Error(t, err)
	rapid.Check(t, func(t *rapid.T) {
		s := drawSnapshot(t)
		p, err := NewPlanned(true, 0)
		require.NoError(t, err)
		var plan core.Plan
		require.NoError(t, p.Decide(context.Background(), s, core.Limits{Seed: 1}, &plan))
		require.NoError(t, core.Verify(s, &plan))
		require.Len(t, plan.Decisions, len(s.Pending), "one of each")
	})
}
