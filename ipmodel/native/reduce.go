// SPDX-License-Identifier: BSD-3-Clause

package native

import (
	"github.com/aucsched/aucsched/internal/cycle"
	"github.com/aucsched/aucsched/ipmodel"
)

// problem is a model without what can't matter, in the arrays that the stages
// share. Groups and columns are numbered again.
type problem struct {
	worth    []int64
	group    []int32 // column -> group
	start    []int32 // group -> first column, and one more
	required []bool  // by group
	col      []int32 // column -> first entry, and one more
	row      []int32
	coef     []int64
	cap      []int64
	runs

	orig   []int32 // column -> the model's column
	newCol []int32 // the model's column -> column, or -1
	newRow []int32 // the model's row -> row, or -1
	peak   []int64 // scratch: by model row, sum over groups of the greatest coefficient
	seen   []int64 // scratch: by model row, greatest coefficient of the current group
	begins []bool  // scratch: a column grows from the row before to this
	ends   []bool  // scratch: a column shrinks
	place  []int32 // scratch: by row
	stuck  bool    // a required group has no column that fits

	off cycle.Parts
}

func (p *problem) groups() int  { return len(p.start) - 1 }
func (p *problem) columns() int { return len(p.worth) }
func (p *problem) rows() int    { return len(p.cap) }

// reduce fills p from m. It drops columns that exceed a capacity by themselves or
// are worth nothing, rows that can never bind, and groups without columns.
func (p *problem) reduce(m *ipmodel.Model) {
	p.findBindingRows(m)
	p.worth, p.group, p.start = p.worth[:0], p.group[:0], append(p.start[:0], 0)
	p.required, p.orig = p.required[:0], p.orig[:0]
	p.col, p.row, p.coef = append(p.col[:0], 0), p.row[:0], p.coef[:0]
	p.newCol = append(p.newCol[:0], make([]int32, len(m.Value))...)
	p.stuck = false
	for g := range m.Groups() {
		before := p.columns()
		for i := m.GroupStart[g]; i < m.GroupStart[g+1]; i++ {
			p.newCol[i] = -1
			if !fits(m, i) || (m.Value[i] == 0 && !m.IsRequired(g)) {
				continue
			}
			p.newCol[i] = int32(p.columns())
			p.addColumn(m, i, int32(p.groups()))
		}
		switch {
		case p.columns() > before:
			p.start = append(p.start, int32(p.columns()))
			p.required = append(p.required, m.IsRequired(g))
		case m.IsRequired(g):
			p.stuck = true
		}
	}
	if !p.off.Dominated {
		p.dropDominatedRows()
	}
	p.setRuns()
}

// dropDominatedRows drops rows that another one implies: a neighbour with the same
// columns or more, no smaller coefficients and no more capacity. Where columns are
// intervals of a line, few rows are left: between two of them a column begins and another ends.
func (p *problem) dropDominatedRows() {
	n := p.rows()
	if n == 0 {
		return
	}
	p.begins, p.ends = resize(p.begins, n+1), resize(p.ends, n+1)
	for i := range p.columns() {
		for k := p.col[i]; k < p.col[i+1]; k++ {
			r := p.row[k]
			if k == p.col[i] || p.row[k-1] != r-1 || p.coef[k-1] < p.coef[k] {
				p.begins[r] = true
			}
			if k+1 == p.col[i+1] || p.row[k+1] != r+1 || p.coef[k+1] < p.coef[k] {
				p.ends[r+1] = true
			}
		}
	}
	p.place = resize(p.place, n) // row -> its new number, or -1
	keep, begins, ends := 0, false, false
	for r := 1; r < n; r++ {
		begins, ends = begins || p.begins[r], ends || p.ends[r]
		switch {
		case !begins && p.cap[keep] <= p.cap[r]:
			p.place[r] = -1
			continue
		case !ends && p.cap[r] <= p.cap[keep]:
			p.place[keep] = -1
		}
		keep, begins, ends = r, false, false
	}
	p.renumberRows()
}

