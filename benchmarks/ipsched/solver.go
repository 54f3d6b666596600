// SPDX-License-Identifier: BSD-3-Clause

package ipsched

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/ipmodel/native"
	"github.com/aucsched/aucsched/nodeset"
)

// Result is the answer to one call of Solve, which reuses its memory.
type Result struct {
	// Status is ipmodel.Optimal if Worth is Bound, and ipmodel.Feasible otherwise.
	Status ipmodel.Status
	// Worth is what the selected jobs are worth, and Bound an upper bound on what any could be, in
	// units of 1/2N.
	Worth, Bound int64
	// Late says that the deadline or the context has ended the search.
	Late bool
	// Work is the number of units of work done.
	Work int64

	segs  []nodeset.Segment
	start []int32 // by job: its segments are segs[start[j]:end[j]]
	end   []int32
	able  []bool
}

// Segments is what a job gets, ascending; empty if it is not selected. It belongs to the Result and
// is valid until the next Solve.
func (r *Result) Segments(job int) []nodeset.Segment {
	return r.segs[r.start[job]:r.end[job]:r.end[job]]
}

// Able reports whether a job could have been selected, were it alone.
func (r *Result) Able(job int) bool { return r.able[job] }

// Solver answers on whole machines. It keeps scratch memory between calls, no state that changes an
// answer, and must not be used by two goroutines at once. The zero Solver is not ready; see New.
//
// The bound is that of a [relaxation] that the native solver works on, with a quarter of the
// work and the time. For the choice, jobs are placed one after another, in orders and by rules
// that annealing changes.
type Solver struct {
	p       *Problem
	machine machine
	relaxed relaxation
	bounds  ipmodel.Solver
	placer  placer
	fewest  []int64
	chosen  []bool // by job: the relaxation would start it
	bound   int64

	src   *rand.PCG
	rng   *rand.Rand
	order []gene
	trial []gene
	best  []gene
	takes []take
	worth int64 // of takes
	idle  int   // orders tried since the last that was better
	work  int64
	o     ipmodel.Options
	ctx   context.Context
	late  bool
	nodes nodes
}

// New returns a Solver.
func New() *Solver {
	src := rand.NewPCG(0, 0)
	return &Solver{bounds: native.New(), src: src, rng: rand.New(src)}
}

// Solve fills r with the best selection that it finds by the deadline, within the work or until ctx
// ends. Of the options, Start counts for nothing. It ends by itself when the bound is reached, or
// after many orders in vain. Without a deadline the same Work and Seed give the same answer.
func (s *Solver) Solve(ctx context.Context, p *Problem, o ipmodel.Options, r *Result) error {
	if err := p.Validate(); err != nil {
		return fmt.Errorf("ipsched: %w", err)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s.p, s.o, s.ctx, s.late, s.work, s.worth = p, o, ctx, false, 0, 0
	s.takes = s.takes[:0]
	s.src.Seed(o.Seed, 0x1b5)
	s.machine.read(p)
	s.findFewest()
	if err := s.boundWorth(); err != nil {
		return err
	}
	s.search()
	s.answer(r)
	return nil
}

// findFewest finds the fewest nodes that could hold each job alone.
func (s *Solver) findFewest() {
	s.fewest = s.fewest[:0]
	s.placer.copyFrom(&s.machine.cells)
	for i := range s.p.Jobs {
		j := &s.p.Jobs[i]
		low, high := s.p.nodes(j)
		s.placer.candidates(j, s.machine.bit[i])
		nodes, ok := s.placer.fewest(j, int64(low))
		if !ok || nodes > min(int64(high), int64(j.Cores/max(j.MinCores, 1))) {
			nodes = 0
		}
		s.fewest = append(s.fewest, nodes)
	}
}

// Shares of the time and of the work that the bound gets.
const boundShare = 4

func (s *Solver) boundWorth() error {
	if err := s.relaxed.build(s.p, &s.machine, &s.placer, s.fewest); err != nil {
		return fmt.Errorf("ipsched: relaxation: %w", err)
	}
	o := s.o
	o.Start = nil
	if o.Work > 0 {
		o.Work = max(1, o.Work/boundShare)
	}
	if !o.Deadline.IsZero() {
		now := o.Now()
		o.Deadline = now.Add(o.Deadline.Sub(now) / boundShare)
	}
	if err := s.bounds.Solve(s.ctx, &s.relaxed.model, o, &s.relaxed.result); err != nil {
		return fmt.Errorf("ipsched: relaxation: %w", err)
	}
	s.bound = s.relaxed.result.Bound
	s.work += s.relaxed.result.Work
	s.chosen = s.chosen[:0]
	for range s.p.Jobs {
		s.chosen = append(s.chosen, false)
	}
	for _, c := range s.relaxed.result.Chosen {
		s.chosen[s.relaxed.jobs[c]] = true
	}
	return nil
}

// over reports whether the search has to end.
func (s *Solver) over() bool {
	if ipmodel.WithinGap(s.worth, s.bound, s.o.Gap) || (s.o.Work > 0 && s.work >= s.o.Work) {
		return true
	}
	s.late = s.late || s.ctx.Err() != nil || (!s.o.Deadline.IsZero() && !s.o.Now().Before(s.o.Deadline))
	return s.late
}

// answer makes nodes of the best takes.
func (s *Solver) answer(r *Result) {
	r.Status, r.Worth, r.Bound, r.Late, r.Work = ipmodel.Feasible, s.worth, s.bound, s.late, s.work
	if r.Worth == r.Bound {
		r.Status = ipmodel.Optimal
	}
	r.segs, r.start, r.end, r.able = r.segs[:0], r.start[:0], r.end[:0], r.able[:0]
	for i := range s.p.Jobs {
		r.start, r.end = append(r.start, 0), append(r.end, 0)
		r.able = append(r.able, s.fewest[i] > 0)
	}
	s.nodes.reset(s.p.Free, s.machine.nodeMasks)
	for first := 0; first < len(s.takes); {
		last := first
		for last < len(s.takes) && s.takes[last].job == s.takes[first].job {
			last++
		}
		i := s.takes[first].job
		r.start[i] = int32(len(r.segs))
		r.segs = s.nodes.give(s.takes[first:last], uint8(s.p.Jobs[i].GPUs), r.segs)
		r.end[i] = int32(len(r.segs))
		first = last
	}
}
