// SPDX-License-Identifier: BSD-3-Clause

//go:build highs

package highs

import (
	"errors"
	"fmt"
	"math"
	"time"

	lanl "github.com/lanl/highs"

	"github.com/aucsched/aucsched/ipmodel"
)

// SolveProgram solves an integer program of any form with HiGHS, in this process: it is for
// tests and measurements, which may abort. It returns HiGHS's best solution, rounded to
// integers, and whether HiGHS holds it for optimal; nil if it knows none by the limit. Worths that
// differ in more than about nine digits are beyond HiGHS's tolerances.
func SolveProgram(p *ipmodel.Program, limit time.Duration) (x []int64, optimal bool, err error) {
	if p.Columns() == 0 || p.Rows() == 0 {
		return nil, false, errors.New("a program without columns or rows is none for HiGHS")
	}
	m := lanl.NewRawModel()
	var lower, upper, cost []float64
	var kinds []lanl.VariableType
	for i := range p.Worth {
		lower, upper = append(lower, 0), append(upper, float64(p.Upper[i]))
		cost, kinds = append(cost, -float64(p.Worth[i])), append(kinds, lanl.IntegerType)
	}
	q := programRows(p)
	for _, err := range []error{
		m.SetBoolOption("output_flag", false),
		m.SetIntOption("threads", 1),
		m.SetFloat64Option("mip_rel_gap", 0),
		m.SetFloat64Option("mip_abs_gap", 0),
		m.SetFloat64Option("time_limit", limit.Seconds()),
		m.AddColumnBounds(lower, upper),
		m.SetColumnCosts(cost),
		m.SetIntegrality(kinds),
		m.AddCompSparseRows(q.lower, q.start, q.index, q.value, q.upper),
	} {
		if status := (lanl.CallStatus{}); errors.As(err, &status) && status.IsWarning() {
			continue
		}
		if err != nil {
			return nil, false, err
		}
	}
	solution, err := m.Solve()
	switch status := (lanl.CallStatus{}); {
	case errors.As(err, &status) && status.IsWarning(): // a limit struck
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("HiGHS failed: %w", err)
	case solution.Status != lanl.Optimal:
		return nil, false, nil
	}
	for _, v := range solution.ColumnPrimal {
		x = append(x, int64(math.Round(v)))
	}
	return x, true, nil
}

func programRows(p *ipmodel.Program) *program {
	q := new(program)
	for r := range p.Low {
		low, high := float64(p.Low[r]), float64(p.High[r])
		if p.Low[r] == ipmodel.NoLow {
			low = math.Inf(-1)
		}
		if p.High[r] == ipmodel.NoHigh {
			high = math.Inf(1)
		}
		q.open(low, high)
		for k := p.RowStart[r]; k < p.RowStart[r+1]; k++ {
			q.index, q.value = append(q.index, int(p.Col[k])), append(q.value, float64(p.Coef[k]))
		}
	}
	return q
}