// renumberRows takes the rows out whose place is -1.
func (p *problem) renumberRows() {
	left := int32(0)
	for r, c := range p.cap {
		if p.place[r] >= 0 {
			p.cap[left], p.place[r] = c, left
			left++
		}
	}
	p.cap = p.cap[:left]
	to, from := int32(0), int32(0)
	for i := range p.columns() {
		end := p.col[i+1]
		for ; from < end; from++ {
			if r := p.place[p.row[from]]; r >= 0 {
				p.row[to], p.coef[to] = r, p.coef[from]
				to++
			}
		}
		p.col[i+1] = to
	}
	p.row, p.coef = p.row[:to], p.coef[:to]
	for m, r := range p.newRow {
		if r >= 0 {
			p.newRow[m] = p.place[r]
		}
	}
}

func fits(m *ipmodel.Model, i int32) bool {
	for k := m.ColStart[i]; k < m.ColStart[i+1]; k++ {
		if int64(m.Coef[k]) > m.Cap[m.Row[k]] {
			return false
		}
	}
	return true
}

// findBindingRows keeps the rows in which the groups' greatest coefficients, of
// columns that fit, add up to more than the capacity.
func (p *problem) findBindingRows(m *ipmodel.Model) {
	p.peak = append(p.peak[:0], make([]int64, len(m.Cap))...)
	p.seen = append(p.seen[:0], make([]int64, len(m.Cap))...)
	for g := range m.Groups() {
		for i := m.GroupStart[g]; i < m.GroupStart[g+1]; i++ {
			if !fits(m, i) {
				continue
			}
			for k := m.ColStart[i]; k < m.ColStart[i+1]; k++ {
				r, c := m.Row[k], int64(m.Coef[k])
				if c > p.seen[r] {
					p.peak[r] += c - p.seen[r]
					p.seen[r] = c
				}
			}
		}
		for k := m.ColStart[m.GroupStart[g]]; k < m.ColStart[m.GroupStart[g+1]]; k++ {
			p.seen[m.Row[k]] = 0
		}
	}
	p.newRow, p.cap = p.newRow[:0], p.cap[:0]
	for r, c := range m.Cap {
		if p.peak[r] <= c {
			p.newRow = append(p.newRow, -1)
			continue
		}
		p.newRow = append(p.newRow, int32(len(p.cap)))
		p.cap = append(p.cap, c)
	}
}

func (p *problem) addColumn(m *ipmodel.Model, i, g int32) {
	p.worth = append(p.worth, m.Value[i])
	p.group = append(p.group, g)
	p.orig = append(p.orig, i)
	for k := m.ColStart[i]; k < m.ColStart[i+1]; k++ {
		if r := p.newRow[m.Row[k]]; r >= 0 {
			p.row = append(p.row, r)
			p.coef = append(p.coef, int64(m.Coef[k]))
		}
	}
	p.col = append(p.col, int32(len(p.row)))
}

// resize makes s n zeros long.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// runs are the columns of a problem as runs of neighbouring rows with one coefficient. A bid is
// a few of them, however many nodes it takes. With the running sum of a vector over the rows its
// product with a column takes that many steps.
type runs struct {
	run      []int32 // by column: first run, and one more
	runFirst []int32
	runEnd   []int32 // one past the last row
	runCoef  []float64
}

// setRuns finds the runs of p's columns.
func (p *problem) setRuns() {
	p.run, p.runFirst, p.runEnd, p.runCoef = append(p.run[:0], 0), p.runFirst[:0], p.runEnd[:0], p.runCoef[:0]
	for i := range p.columns() {
		for k := p.col[i]; k < p.col[i+1]; k++ {
			at := len(p.runEnd) - 1
			if k > p.col[i] && p.runEnd[at] == p.row[k] && p.coef[k] == p.coef[k-1] {
				p.runEnd[at]++
				continue
			}
			p.runFirst = append(p.runFirst, p.row[k])
			p.runEnd = append(p.runEnd, p.row[k]+1)
			p.runCoef = append(p.runCoef, float64(p.coef[k]))
		}
		p.run = append(p.run, int32(len(p.runFirst)))
	}
}
