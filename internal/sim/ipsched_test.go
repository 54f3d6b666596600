// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/policies"
	"github.com/aucsched/aucsched/internal/race"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// watched is a policy whose cycles are looked at.
type watched struct {
	core.Policy
	look func(s *core.Snapshot, p *core.Plan)
}

func (w watched) Decide(ctx context.Context, s *core.Snapshot, l core.Limits, p *core.Plan) error {
	err := w.Policy.Decide(ctx, s, l, p)
	w.look(s, p)
	return err
}

// How near the policy's answers are to its bounds over whole simulated queues, and what the cycles
// in which some job fits take: docs/decisions.md has the figures.
func TestIPSchedIsNearItsBound(t *testing.T) {
	race.Slow(t)
	for _, q := range []struct {
		workload string
		nodes    []nodeset.Capacity
	}{
		{"gen:esp-rand", nodesOf([3]int{1024, 8, 2})}, {"gen:tsubame-1.NC", nodesOf([3]int{1408, 12, 3})},
	} {
		w, err := workload.Generate(q.workload, q.nodes, 1)
		require.NoError(t, err)
		a, err := policies.NewIPSched(policies.DefaultIPSchedOptions())
		require.NoError(t, err)
		var worth, bound float64
		var spent latencies
		full, started, proven := 0, 0, 0
		cfg := NewConfig(q.nodes)
		r, err := Run(context.Background(), cfg, watched{a, func(s *core.Snapshot, p *core.Plan) {
			if p.Bound == 0 {
				full++
				return
			}
			worth, bound = worth+p.Objective, bound+p.Bound
			spent.add(p.Stats.Elapsed)
			if p.Stats.Status == "optimal" {
				proven++
			}
			for _, d := range p.Decisions {
				if d.Start {
					started++
				}
			}
		}}, w.Jobs)
		require.NoError(t, err)
		require.Empty(t, r.Unrun)
		require.Equal(t, len(w.Jobs), started)
		t.Logf("%s: %d cycles, in %d of them no job fits, of the others %d are proven; bounds "+
			"%.2f%% above the answers; %v (median), %v (p99), %v (max); up to %d jobs waiting",
			q.workload, r.Cycles, full, proven, 100*(bound/worth-1),
			spent.quantile(0.5).Round(time.Millisecond/10), spent.quantile(0.99).Round(time.Millisecond),
			spent.max.Round(time.Millisecond), r.PendingMax)
		require.Less(t, bound/worth, 1.08, q.workload)
	}
}
