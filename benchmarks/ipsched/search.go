// SPDX-License-Identifier: BSD-3-Clause

package ipsched

import (
	"cmp"
	"math"
	"slices"
)

// gene is a job in the order of placing, and the rule by which it is placed.
type gene struct {
	job  int32
	rule rule
	put  bool // it has been placed
}

// search looks for the selection that is worth most.
func (s *Solver) search() {
	s.order = s.order[:0]
	for i, nodes := range s.fewest {
		if nodes > 0 {
			s.order = append(s.order, gene{job: int32(i)})
		}
	}
	if len(s.order) == 0 {
		return
	}
	s.best, s.idle = s.best[:0], 0
	s.begin()
	for !s.over() && s.idle < patience*(len(s.order)+patience/8) {
		s.anneal()
	}
}

// patience is how many orders a job the search tries in vain before it gives up; a few
// more in small windows.
const patience = 60

// begin tries the orders that are likely to be good, by every rule.
func (s *Solver) begin() {
	for _, sorted := range []func(a, b gene) int{s.byChoice, s.byDensity, s.byHardness, s.byWorth} {
		slices.SortStableFunc(s.order, sorted)
		for r := range rules {
			for k := range s.order {
				s.order[k].rule = r
			}
			if s.keep(s.order, s.place(s.order)); s.over() {
				return
			}
		}
	}
}

// byChoice has the jobs first that the relaxation chooses, the hardest of these first.
func (s *Solver) byChoice(a, b gene) int {
	switch x, y := s.chosen[a.job], s.chosen[b.job]; {
	case x && y:
		return s.byHardness(a, b)
	case x:
		return -1
	case y:
		return 1
	}
	return s.byDensity(a, b)
}

// byHardness has jobs first that can be in few places: by GPUs, then by cores on a node, then those
// that need many nodes.
func (s *Solver) byHardness(a, b gene) int {
	x, y := &s.p.Jobs[a.job], &s.p.Jobs[b.job]
	return cmp.Or(cmp.Compare(y.GPUs, x.GPUs), cmp.Compare(y.MinCores, x.MinCores),
		cmp.Compare(y.MinNodes, x.MinNodes), cmp.Compare(y.Cores, x.Cores))
}

// byDensity has jobs first that are worth most a core.
func (s *Solver) byDensity(a, b gene) int {
	x, y := &s.p.Jobs[a.job], &s.p.Jobs[b.job]
	return cmp.Compare(float64(y.Worth)/float64(y.Cores), float64(x.Worth)/float64(x.Cores))
}

func (s *Solver) byWorth(a, b gene) int {
	return cmp.Compare(s.p.Jobs[b.job].Worth, s.p.Jobs[a.job].Worth)
}

// place places the jobs of an order, each if there is room, and returns their worth.
func (s *Solver) place(order []gene) (worth int64) {
	l := &s.placer
	l.copyFrom(&s.machine.cells)
	l.takes = l.takes[:0]
	before := l.work
	for k := range order {
		g := &order[k]
		var nodes int64
		if nodes, g.put = l.place(s.p, g.job, s.machine.bit[g.job], g.rule); g.put {
			worth += s.p.Jobs[g.job].Worth * (s.p.Unit() - nodes)
		}
	}
	s.work += l.work - before + int64(len(order))
	return worth
}

// keep remembers what was just placed if it is the best so far.
func (s *Solver) keep(order []gene, worth int64) {
	s.idle++
	if worth > s.worth || len(s.best) == 0 {
		s.idle = 0
		s.worth, s.best, s.takes = worth, append(s.best[:0], order...), append(s.takes[:0], s.placer.takes...)
	}
}

// Annealing in rounds, each from the best order. What may be lost in a step is in the mean a part
// of the greatest worth of a job, and nothing in the end.
const (
	roundSteps  = 600
	roundWarmth = 1.0 / 64
)

func (s *Solver) anneal() {
	s.order = append(s.order[:0], s.best...)
	now := s.place(s.order)
	var most int64
	for i, nodes := range s.fewest {
		if nodes > 0 {
			most = max(most, s.p.Jobs[i].Worth*s.p.Unit())
		}
	}
	for step := 0; step < roundSteps && !s.over(); step++ {
		cool := 1 - float64(step)/roundSteps
		s.trial = append(s.trial[:0], s.order...)
		s.change(s.trial)
		worth := s.place(s.trial)
		s.keep(s.trial, worth)
		if float64(now-worth) <= roundWarmth*cool*cool*float64(most)*-math.Log(1-s.rng.Float64()) {
			s.order, s.trial, now = s.trial, s.order, worth
		}
	}
}

// change makes another order: a job that waits comes before one that starts, two change places, one
// that starts goes to the end, or a job gets another rule.
func (s *Solver) change(order []gene) {
	n := len(order)
	a, b := s.rng.IntN(n), s.rng.IntN(n)
	switch s.rng.IntN(6) {
	case 0, 1:
		for try := 0; try < 8 && order[a].put; try++ {
			a = s.rng.IntN(n)
		}
		for try := 0; try < 8 && (!order[b].put || b > a); try++ {
			b = s.rng.IntN(n)
		}
		move(order, a, b)
	case 2:
		order[a], order[b] = order[b], order[a]
	case 3:
		for try := 0; try < 8 && !order[a].put; try++ {
			a = s.rng.IntN(n)
		}
		move(order, a, n-1)
	default:
		for try := 0; try < 8 && !order[a].put; try++ {
			a = s.rng.IntN(n)
		}
		order[a].rule = rule(s.rng.IntN(int(rules)))
	}
}

// move moves element a of the order to place b.
func move(order []gene, a, b int) {
	g := order[a]
	if a < b {
		copy(order[a:b], order[a+1:b+1])
	} else {
		copy(order[b+1:a+1], order[b:a])
	}
	order[b] = g
}
