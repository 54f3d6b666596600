// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"cmp"
	"slices"

	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// claim is what somebody holds from second Start to second End: a running job to its limit, a job
// that starts now, or one that has a place kept.
type claim struct {
	// Job is the job's number in the window; with an Explainer, its index in Snapshot.Pending.
	Job        int
	Start, End int64
	place.Held // of a Residual's tables, which it does not know, of none
}

// heldBy is what an allocation for spec holds. What it counts is in the memory of mem.
func heldBy(mem *nodeset.Uses, q *place.Quotas, spec *place.Spec, segs []nodeset.Segment) place.Held {
	from, charges := len(*mem), spec.Counted()
	for i := range charges {
		*mem = append(*mem, nodeset.Use{Row: charges[i].Row, PerJob: q.CostFor(spec, i, segs)})
	}
	return place.Held{Segs: segs, Uses: spec.More(), Parts: spec.Parts, Counts: (*mem)[from:len(*mem):len(*mem)]}
}

// comesBack is what a running job gives back to quotas, in the memory of mem: less than a unit does not
// come back.
func comesBack(mem *nodeset.Uses, q *place.Quotas, r *Running) nodeset.Uses {
	from, size := len(*mem), place.SizeOf(r.Segs)
	for i := range r.Charges {
		c := &r.Charges[i]
		*mem = append(*mem, nodeset.Use{Row: c.Row, PerJob: place.Count(c, size) / q.Unit[c.Row]})
	}
	return (*mem)[from:len(*mem):len(*mem)]
}

// ending is when what somebody has comes back: number of in claims.running, or ^of in claims.starts.
type ending struct {
	end int64
	of  int32
}

// view is what is free: of nodes, if it has these, and of quotas, in units.
type view struct {
	nodes *nodeset.Table
	left  []int64
}

// own has v be of nodes.
func (v *view) own() *view {
	if v.nodes == nil {
		v.nodes = new(nodeset.Table)
	}
	return v
}

func (v *view) copyFrom(o *view) {
	v.left = append(v.left[:0], o.left...)
	if v.nodes != nil {
		v.nodes.CopyFrom(o.nodes)
	}
}

// least leaves what is free in o as well, of quotas and on the nodes of segs.
func (v *view) least(o *view, segs []nodeset.Segment) {
	for i, left := range o.left {
		v.left[i] = min(v.left[i], left)
	}
	for i := 0; i < len(segs) && v.nodes != nil; i++ {
		v.nodes.SetLeast(int(segs[i].First), int(segs[i].Last), v.nodes, o.nodes)
	}
}

// claims are all claims over time, the timeline, of nodes and quotas alike. It finds the earliest place of jobs.
type claims struct {
	clock    int64
	now      view // free now, less what starts now
	running  []Running
	starts   []claim  // of now
	ends     []ending // of running and starts, by end; of the former as the last cycle knew them
	known    []bool   // scratch
	fresh    []ending // the same
	reserved []claim  // what begins later, by start
	begun    []int64  // what was left of quotas before
	at       view     // scratch: free at some later moment
	quotas   view     // the same, of quotas alone
	room     place.Quotas
	recalled recalled
	segs     [][]nodeset.Segment
	placer   place.Placer
	counts   nodeset.Uses  // what claims count; memory
	given    nodeset.Uses  // what one running job counts; scratch
	loose    bool          // jobs may have any number of blocks
	prices   *place.Prices // of starts now; nil: none
	stop     func() bool   // if not nil, says when to give a search up
	booked   *booked
	moved    place.Parts // scratch
}

// recalled is what is free at some moments, as long as nothing starts and no place is kept. What has
// come free by a moment is that of the one before and a little more. At starts of claims it is always
// the same.
type recalled struct {
	freed  view   // what is free, kept places aside, when some of claims.ends are over
	over   int    // so many, the first; -1: freed is not known
	starts []view // by claim that begins later: what is free then
	known  []bool // of starts
}

// endless is in how many seconds nothing ends: what comes back only then is not waited for.
const endless = place.Endless

