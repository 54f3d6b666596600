// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"cmp"
	"slices"

	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// preemptDraft is a schedule of the whole window, made job after job: each gets room that is free,
// or else that of the cheapest jobs that it may preempt, if these are worth less. All that it gives
// out is bid.
type preemptDraft struct {
	x       *preemption
	left    remains // with the victims that stay
	without remains // without any
	order   []int32 // victims, the cheapest first
	mine    []int32 // those of them that a job may preempt
	freed   int     // how many of these are
	gone    []bool  // by victim
	got     []placed
	at      []int32 // by variant: which of these is its, or -1
	bids    []int32 // of these, in the book
	segs    []nodeset.Segment
	worth   int64 // of the starts, and of the victims that stay
	vain    int   // searches for victims
	placer  place.Placer
	limited place.Limited
}

// placed is what a variant gets: segs[first:last] of the draft.
type placed struct{ first, last int32 }

// maxVain is how many searches for victims a draft makes in vain.
const maxVain = 64

// run makes the draft. By size the cheapest victims are those of the least worth for what they
// hold, and jobs that may preempt nobody come first.
func (d *preemptDraft) run(x *preemption, bySize bool, stop func() bool) {
	d.x, d.vain, d.worth = x, 0, x.held
	d.left.copyFrom(&x.now)
	d.without.copyFrom(&x.without)
	d.gone = append(d.gone[:0], make([]bool, len(x.victims))...)
	d.got, d.segs, d.at = d.got[:0], d.segs[:0], d.at[:0]
	for range x.needs {
		d.at = append(d.at, -1)
	}
	d.sort(bySize)
	for k := range x.window.variants {
		if v := &x.window.variants[k]; len(v.Fixed) > 0 {
			d.segs = append(d.segs, v.Fixed...)
			d.give(k, len(d.segs)-len(v.Fixed))
		}
	}
	for turn := range 2 {
		for j := range x.window.jobs {
			first := int(x.window.variantStart[j])
			// first comes who may preempt nobody, or all come at once
			if late := bySize && x.needs[first] != 0; late != (turn == 1) || x.in.guarded[j].must {
				continue
			}
			if stop != nil && stop() {
				return
			}
			d.serve(j)
		}
	}
}

// sort brings the victims in order.
func (d *preemptDraft) sort(bySize bool) {
	d.order = d.order[:0]
	for i := range d.x.victims {
		d.order = append(d.order, int32(i)) // they ascend by worth
	}
	if bySize {
		cost := func(i int32) float64 {
			v := &d.x.victims[i]
			return float64(v.worth) / float64(max(v.size.Cores+v.size.GPUs, 1))
		}
		slices.SortStableFunc(d.order, func(a, b int32) int { return cmp.Compare(cost(a), cost(b)) })
	}
}

// serve gives job j of the window a place, if it can.
func (d *preemptDraft) serve(j int) {
	w := d.x.window
	for k := int(w.variantStart[j]); k < int(w.variantStart[j+1]); k++ {
		from := len(d.segs)
		if d.place(&d.left, k) {
			d.give(k, from)
			return
		}
	}
	for k := int(w.variantStart[j]); k < int(w.variantStart[j+1]); k++ {
		if d.x.needs[k] != 0 && d.vain < maxVain && d.preempt(k) {
			return
		}
	}
}

// place appends a place of variant k on what l has left to it.
func (d *preemptDraft) place(l *remains, k int) bool {
	v := &d.x.window.variants[k]
	if !v.Spec.Valid() {
		return false
	}
	t, spec, gpus := l.seenBy(d.x.needs[k], v.Crosses), v.Spec, v.Spec.GPUs.PerNode.Min
	if spec.Charges != nil && !d.x.in.space.Quotas.Narrow(&spec, v.Crosses, gpus) {
		return false
	}
	segs, ok := d.placer.Place(d.segs, d.limited.Of(t, &spec), &spec, gpus)
	if ok {
		d.segs = segs
	}
	return ok
}

// give gives variant k the segments from that one on.
func (d *preemptDraft) give(k, from int) {
	p := d.x.sharerOf(k, d.segs[from:])
	d.left.take(p)
	d.without.take(p)
	d.at[k] = int32(len(d.got))
	d.got = append(d.got, placed{int32(from), int32(len(d.segs))})
	d.worth += d.x.window.variants[k].Priority
}

// preempt gives variant k a place where the fewest of the cheapest victims have to go that will do:
// of these it is found by halves, and then those stay that are not in its way.
func (d *preemptDraft) preempt(k int) bool {
	from := len(d.segs)
	d.vain++
	if !d.place(&d.without, k) { // not even if all were gone
		return false
	}
	d.segs = d.segs[:from]
	d.mine, d.freed = d.mine[:0], 0
	for _, i := range d.order {
		if !d.gone[i] && d.x.victims[i].class&d.x.needs[k] != 0 {
			d.mine = append(d.mine, i)
		}
	}
	try := func(n int) bool {
		d.free(n)
		d.segs = d.segs[:from]
		return d.place(&d.left, k)
	}
	low, high := 0, min(1, len(d.mine)) // low are too few
	for high > 0 && !try(high) {
		if low = high; high == len(d.mine) {
			high = 0 // others are in the way
		}
		high = min(2*high, len(d.mine))
	}
	if high == 0 {
		d.free(0)
		return false
	}
	for high-low > 1 {
		if mid := (low + high) / 2; try(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	if !try(high) { // a place that is found among fewer need not be among more
		d.free(0)
		return false
	}
	return d.settle(k, from)
}

// free has the first n of d.mine be gone, and the others not.
func (d *preemptDraft) free(n int) {
	for ; d.freed < n; d.freed++ {
		d.left.stop(&d.x.victims[d.mine[d.freed]])
	}
	for ; d.freed > n; d.freed-- {
		d.left.hold(&d.x.victims[d.mine[d.freed-1]])
	}
}

// settle gives variant k its place, and has the victims stay that can, the dearest first. It takes
// that back if the others are worth as much.
func (d *preemptDraft) settle(k, from int) bool {
	p := d.x.sharerOf(k, d.segs[from:])
	d.left.take(p)
	cost, gone := int64(0), d.freed
	for i := d.freed - 1; i >= 0; i-- {
		v := &d.x.victims[d.mine[i]]
		if d.left.fits(v.sharer()) {
			d.left.hold(v)
			gone--
			d.mine[i], d.mine[gone] = d.mine[gone], d.mine[i]
			continue
		}
		cost += v.worth
	}
	d.left.give(p)
	d.freed = gone
	if cost >= d.x.window.variants[k].Priority {
		d.free(0)
		d.segs = d.segs[:from]
		return false
	}
	d.vain--
	for _, i := range d.mine[:gone] {
		d.gone[i] = true
	}
	d.worth -= cost
	d.give(k, from)
	return true
}
