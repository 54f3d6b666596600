// SPDX-License-Identifier: BSD-3-Clause

package policies

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/benchmarks/replay"
	"github.com/aucsched/aucsched/benchmarks/traces"
	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/older"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/generate"
	"github.com/aucsched/aucsched/internal/test/race"
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

// However short a cycle is, all jobs run that can: what a cycle had no time for
// is decided on later.
func TestNoCycleLimitLeavesJobsUnrun(t *testing.T) {
	halve, layouts := older.DefaultOptions(), core.Preset("none")
	halve.OnTimeout, layouts.Determiner = older.Halve, Layouts
	a, err := core.NewAuction(layouts, nil)
	require.NoError(t, err)
	all := []core.Policy{a}
	for _, o := range []older.Options{older.DefaultOptions(), halve} {
		p, err := NewIPSched(o)
		require.NoError(t, err)
		all = append(all, p)
	}
	for _, policy := range all {
		for _, limit := range []time.Duration{time.Nanosecond, 20 * time.Microsecond} {
			var jobs []workload.Job
			for i := range 40 {
				jobs = append(jobs,
					workload.Job{Job: core.Job{ID: fmt.Sprint(i), Request: bids.Request{Cores: 1 + i},
						TimeLimit: 100}, Submit: int64(i / 20 * 50), Duration: 50})
			}
			workload.AssignBasicPriorities(jobs)
			c := sim.NewConfig(make([]nodeset.Capacity, 16))
			for n := range c.Nodes {
				c.Nodes[n].Cores = 4
			}
			r, err := sim.Run(context.Background(), c, replay.Limited(policy, limit, &c), jobs)
			require.NoError(t, err)
			require.Empty(t, r.Unrun, "%s, %v", policy.Name(), limit)
		}
	}
}

// How near the policy's answers are to its bounds over whole simulated queues, and what the cycles
// in which some job fits take: docs/explanation/decisions.md has the figures.
func TestIPSchedIsNearItsBound(t *testing.T) {
	race.Slow(t)
	for _, q := range []struct {
		workload, machine string
	}{
		{"gen:esp-rand", "1024x8x2"}, {"gen:tsubame-1.NC", "1408x12x3"},
	} {
		nodes, err := traces.ParseCluster(q.machine)
		require.NoError(t, err)
		w, err := generate.Generate(q.workload, nodes, 1)
		require.NoError(t, err)
		a, err := NewIPSched(older.DefaultOptions())
		require.NoError(t, err)
		var worth, bound float64
		var spent []time.Duration
		full, started, proven := 0, 0, 0
		cfg := sim.NewConfig(nodes)
		r, err := sim.Run(context.Background(), cfg, watched{a, func(s *core.Snapshot, p *core.Plan) {
			if p.Bound == 0 {
				full++
				return
			}
			worth, bound = worth+p.Objective, bound+p.Bound
			spent = append(spent, p.Stats.Elapsed)
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
		slices.Sort(spent)
		t.Logf("%s: %d cycles, in %d of them no job fits, of the others %d are proven; bounds "+
			"%.2f%% above the answers; %v (median), %v (p99), %v (max); up to %d jobs waiting",
			q.workload, r.Cycles, full, proven, 100*(bound/worth-1),
			spent[len(spent)/2].Round(time.Millisecond/10), spent[len(spent)*99/100].Round(time.Millisecond),
			spent[len(spent)-1].Round(time.Millisecond), r.PendingMax)
		require.Less(t, bound/worth, 1.08, q.workload)
	}
}
