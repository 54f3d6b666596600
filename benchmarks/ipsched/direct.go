// SPDX-License-Identifier: BSD-3-Clause

package ipsched

import (
	"fmt"

	"github.com/aucsched/aucsched/benchmarks/intprog"
)

// MaxEntries bounds the size of a program.
const MaxEntries = 1 << 28

// Direct is the program of section III, in whole numbers. Its variables are, in this order, s_j;
// C_j = 2N c_j; and, node by node, x_ij and t_ij of each job. The cost is 2N times the paper's
// objective. Constraint 5 is N_min s_j <= C_j <= N_max s_j, which the paper prints without s_j, so
// that all jobs would have to be selected; constraint 6 is t_ij <= x_ij <= R_i t_ij.
func Direct(p *Problem) (*intprog.Program, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if 10*int64(len(p.Jobs))*int64(len(p.Free)) > MaxEntries {
		return nil, fmt.Errorf("%d jobs on %d nodes are too many for the program as the paper has it", len(p.Jobs), len(p.Free))
	}
	d := &direct{Program: new(intprog.Program), p: p}
	d.addColumns()
	for i, f := range p.Free {
		d.ofNode(fmt.Sprintf("cores_%d", i), int64(f.Cores), func(j int) (int32, int64) { return d.x(i, j), 1 })
	}
	for j := range p.Jobs {
		d.ofJob(j, fmt.Sprintf("request_%d", j), d.s(j), -int64(p.Jobs[j].Cores), d.x, 1)
	}
	for i, f := range p.Free {
		d.ofNode(fmt.Sprintf("gpus_%d", i), int64(f.GPUs), func(j int) (int32, int64) { return d.t(i, j), int64(p.Jobs[j].GPUs) })
	}
	for j := range p.Jobs {
		d.ofJob(j, fmt.Sprintf("packing_%d", j), d.c(j), 1, d.t, -1)
	}
	if !p.NoNodeLimits {
		for j := range p.Jobs {
			low, high := p.nodes(&p.Jobs[j])
			d.between(fmt.Sprintf("least_%d", j), fmt.Sprintf("most_%d", j), d.c(j), d.s(j), int64(low), int64(high))
		}
	}
	for i := range p.Free {
		for j := range p.Jobs {
			low, high := d.coresOn(i, j)
			d.between(fmt.Sprintf("used_%d_%d", i, j), fmt.Sprintf("unused_%d_%d", i, j), d.x(i, j), d.t(i, j), low, high)
		}
	}
	return d.Program, nil
}

// direct builds a program.
type direct struct {
	*intprog.Program
	p *Problem
}

// s, c, x and t are the numbers of the variables.
func (d *direct) s(j int) int32    { return int32(j) }
func (d *direct) c(j int) int32    { return int32(len(d.p.Jobs) + j) }
func (d *direct) x(i, j int) int32 { return int32(2 * (len(d.p.Jobs)*(i+1) + j)) }
func (d *direct) t(i, j int) int32 { return d.x(i, j) + 1 }

func (d *direct) addColumns() {
	for j, job := range d.p.Jobs {
		d.AddColumn(fmt.Sprintf("s_%d", j), job.Worth*d.p.Unit(), 1)
	}
	for j, job := range d.p.Jobs {
		d.AddColumn(fmt.Sprintf("C_%d", j), -job.Worth, int64(len(d.p.Free)))
	}
	for i := range d.p.Free {
		for j := range d.p.Jobs {
			_, high := d.coresOn(i, j)
			d.AddColumn(fmt.Sprintf("x_%d_%d", i, j), 0, high)
			d.AddColumn(fmt.Sprintf("t_%d_%d", i, j), 0, min(high, 1))
		}
	}
}

// coresOn are the least and the most cores that node i can give job j; the most is 0
// if it can give none.
func (d *direct) coresOn(i, j int) (low, high int64) {
	job := &d.p.Jobs[j]
	l, h := job.cores(int(d.p.Free[i].Cores))
	if l > h || !job.Eligible.Has(i) {
		return 1, 0
	}
	return int64(l), int64(h)
}

// ofNode is a row of what the jobs take of a node, constraint 1 or 3.
func (d *direct) ofNode(name string, capacity int64, taken func(j int) (col int32, coef int64)) {
	d.OpenRow(name, intprog.NoLow, capacity)
	for j := range d.p.Jobs {
		d.AddEntry(taken(j))
	}
}

// ofJob is a row that makes what a job has of all nodes equal to what it is to
// have, constraint 2 or 4.
func (d *direct) ofJob(j int, name string, whole int32, of int64, part func(i, j int) int32, each int64) {
	d.OpenRow(name, 0, 0)
	d.AddEntry(whole, of)
	for i := range d.p.Free {
		d.AddEntry(part(i, j), each)
	}
}

// between is a pair of rows low y <= x <= high y, constraint 5 or 6.
func (d *direct) between(least, most string, x, y int32, low, high int64) {
	d.OpenRow(least, 0, intprog.NoHigh)
	d.AddEntry(x, 1)
	d.AddEntry(y, -low)
	d.OpenRow(most, intprog.NoLow, 0)
	d.AddEntry(x, 1)
	d.AddEntry(y, -high)
}
