// SPDX-License-Identifier: BSD-3-Clause

package native

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/ipmodel"
)

// windowModel draws a model as auctions have them: a line of nodes with cores and GPUs, jobs
// with bids of one or more segments.
func windowModel(rng *rand.Rand, nodes, jobs, bids int, required bool) *ipmodel.Model {
	m := &ipmodel.Model{GroupStart: []int32{0}, ColStart: []int32{0}}
	cores := 1 + rng.IntN(12)
	for range nodes {
		m.Cap = append(m.Cap, int64(cores-rng.IntN(cores/2+1)))
	}
	for range nodes {
		m.Cap = append(m.Cap, int64(1+rng.IntN(3)))
	}
	worth := int64(1) << rng.IntN(57)
	for j := range jobs {
		need, gpus := int32(1+rng.IntN(cores)), int32(max(0, rng.IntN(5)-2))
		for range rng.IntN(bids + 1) {
			taken := make([]int32, nodes)
			for range 1 + rng.IntN(2) {
				first := rng.IntN(nodes)
				for n := first; n < min(nodes, first+1+rng.IntN(4)); n++ {
					taken[n] = need
				}
			}
			for n, c := range taken {
				if c > 0 {
					m.Row, m.Coef = append(m.Row, int32(n)), append(m.Coef, c)
				}
			}
			for n, c := range taken {
				if c > 0 && gpus > 0 {
					m.Row, m.Coef = append(m.Row, int32(nodes+n)), append(m.Coef, gpus)
				}
			}
			m.ColStart = append(m.ColStart, int32(len(m.Row)))
			m.Value = append(m.Value, worth+rng.Int64N(worth/4+3)-int64(j))
			m.Value[len(m.Value)-1] = max(0, m.Value[len(m.Value)-1])
		}
		m.GroupStart = append(m.GroupStart, int32(len(m.Value)))
		if required {
			m.Required = append(m.Required, rng.IntN(5) == 0)
		}
	}
	return m
}

// choices calls f with every feasible choice of m, required groups not counted.
func choices(m *ipmodel.Model, f func(chosen []int32)) {
	slack := append([]int64(nil), m.Cap...)
	var chosen []int32
	var try func(g int)
	try = func(g int) {
		if g == m.Groups() {
			f(chosen)
			return
		}
		try(g + 1)
		for i := m.GroupStart[g]; i < m.GroupStart[g+1]; i++ {
			ok := true
			for k := m.ColStart[i]; k < m.ColStart[i+1]; k++ {
				slack[m.Row[k]] -= int64(m.Coef[k])
				ok = ok && slack[m.Row[k]] >= 0
			}
			if ok {
				chosen = append(chosen, i)
				try(g + 1)
				chosen = chosen[:len(chosen)-1]
			}
			for k := m.ColStart[i]; k < m.ColStart[i+1]; k++ {
				slack[m.Row[k]] += int64(m.Coef[k])
			}
		}
	}
	try(0)
}

func TestWindowsEqualBruteForce(t *testing.T) {
	race.Slow(t)
	var s solver
	var r ipmodel.Result
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 21))
		m := windowModel(rng, 3+rng.IntN(8), 2+rng.IntN(6), 1+rng.IntN(4), seed%3 == 0)
		require.NoError(t, m.Validate())
		want := brute(m)
		require.NoError(t, s.Solve(context.Background(), m, ipmodel.Options{Seed: seed}, &r))
		if want < 0 {
			require.Equal(t, ipmodel.Infeasible, r.Status, "seed %d", seed)
			continue
		}
		require.Equal(t, ipmodel.Optimal, r.Status, "seed %d", seed)
		require.Equal(t, []int64{want, want}, []int64{r.Value, r.Bound}, "seed %d", seed)
	}
}

