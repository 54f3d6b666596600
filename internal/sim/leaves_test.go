// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/test/draw"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// Of eight nodes below two leaves two are busy when a job of three comes: with a topology it is
// below one leaf, by the auction as by Slurm's selection; blind policies lay it across.
func TestLeavesOfJobs(t *testing.T) {
	tree := draw.Tree(t, 8, 2)
	job := func(submit int64, nodes int) workload.Job {
		return workload.Job{Job: core.Job{ID: string(rune('a' + submit)), Priority: 1, TimeLimit: 100,
			Request: bids.Request{MinNodes: nodes, TasksPerNode: 4}}, Submit: submit, Duration: 50}
	}
	jobs := []workload.Job{job(0, 2), job(6, 3), job(9, 1)}
	auction, err := core.NewAuction(core.Preset("none"), nil)
	require.NoError(t, err)
	backfill, err := NewBackfill(DefaultBackfill())
	require.NoError(t, err)
	for _, policy := range []core.Policy{auction, backfill} {
		for _, blind := range []bool{false, true} {
			nodes := make([]nodeset.Capacity, 8)
			for n := range nodes {
				nodes[n].Cores = 4
			}
			cfg := NewConfig(nodes)
			cfg.Topology, cfg.Blind = tree, blind
			r, err := Run(t.Context(), cfg, policy, jobs)
			require.NoError(t, err)
			want := &LeafUse{Mean: 1, WideMean: 1, Wide: 2, Whole: 2}
			if blind {
				want = &LeafUse{Mean: 4.0 / 3, WideMean: 1.5, Wide: 2, Whole: 1}
			}
			require.InDelta(t, want.Mean, r.Leaves.Mean, 1e-9, "%s, blind %t", policy.Name(), blind)
			require.InDelta(t, want.WideMean, r.Leaves.WideMean, 1e-9)
			require.Equal(t, []int{want.Wide, want.Whole}, []int{r.Leaves.Wide, r.Leaves.Whole})
		}
	}
}
