// SPDX-License-Identifier: BSD-3-Clause

// Package intprog holds integer programs of any form, in which the papers' models are written
// down as they are printed.
package intprog

import (
	"fmt"
	"math"
)

// Program is an integer program of any form: maximise the sum of Worth x over integers
// x with 0 <= x <= Upper and Low <= a x <= High for every row. It is what the papers'
// models look like before anything is known about them; the zero Program is empty and
// valid. Nothing here solves large ones: [Program.Enumerate] is for tests, HiGHS and
// other solvers read what [mps.WriteProgram] writes.
type Program struct {
	// Worth, Upper and ColName are by column. Upper is at least 0.
	Worth, Upper []int64
	ColName      []string
	// Low, High and RowName are by row; NoLow and NoHigh are no limits.
	Low, High []int64
	RowName   []string
	// RowStart has an element a row and one more: row r has the entries Col[k], Coef[k]
	// for k in RowStart[r] .. RowStart[r+1]-1, a column at most once.
	RowStart []int32
	Col      []int32
	Coef     []int64
}

// NoLow and NoHigh stand for rows without a lower or an upper limit.
const (
	NoLow  = math.MinInt64
	NoHigh = math.MaxInt64
)

// Columns is the number of variables, Rows that of constraints.
func (p *Program) Columns() int { return len(p.Worth) }

// Rows is the number of constraints; bounds of variables are none.
func (p *Program) Rows() int { return len(p.Low) }

// AddColumn adds a variable and returns its number.
func (p *Program) AddColumn(name string, worth, upper int64) int32 {
	p.Worth, p.Upper, p.ColName = append(p.Worth, worth), append(p.Upper, upper), append(p.ColName, name)
	return int32(len(p.Worth) - 1)
}

// OpenRow adds a row, to which AddEntry adds until the next one.
func (p *Program) OpenRow(name string, low, high int64) {
	if len(p.RowStart) == 0 {
		p.RowStart = append(p.RowStart, 0)
	}
	p.Low, p.High, p.RowName = append(p.Low, low), append(p.High, high), append(p.RowName, name)
	p.RowStart = append(p.RowStart, int32(len(p.Col)))
}

// AddEntry adds an entry to the last row, unless it is 0. The row must not have the column yet.
func (p *Program) AddEntry(col int32, coef int64) {
	if coef == 0 {
		return
	}
	p.Col, p.Coef = append(p.Col, col), append(p.Coef, coef)
	p.RowStart[len(p.RowStart)-1]++
}

// Check is the referee of a solution: it adds everything up and returns the worth, or the
// first variable or row that is out of its limits.
func (p *Program) Check(x []int64) (worth int64, err error) {
	if len(x) != p.Columns() {
		return 0, fmt.Errorf("%d values for %d columns", len(x), p.Columns())
	}
	for i, v := range x {
		if v < 0 || v > p.Upper[i] {
			return 0, fmt.Errorf("column %s: %d is outside 0-%d", p.ColName[i], v, p.Upper[i])
		}
		worth += p.Worth[i] * v
	}
	for r := range p.Low {
		var sum int64
		for k := p.RowStart[r]; k < p.RowStart[r+1]; k++ {
			sum += p.Coef[k] * x[p.Col[k]]
		}
		if sum < p.Low[r] || sum > p.High[r] {
			return 0, fmt.Errorf("row %s: %d is out of its limits", p.RowName[r], sum)
		}
	}
	return worth, nil
}

// Enumerate finds a best solution by trying all values of all variables, one variable after
// the other, save where a row can't be met any more. It reports false if there is no
// solution. Time is exponential: it is the twin that solvers are tested against.
func (p *Program) Enumerate() (best []int64, worth int64, ok bool) {
	e := enumeration{p: p, x: make([]int64, p.Columns()), byCol: make([][]int32, p.Columns())}
	for r := range p.Low {
		var most, least int64
		for k := p.RowStart[r]; k < p.RowStart[r+1]; k++ {
			e.byCol[p.Col[k]] = append(e.byCol[p.Col[k]], int32(r), k)
			most += max(0, p.Coef[k]*p.Upper[p.Col[k]])
			least += min(0, p.Coef[k]*p.Upper[p.Col[k]])
		}
		e.most, e.least = append(e.most, most), append(e.least, least)
		if most < p.Low[r] || least > p.High[r] {
			return nil, 0, false
		}
	}
	for i := range p.Worth {
		e.hope += max(0, p.Worth[i]*p.Upper[i])
	}
	e.try(0, 0)
	return e.best, e.worth, e.found
}

// enumeration is one under way: what the rows can still add up to, and the worth that can
// still be hoped for.
type enumeration struct {
	p           *Program
	x           []int64
	byCol       [][]int32 // pairs of a row and an entry
	least, most []int64
	hope        int64
	found       bool
	best        []int64
	worth       int64
}

func (e *enumeration) try(col int, worth int64) {
	if e.found && worth+e.hope <= e.worth {
		return
	}
	if col == len(e.x) {
		e.found, e.best, e.worth = true, append(e.best[:0], e.x...), worth
		return
	}
	p := e.p
	hope := max(0, p.Worth[col]*p.Upper[col])
	e.hope -= hope
	for v := p.Upper[col]; v >= 0; v-- {
		if e.x[col] = v; e.fix(col, v, 1) {
			e.try(col+1, worth+p.Worth[col]*v)
		}
		e.fix(col, v, -1)
	}
	e.hope += hope
}

// fix narrows the rows of a column to its value, or with sign -1 widens them again. It
// reports whether all of them can still be met.
func (e *enumeration) fix(col int, v, sign int64) bool {
	can := true
	for k := 0; k < len(e.byCol[col]); k += 2 {
		r, a := e.byCol[col][k], e.p.Coef[e.byCol[col][k+1]]
		e.most[r] += sign * (a*v - max(0, a*e.p.Upper[col]))
		e.least[r] += sign * (a*v - min(0, a*e.p.Upper[col]))
		can = can && e.most[r] >= e.p.Low[r] && e.least[r] <= e.p.High[r]
	}
	return can
}
