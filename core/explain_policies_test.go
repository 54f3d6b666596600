// SPDX-License-Identifier: BSD-3-Clause

package core_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/nodeset"
)

func backfill(t *testing.T) core.Policy {
	o := sim.DefaultBackfill()
	o.Estimates = true
	b, err := sim.NewBackfill(o)
	require.NoError(t, err)
	return b
}

// Explanations of a policy of which only the interface is known: each suggestion has the
// job start, with another instance of it.
func TestExplainBackfill(t *testing.T) {
	ctx := context.Background()
	suggestions, kept := 0, 0
	for seed := range uint64(60) {
		s := hide(seed).snapshot
		busy := []nodeset.Segment{{First: 0, Last: int32(s.Nodes.Len() / 3), Cores: s.Nodes.Free(0).Cores}}
		require.NoError(t, s.Nodes.Allocate(busy))
		s.Running = []core.Running{{ID: "R", End: 300, Segs: busy}}
		e, err := core.NewExplainer(ctx, backfill(t), s, core.Limits{})
		require.NoError(t, err)
		for i, job := range s.Pending {
			x, err := e.Explain(ctx, i, core.ExplainOptions{Trials: 60})
			require.NoError(t, err)
			require.Equal(t, float64(job.Priority), x.Worth)
			if x.Kept {
				kept++
				require.Equal(t, x.Decision.Expected, x.Expected)
			}
			for _, c := range x.Suggestions {
				suggestions++
				changed := *s
				changed.Pending = slices.Clone(s.Pending)
				changed.Pending[i] = &c.Job
				var p core.Plan
				require.NoError(t, backfill(t).Decide(ctx, &changed, core.Limits{}, &p))
				require.NoError(t, core.Verify(&changed, &p))
				k := slices.IndexFunc(p.Decisions, func(d core.Decision) bool { return d.Job == i && d.Start })
				require.GreaterOrEqual(t, k, 0, "window %d, job %s: %v", seed, job.ID, c.Changes)
				require.Equal(t, p.Decisions[k].Segs, c.Segs)
			}
		}
	}
	t.Log(suggestions, kept)
	require.Greater(t, suggestions, 60)
	require.Greater(t, kept, 30)
}

// A job that would run into backfill's reservation is told whose it is, and that a
// shorter time limit helps: the longest that does, which for backfill ends before the
// reserved place begins.
func TestExplainBackfillsReservation(t *testing.T) {
	nodes, err := nodeset.NewUniform(2, nodeset.Capacity{Cores: 4})
	require.NoError(t, err)
	busy := []nodeset.Segment{{First: 0, Last: 0, Cores: 4}}
	require.NoError(t, nodes.Allocate(busy))
	job := func(id string, priority int64, nodes int, limit int64) *core.Job {
		j := &core.Job{ID: id, Priority: priority, TimeLimit: limit}
		j.MinNodes, j.MaxNodes, j.TasksPerNode = nodes, nodes, 4
		return j
	}
	s := &core.Snapshot{Nodes: nodes, Running: []core.Running{{ID: "R", End: 600, Segs: busy}},
		Pending: []*core.Job{job("wide", 9, 2, 600), job("long", 8, 1, 3600)}}
	e, err := core.NewExplainer(context.Background(), backfill(t), s, core.Limits{})
	require.NoError(t, err)
	x, err := e.Explain(context.Background(), 1, core.ExplainOptions{Trials: 200})
	require.NoError(t, err)
	require.Equal(t, core.Reserved, x.Why)
	require.Equal(t, []core.Rival{{Role: "reserved", Job: 0, Worth: 9, At: 600}}, x.Rivals)
	require.Equal(t, []core.Change{{Field: "time_limit_s", From: "3600", To: "599"}}, x.Suggestions[0].Changes)
	require.True(t, x.Suggestions[0].Smallest)
}
