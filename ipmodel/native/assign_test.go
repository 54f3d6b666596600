// SPDX-License-Identifier: BSD-3-Clause

package native

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/ipmodel"
)

// assignmentModel draws a model in which a column takes room in one row or in none, and all columns
// of a row as much. Few worths differ, so that many choices are best.
func assignmentModel(rng *rand.Rand, groups, rows int, required bool) *ipmodel.Model {
	m := &ipmodel.Model{GroupStart: []int32{0}, ColStart: []int32{0}}
	need := make([]int32, rows)
	for r := range rows {
		need[r] = int32(1 + rng.IntN(3))
		m.Cap = append(m.Cap, int64(rng.IntN(7)))
	}
	worths := 1 + rng.Int64N(20)
	for range groups {
		base := int64(1) << (30 + rng.IntN(3))
		for range 1 + rng.IntN(2*rows) {
			m.Value = append(m.Value, base+rng.Int64N(worths))
			if r := rng.IntN(rows + 1); r < rows {
				m.Row, m.Coef = append(m.Row, int32(r)), append(m.Coef, need[r])
			}
			m.ColStart = append(m.ColStart, int32(len(m.Row)))
		}
		m.GroupStart = append(m.GroupStart, int32(len(m.Value)))
		if required {
			m.Required = append(m.Required, rng.IntN(groups) == 0)
		}
	}
	return m
}

func TestAssignmentsEqualBruteForce(t *testing.T) {
	s, settled := New().(*solver), 0
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		m := assignmentModel(rng, rapid.IntRange(1, 6).Draw(t, "groups"), rapid.IntRange(1, 4).Draw(t, "rows"), rapid.Bool().Draw(t, "required"))
		var r, again ipmodel.Result
		require.NoError(t, s.Solve(context.Background(), m, ipmodel.Options{}, &r))
		want := brute(m)
		if want < 0 {
			require.Equal(t, ipmodel.Infeasible, r.Status)
			return
		}
		worth, err := m.Check(r.Chosen)
		require.NoError(t, err)
		require.Equal(t, []int64{want, want, want}, []int64{worth, r.Value, r.Bound})
		if s.proof.priced || s.p.groups() == 0 {
			return // it was not an assignment as reduced, or required groups had to be found a place
		}
		settled++
		require.NoError(t, s.Solve(context.Background(), m, ipmodel.Options{Start: r.Chosen}, &again))
		require.Equal(t, r.Chosen, again.Chosen, "a best choice is kept")
	})
	require.Positive(t, settled)
}

// The prices of an assignment prove by themselves that its choice is best, however large it is.
func TestAssignmentsAreProvenByPrices(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 4))
		m := assignmentModel(rng, 200, 2+rng.IntN(30), false)
		for r := range m.Cap { // which so many columns fill without a rest
			m.Cap[r] = 6 * (m.Cap[r] + 1)
		}
		var r ipmodel.Result
		require.NoError(t, New().Solve(context.Background(), m, ipmodel.Options{Work: 4_000_000}, &r))
		require.Equal(t, ipmodel.Optimal, r.Status)
		_, err := m.Check(r.Chosen)
		require.NoError(t, err)
		bound := 0.0
		for row, c := range m.Cap {
			require.GreaterOrEqual(t, r.Prices[row], 0.0)
			bound += r.Prices[row] * float64(c)
		}
		for g := range m.Groups() {
			best := 0.0
			for i := m.GroupStart[g]; i < m.GroupStart[g+1]; i++ {
				net := float64(m.Value[i])
				for k := m.ColStart[i]; k < m.ColStart[i+1]; k++ {
					net -= r.Prices[m.Row[k]] * float64(m.Coef[k])
				}
				best = max(best, net)
			}
			bound += best
		}
		require.InEpsilon(t, float64(r.Value), bound, 1e-12, "seed %d", seed)
	}
}
