package ipsched

import (
	"context"
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/ipmodel"
)

// relaxation is the window with the machine taken as a few sums: each job on the fewest nodes that
// could hold it, were it alone. Its optimum is no less than the problem's: more nodes cost worth
// and give no row more room.
type relaxation struct {
	model  ipmodel.Model
	result ipmodel.Result
	rows   []row
	jobs   []int32 // by group of the model
	levels []int
}

// row is one of the sums. What a job needs of it, on all its nodes, is at most what the nodes have.
type row struct {
	kind  rowKind
	level int
}

type rowKind uint8

const (
	coresOfLevel rowKind = iota // cores, of nodes and for jobs with at least level GPUs
	gpusByLevel                 // GPUs, in lots of level
	coresByLevel                // cores, in lots of level, for jobs with at least so many on each node
	coresOfMask                 // cores, of nodes in mask level and for jobs with that mask
)

// has is what a node of a cell has of the row.
func (r row) has(c *cell) int64 {
	switch {
	case r.kind == coresOfLevel && int(c.gpus) >= r.level, r.kind == coresOfMask && c.suits(r.level):
		return int64(c.cores)
	case r.kind == gpusByLevel:
		return int64(int(c.gpus) / r.level)
	case r.kind == coresByLevel:
		return int64(int(c.cores) / r.level)
	}
	return 0
}

// needs is what a job on that many nodes needs of the row.
func (r row) needs(j *Job, bit int, nodes int64) int64 {
	switch {
	case r.kind == coresOfLevel && j.GPUs >= r.level, r.kind == coresOfMask && bit == r.level:
		return int64(j.Cores)
	case r.kind == gpusByLevel:
		return int64(j.GPUs/r.level) * nodes
	case r.kind == coresByLevel:
		return int64(j.MinCores/r.level) * nodes
	}
	return 0
}

// maxLots bounds the rows of kind coresByLevel.
const maxLots = 16

// build makes the model; fewest has for each job the fewest nodes, or 0 for jobs that can't start.
func (x *relaxation) build(p *Problem, m *machine, fewest []int64) error {
	x.chooseRows(p, m)
	d := &x.model
	*d = ipmodel.Model{Worth: d.Worth[:0], Scale: 1, GroupStart: append(d.GroupStart[:0], 0), ColStart: append(d.ColStart[:0], 0),
		Row: d.Row[:0], Coef: d.Coef[:0], Cap: d.Cap[:0]}
	for _, r := range x.rows {
		var has int64
		for k := range m.list {
			has += r.has(&m.list[k]) * int64(m.list[k].nodes)
		}
		d.Cap = append(d.Cap, has)
	}
	x.jobs = x.jobs[:0]
	for i := range p.Jobs {
		j := &p.Jobs[i]
		if fewest[i] == 0 {
			continue
		}
		x.jobs = append(x.jobs, int32(i))
		for k, r := range x.rows {
			if need := r.needs(j, m.bit[i], fewest[i]); need > 0 {
				d.Row, d.Coef = append(d.Row, int32(k)), append(d.Coef, int32(need))
			}
		}
		d.Worth = append(d.Worth, j.Worth*(p.Unit()-fewest[i]))
		d.ColStart, d.GroupStart = append(d.ColStart, int32(len(d.Row))), append(d.GroupStart, int32(len(d.Worth)))
	}
	return d.Validate()
}

func (x *relaxation) chooseRows(p *Problem, m *machine) {
	x.rows = append(x.rows[:0], row{coresOfLevel, 0})
	for _, g := range x.distinct(p, func(j *Job) int { return j.GPUs }) {
		if g > 0 {
			x.rows = append(x.rows, row{coresOfLevel, g}, row{gpusByLevel, g})
		}
	}
	lots := 0
	for _, c := range x.distinct(p, func(j *Job) int { return j.MinCores }) {
		if c > 1 && lots < maxLots {
			lots++
			x.rows = append(x.rows, row{coresByLevel, c})
		}
	}
	for k := range m.masks.known {
		x.rows = append(x.rows, row{coresOfMask, k + 1})
	}
}

// distinct are the different values of a number of the jobs, greatest first.
func (x *relaxation) distinct(p *Problem, of func(*Job) int) []int {
	x.levels = x.levels[:0]
	for i := range p.Jobs {
		x.levels = append(x.levels, of(&p.Jobs[i]))
	}
	slices.Sort(x.levels)
	x.levels = slices.Compact(x.levels)
	slices.Reverse(x.levels)
	return x.levels
}

// solve bounds the worth; the choice is worth trying first.
func (x *relaxation) solve(ctx context.Context, s ipmodel.Solver, o ipmodel.Options) error {
	if err := s.Solve(ctx, &x.model, o, &x.result); err != nil {
		return fmt.Errorf("relaxation: %w", err)
	}
	return nil
}
