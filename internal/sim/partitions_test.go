// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/slurm/selection"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// within has a job use only the nodes from first to last.
func within(j workload.Job, first, last int) workload.Job {
	j.Eligible = nodeset.NewMask(6)
	for n := first; n <= last; n++ {
		j.Eligible.Set(n)
	}
	return j
}

// A job that waits keeps its partition's nodes from what the main scheduler starts, and no others;
// backfill, which has a pass every 30 s here, keeps just what it reserves.
func TestMainSchedulerStopsByPartition(t *testing.T) {
	for name, c := range map[string]struct {
		waits [2]int // nodes of the job that waits, for 3 cores of which 2 are taken
		comes workload.Job
		want  int64
	}{
		"another partition":                {[2]int{0, 2}, within(jobOf(3, bids.Request{Cores: 3}, 6, 50, 60), 3, 5), 6},
		"the same":                         {[2]int{0, 2}, within(jobOf(3, bids.Request{Cores: 1}, 6, 50, 60), 0, 2), 30},
		"one of which some nodes are left": {[2]int{0, 2}, within(jobOf(3, bids.Request{Cores: 3}, 6, 50, 60), 1, 5), 6},
		"too few of them":                  {[2]int{0, 2}, within(jobOf(3, bids.Request{Cores: 3}, 6, 50, 60), 1, 4), 30},
		"all nodes":                        {[2]int{0, 5}, within(jobOf(3, bids.Request{Cores: 1}, 6, 50, 60), 3, 5), 30},
	} {
		t.Run(name, func(t *testing.T) {
			waits := within(jobOf(2, bids.Request{Cores: c.waits[1] - c.waits[0] + 1}, 1, 100, 100), c.waits[0], c.waits[1])
			cfg := NewConfig(nodesOf([3]int{6, 1, 0}))
			cfg.Interval = 1
			got, _ := recordsWith(t, cfg, backfill(t, func(o *BackfillOptions) { o.Interval = 30 }), []workload.Job{
				within(jobOf(1, bids.Request{Cores: 2}, 0, 300, 300), 0, 1), waits, c.comes})
			require.Equal(t, []int64{c.want, 300}, []int64{got["J3"].Start, got["J2"].Start})
		})
	}
}

// The main scheduler alone, by plain sets of nodes.
func TestMainSchedulerIsPlain(t *testing.T) {
	var sel selection.Selector
	rapid.Check(t, func(t *rapid.T) {
		s := drawState(t)
		b := backfill(t, func(o *BackfillOptions) { o.Interval = 30 })
		b.due = s.Now + 1
		var p core.Plan
		require.NoError(t, b.Decide(context.Background(), s, core.Limits{}, &p))
		started := map[int][]nodeset.Segment{}
		for _, d := range p.Decisions {
			if d.Start {
				started[d.Job] = d.Segs
			}
		}
		idle := place.Idle(s.Nodes)
		kept := map[int]bool{} // by node
		for i, j := range s.Pending {
			open := nodeset.NewMask(s.Nodes.Len())
			for n := range s.Nodes.Len() {
				idle.SetUp(n, s.Nodes.Up(n))
				if !kept[n] {
					open.Set(n)
				}
			}
			segs, ok, err := sel.Select(s.Nodes, &j.Request, open, nil)
			require.NoError(t, err)
			if ok {
				require.Equal(t, segs, started[i], "job %d", i)
				require.NoError(t, s.Nodes.Allocate(segs, j.Uses...))
				continue
			}
			require.NotContains(t, started, i)
			_, ever, err := sel.Select(idle, &j.Request, nil, nil)
			require.NoError(t, err)
			for n := range s.Nodes.Len() {
				kept[n] = kept[n] || ever && j.Eligible.Has(n)
			}
		}
	})
}
