// SPDX-License-Identifier: BSD-3-Clause

package highs

import (
	"math"

	"github.com/aucsched/aucsched/ipmodel"
)

// program is a model as HiGHS gets it: binary columns, rows lower <= a x <= upper,
// row by row, none empty and none that can't bind. HiGHS minimises cost.
type program struct {
	cost         []float64
	lower, upper []float64
	start, index []int
	value        []float64
}

func newProgram(m *ipmodel.Model, s scaling) *program {
	p := &program{cost: make([]float64, len(m.Value))}
	for i, w := range m.Value {
		p.cost[i] = -s.cost(w)
	}
	for g := range m.Groups() {
		p.addGroup(m, g)
	}
	first, column, coef := byRow(m)
	for r, capacity := range m.Cap {
		p.addRow(column[first[r]:first[r+1]], coef[first[r]:first[r+1]], capacity)
	}
	return p
}

func (p *program) addGroup(m *ipmodel.Model, g int) {
	from, to := m.GroupStart[g], m.GroupStart[g+1]
	lower := math.Inf(-1)
	if m.IsRequired(g) {
		lower = 1
	} else if to-from < 2 {
		return
	}
	p.open(lower, 1)
	for i := from; i < to; i++ {
		p.index, p.value = append(p.index, int(i)), append(p.value, 1)
	}
}

func (p *program) open(lower, upper float64) {
	p.lower, p.upper = append(p.lower, lower), append(p.upper, upper)
	p.start = append(p.start, len(p.index))
}

func (p *program) addRow(column, coef []int32, capacity int64) {
	var sum, divisor int64
	for _, a := range coef {
		sum += int64(a)
		divisor = gcd(divisor, int64(a))
	}
	if sum <= capacity {
		return
	}
	p.open(math.Inf(-1), float64(capacity/divisor))
	for k, i := range column {
		p.index = append(p.index, int(i))
		p.value = append(p.value, float64(int64(coef[k])/divisor))
	}
}

// byRow transposes the entries: those of row r are first[r] to first[r+1]-1.
func byRow(m *ipmodel.Model) (first, column, coef []int32) {
	first = make([]int32, len(m.Cap)+1)
	for _, r := range m.Row {
		first[r+1]++
	}
	for r := range m.Cap {
		first[r+1] += first[r]
	}
	next := append([]int32(nil), first...)
	column, coef = make([]int32, len(m.Row)), make([]int32, len(m.Row))
	for i := range len(m.Value) {
		for k := m.ColStart[i]; k < m.ColStart[i+1]; k++ {
			at := &next[m.Row[k]]
			column[*at], coef[*at] = int32(i), m.Coef[k]
			*at++
		}
	}
	return first, column, coef
}
