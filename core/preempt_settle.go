// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/nodeset"
)

// settle takes the winners' choice: which victims stay. It has more of them stay where there is
// room, and has starts move to where nobody has to be stopped for them, if the solver had no time
// to see that. Afterwards x.space is what the winners and those behind them may take.
func (x *preemption) settle(in *stages) error {
	book, m := &in.bidding.book, &in.model
	chosen := in.winners.result.Chosen
	x.stays = append(x.stays[:0], make([]bool, len(x.victims))...)
	x.left.reset(x)
	x.value = in.winners.result.Value
	for _, b := range chosen {
		k := int(book.Bids[b].Job)
		var p sharer
		if v := k - len(x.needs); v >= 0 {
			x.stays[v] = true
			p = x.victims[v].sharer()
		} else {
			p = x.sharerOf(k, book.Allocation(int(b)))
		}
		if !x.left.fits(p) {
			return fmt.Errorf("the solver's choice is not feasible: bid %d", b)
		}
		x.left.take(p)
	}
	x.restore(m, book)
	for _, b := range chosen {
		if k := int(book.Bids[b].Job); k < len(x.needs) && x.needs[k] != 0 {
			x.move(in, k, b)
		}
	}
	x.setSpace(chosen, book)
	return nil
}

// restore has victims stay that were to go, where there is room: the dearest first.
func (x *preemption) restore(m *model, book *market.Book) (any bool) {
	for i := len(x.victims) - 1; i >= 0; i-- {
		if v := &x.victims[i]; !x.stays[i] && x.left.fits(v.sharer()) {
			x.left.hold(v)
			x.stays[i], any = true, true
			x.value += m.Value[v.bid]
		}
	}
	return any
}

// move has a start that has nodes of a job that is to go lie on what is free, if it can and
// somebody can stay then.
func (x *preemption) move(in *stages, k int, b int32) {
	book := &in.bidding.book
	v, old := &x.window.variants[k], book.Allocation(int(b))
	if !x.stops(k, old) {
		return
	}
	was := x.sharerOf(k, old)
	x.left.give(was)
	from := len(book.Segs)
	t, spec := x.left.seenBy(0, v.Crosses), v.Spec
	ok := false
	// with quotas it stays, lest they have to be looked at again
	for g := int(book.Bids[b].GPUs); !ok && spec.Charges == nil && g >= spec.GPUs.PerNode.Min; g-- {
		book.Segs, ok = x.placer.Place(book.Segs, x.limited.Of(t, &spec), &spec, g)
	}
	if !ok {
		book.Segs = book.Segs[:from]
		x.left.take(was)
		return
	}
	now := x.sharerOf(k, book.Segs[from:])
	x.left.take(now)
	if !x.restore(&in.model, book) {
		x.left.give(now)
		x.left.take(was)
		book.Segs = book.Segs[:from]
		return
	}
	bid := &book.Bids[b]
	moved := in.bidding.gen.Describe(v, book.Segs[from:])
	bid.First, bid.Last, bid.Class, bid.GPUs, bid.Preference = int32(from), int32(len(book.Segs)), moved.Class, moved.GPUs, moved.Preference
	x.value += in.model.build.Value(v, bid) - in.model.Value[b]
}

// stops reports whether a start of variant k on segs has nodes of a victim that is to go.
func (x *preemption) stops(k int, segs []nodeset.Segment) bool {
	for i := range x.victims {
		if v := &x.victims[i]; !x.stays[i] && v.class&x.needs[k] != 0 && overlaps(v.segs, segs) {
			return true
		}
	}
	return false
}

// setSpace sets x.space to what the winners take and what all views have left beside. Who comes
// after the winners preempts nobody, and gets nothing of what is over where somebody was stopped.
func (x *preemption) setSpace(chosen []int32, book *market.Book) {
	times := len(x.memory[0])
	x.least = resize(x.least, times)
	for k := range x.least {
		x.left.leastOf(&x.least[k], k)
	}
	for _, b := range chosen {
		k := int(book.Bids[b].Job)
		if k >= len(x.needs) {
			continue
		}
		v := &x.window.variants[k]
		for t := range v.Crosses + 1 {
			must(v.Spec.Release(&x.least[t], book.Allocation(int(b))))
		}
	}
	x.space = market.Space{Now: &x.least[0], Left: x.space.Left[:0], Quotas: x.in.space.Quotas}
	for k := range x.least[1:] {
		x.space.Left = append(x.space.Left, &x.least[k+1])
	}
}

// list fills in the plan's preemptions.
func (x *preemption) list(p *Plan) {
	for i := range x.victims {
		if x.stays[i] {
			continue
		}
		v, from := &x.victims[i], len(p.waits)
		for d := range p.Decisions {
			d := &p.Decisions[d]
			if d.Start && x.s.Pending[d.Job].Preempts&v.class != 0 && overlaps(v.segs, d.Segs) {
				p.waits = append(p.waits, d.Job)
			}
		}
		slices.Sort(p.waits[from:])
		p.Preempted = append(p.Preempted, Preemption{v.running, p.waits[from:len(p.waits):len(p.waits)]})
	}
	slices.SortFunc(p.Preempted, func(a, b Preemption) int { return a.Running - b.Running })
}

// required has no running job be required.
func (x *preemption) required(jobs []bool) []bool {
	if jobs == nil {
		return nil
	}
	x.musts = append(append(x.musts[:0], jobs...), make([]bool, len(x.victims))...)
	return x.musts
}

// sums are the worth of the winners less that of who is preempted, and the bound on it.
func (x *preemption) sums(m *model, bound int64) sums {
	held := x.prices(m)
	bound = max(bound, x.value) // what has moved to let somebody stay was bid by nobody
	return sums{m.Objective(x.value) - held, m.Objective(bound) - held}
}

// prices are what all victims are worth, in the objective's unit.
func (x *preemption) prices(m *model) float64 {
	sum := int64(0)
	for i := range x.victims {
		sum += m.Value[x.victims[i].bid]
	}
	return m.Objective(sum)
}
