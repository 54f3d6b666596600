// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/race"
)

// The figures of this page are made up.
func TestBackfillPage(t *testing.T) {
	all := []*contest{{Machine: "128x8x2", Workload: "V.1", Target: true},
		{Machine: "128x8x2", Workload: "V.3", Target: true}, {Machine: "1024x8x2", Workload: "esp"}}
	for k, c := range all {
		for range rivals {
			c.Runs = append(c.Runs, nil)
		}
		for seed := range 2 {
			c.Bound = append(c.Bound, 14_400)
			for r := range rivals {
				res := invented("1.NC", r, seed)
				if c.Workload == "V.3" && r == len(rivals)-1 {
					res.FragmentationMean, res.WaitMean = 1, 4000
				}
				res.Runtime += int64(100 * k)
				c.Runs[r] = append(c.Runs[r], res)
			}
		}
	}
	text, err := backfillPage(seedRange{3, 4}, all)
	require.NoError(t, err)
	goldenPage(t, "backfill.golden", text)
}

func TestContestIsDecidedByAllRivals(t *testing.T) {
	race.Slow(t)
	c := contest{Machine: "16x8x2", Workload: "V.2"}
	require.NoError(t, c.decide(context.Background(), seedRange{5, 6}))
	require.Len(t, c.Bound, 2)
	require.Len(t, c.Runs, len(rivals))
	seen := map[float64]bool{}
	for _, runs := range c.Runs {
		for i, r := range runs {
			require.GreaterOrEqual(t, float64(r.Runtime), c.Bound[i]*(1-1e-9))
			require.Empty(t, r.Unrun)
			seen[r.WaitMean] = true
		}
	}
	require.Len(t, seen, 2*len(rivals), "no two runs are the same")

	bad := contest{Machine: "16x8", Workload: "V.2"}
	require.ErrorContains(t, bad.decide(context.Background(), seedRange{1, 1}), "GPU")
}

func TestCriteria(t *testing.T) {
	for i := range criteria {
		m := &criteria[i]
		better, worse := m.better(2, 1)
		require.Equal(t, m.title == "CPU %", better, "%s: only of use there can't be enough", m.title)
		require.Equal(t, m.title != "CPU %", worse)
		better, worse = m.better(1, 1)
		require.False(t, better || worse)
	}
	c := contest{Bound: []float64{100, 200}, Runs: [][]*sim.Result{{{Runtime: 110}, {Runtime: 240}}}}
	require.InDelta(t, 15, c.above(0), 1e-9)
}
