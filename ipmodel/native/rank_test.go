// SPDX-License-Identifier: BSD-3-Clause

package native

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The dumb twin adds every column's prices up entry by entry.
func TestColumnsAreRankedByWhatTheyMiss(t *testing.T) {
	ordered := 0
	rapid.Check(t, func(rt *rapid.T) {
		s := loaded(rt, rapid.Uint64().Draw(rt, "seed"), rapid.Bool().Draw(rt, "coarse"))
		p := &s.p
		if p.columns() == 0 {
			return
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "prices"), 5))
		for r := range s.prices.best {
			s.prices.best[r] = float64(1 + rng.IntN(64)) // whole, so that sums are exact
		}
		s.rank.stale = true
		s.rankColumns()
		if p.rows() == 0 {
			return // nor prices
		}
		miss := make([]float64, p.columns())
		for g := range p.groups() {
			top := 0.0
			if p.required[g] {
				top = math.Inf(-1)
			}
			for i := p.start[g]; i < p.start[g+1]; i++ {
				miss[i] = float64(p.worth[i])
				for e := p.col[i]; e < p.col[i+1]; e++ {
					miss[i] -= float64(p.coef[e]) * s.prices.best[p.row[e]]
				}
				top = max(top, miss[i])
			}
			for i := p.start[g]; i < p.start[g+1]; i++ {
				miss[i] -= top
			}
		}
		require.Equal(rt, miss, s.rank.miss)
		falling := func(cols []int32) {
			for n := 1; n < len(cols); n++ {
				require.GreaterOrEqual(rt, miss[cols[n-1]], miss[cols[n]])
			}
			if !slices.IsSorted(cols) {
				ordered++
			}
		}
		falling(s.rank.cols)
		all := slices.Sorted(slices.Values(s.rank.cols))
		for i := range p.columns() {
			require.EqualValues(rt, i, all[i])
		}
		require.Len(rt, all, p.columns())
		held := make([][]int32, p.rows())
		for i := range p.columns() {
			for _, r := range p.row[p.col[i]:p.col[i+1]] {
				held[r] = append(held[r], int32(i))
			}
		}
		for r := range held {
			cols := s.pack.columnsOf(int32(r))
			falling(cols)
			require.ElementsMatch(rt, held[r], cols)
		}
		requireSound(rt, s)
	})
	require.Positive(t, ordered, "some order must differ from that of the columns")
}

func TestEarlyColumnsAreDrawnMoreOften(t *testing.T) {
	require.Equal(t, 0, early(0, 7))
	require.Equal(t, 6, early(1<<32-1, 7))
	require.Equal(t, 1<<20-1, early(1<<32-1, 1<<20))
	const n, draws = 10, 1 << 16
	var count [n]int
	for u := range uint64(draws) {
		count[early(u<<16, n)]++
	}
	below := 0
	for i, c := range count {
		below += c
		require.InDelta(t, math.Sqrt(float64(i+1)/n), float64(below)/draws, 1e-3)
	}
}

// The prices that the proof finds have to get to the search, once they are new.
func TestSearchTakesThePricesOfTheProof(t *testing.T) {
	var s solver
	m := randomModel(rand.New(rand.NewPCG(5, 5)), 60, 8, 40, false)
	s.p.reduce(m)
	s.search = *workerFor(m, 1)
	s.proof = *workerFor(m, 1)
	s.search.rank.stale = false
	s.exchange()
	require.False(t, s.search.rank.stale, "nothing is new yet")
	before := s.proof.prices.bound
	s.proof.descend(1 << 18)
	require.Less(t, s.proof.prices.bound, before)
	s.exchange()
	require.True(t, s.search.rank.stale)
	require.Equal(t, s.proof.prices.best, s.search.prices.best)
	require.Positive(t, slices.Max(s.search.prices.best))
}

func TestColumnsThatGetInComeToTheFront(t *testing.T) {
	const n, good = 400, 317
	k := ranking{}
	for i := range int32(n) {
		k.cols = append(k.cols, i)
	}
	k.promote(-1)
	k.demote(-1)
	k.promote(0)
	k.demote(n - 1)
	require.True(t, slices.IsSorted(k.cols), "these have nowhere to go")
	rng := rand.New(rand.NewPCG(1, 6))
	sum := 0
	const tries = 200_000
	for range tries {
		at := early(uint64(rng.Uint32()), n)
		if k.cols[at] == good {
			k.promote(at)
		} else {
			k.demote(at)
		}
		sum += slices.Index(k.cols, good)
	}
	require.Less(t, sum/tries, n/20, "places from the front, in the mean")
	slices.Sort(k.cols)
	for i, c := range k.cols {
		require.EqualValues(t, i, c, "none may get lost")
	}
}

func TestWithoutPricesColumnsAreShuffled(t *testing.T) {
	s := workerFor(randomModel(rand.New(rand.NewPCG(5, 5)), 60, 8, 40, false), 1)
	s.pack.load(&s.p)
	rows := slices.Clone(s.pack.rowCol)
	s.rankColumns()
	require.Equal(t, rows, s.pack.rowCol, "the rows keep their order")
	require.False(t, slices.IsSorted(s.rank.cols))
	require.Len(t, s.rank.cols, s.p.columns())
	slices.Sort(s.rank.cols)
	for i, c := range s.rank.cols {
		require.EqualValues(t, i, c, "none may get lost")
	}
}
