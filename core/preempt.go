// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// preemption is the stage that has running jobs bid for what they hold, at their prices, where jobs
// of the window may have them stopped. Without such jobs it is off, and costs nothing.
//
// Each running job is a bidder with one bid. What it holds is not free to jobs that may not preempt
// it: the latter see a view without it. On each node, and at the beginning of each reservation,
// jobs of which none preempts classes beyond a set U, and the running jobs of U, have together what
// is free and what all running jobs of U hold. These rows, for all unions U of what jobs of the
// window preempt, are necessary and sufficient for room to be dealt out such that nobody has that
// of a job which he may not preempt (Gale 1957, on bipartite supply and demand).
type preemption struct {
	opts    *AuctionOptions
	on      bool
	s       *Snapshot
	window  *window
	in      *reservations
	freed   nodeset.Table // free without any of the jobs that may be preempted
	victims []victim      // by ascending worth
	// of classes, of a view each: the widest, others; the empty one is the last
	sets  []uint64
	needs []uint64 // by variant of the window: whom its job may preempt
	own   []uint64 // of these the different ones, without the empty one

	spaces   []market.Space // by view
	memory   [][]nodeset.Table
	variants []market.Variant // the window's, without what they have elsewhere, and the victims'
	binds    [][]bool

	now     remains // what is left of the views
	without remains // the same if all victims were gone
	held    int64   // what all victims are worth

	drafts    [preemptDrafts]preemptDraft
	asking    []market.Variant
	gens      []market.Generator // by own set
	books     []market.Book      // of these
	book      market.Book
	shift     []int32          // by variant: how many places its bids have moved
	bound     market.Generator // knows a bound on all allocations
	boundBook market.Book

	musts   []bool          // by job of the window, and victim
	stays   []bool          // by victim: it is not preempted
	left    remains         // by the winners, and the victims that stay
	least   []nodeset.Table // what all views have left
	space   market.Space    // see settle
	value   int64           // of the winners and the victims that stay, in the model's units
	placer  place.Placer
	limited place.Limited
}

// victim is a running job that may be preempted. Its worth is in the units of the window's
// priorities.
type victim struct {
	running int // in Snapshot.Running
	class   uint64
	worth   int64
	size    place.Size
	crosses int // reservations that begin before its end
	segs    []nodeset.Segment
	uses    nodeset.Uses
	bid     int32
}

const (
	// maxViews bounds how many rows a node has. Jobs whose classes would make more preempt nobody.
	maxViews = 8
	// maxVictims bounds how many running jobs bid, those of the least worth.
	maxVictims = 1 << 12
)

// begin is for a cycle on s: it finds out whether any job may preempt any other.
func (x *preemption) begin(s *Snapshot, d *duplicates) error {
	x.on, x.s = false, s
	classes := uint64(0)
	for i := range s.Running {
		if r := &s.Running[i]; r.Price > 0 {
			classes |= 1 << r.Class
		}
	}
	// A GPU in shared use comes back when all who share it are gone, which the rows can't say.
	_, shared := s.Nodes.Shares()
	if classes == 0 || shared || x.opts.Determiner != nil ||
		!slices.ContainsFunc(s.Pending, func(job *Job) bool { return job.Preempts&classes != 0 }) {
		return nil
	}
	x.freed.CopyFrom(s.Nodes)
	for i := range s.Running {
		if r := &s.Running[i]; r.Price > 0 {
			if err := x.freed.ReleaseWith(r.Segs, r.Uses); err != nil {
				return fmt.Errorf("running job %s: %w", r.ID, err)
			}
		}
	}
	d.preempts(classes, &x.freed)
	x.on = true
	return nil
}

// open has running jobs take part in the window.
func (x *preemption) open(w *window) {
	if !x.on {
		return
	}
	x.window = w
	x.findSets(w)
	if len(x.own) > 0 {
		x.findVictims(w)
	}
	x.on = len(x.own) > 0 && len(x.victims) > 0
}