// reset starts from a snapshot in which nothing starts and nothing is reserved, with quotas in these
// units; nil: in ones.
func (p *claims) reset(s *Snapshot, units []int64) {
	p.clock = s.Now
	if p.booked == nil {
		p.booked = new(booked)
	}
	p.now.own().nodes.CopyFrom(s.Nodes)
	p.at.own()
	p.room.Unit, p.now.left = append(p.room.Unit[:0], units...), p.now.left[:0]
	for i, q := range s.Quotas {
		if units == nil {
			p.room.Unit = append(p.room.Unit, 1)
		}
		p.now.left = append(p.now.left, q.Left/p.room.Unit[i])
	}
	p.begun = append(p.begun[:0], p.now.left...)
	p.order(s.Running)
	p.starts, p.reserved, p.counts = p.starts[:0], p.reserved[:0], p.counts[:0]
	p.forget(true)
}

// order has ends be those of what runs, except for what ends never. Most are those of the last cycle, in
// order: the others are merged with them. Which of equals comes first means nothing.
func (p *claims) order(running []Running) {
	p.running = running
	p.known = append(p.known[:0], make([]bool, len(running))...)
	p.ends = slices.DeleteFunc(p.ends, func(e ending) bool {
		stays := e.of >= 0 && int(e.of) < len(running) && running[e.of].End == e.end && e.end-p.clock < endless
		if stays {
			p.known[e.of] = true
		}
		return !stays
	})
	p.fresh = p.fresh[:0]
	for i := range running {
		if end := running[i].End; !p.known[i] && end-p.clock < endless {
			p.fresh = append(p.fresh, ending{end, int32(i)})
		}
	}
	slices.SortFunc(p.fresh, func(a, b ending) int { return cmp.Compare(a.end, b.end) })
	last, rest := len(p.ends)-1, p.fresh
	p.ends = append(p.ends, p.fresh...)
	for to := len(p.ends) - 1; len(rest) > 0; to-- {
		if n := len(rest) - 1; last >= 0 && p.ends[last].end > rest[n].end {
			p.ends[to], last = p.ends[last], last-1
		} else {
			p.ends[to], rest = rest[n], rest[:n]
		}
	}
}

// endOf is when the i-th of ends is. A job that has outstayed its limit may end at any moment, but not
// now.
func (p *claims) endOf(i int) int64 { return max(p.ends[i].end, p.clock+1) }

// after is the first of ends after second t.
func (p *claims) after(t int64) int {
	i, _ := slices.BinarySearchFunc(p.ends, t+1, func(e ending, t int64) int { return cmp.Compare(max(e.end, p.clock+1), t) })
	return i
}

// claimOf is that of a job which has segs, an allocation for spec, from a second on for limit
// seconds. It is the claims' until their next reset.
func (p *claims) claimOf(job int, spec *place.Spec, segs []nodeset.Segment, start, limit int64) claim {
	return claim{job, start, start + limit, heldBy(&p.counts, &p.room, spec, segs)}
}

// move takes a claim off v, with sign -1, or with 1 gives it back.
func (p *claims) move(v *view, c *claim, sign int64) error {
	for _, x := range c.Counts {
		v.left[x.Row] += sign * x.PerJob
	}
	if v.nodes == nil {
		return nil
	}
	spec := place.Spec{Uses: &c.Uses, Parts: c.Parts}
	if sign < 0 {
		return spec.Allocate(v.nodes, c.Segs)
	}
	return spec.Release(v.nodes, c.Segs)
}

// back gives what has the i-th of ends back to v.
func (p *claims) back(v *view, i int) {
	var c claim
	if of := p.ends[i].of; of < 0 {
		c = p.starts[^of]
	} else {
		r := &p.running[of]
		p.given = p.given[:0]
		c.Segs, c.Uses, c.Counts = r.Segs, r.Uses, comesBack(&p.given, &p.room, r)
	}
	must(p.move(v, &c, 1))
}

// start has a claim begin now.
func (p *claims) start(c claim) error {
	if err := p.move(&p.now, &c, -1); err != nil {
		return err
	}
	p.ends = slices.Insert(p.ends, p.after(c.End), ending{c.End, int32(^len(p.starts))})
	p.starts = append(p.starts, c)
	p.forget(true)
	return nil
}

// unstart takes the last start back.
func (p *claims) unstart() {
	last := len(p.starts) - 1
	must(p.move(&p.now, &p.starts[last], 1))
	p.ends = slices.DeleteFunc(p.ends, func(e ending) bool { return int(e.of) == ^last })
	p.starts = p.starts[:last]
	p.forget(true)
}

