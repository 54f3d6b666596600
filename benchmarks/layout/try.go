// SPDX-License-Identifier: BSD-3-Clause

package layout

import (
	"cmp"
	"slices"
)

// try makes winners of bids as far as their layouts go, those of required jobs first, adds the
// cuts that tell why others can't be, lets in bids of jobs that have none, and keeps the outcome
// if it is the best so far.
func (s *Solver) try(bids []int32) {
	w := s.p.w
	s.flow.reset(&s.p)
	from := s.flow.work
	s.order = append(s.order[:0], bids...)
	s.sortOrder()
	for _, b := range s.order {
		s.flow.log = s.flow.log[:0]
		if !s.flow.insert(b) {
			s.learn()
		}
	}
	s.fill()
	worth, missing := int64(0), 0
	for j, b := range s.flow.bid {
		if b >= 0 {
			worth += w.Fixed.Value[b]
		} else if w.Fixed.IsRequired(j) {
			missing++
		}
	}
	if missing < s.missing || (missing == s.missing && worth > s.worth) {
		s.best, s.worth, s.missing = append(s.best[:0], s.flow.bid...), worth, missing
	}
	s.spent += s.flow.work - from
}

// sortOrder sorts s.order: required jobs first, then by worth.
func (s *Solver) sortOrder() {
	w := s.p.w
	slices.SortFunc(s.order, func(a, b int32) int {
		ra, rb := w.Fixed.IsRequired(int(s.p.items[a].job)), w.Fixed.IsRequired(int(s.p.items[b].job))
		if ra != rb {
			if ra {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(w.Fixed.Value[b], w.Fixed.Value[a]), cmp.Compare(a, b))
	})
}

// learn adds the cut that the last insert ended at.
func (s *Solver) learn() {
	if s.added >= cutsARound || len(s.relaxed.cuts) >= maxCuts || s.over() {
		return
	}
	s.weights.minimal(&s.flow)
	s.flow.work += int64(len(s.p.part))
	if s.weights.cut(&s.p, s.relaxed.cuts.next()) && s.relaxed.cuts.keep() {
		s.added++
	}
}

// learnPrices adds a cut by prices of the whole program.
func (s *Solver) learnPrices(r *Result) {
	x := &s.prices
	if r.Rounds == 1 {
		x.begin(&s.p, &s.relaxed, s.answer.Prices)
	}
	x.work = 0
	x.descend(&s.p, float64(max(s.worth, 0)), priceSteps, func() bool {
		return s.o.Work > 0 && x.work > s.o.Work/priceShare || s.over()
	})
	s.spent += x.work + int64(len(s.p.part))
	if bound, ok := x.bound(&s.p, &s.weights); ok {
		r.Bound = min(r.Bound, bound)
	}
	if len(s.relaxed.cuts) < maxCuts && x.weigh(&s.p, &s.weights) && s.weights.cut(&s.p, s.relaxed.cuts.next()) && s.relaxed.cuts.keep() {
		s.added++
	}
}

// fill lets in bids of jobs that have lost, those worth most first.
func (s *Solver) fill() {
	s.order = s.order[:0]
	for b := range s.p.items {
		if s.flow.bid[s.p.items[b].job] < 0 {
			s.order = append(s.order, int32(b))
		}
	}
	s.sortOrder()
	for i, b := range s.order {
		if i%64 == 63 && s.over() {
			return
		}
		if x := &s.p.items[b]; s.flow.bid[x.job] < 0 && s.flow.roomFor(b) {
			s.flow.insert(b)
		}
	}
}
