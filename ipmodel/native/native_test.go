// SPDX-License-Identifier: BSD-3-Clause

package native

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/ipmodel"
)

// randomModel draws a packing model of the given sizes.
func randomModel(rng *rand.Rand, groups, perGroup, rows int, required bool) *ipmodel.Model {
	m := &ipmodel.Model{GroupStart: []int32{0}, ColStart: []int32{0}}
	for range rows {
		m.Cap = append(m.Cap, int64(rng.IntN(9)))
	}
	base := int64(1) << rng.IntN(40)
	for range groups {
		for range rng.IntN(perGroup + 1) {
			m.Value = append(m.Value, base+rng.Int64N(base/2+3))
			for r := range rows {
				if rng.IntN(max(3, rows/4)) == 0 {
					m.Row = append(m.Row, int32(r))
					m.Coef = append(m.Coef, int32(1+rng.IntN(5)))
				}
			}
			m.ColStart = append(m.ColStart, int32(len(m.Row)))
		}
		m.GroupStart = append(m.GroupStart, int32(len(m.Value)))
		if required {
			m.Required = append(m.Required, rng.IntN(6) == 0)
		}
	}
	return m
}

// brute enumerates every choice; -1 if no choice serves all required groups.
func brute(m *ipmodel.Model) int64 {
	slack := append([]int64(nil), m.Cap...)
	var try func(g int) int64
	try = func(g int) int64 {
		if g == m.Groups() {
			return 0
		}
		best := int64(-1)
		if !m.IsRequired(g) {
			best = try(g + 1)
		}
		for i := m.GroupStart[g]; i < m.GroupStart[g+1]; i++ {
			ok := true
			for k := m.ColStart[i]; k < m.ColStart[i+1]; k++ {
				slack[m.Row[k]] -= int64(m.Coef[k])
				ok = ok && slack[m.Row[k]] >= 0
			}
			if ok {
				if v := try(g + 1); v >= 0 {
					best = max(best, v+m.Value[i])
				}
			}
			for k := m.ColStart[i]; k < m.ColStart[i+1]; k++ {
				slack[m.Row[k]] += int64(m.Coef[k])
			}
		}
		return best
	}
	return try(0)
}

func TestNativeEqualsBruteForce(t *testing.T) {
	var s solver
	var r ipmodel.Result
	for seed := range uint64(1500) {
		rng := rand.New(rand.NewPCG(seed, 1))
		m := randomModel(rng, 1+rng.IntN(7), 1+rng.IntN(4), 1+rng.IntN(7), seed%3 == 0)
		require.NoError(t, m.Validate())
		want := brute(m)
		require.NoError(t, s.Solve(context.Background(), m, ipmodel.Options{Seed: seed}, &r))
		if want < 0 {
			require.Equal(t, ipmodel.Infeasible, r.Status, "seed %d", seed)
			continue
		}
		require.Equal(t, ipmodel.Optimal, r.Status, "seed %d", seed)
		worth, err := m.Check(r.Chosen)
		require.NoError(t, err, "seed %d", seed)
		require.Equal(t, []int64{want, want, want}, []int64{worth, r.Value, r.Bound}, "seed %d", seed)
	}
}

func TestBoundedSolveIsFeasibleAndBounded(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		rng := rand.New(rand.NewPCG(seed, 2))
		m := randomModel(rng, 6, 4, 6, rapid.Bool().Draw(rt, "required"))
		var r ipmodel.Result
		require.NoError(rt, New().Solve(context.Background(), m,
			ipmodel.Options{Seed: seed, Work: rapid.Int64Range(1, 3000).Draw(rt, "work")}, &r))
		want := brute(m)
		if r.Status == ipmodel.Infeasible {
			require.Negative(rt, want)
			return
		}
		require.GreaterOrEqual(rt, r.Bound, want, "the bound must hold")
		if r.Status == ipmodel.Unknown {
			return
		}
		worth, err := m.Check(r.Chosen)
		require.NoError(rt, err)
		require.Equal(rt, worth, r.Value)
		require.LessOrEqual(rt, worth, want)
		if r.Status == ipmodel.Optimal {
			require.Equal(rt, want, worth)
		}
	})
}

func TestSameSeedSameAnswer(t *testing.T) {
	m := randomModel(rand.New(rand.NewPCG(5, 5)), 60, 8, 40, false)
	o := ipmodel.Options{Seed: 7, Work: 3_000_000}
	var a, b ipmodel.Result
	s := New()
	require.NoError(t, s.Solve(context.Background(), m, o, &a))
	require.NoError(t, s.Solve(context.Background(), randomModel(rand.New(rand.NewPCG(6, 5)), 30, 8, 50, true), o, &b))
	require.NoError(t, s.Solve(context.Background(), m, o, &b), "a solve in between must leave no trace")
	require.Equal(t, a, b)
}

