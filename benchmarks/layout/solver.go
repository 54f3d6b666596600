// SPDX-License-Identifier: BSD-3-Clause

package layout

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/nodeset"
)

// Result is the answer to one call of [Solver.Solve], which reuses its memory. Worths and
// bounds are in the units of Window.Fixed; Prices are empty.
type Result struct {
	ipmodel.Result
	// Rounds is how often the packing model was solved, Cuts how many rows it has got.
	Rounds, Cuts int
	// FixedWorth is what AUCSCHED2's choice was worth from which the solve went on.
	FixedWorth int64

	start []int32
	segs  []nodeset.Segment
}

// Layout is the allocation of Chosen[i], valid as Chosen is.
func (r *Result) Layout(i int) []nodeset.Segment {
	return r.segs[r.start[i]:r.start[i+1]:r.start[i+1]]
}

// Solver solves windows. It keeps scratch memory between calls, no state that changes an
// answer, and must not be used by two goroutines at once.
type Solver struct {
	packing  ipmodel.Solver
	p        problem
	relaxed  relaxed
	flow     flow
	weights  weights
	prices   prices
	improver improver
	begin    [][]int64
	own      own
	answer   ipmodel.Result // of the packing solver
	best     []int32        // by job: the winner, or -1
	worth    int64          // of best
	missing  int            // required jobs that best has no winner for
	order    []int32
	added    int // cuts in this round

	ctx   context.Context
	o     ipmodel.Options
	begun time.Time
	spent int64
}

// New returns a Solver whose packing models the given one solves.
func New(packing ipmodel.Solver) *Solver { return &Solver{packing: packing} }

const (
	// totalShares is the whole work in units of that for AUCSCHED2's model.
	totalShares = 4

	maxRounds  = 64
	maxCuts    = 512
	cutsARound = 16
	leastShare = 32 // of the work: the least of a round
	priceShare = 12 // of the work: what prices cost in a round at most
	priceSteps = 100
)

// Solve fills r with the best winners and layouts that it finds by the deadline or with the work.
// It begins with what the packing solver makes of AUCSCHED2's model from o.Start, or else from the
// offers, with o.Work, and
// goes on with three times as much, so that its answer is never worth less than AUCSCHED2's with
// the same o.Work; of the time until a deadline it uses a quarter for that. Work counts the packing
// solver's units and steps of the flow. It fails if the packing solver does.
func (s *Solver) Solve(ctx context.Context, w *Window, o ipmodel.Options, r *Result) error {
	if o.Now == nil {
		o.Now = time.Now
	}
	if len(o.Start) == 0 {
		o.Start = offers(w)
	}
	if slices.ContainsFunc(w.Variants, func(v market.Variant) bool { return v.Spec.Uses != nil }) {
		return s.asBid(ctx, w, o, r)
	}
	o.Work = totalShares * min(o.Work, math.MaxInt64/totalShares)
	s.ctx, s.o, s.spent, s.begun = ctx, o, 0, o.Now()
	if err := s.p.load(w); err != nil {
		return fmt.Errorf("layouts: %w", err)
	}
	s.best, s.worth, s.missing = s.best[:0], -1, s.p.jobs()+1
	s.relaxed.cuts = s.relaxed.cuts[:0]
	s.prices.value = 0
	s.improver.reset(o.Seed)
	s.addWhole()
	r.Result = ipmodel.Result{Chosen: r.Chosen[:0], Bound: trivialBound(w.Fixed)}
	r.Rounds, r.Cuts = 0, 0
	if err := s.beginFixed(r); err != nil {
		return err
	}
	err := s.rounds(r)
	s.finish(r)
	s.ctx, s.o = nil, ipmodel.Options{}
	return err
}

// asBid leaves winners where they have bid: what a node gives of further resources changes with its
// cores, of which the layouts' flow knows nothing.
func (s *Solver) asBid(ctx context.Context, w *Window, o ipmodel.Options, r *Result) error {
	r.Rounds, r.Cuts = 0, 0
	if err := s.packing.Solve(ctx, w.Fixed, o, &r.Result); err != nil {
		return fmt.Errorf("layouts: %w", err)
	}
	r.FixedWorth, r.start, r.segs = r.Value, append(r.start[:0], 0), r.segs[:0]
	for _, b := range r.Chosen {
		r.segs = append(r.segs, w.Book.Allocation(int(b))...)
		r.start = append(r.start, int32(len(r.segs)))
	}
	return nil
}

// addWhole adds the row of the whole machine's cores, for each table.
func (s *Solver) addWhole() {
	for k := range s.p.tables() {
		s.weights.reset(&s.p)
		for i := range s.p.cells {
			s.weights.y[k][i] = 1
		}
		if s.weights.cut(&s.p, s.relaxed.cuts.next()) {
			s.relaxed.cuts.keep()
		}
	}
}

