// SPDX-License-Identifier: BSD-3-Clause

package native

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/ipmodel"
)

// loaded is a Solver with a random packing model and a random choice of it. Many of its
// columns are segments; with coarse, there are more coefficients than levels.
func loaded(t require.TestingT, seed uint64, coarse bool) *worker {
	rng := rand.New(rand.NewPCG(seed, 3))
	rows := 1 + rng.IntN(150)
	m := &ipmodel.Model{GroupStart: []int32{0}, ColStart: []int32{0}}
	factor := 1
	if coarse {
		factor = 40
	}
	for range rows {
		m.Cap = append(m.Cap, int64(factor*rng.IntN(9)))
	}
	for range 2 + rng.IntN(12) {
		for range 1 + rng.IntN(5) {
			m.Value = append(m.Value, 1+rng.Int64N(1000))
			coef, stop := 1+rng.IntN(4*factor), rng.IntN(rows)
			for r := rng.IntN(rows); r <= stop; r++ {
				if rng.IntN(20) == 0 {
					coef = 1 + rng.IntN(4*factor)
					continue
				}
				m.Row, m.Coef = append(m.Row, int32(r)), append(m.Coef, int32(coef))
			}
			m.ColStart = append(m.ColStart, int32(len(m.Row)))
		}
		m.GroupStart = append(m.GroupStart, int32(len(m.Value)))
		m.Required = append(m.Required, rng.IntN(5) == 0)
	}
	require.NoError(t, m.Validate())
	s := workerFor(m, seed)
	s.pack.load(&s.p)
	s.setChances()
	for _, i := range rng.Perm(s.p.columns()) {
		if s.pack.pick[s.p.group[i]] < 0 && s.pack.room(int32(i)) && rng.IntN(4) > 0 {
			s.pack.put(&s.p, int32(i))
		}
	}
	return s
}

// workerFor is a worker at the beginning of a solve.
func workerFor(m *ipmodel.Model, seed uint64) *worker {
	var p problem
	p.reduce(m)
	s := new(worker)
	s.begin(context.Background(), &p, ipmodel.Options{Seed: seed}, &clock{now: time.Now})
	return s
}

// requireSound holds all that a packing keeps against what follows from its picks.
func requireSound(t require.TestingT, s *worker) {
	p, k := &s.p, &s.pack
	var twin solution
	twin.clear(p)
	held := make([]map[int32]int64, p.rows())
	for g, i := range k.pick {
		if i < 0 {
			continue
		}
		require.EqualValues(t, g, p.group[i])
		require.True(t, twin.fits(p, i))
		twin.add(p, i)
		for e := p.col[i]; e < p.col[i+1]; e++ {
			if held[p.row[e]] == nil {
				held[p.row[e]] = map[int32]int64{}
			}
			held[p.row[e]][int32(g)] = p.coef[e]
		}
	}
	require.Equal(t, twin.value, k.worth)
	require.Equal(t, twin.missing, k.missing)
	for r := range p.rows() {
		require.Equal(t, twin.slack[r], k.rows[r].slack)
		require.Len(t, k.holders(int32(r)), len(held[r]))
		for _, h := range k.holders(int32(r)) {
			require.Equal(t, held[r][h.group], h.coef)
		}
		for l, coef := range k.level {
			require.Equal(t, coef > twin.slack[r], k.blocked[l*k.words+r>>6]>>(r&63)&1 == 1, "row %d, level %d", r, l)
		}
	}
	for i := range int32(p.columns()) {
		require.Equal(t, twin.fits(p, i), k.room(i), "column %d", i)
	}
}

