// SPDX-License-Identifier: BSD-3-Clause

package peers

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/ipmodel/native"
)

// small is a random window that can be tried out: up to 6 jobs of 3 bids.
func small(seed uint64) *Window {
	r := rand.New(rand.NewPCG(seed, 0))
	m := &ipmodel.Model{Scale: 1, GroupStart: []int32{0}, ColStart: []int32{0}}
	for range 4 {
		m.Cap = append(m.Cap, int64(1+r.IntN(6)))
	}
	for range 1 + r.IntN(6) {
		for range 1 + r.IntN(3) {
			m.Value = append(m.Value, r.Int64N(1<<40))
			for row := range m.Cap {
				if r.IntN(2) == 0 {
					m.Row, m.Coef = append(m.Row, int32(row)), append(m.Coef, int32(1+r.IntN(4)))
				}
			}
			m.ColStart = append(m.ColStart, int32(len(m.Row)))
		}
		m.GroupStart = append(m.GroupStart, int32(len(m.Value)))
	}
	return &Window{Name: fmt.Sprint("small", seed), Model: m}
}

func bruteForce(m *ipmodel.Model) (best int64) {
	chosen := []int32{}
	var try func(g int)
	try = func(g int) {
		if g == m.Groups() {
			if worth, err := m.Check(chosen); err == nil {
				best = max(best, worth)
			}
			return
		}
		try(g + 1)
		for i := m.GroupStart[g]; i < m.GroupStart[g+1]; i++ {
			chosen = append(chosen, i)
			try(g + 1)
			chosen = chosen[:len(chosen)-1]
		}
	}
	try(0)
	return best
}

// Every solver that is here finds what there is to find, and its bound is one.
func TestAnswers(t *testing.T) {
	all := []Peer{Library{Solver: native.New()}}
	for _, find := range []func() (Peer, error){Cbc, Glpk} {
		p, err := find()
		if missing := (*ErrMissing)(nil); errors.As(err, &missing) {
			t.Log(err)
			continue
		}
		require.NoError(t, err)
		all = append(all, p)
	}
	for seed := range uint64(20) {
		w := small(seed)
		require.NoError(t, w.Write(t.TempDir()))
		best := bruteForce(w.Model)
		for _, p := range all {
			a, err := p.Solve(t.Context(), w, 5*time.Second)
			require.NoError(t, err, p.Name())
			require.True(t, a.Optimal, p.Name())
			// In the file costs have 20 bits.
			require.InEpsilon(t, float64(best)+1, float64(a.Worth)+1, 1e-5, "%s on %s", p.Name(), w.Name)
			require.LessOrEqual(t, a.Worth, best)
			require.InEpsilon(t, float64(best)+1, a.Bound+1, 1e-4, "%s on %s", p.Name(), w.Name)
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	m := &ipmodel.Model{Value: []int64{5, 6, 7}, GroupStart: []int32{0, 2, 3},
		ColStart: []int32{0, 1, 2, 3}, Row: []int32{0, 0, 0}, Coef: []int32{1, 1, 2}, Cap: []int64{2}}
	w := &Window{Name: "w", Model: m}
	require.NoError(t, w.Write(t.TempDir()))
	worth, err := w.Check([]string{"c1"})
	require.NoError(t, err)
	require.Equal(t, int64(6), worth)
	for _, names := range [][]string{{"c0", "c1"}, {"c1", "c2"}, {"c3"}, {""}, {"c0", "c0"}} {
		_, err := w.Check(names)
		require.Error(t, err, names)
	}
	bad := &Answer{Worth: 10, Bound: 9}
	require.ErrorContains(t, bad.contradicts(w, "x"), "below the worth")
	require.Equal(t, math.Inf(1), Answer{Bound: 3}.Gap(-1))
}

func TestSolutionFiles(t *testing.T) {
	for _, c := range []struct {
		name string
		read func(string) ([]string, error)
		text string
		want []string
		err  string
	}{
		{"cbc", readCbc,
			"Optimal - objective value -3\n      1 c1   1   -2\n**    2 c2   0.9999999 -1\n      3 c3  1e-9 0\n",
			[]string{"c1", "c2"}, ""},
		{"cbc", readCbc, "Stopped on time - objective value 0\n", []string{}, ""},
		{"cbc", readCbc, "Stopped on time (no integer solution - continuous used) - objective value 1\n 1 c1 0.7 1\n", nil, ""},
		{"cbc", readCbc, "Infeasible - objective value 1\n", nil, ""},
		{"cbc", readCbc, "Optimal - objective value 1\n 1 c1\n", nil, "no line of a solution"},
		{"cbc", readCbc, "Optimal - objective value 1\n 1 c1 x 2\n", nil, "invalid syntax"},
		{"glpk", readGlpk,
			"Status:     INTEGER OPTIMAL\n No. Row name\n 1 r0   1\n\n   No. Column name " +
				"Activity\n---\n 1 c0 * 1 0 1\n 2 c1 * 0 0 1\n", []string{"c0"}, ""},
		{"glpk", readGlpk, "Status:     INTEGER UNDEFINED\n   No. Column name\n 1 c0 * 1 0 1\n", nil, ""},
		{"glpk", readGlpk, "", nil, ""},
		{"glpk", readGlpk, "   No. Column name Activity\n 1 c0 * one 0 1\n", nil, "invalid syntax"},
	} {
		got, err := c.read(c.text)
		if c.err != "" {
			require.ErrorContains(t, err, c.err)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.want, got, "%s: %q", c.name, c.text)
	}
}
