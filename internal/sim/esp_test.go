// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/test/generate"
	"github.com/aucsched/aucsched/internal/test/race"
)

// A real Slurm 22.05.8 with its backfill scheduler ran the ESP benchmark on 1024 nodes of 8 cores
// and 2 GPUs once. Its figures are another draw from what backfill makes of different seeds here,
// as far as 99 of 100 such draws go: mean ± t x deviation x sqrt(1 + 1/n), t being Student's for
// n-1 degrees of freedom.
func TestESPAgreesWithRealSlurm(t *testing.T) {
	race.Slow(t)
	const n, student = 10, 3.250
	nodes := nodesOf([3]int{1024, 8, 2})
	var runs []*Result
	for seed := range uint64(n) {
		w, err := generate.Generate("gen:esp", nodes, seed+1)
		require.NoError(t, err)
		policy, err := NewBackfill(DefaultBackfill())
		require.NoError(t, err)
		r, err := Run(context.Background(), NewConfig(nodes), policy, w.Jobs)
		require.NoError(t, err)
		runs = append(runs, r)
	}
	for _, c := range []struct {
		name   string
		figure func(*Result) float64
		real   float64
		widest float64 // tolerance, of the figure: more would say nothing
	}{
		{"utilisation", func(r *Result) float64 { return r.CPUUtilization }, 0.889, 0.06},
		{"wait, h", func(r *Result) float64 { return r.WaitMean / 3600 }, 1.71, 0.2},
		{"slowdown", func(r *Result) float64 { return r.SlowdownMean }, 17.6, 0.2},
		{"fragmentation", func(r *Result) float64 { return r.FragmentationMean }, 1.52, 0.1},
		{"spread", func(r *Result) float64 { return r.SpreadMean }, 2.22, 0.4},
	} {
		var m moments
		for _, r := range runs {
			m.add(c.figure(r))
		}
		deviation := m.std() * math.Sqrt(n/(n-1.0))
		tolerance := student * deviation * math.Sqrt(1+1.0/n)
		require.InDelta(t, m.mean, c.real, tolerance, c.name)
		require.Less(t, tolerance, c.widest*c.real, "%s: the seeds differ too much to tell", c.name)
	}
}