func TestPackingEqualsRecount(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := loaded(rt, rapid.Uint64().Draw(rt, "seed"), rapid.Bool().Draw(rt, "coarse"))
		requireSound(rt, s)
		for range 20 {
			if s.p.columns() == 0 {
				return
			}
			i := int32(rapid.IntRange(0, s.p.columns()-1).Draw(rt, "column"))
			if g := s.p.group[i]; s.pack.pick[g] >= 0 {
				s.pack.take(&s.p, g)
			} else if s.pack.room(i) {
				s.pack.put(&s.p, i)
			}
		}
		requireSound(rt, s)
		var c solution
		s.pack.save(&c)
		for g := range s.pack.pick {
			if s.pack.pick[g] >= 0 {
				s.pack.take(&s.p, int32(g))
			}
		}
		s.pack.become(&s.p, &c)
		requireSound(rt, s)
		require.Equal(rt, c.value, s.pack.worth)
	})
}

func TestExchangeMakesRoomWithinTheLimit(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := loaded(rt, rapid.Uint64().Draw(rt, "seed"), rapid.Bool().Draw(rt, "coarse"))
		for range 10 {
			if s.p.columns() == 0 {
				return
			}
			i := int32(rapid.IntRange(0, s.p.columns()-1).Draw(rt, "column"))
			g := s.p.group[i]
			if s.pack.pick[g] == i {
				continue
			}
			limit := rapid.Int64Range(0, 3000).Draw(rt, "limit")
			fits, serves := s.pack.room(i), s.p.required[g] && s.pack.pick[g] < 0
			if !s.inTheWay(i, limit) {
				require.False(rt, fits && s.pack.pick[g] < 0, "nothing is in the way")
				continue
			}
			worth, missing, evicted := s.pack.worth, s.pack.missing, 0
			for _, out := range s.pack.out {
				if out != g && s.p.required[out] {
					evicted++
				}
			}
			s.exchange(i)
			requireSound(rt, s)
			require.Equal(rt, i, s.pack.pick[g])
			if serves {
				// Several required groups may make room for one.
				require.Equal(rt, missing-1+evicted, s.pack.missing)
				continue
			}
			require.Zero(rt, evicted, "a required group makes room only for another")
			require.Equal(rt, missing, s.pack.missing)
			require.LessOrEqual(rt, worth+s.p.worth[i]-s.pack.worth, limit)
		}
	})
}

func TestUndoTakesAMoveBack(t *testing.T) {
	repaired := 0
	for seed := range uint64(400) {
		s := loaded(t, seed, seed%2 == 0)
		var before, after solution
		s.pack.save(&before)
		for range 25 {
			i := int32(s.draw(s.p.columns()))
			if s.pack.pick[s.p.group[i]] == i || !s.inTheWay(i, math.MaxInt64) {
				continue
			}
			s.exchange(i)
			steps := len(s.log)
			s.repair()
			requireSound(t, s)
			if len(s.log) > steps {
				repaired++
			}
			s.undo()
			requireSound(t, s)
			s.pack.save(&after)
			require.Equal(t, before, after)
		}
	}
	require.Greater(t, repaired, 50, "the repairs must have had something to do")
}

func TestAnnealingAloneFindsTheOptimum(t *testing.T) {
	race.Slow(t)
	models, met := 0, 0
	for seed := range uint64(120) {
		rng := rand.New(rand.NewPCG(seed, 4))
		m := randomModel(rng, 7, 4, 7, seed%3 == 0)
		want := brute(m)
		if want <= 0 {
			continue
		}
		s := workerFor(m, seed)
		s.pack.load(&s.p)
		s.setChances()
		s.construct(&s.best)
		s.anneal(firstRun)
		models++
		if s.best.missing == 0 && s.best.value == want {
			met++
		}
	}
	require.Greater(t, models, 80)
	require.GreaterOrEqual(t, 100*met, 98*models, "%d of %d optima", met, models)
}

func TestChancesAreExponential(t *testing.T) {
	var s worker
	s.setChances()
	sum, above := 0.0, 0
	for n, c := range s.chance {
		require.Positive(t, c)
		if n > 0 {
			require.Less(t, c, s.chance[n-1])
		}
		sum += c
		if c > 1 {
			above++
		}
	}
	n := float64(len(s.chance))
	require.InDelta(t, 1, sum/n, 1e-9)
	require.InDelta(t, math.Exp(-1), float64(above)/n, 2/n)
}