func TestStartIsKept(t *testing.T) {
	m := randomModel(rand.New(rand.NewPCG(9, 5)), 40, 6, 30, false)
	var full, r ipmodel.Result
	require.NoError(t, New().Solve(context.Background(), m, ipmodel.Options{Seed: 1, Work: 20_000_000}, &full))
	require.NoError(t, New().Solve(context.Background(), m, ipmodel.Options{Seed: 2, Work: 1, Start: full.Chosen}, &r))
	require.GreaterOrEqual(t, r.Value, full.Value)
	for _, bad := range [][]int32{{-1}, {1 << 30}, {0, 0}} {
		require.NoError(t, New().Solve(context.Background(), m, ipmodel.Options{Work: 1, Start: bad}, &r))
		_, err := m.Check(r.Chosen)
		require.NoError(t, err, "an infeasible start is ignored")
	}
}

func TestDeadlineAndContext(t *testing.T) {
	m := randomModel(rand.New(rand.NewPCG(11, 5)), 300, 15, 300, false)
	var r ipmodel.Result
	took := func(ctx context.Context, due time.Duration) time.Duration {
		best := time.Hour // others may have the processor for a while, but not each time
		for range 4 {
			begin := time.Now()
			require.NoError(t, New().Solve(ctx, m, ipmodel.Options{Deadline: begin.Add(due)}, &r))
			best = min(best, time.Since(begin))
		}
		return best
	}
	require.Less(t, took(context.Background(), 100*time.Millisecond), 400*time.Millisecond)
	_, err := m.Check(r.Chosen)
	require.NoError(t, err)
	require.Positive(t, r.Value)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.Less(t, took(ctx, time.Hour), 300*time.Millisecond)
	require.Positive(t, r.Value, "even a cancelled solve has its first choice")
}

func TestEmptyModels(t *testing.T) {
	for name, m := range map[string]*ipmodel.Model{
		"nothing":            {},
		"a group, no column": {GroupStart: []int32{0, 0}, ColStart: []int32{0}},
		"no row":             {GroupStart: []int32{0, 2}, ColStart: []int32{0, 0, 0}, Value: []int64{3, 5}},
	} {
		var r ipmodel.Result
		require.NoError(t, m.Validate(), name)
		require.NoError(t, New().Solve(context.Background(), m, ipmodel.Options{}, &r), name)
		require.Equal(t, ipmodel.Optimal, r.Status, name)
		if len(m.Value) == 2 {
			require.Equal(t, []int32{1}, r.Chosen)
		}
	}
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	race.Allocates(t)
	m := randomModel(rand.New(rand.NewPCG(13, 5)), 40, 6, 30, false)
	s, ctx := New(), context.Background()
	var r ipmodel.Result
	o := ipmodel.Options{Work: 400_000}
	require.NoError(t, s.Solve(ctx, m, o, &r))
	require.Zero(t, testing.AllocsPerRun(5, func() {
		if s.Solve(ctx, m, o, &r) != nil {
			t.Fatal("solve failed")
		}
	}))
}

// With a gap, a solve ends sooner, within it.
func TestGapEndsTheSearch(t *testing.T) {
	race.Slow(t)
	sooner := 0
	for seed := range uint64(40) {
		m := windowModel(rand.New(rand.NewPCG(seed, 41)), 60, 40, 8, seed%4 == 0)
		var exact, near ipmodel.Result
		require.NoError(t, New().Solve(context.Background(), m, ipmodel.Options{Work: 40_000_000}, &exact))
		require.NoError(t, New().Solve(context.Background(), m, ipmodel.Options{Work: 40_000_000, Gap: 0.05}, &near))
		if exact.Status == ipmodel.Infeasible || exact.Status == ipmodel.Unknown {
			require.Equal(t, exact.Status, near.Status)
			continue
		}
		worth, err := m.Check(near.Chosen)
		require.NoError(t, err)
		require.Equal(t, worth, near.Value)
		require.GreaterOrEqual(t, near.Bound, exact.Value)
		if near.Work < exact.Work {
			sooner++
			require.True(t, ipmodel.WithinGap(near.Value, near.Bound, 0.05), "%d of %d", near.Value, near.Bound)
		}
	}
	require.Greater(t, sooner, 10)
}
