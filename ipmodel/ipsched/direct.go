package ipsched

import (
	"fmt"
	"math"
)

// Unbounded is the Upper of a row that has none, and its negative the Lower.
const Unbounded = math.MaxInt64

// Program is an integer program in whole numbers: maximise the sum of Cost x over integers
// Lower <= x <= Upper whose rows RowLower <= a x <= RowUpper hold. Columns are sparse: the entries
// of column k are Row[e], Coef[e] for e in ColStart[k] .. ColStart[k+1]-1, rows ascending.
type Program struct {
	Cost               []int64
	Lower, Upper       []int64
	RowLower, RowUpper []int64
	ColStart           []int32
	Row                []int32
	Coef               []int64
	ColName, RowName   []string
}

// Columns is the number of variables.
func (m *Program) Columns() int { return len(m.Cost) }

// Rows is the number of constraints.
func (m *Program) Rows() int { return len(m.RowLower) }

// PaperSize is the number of variables and of constraints of a window of m jobs on n nodes by
// tables II and III: 2m(1+n) and 2(m+2n+mn).
//
// [Direct] has as many variables; they are m(2+2n) with c_j and m(1+2n) are needed, since c_j is
// but a sum. It has 2(2m+n+mn) rows: constraint 5 is two rows a job, where table III counts two a node,
// and none with NoNodeLimits.
func PaperSize(m, n int) (variables, constraints int) { return 2 * m * (1 + n), 2 * (m + 2*n + m*n) }

// MaxEntries bounds the size of a Program.
const MaxEntries = 1 << 28

// Direct is the program of section III, in whole numbers. Its variables are, in this order, s_j;
// C_j = 2N c_j; and, node by node, x_ij and t_ij of each job. The cost is 2N times the paper's objective.
// Constraint 5 is N_min s_j <= C_j <= N_max s_j, which the paper prints without s_j, so that all jobs
// would have to be selected; constraint 6 is t_ij <= x_ij <= R_i t_ij.
func Direct(p *Problem) (*Program, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if 10*int64(len(p.Jobs))*int64(len(p.Free)) > MaxEntries {
		return nil, fmt.Errorf("%d jobs on %d nodes are too many for the program as the paper has it", len(p.Jobs), len(p.Free))
	}
	b := &direct{Program: &Program{ColStart: []int32{0}}, p: p, n: len(p.Free), m: len(p.Jobs)}
	b.addRows()
	for j := range p.Jobs {
		b.selected(j)
	}
	for j := range p.Jobs {
		b.spread(j)
	}
	for i := range p.Free {
		for j := range p.Jobs {
			b.onNode(i, j)
		}
	}
	return b.Program, nil
}

// direct builds a Program.
type direct struct {
	*Program
	p    *Problem
	n, m int
	// The first row of each constraint, 1 to 6, and then the number of rows.
	first [8]int
}

func (b *direct) addRows() {
	five := 2 * b.m
	if b.p.NoNodeLimits {
		five = 0
	}
	for k, rows := range []int{b.n, b.m, b.n, b.m, five, 2 * b.n * b.m} {
		b.first[k+2] = b.first[k+1] + rows
	}
	for i, f := range b.p.Free {
		b.row(fmt.Sprintf("cores_%d", i), -Unbounded, int64(f.Cores))
	}
	for j := range b.m {
		b.row(fmt.Sprintf("request_%d", j), 0, 0)
	}
	for i, f := range b.p.Free {
		b.row(fmt.Sprintf("gpus_%d", i), -Unbounded, int64(f.GPUs))
	}
	for j := range b.m {
		b.row(fmt.Sprintf("packing_%d", j), 0, 0)
	}
	for j := range five / 2 {
		b.row(fmt.Sprintf("least_%d", j), 0, Unbounded)
		b.row(fmt.Sprintf("most_%d", j), -Unbounded, 0)
	}
	for i := range b.n {
		for j := range b.m {
			b.row(fmt.Sprintf("used_%d_%d", i, j), 0, Unbounded)
			b.row(fmt.Sprintf("unused_%d_%d", i, j), -Unbounded, 0)
		}
	}
}

func (b *direct) row(name string, low, high int64) {
	b.RowName = append(b.RowName, name)
	b.RowLower, b.RowUpper = append(b.RowLower, low), append(b.RowUpper, high)
}

// column ends the column whose entries have been added.
func (b *direct) column(name string, cost, high int64) {
	b.ColName = append(b.ColName, name)
	b.Cost, b.Lower, b.Upper = append(b.Cost, cost), append(b.Lower, 0), append(b.Upper, high)
	b.ColStart = append(b.ColStart, int32(len(b.Row)))
}

// entry adds a coefficient in a constraint's row; the constraint is 1 to 6.
func (b *direct) entry(constraint, row int, coef int64) {
	if coef != 0 {
		b.Row, b.Coef = append(b.Row, int32(b.first[constraint]+row)), append(b.Coef, coef)
	}
}

func (b *direct) selected(j int) {
	job := &b.p.Jobs[j]
	b.entry(2, j, -int64(job.Cores))
	if !b.p.NoNodeLimits {
		low, high := b.p.nodes(job)
		b.entry(5, 2*j, -int64(low))
		b.entry(5, 2*j+1, -int64(high))
	}
	b.column(fmt.Sprintf("s_%d", j), job.Worth*b.p.Unit(), 1)
}

func (b *direct) spread(j int) {
	b.entry(4, j, 1)
	if !b.p.NoNodeLimits {
		b.entry(5, 2*j, 1)
		b.entry(5, 2*j+1, 1)
	}
	b.column(fmt.Sprintf("C_%d", j), -b.p.Jobs[j].Worth, int64(b.n))
}

func (b *direct) onNode(i, j int) {
	job, pair := &b.p.Jobs[j], i*b.m+j
	low, high := job.cores(int(b.p.Free[i].Cores))
	if low > high || !job.Eligible.Has(i) {
		low, high = 1, 0
	}
	b.entry(1, i, 1)
	b.entry(2, j, 1)
	b.entry(6, 2*pair, 1)
	b.entry(6, 2*pair+1, 1)
	b.column(fmt.Sprintf("x_%d_%d", i, j), 0, int64(high))
	b.entry(3, i, int64(job.GPUs))
	b.entry(4, j, -1)
	b.entry(6, 2*pair, -int64(low))
	b.entry(6, 2*pair+1, -int64(high))
	b.column(fmt.Sprintf("t_%d_%d", i, j), 0, int64(min(high, 1)))
}
