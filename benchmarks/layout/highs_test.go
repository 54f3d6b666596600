// SPDX-License-Identifier: BSD-3-Clause

//go:build highs

package layout

import (
	"context"
	"errors"
	"math"
	"testing"

	lanl "github.com/lanl/highs"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "github.com/aucsched/aucsched/benchmarks/highs" // HiGHS's constants
	"github.com/aucsched/aucsched/benchmarks/intprog"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/ipmodel/native"
)

// byHiGHS is HiGHS's optimum, or nil if there is none. Worths that differ in more than about nine
// digits are beyond its tolerances.
func byHiGHS(t *rapid.T, p *intprog.Program) (x []int64) {
	m := lanl.NewRawModel()
	var upper, cost []float64
	var kinds []lanl.VariableType
	for i := range p.Worth {
		upper, cost = append(upper, float64(p.Upper[i])), append(cost, -float64(p.Worth[i]))
		kinds = append(kinds, lanl.IntegerType)
	}
	low, high := make([]float64, p.Rows()), make([]float64, p.Rows())
	for r := range p.Low {
		if low[r] = float64(p.Low[r]); p.Low[r] == intprog.NoLow {
			low[r] = math.Inf(-1)
		}
		if high[r] = float64(p.High[r]); p.High[r] == intprog.NoHigh {
			high[r] = math.Inf(1)
		}
	}
	var start, index []int
	var value []float64
	for r := range p.Low {
		start = append(start, int(p.RowStart[r]))
	}
	for k, col := range p.Col {
		index, value = append(index, int(col)), append(value, float64(p.Coef[k]))
	}
	for _, err := range []error{
		m.SetBoolOption("output_flag", false), m.SetIntOption("threads", 1),
		m.SetFloat64Option("mip_rel_gap", 0), m.SetFloat64Option("mip_abs_gap", 0),
		m.AddColumnBounds(make([]float64, p.Columns()), upper), m.SetColumnCosts(cost), m.SetIntegrality(kinds),
		m.AddCompSparseRows(low, start, index, value, high),
	} {
		if status := (lanl.CallStatus{}); !errors.As(err, &status) || !status.IsWarning() {
			require.NoError(t, err)
		}
	}
	solution, err := m.Solve()
	require.NoError(t, err)
	if solution.Status != lanl.Optimal {
		return nil
	}
	for _, v := range solution.ColumnPrimal {
		x = append(x, int64(math.Round(v)))
	}
	return x
}

// On windows beyond enumeration the answer is HiGHS's, which gets the program written out.
func TestAnswersAsHiGHSDoes(t *testing.T) {
	stronger := 0
	rapid.Check(t, func(t *rapid.T) {
		m := drawWindow(t, 12, 10, 5)
		for i, b := range m.book.Bids { // worths that floating point tells apart
			m.model.Value[i] = 1000*m.Variants[b.Job].Priority + int64(100*b.Preference)
		}
		d := m.direct(t)
		if d.Columns() == 0 {
			return
		}
		var r Result
		require.NoError(t, New(native.New()).Solve(context.Background(), &m.Window, ipmodel.Options{Seed: 1}, &r))
		x := byHiGHS(t, &d.Program)
		if x == nil {
			require.Equal(t, ipmodel.Infeasible, r.Status)
			return
		}
		worth, err := d.Check(x)
		require.NoError(t, err)
		require.Equal(t, ipmodel.Optimal, r.Status)
		require.Equal(t, worth, r.Value)
		m.judge(t, d, &r)
		if r.Value > r.FixedWorth {
			stronger++
		}
	})
	t.Logf("worth more than fixed layouts in %d windows", stronger)
}
