// SPDX-License-Identifier: BSD-3-Clause

package core_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/ipmodel/native"
	"github.com/aucsched/aucsched/nodeset"
)

// randomQuotas is a random auction of few jobs, on several nodes each, under quotas.
func randomQuotas(seed uint64) *auction {
	a := randomAuction(seed)
	rng := rand.New(rand.NewPCG(seed, 47))
	a.variants = a.variants[:min(len(a.variants), 8)]
	quotas := 1 + rng.IntN(3)
	q := &a.space.Quotas
	q.Left = [][]int64{nil}
	for range quotas {
		unit := 1 + rng.Int64N(2)
		q.Unit, q.Left[0] = append(q.Unit, unit), append(q.Left[0], rng.Int64N(120))
	}
	for j := range a.variants {
		var charges nodeset.Uses
		for k := range quotas {
			if rng.IntN(3) > 0 {
				charges = append(charges, nodeset.Use{Row: k, PerJob: rng.Int64N(9), PerNode: rng.Int64N(3),
					PerCore: rng.Int64N(2), PerGPU: rng.Int64N(4)})
			}
		}
		if len(charges) > 0 {
			a.variants[j].Spec.Charges = &charges
		}
	}
	var g market.Generator
	g.Generate(&a.space, a.variants, market.Options{MaxBidsPerJob: 6, Drafts: 3}, &a.book)
	return a
}

// bruteOf is the most that bids are worth that fit on the machine and within the quotas, counted
// without any row.
func (a *auction) bruteOf(m *ipmodel.Model) (best int64) {
	left := new(nodeset.Table)
	left.CopyFrom(a.space.Now)
	used := make([]int64, len(a.space.Quotas.Unit))
	charge := func(b int, sign int64) (within bool) {
		within = true
		for _, c := range a.variants[a.book.Bids[b].Job].Spec.Counted() {
			sum := c.PerJob
			for _, s := range a.book.Allocation(b) {
				for range s.Len() {
					sum += c.PerNode + c.PerCore*int64(s.Cores) + c.PerGPU*int64(s.GPUs)
				}
			}
			unit := a.space.Quotas.Unit[c.Row]
			used[c.Row] += sign * ((sum + unit - 1) / unit)
			within = within && used[c.Row] <= a.space.Quotas.Left[0][c.Row]
		}
		return within
	}
	var branch func(j int, worth int64)
	branch = func(j int, worth int64) {
		if best = max(best, worth); j == len(a.variants) {
			return
		}
		for b := int(a.book.JobStart[j]); b < int(a.book.JobStart[j+1]); b++ {
			if left.Allocate(a.book.Allocation(b)) != nil {
				continue
			}
			if charge(b, 1) {
				branch(j+1, worth+m.Value[b])
			}
			charge(b, -1)
			must(left.Release(a.book.Allocation(b)))
		}
		branch(j+1, worth)
	}
	branch(0, 0)
	return best
}

// Under quotas the model has the optimum of trying all choices of bids.
func TestQuotaRowsAreBruteForce(t *testing.T) {
	race.Slow(t)
	s := native.New()
	var r ipmodel.Result
	binds, windows := 0, race.Fewer(150)
	for seed := range uint64(windows) {
		a := randomQuotas(seed)
		m := a.model(seed%2 == 0)
		want := a.bruteOf(m)
		require.Equal(t, want, brute(m), "window %d", seed)
		require.NoError(t, s.Solve(context.Background(), m, ipmodel.Options{Seed: seed}, &r))
		require.Equal(t, want, r.Value, "window %d", seed)
		require.GreaterOrEqual(t, r.Bound, want)
		free := *a
		free.space.Quotas = place.Quotas{}
		free.variants = append([]market.Variant(nil), a.variants...)
		for j := range free.variants {
			free.variants[j].Spec.Charges = nil
		}
		if brute(free.model(true)) > want {
			binds++
		}
	}
	require.Greater(t, binds, windows/4)
}