// drop takes out the claim of a job that begins later.
func (p *claims) drop(job int) claim {
	i := slices.IndexFunc(p.reserved, func(c claim) bool { return c.Job == job })
	c := p.reserved[i]
	p.reserved = slices.Delete(p.reserved, i, i+1)
	p.forget(false)
	return c
}

// keep has a claim begin later.
func (p *claims) keep(c claim) {
	i, _ := slices.BinarySearchFunc(p.reserved, c.Start, func(r claim, t int64) int { return cmp.Compare(r.Start, t) })
	p.reserved = slices.Insert(p.reserved, i, c)
	p.forget(false)
}

// freeAt sets v to what is free at second when, given that what starts now ends by its limit.
func (p *claims) freeAt(v *view, when int64) {
	if k := slices.IndexFunc(p.reserved, func(c claim) bool { return c.Start == when }); k >= 0 {
		v.copyFrom(p.atStart(k))
		return
	}
	v.copyFrom(p.freedBy(when))
	p.takeKept(v, when)
}

// freedBy is what is free at second when, kept places aside. It is only to be read.
func (p *claims) freedBy(when int64) *view {
	x, n := &p.recalled, p.after(when)
	if n == 0 {
		return &p.now
	}
	if x.over < 0 || x.over > n {
		x.over = 0
		x.freed.own().copyFrom(&p.now)
	}
	for ; x.over < n; x.over++ {
		p.back(&x.freed, x.over)
	}
	return &x.freed
}

// atStart is what is free when the k-th claim begins of those that begin later. It is only to be read.
func (p *claims) atStart(k int) *view {
	x, when := &p.recalled, p.reserved[k].Start
	v := &x.starts[k]
	if !x.known[k] {
		v.own().copyFrom(p.freedBy(when))
		p.takeKept(v, when)
		x.known[k] = true
	}
	return v
}

// forget is called when a place is kept or given up, and with now when something starts.
func (p *claims) forget(now bool) {
	x := &p.recalled
	x.starts, x.known = place.Resize(x.starts, len(p.reserved)), place.Resize(x.known, len(p.reserved))
	clear(x.known)
	if now {
		x.over = -1
	}
}

// takeKept takes off v what is kept at second when.
func (p *claims) takeKept(v *view, when int64) {
	for i := range p.reserved {
		if r := &p.reserved[i]; r.Start <= when && when < r.End {
			must(p.move(v, r, -1))
		}
	}
}

// freeFrom sets v to what is free from second t on throughout limit seconds.
func (p *claims) freeFrom(v *view, t, limit int64) {
	p.freeAt(v, t)
	p.throughout(v, t, limit)
}

// throughout leaves of v, what is free at second t, what stays so: on nodes only a claim that begins takes any.
func (p *claims) throughout(v *view, t, limit int64) {
	for i := range p.reserved {
		if r := &p.reserved[i]; r.Start > t && r.Start < t+limit {
			v.least(p.atStart(i), r.Segs)
		}
	}
}

// place finds an allocation of a job from second t on, for limit seconds, by the first of its
// variants that fits. It appends it to dst and returns which variant that is.
func (p *claims) place(dst []nodeset.Segment, ways []market.Variant, limit, t int64) ([]nodeset.Segment, int, bool) {
	if p.lacking(ways, limit, t) >= 0 {
		return dst, 0, false
	}
	p.freeAt(&p.at, t)
	if !slices.ContainsFunc(ways, func(v market.Variant) bool {
		p.booked.narrow(&v.Spec, &p.moved, t, limit) // it may use more nodes then than now
		return !p.placer.Lacks(p.at.nodes, &v.Spec)
	}) {
		return dst, 0, false // whatever is kept
	}
	p.throughout(&p.at, t, limit)
	p.limit(&p.at)
	now, prices := p.now.nodes, (*place.Prices)(nil) // for a place at a later second
	if t <= p.clock {
		now, prices = nil, p.prices // these are known of starts now
	}
	p.placer.By(prices, limit)
	for k := range ways { // of a range the low end is the easiest to place
		spec := ways[k].Spec
		p.booked.narrow(&spec, &p.moved, t, limit)
		if p.loose {
			spec.Blocks = 0
		}
		if segs, ok := p.placer.PlaceFew(dst, p.at.nodes, &spec, &p.room, now); ok {
			return segs, k, true
		}
	}
	return dst, 0, false
}