// TestEnumerationAloneEqualsBruteForce leaves out the local search, so that the enumeration has to
// find the optimum, and stops it whenever it can be.
func TestEnumerationAloneEqualsBruteForce(t *testing.T) {
	tried := int64(0)
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 22))
		m := windowModel(rng, 4+rng.IntN(9), 4+rng.IntN(6), 2+rng.IntN(4), seed%4 == 0)
		s, want := workerFor(m, seed), brute(m)
		if s.p.stuck {
			require.Negative(t, want)
			continue
		}
		s.prices.descend(&s.p, int(seed%40), 0, func(int) bool { return false })
		for !s.enumerate(1) {
			require.LessOrEqual(t, s.best.value, max(want, 0), "seed %d", seed)
		}
		if want < 0 {
			require.Positive(t, s.best.missing, "seed %d", seed)
			continue
		}
		require.Zero(t, s.best.missing, "seed %d", seed)
		require.Equal(t, want, s.best.value, "seed %d", seed)
		tried += s.nodes
	}
	require.Greater(t, tried, int64(5000), "the models must be hard enough to try several choices")
}

// TestReductionsKeepTheFeasibleChoices enumerates the choices before and after.
func TestReductionsKeepTheFeasibleChoices(t *testing.T) {
	dropped := 0
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 23))
		m := windowModel(rng, 3+rng.IntN(5), 3+rng.IntN(4), 2+rng.IntN(3), false)
		var p problem
		p.reduce(m)
		before := 0
		choices(m, func(chosen []int32) {
			for _, i := range chosen {
				if p.newCol[i] < 0 {
					return // worth nothing
				}
			}
			before++
		})
		after := 0
		r := reduced(&p)
		require.NoError(t, r.Validate())
		choices(r, func([]int32) { after++ })
		require.Equal(t, before, after, "seed %d", seed)
		for row, to := range p.newRow {
			if to < 0 {
				dropped++
				continue
			}
			require.Equal(t, m.Cap[row], p.cap[to])
		}
	}
	require.Greater(t, dropped, 100)
}

// reduced is a problem as a model.
func reduced(p *problem) *ipmodel.Model {
	m := &ipmodel.Model{Value: p.worth, GroupStart: p.start, ColStart: p.col, Row: p.row, Cap: p.cap}
	for _, a := range p.coef {
		m.Coef = append(m.Coef, int32(a))
	}
	return m
}

// TestWorkIsKept looks for solves that do much more work than they may, whatever they are at then.
// A search for cuts is not broken off.
func TestWorkIsKept(t *testing.T) {
	race.Slow(t)
	m := windowModel(rand.New(rand.NewPCG(5, 28)), 1500, 400, 15, false)
	entries := int64(m.ColStart[len(m.Value)])
	for work := int64(200_000); work < 60_000_000; work = work * 3 / 2 {
		var r ipmodel.Result
		require.NoError(t, New().Solve(context.Background(), m, ipmodel.Options{Work: work}, &r))
		require.Less(t, r.Work, work+work/20+400*entries, "of %d", work)
	}
}

// TestBoundOfALargeWindow holds the bound of a stopped solve against the best choice that a
// much longer one finds, and two equal solves against each other.
func TestBoundOfALargeWindow(t *testing.T) {
	m := windowModel(rand.New(rand.NewPCG(4, 27)), 200, 90, 10, false)
	var short, again, long ipmodel.Result
	require.NoError(t, New().Solve(context.Background(), m, ipmodel.Options{Work: 20_000_000}, &short))
	require.NoError(t, New().Solve(context.Background(), m, ipmodel.Options{Work: 20_000_000}, &again))
	require.Equal(t, short, again)
	require.NoError(t, New().Solve(context.Background(), m, ipmodel.Options{Seed: 1, Work: 150_000_000}, &long))
	require.GreaterOrEqual(t, short.Bound, long.Value)
	require.GreaterOrEqual(t, long.Bound, short.Value)
	require.LessOrEqual(t, float64(long.Bound), 1.1*float64(long.Value), "a bound that is worth something")
}