// findSets finds whom jobs of the window may preempt.
func (x *preemption) findSets(w *window) {
	classes := uint64(0)
	for i := range x.s.Running {
		if r := &x.s.Running[i]; r.Price > 0 {
			classes |= 1 << r.Class
		}
	}
	x.sets, x.own, x.needs = append(x.sets[:0], 0), x.own[:0], x.needs[:0]
	for k := range w.ways {
		need := w.jobs[w.ways[k].job].Preempts & classes
		if !x.addSet(need) {
			need = 0
		}
		x.needs = append(x.needs, need)
	}
	slices.SortFunc(x.sets, func(a, b uint64) int {
		return cmp.Or(cmp.Compare(bits.OnesCount64(b), bits.OnesCount64(a)), cmp.Compare(a, b))
	})
}

// addSet adds a set, and its unions with those that are there, unless there would be too many.
func (x *preemption) addSet(set uint64) bool {
	if slices.Contains(x.own, set) || set == 0 {
		return true
	}
	n := len(x.sets)
	for _, other := range x.sets[:n] {
		if u := other | set; !slices.Contains(x.sets, u) {
			x.sets = append(x.sets, u)
		}
	}
	if len(x.sets) > maxViews {
		x.sets = x.sets[:n]
		return false
	}
	x.own = append(x.own, set)
	return true
}

// findVictims finds the running jobs that the window's may preempt.
func (x *preemption) findVictims(w *window) {
	x.victims = x.victims[:0]
	for i := range x.s.Running {
		r := &x.s.Running[i]
		if r.Price == 0 || x.sets[0]>>r.Class&1 == 0 || len(r.Segs) == 0 || !allUp(x.s.Nodes, r.Segs) {
			continue
		}
		x.victims = append(x.victims, victim{running: i, class: 1 << r.Class, size: place.SizeOf(r.Segs), segs: r.Segs, uses: r.Uses})
	}
	x.weigh(w)
}

func allUp(t *nodeset.Table, segs []nodeset.Segment) bool {
	for _, s := range segs {
		for n := s.First; n <= s.Last; n++ {
			if !t.Up(int(n)) {
				return false
			}
		}
	}
	return true
}

// weigh sets what the victims are worth, as window.weigh does, and brings them in order. One that
// is worth as much as all that could start is never preempted: it takes no part.
func (x *preemption) weigh(w *window) {
	var most int64
	for k := range w.variants {
		if w.variants[k].Rank == 0 {
			most += w.variants[k].Priority
		}
	}
	kept := x.victims[:0]
	for _, v := range x.victims {
		high, low := x.product(w, &v)
		// Go shifts by 64 and more to 0, which is what is meant.
		if low = high<<(64-w.shift) | low>>w.shift; high>>w.shift == 0 && low < uint64(most) {
			v.worth = max(int64(low), 1)
			kept = append(kept, v)
		}
	}
	slices.SortFunc(kept, func(a, b victim) int {
		return cmp.Or(cmp.Compare(a.worth, b.worth), cmp.Compare(a.running, b.running))
	})
	x.victims = kept[:min(len(kept), maxVictims)]
	high, low := uint64(0), uint64(most)
	for i := range x.victims {
		sum, carry := bits.Add64(low, uint64(x.victims[i].worth), 0)
		high, low = high+carry, sum
	}
	length := bits.Len64(low)
	if high > 0 {
		length = 64 + bits.Len64(high)
	}
	x.lower(w, max(0, length-weightBits))
}

// lower divides all worths by a power of two, so that their sum keeps to weightBits.
func (x *preemption) lower(w *window, by int) {
	x.held = 0
	for i := range x.victims {
		x.victims[i].worth = max(x.victims[i].worth>>by, 1)
		x.held += x.victims[i].worth
	}
	if by == 0 {
		return
	}
	w.shift += by
	for k := range w.variants {
		w.variants[k].Priority = max(w.variants[k].Priority>>by, 1)
	}
}

// product is what window.product is, of what a running job holds.
func (x *preemption) product(w *window, v *victim) (high, low uint64) {
	r := &x.s.Running[v.running]
	price := uint64(r.Price)
	switch w.opts.Objective {
	case BySize:
		return bits.Mul64(price, uint64(v.size.Cores))
	case ByRate:
		share := w.machine.shareOf(uint64(v.size.Cores), uint64(v.size.GPUs))
		return bits.Mul64(price, rateOf(share, r.End-x.s.Now))
	}
	return 0, price
}