// limit has p.room be what v has left of quotas.
func (p *claims) limit(v *view) { p.room.Left = append(p.room.Left[:0], v.left) }

// free reports whether segs are free for spec now and stay so for limit seconds.
func (p *claims) free(spec *place.Spec, segs []nodeset.Segment, limit int64) bool {
	v := &p.now
	if len(p.reserved) > 0 {
		v = &p.at
		p.freeFrom(v, p.clock, limit)
	}
	p.limit(v)
	if !p.room.Room(spec, segs, 0) {
		return false
	}
	return spec.Parts == nil && v.nodes.FitsWith(segs, spec.More()) || spec.Parts != nil && spec.Parts.Fits(v.nodes, segs)
}

// lacking is the first quota that keeps a job from starting in second t, wherever it could be, for
// limit seconds; -1 if none does.
func (p *claims) lacking(ways []market.Variant, limit, t int64) int {
	if !slices.ContainsFunc(ways, func(v market.Variant) bool { return v.Spec.Charges != nil }) {
		return -1
	}
	p.freeFrom(&p.quotas, t, limit)
	p.limit(&p.quotas)
	return lackingOf(&p.room, ways)
}

// leave is, for each claim that begins later, in order, what it leaves at its start to jobs that
// start now, before any of those is counted. nodes is what is free now in all.
func (p *claims) leave(dst []view, nodes *nodeset.Table) []view {
	dst = place.Resize(dst, len(p.reserved))
	all := &p.at
	all.copyFrom(&view{nodes, p.begun})
	e := 0
	for k := range p.reserved {
		at := p.reserved[k].Start
		for ; e < len(p.ends) && p.endOf(e) <= at; e++ {
			if p.ends[e].of >= 0 {
				p.back(all, e)
			}
		}
		v := dst[k].own()
		v.copyFrom(all)
		p.takeKept(v, at)
	}
	return dst
}

// reserve finds the earliest place of a job after now, in any of its ways, and keeps it. It
// reports false if there is none even when all has ended, as when nodes are down.
func (p *claims) reserve(job int, ways []market.Variant, limit int64) (claim, bool) {
	p.segs = place.Resize(p.segs, len(p.reserved)+1)
	buf := &p.segs[len(p.reserved)]
	way := 0
	try := func(t int64) bool {
		var ok bool
		*buf, way, ok = p.place((*buf)[:0], ways, limit, t)
		return ok
	}
	// Parts are placed one after the other, and more that is free may lead that astray.
	t, ok := p.earliest(try, !slices.ContainsFunc(ways, func(v market.Variant) bool { return v.Spec.Parts != nil }))
	if !ok {
		return claim{}, false
	}
	c := p.claimOf(job, &ways[way].Spec, *buf, t, limit)
	p.keep(c)
	return c, true
}

// earliest is the first moment at which try succeeds, of those at which something
// comes free; try must have been called last for that moment. rising says that try succeeds with
// more that is free where it does with less.
func (p *claims) earliest(try func(int64) bool, rising bool) (int64, bool) {
	n := p.after(p.clock + endless - 1)
	if len(p.reserved)+len(p.booked.claims) == 0 && rising { // more and more comes free: mostly it is one of the first
		i := place.FirstOf(n, func(i int) bool { return try(p.endOf(i)) })
		if i == n {
			return 0, false
		}
		return p.endOf(i), try(p.endOf(i))
	}
	for t, ok := p.nextEnd(n, p.clock); ok; t, ok = p.nextEnd(n, t) {
		if p.stop != nil && p.stop() {
			break
		}
		if try(t) {
			return t, true
		}
	}
	return 0, false
}

// nextEnd is the first end of a claim after t, or begin of a reservation, if there is one: of what has
// begun, of the first n.
func (p *claims) nextEnd(n int, t int64) (next int64, ok bool) {
	if i := p.after(t); i < n {
		next, ok = p.endOf(i), true
	}
	for k := range p.reserved {
		if end := p.reserved[k].End; end > t && end-p.clock < endless && (!ok || end < next) {
			next, ok = end, true
		}
	}
	return p.booked.next(t, next, ok)
}
