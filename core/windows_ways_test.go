// SPDX-License-Identifier: BSD-3-Clause

package core_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/ipmodel/native"
)

// randomWays is a random auction in which some variants are further ways to meet the job of the
// one before, and some ranges of GPUs may be mixed.
func randomWays(seed uint64) *auction {
	a := randomAuction(seed)
	rng := rand.New(rand.NewPCG(seed, 43))
	for j := range a.variants {
		spec := &a.variants[j].Spec
		spec.MixedGPUs = rng.IntN(2) == 0 && spec.GPUs.PerNode.Min < spec.GPUs.PerNode.Max
		if j > 0 && rng.IntN(2) == 0 {
			a.variants[j].Rank, a.variants[j].Priority = a.variants[j-1].Rank+1, a.variants[j-1].Priority
		}
	}
	for j := 0; j < len(a.variants); j = market.NextJob(a.variants, j) {
		for k := j; k < market.NextJob(a.variants, j); k++ {
			a.variants[k].Of = market.NextJob(a.variants, j) - j
		}
	}
	var g market.Generator
	g.Generate(&a.space, a.variants, market.Options{MaxBidsPerJob: 6, Drafts: 3}, &a.book)
	return a
}

// firstWays is m without the columns of further ways.
func (a *auction) firstWays(m *ipmodel.Model) *ipmodel.Model {
	f := &ipmodel.Model{Scale: m.Scale, GroupStart: []int32{0}, ColStart: []int32{0}, Cap: m.Cap}
	for g := range m.Groups() {
		for i := m.GroupStart[g]; i < m.GroupStart[g+1]; i++ {
			if a.variants[a.book.Bids[i].Job].Rank > 0 {
				continue
			}
			f.Value = append(f.Value, m.Value[i])
			f.Row = append(f.Row, m.Row[m.ColStart[i]:m.ColStart[i+1]]...)
			f.Coef = append(f.Coef, m.Coef[m.ColStart[i]:m.ColStart[i+1]]...)
			f.ColStart = append(f.ColStart, int32(len(f.Row)))
		}
		f.GroupStart = append(f.GroupStart, int32(len(f.Value)))
	}
	return f
}

// A model with alternatives has the optimum of trying all choices of at most one bid a job, and is
// never worth less than without them.
func TestAlternativesAreBruteForce(t *testing.T) {
	s := native.New()
	var r ipmodel.Result
	better, further, windows := 0, 0, race.Fewer(100)
	for seed := range uint64(windows) {
		a := randomWays(seed)
		m := a.model(true)
		require.Equal(t, jobsOf(a.variants), m.Groups())
		want := brute(m)
		require.NoError(t, s.Solve(context.Background(), m, ipmodel.Options{Seed: seed}, &r))
		worth, err := m.Check(r.Chosen)
		require.NoError(t, err, "window %d", seed)
		require.Equal(t, []int64{want, want}, []int64{worth, r.Value}, "window %d", seed)
		taken := map[int32]bool{} // by the job's first variant
		for _, b := range r.Chosen {
			variant := a.book.Bids[b].Job
			job := variant - int32(a.variants[variant].Rank)
			require.False(t, taken[job], "window %d: two bids of a job", seed)
			if taken[job] = true; variant > job {
				further++
			}
		}
		first := a.firstWays(m)
		require.NoError(t, first.Validate())
		without := optimum(t, first)
		require.GreaterOrEqual(t, want, without)
		if want > without {
			better++
		}
	}
	require.Greater(t, better, windows/5)
	require.Greater(t, further, windows/5)
}

// jobsOf is the number of jobs that have variants.
func jobsOf(variants []market.Variant) (n int) {
	for j := 0; j < len(variants); j = market.NextJob(variants, j) {
		n++
	}
	return n
}