// trivialBound is the sum over the jobs of their bids' greatest worth.
func trivialBound(m *ipmodel.Model) (sum int64) {
	for g := range m.Groups() {
		if of := m.Value[m.GroupStart[g]:m.GroupStart[g+1]]; len(of) > 0 {
			sum += slices.Max(of)
		}
	}
	return sum
}

// beginFixed begins with AUCSCHED2's choice.
func (s *Solver) beginFixed(r *Result) error {
	if err := s.packed(s.p.w.Fixed, s.o.Start, totalShares); err != nil {
		return err
	}
	r.FixedWorth = s.answer.Value
	begun := s.o.Now()
	s.try(s.answer.Chosen)
	s.leaveTime(s.o.Now().Sub(begun))
	return nil
}

// leaveTime has the search end early enough before a deadline for the last layout, which takes
// about as long as the first one has taken, and for a step of the prices.
func (s *Solver) leaveTime(first time.Duration) {
	if !s.o.Deadline.IsZero() {
		s.o.Deadline = s.o.Deadline.Add(-min(2*first, s.o.Deadline.Sub(s.begun)/4))
	}
}

// packed solves a packing model with one part in shares of what is left.
func (s *Solver) packed(m *ipmodel.Model, start []int32, shares int64) error {
	o := s.o
	o.Start = start
	if o.Work > 0 {
		left := max(o.Work-s.spent, 1)
		o.Work = min(left, max(left/shares, o.Work/leastShare))
	}
	if !o.Deadline.IsZero() {
		now := o.Now()
		left := o.Deadline.Sub(now)
		o.Deadline = now.Add(min(left, max(left/time.Duration(shares), o.Deadline.Sub(s.begun)/leastShare)))
	}
	if err := s.packing.Solve(s.ctx, m, o, &s.answer); err != nil {
		return fmt.Errorf("layouts: %w", err)
	}
	s.spent += s.answer.Work
	return nil
}

// rounds solves the packing model, adds the cuts that its choice violates, and so on.
func (s *Solver) rounds(r *Result) error {
	for shares := int64(8); r.Rounds < maxRounds && !s.done(r); {
		s.relaxed.build(&s.p)
		r.Rounds++
		var start []int32
		if s.missing == 0 {
			start = s.chosen(s.order[:0])
		}
		if err := s.packed(&s.relaxed.model, start, shares); err != nil {
			return err
		}
		if s.answer.Status == ipmodel.Infeasible {
			r.Status, r.Bound = ipmodel.Infeasible, 0
			return nil
		}
		r.Bound = min(r.Bound, s.answer.Bound)
		s.added = 0
		s.learnPrices(r)
		s.try(s.answer.Chosen)
		if !s.done(r) {
			s.improve()
		}
		if s.added == 0 { // it has layouts, and only more work can find a better one
			if shares == 1 {
				return nil
			}
			shares = 1
		}
	}
	return nil
}

// done reports whether the best is near enough to the bound, or all that was allowed is used.
func (s *Solver) done(r *Result) bool {
	if s.missing == 0 && ipmodel.WithinGap(s.worth, r.Bound, s.o.Gap) {
		return true
	}
	return s.over()
}

func (s *Solver) over() bool {
	return s.ctx.Err() != nil || (s.o.Work > 0 && s.spent >= s.o.Work) ||
		(!s.o.Deadline.IsZero() && !s.o.Now().Before(s.o.Deadline))
}

// chosen appends the winners of the best.
func (s *Solver) chosen(dst []int32) []int32 {
	for _, b := range s.best {
		if b >= 0 {
			dst = append(dst, b)
		}
	}
	return dst
}

// finish lays the best out.
func (s *Solver) finish(r *Result) {
	r.Cuts, r.Work = len(s.relaxed.cuts), s.spent
	r.start, r.segs = append(r.start[:0], 0), r.segs[:0]
	if s.missing > 0 {
		return
	}
	s.load(s.best)
	r.Chosen, r.Value = s.chosen(r.Chosen[:0]), s.worth
	s.begin = s.flow.deal(s.begin)
	for _, b := range r.Chosen {
		j := s.p.items[b].job
		r.segs = s.flow.layout(r.segs, j, s.begin[j])
		r.start = append(r.start, int32(len(r.segs)))
	}
	s.own.prefer(&s.p, r)
	if r.Status = ipmodel.Feasible; r.Value >= r.Bound {
		r.Status, r.Bound = ipmodel.Optimal, r.Value
	}
}
