// SPDX-License-Identifier: BSD-3-Clause

package ipsched

import (
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
	needs  []int64 // of each of these, row by row
	levels []int
	parts  parts
}

// row is one of the sums. What jobs need of it is at most what the nodes have.
type row struct {
	kind  rowKind
	level int
	part  part
}

type rowKind uint8

const (
	coresOfPart rowKind = iota // cores of a part of the machine, that jobs can't have elsewhere
	coresOfMask                // cores of nodes in mask level, for jobs with that mask
	gpusByLevel                // GPUs, in lots of level
	// jobs with at least level GPUs: as many as a node has lots of GPUs, and cores
	jobsByLevel
	coresByLevel // cores, in lots of level, for jobs with at least so many on each node
)

// has is what a node of a cell has of the row.
func (r *row) has(c *cell) int64 {
	switch {
	case r.kind == gpusByLevel:
		return int64(int(c.gpus) / r.level)
	case r.kind == jobsByLevel:
		return int64(min(int(c.gpus)/r.level, int(c.cores)))
	case r.kind == coresByLevel:
		return int64(int(c.cores) / r.level)
	case r.kind == coresOfPart && r.part.has(c), r.kind == coresOfMask && c.suits(r.level):
		return int64(c.cores)
	}
	return 0
}

// need is what a job needs of the row on the fewest nodes, or on at most that many; from is what it
// could use, the largest first.
func (x *relaxation) need(r *row, j *Job, bit int, fewest, most int64, list []cell, from []pick) int64 {
	switch {
	case r.kind == gpusByLevel:
		return int64(j.GPUs/r.level) * fewest
	case r.kind == jobsByLevel:
		return int64(min(j.GPUs/r.level, 1)) * fewest
	case r.kind == coresByLevel:
		return int64(j.MinCores/r.level) * fewest
	case r.kind == coresOfPart:
		x.parts.split(r.part, list, from)
		return x.parts.need(int64(j.Cores), most)
	case bit == r.level:
		return int64(j.Cores)
	}
	return 0
}

// maxLots bounds the rows of kind coresByLevel.
const maxLots = 16

// build makes the model; fewest has for each job the fewest nodes, or 0 for jobs that can't start.
// The placer has the whole machine.
func (x *relaxation) build(p *Problem, m *machine, l *placer, fewest []int64) error {
	x.chooseRows(p, m)
	x.jobs, x.needs = x.jobs[:0], x.needs[:0]
	for i := range p.Jobs {
		if fewest[i] == 0 {
			continue
		}
		j := &p.Jobs[i]
		l.candidates(j, m.bit[i])
		sortPicks(l.from, func(a, b *pick) bool { return a.high > b.high })
		_, most := p.nodes(j)
		x.jobs = append(x.jobs, int32(i))
		for k := range x.rows {
			x.needs = append(x.needs, x.need(&x.rows[k], j, m.bit[i], fewest[i],
				int64(min(most, j.Cores/max(j.MinCores, 1))), m.list, l.from))
		}
	}
	x.fill(p, m, fewest)
	return x.model.Validate()
}

// fill makes a model of the needs, without the rows that can't bind.
func (x *relaxation) fill(p *Problem, m *machine, fewest []int64) {
	d := &x.model
	*d = ipmodel.Model{Value: d.Value[:0], Scale: 1, GroupStart: append(d.GroupStart[:0], 0), ColStart: append(d.ColStart[:0], 0),
		Row: d.Row[:0], Coef: d.Coef[:0], Cap: d.Cap[:0]}
	x.levels = x.levels[:0] // by row: its number in the model, or -1
	for k := range x.rows {
		var has, needed int64
		for c := range m.list {
			has += x.rows[k].has(&m.list[c]) * int64(m.list[c].nodes)
		}
		for g := range x.jobs {
			needed += x.needs[g*len(x.rows)+k]
		}
		if needed <= has {
			x.levels = append(x.levels, -1)
			continue
		}
		x.levels = append(x.levels, len(d.Cap))
		d.Cap = append(d.Cap, has)
	}
	for g, i := range x.jobs {
		for k, r := range x.levels {
			if need := x.needs[g*len(x.rows)+k]; r >= 0 && need > 0 {
				d.Row, d.Coef = append(d.Row, int32(r)), append(d.Coef, int32(need))
			}
		}
		d.Value = append(d.Value, p.Jobs[i].Worth*(p.Unit()-fewest[i]))
		d.ColStart, d.GroupStart = append(d.ColStart, int32(len(d.Row))), append(d.GroupStart, int32(len(d.Value)))
	}
}

func (x *relaxation) chooseRows(p *Problem, m *machine) {
	x.rows = append(x.rows[:0], row{})
	lots := 0
	for _, c := range x.distinct(p, func(j *Job) int { return j.MinCores }) {
		if c > 1 && lots < maxLots {
			lots++
			x.rows = append(x.rows, row{kind: coresByLevel, level: c})
		}
	}
	for k := range m.masks.known {
		x.rows = append(x.rows, row{kind: coresOfMask, level: k + 1})
	}
	for _, g := range x.distinct(p, func(j *Job) int { return j.GPUs }) {
		if g > 0 {
			x.rows = append(x.rows, row{kind: gpusByLevel, level: g}, row{kind: jobsByLevel, level: g}, row{part: part{gpus: g}})
		}
	}
	x.levels = levelsOfCores(m.list, x.levels)
	for _, c := range x.levels {
		x.rows = append(x.rows, row{part: part{cores: c}})
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
