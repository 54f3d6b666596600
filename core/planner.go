// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// reservation is a place kept for a job that cannot start now.
type reservation struct {
	// Job is the job's number in the window; with an Explainer, its index in Snapshot.Pending.
	Job int
	// Start and End are the seconds between which the place is kept: the earliest
	// start that running jobs' time limits allow, and the job's own limit later.
	Start, End int64
	// Segs is the place, and Uses what is taken of further resources there.
	Segs []nodeset.Segment
	Uses nodeset.Uses
	// parts are those of the job that the place is for, if it has several.
	parts *place.Parts
	// charges and size are what is kept of quotas.
	charges nodeset.Uses
	size    place.Size
}

// planner finds the earliest place of jobs, given what runs and what is reserved.
type planner struct {
	now      nodeset.Table // free now, less what starts now
	at       nodeset.Table // scratch: free at some later moment
	later    nodeset.Table // scratch: the same at another
	limited  place.Limited // scratch: a table as a job sees it
	ends     []held        // what will come free
	sorted   bool          // ends is by time
	times    times
	purse    purse
	reserved []reservation // by start
	segs     [][]nodeset.Segment
	placer   place.Placer
	clock    int64
	amounts  nodeset.Uses  // what jobs of several parts count; memory
	loose    bool          // jobs may have any number of blocks
	prices   *place.Prices // of starts now; nil: none
	stop     func() bool   // if not nil, says when to give a search up
}

// held is an allocation that comes free at End.
type held struct {
	end  int64
	segs []nodeset.Segment
	uses nodeset.Uses
}

// reset starts from a snapshot in which nothing starts and nothing is reserved. It
// fails if a running job holds what the machine has free.
func (p *planner) reset(s *Snapshot) error {
	p.clock = s.Now
	p.now.CopyFrom(s.Nodes)
	if err := s.idle(&p.at); err != nil {
		return err
	}
	p.ends = p.ends[:0]
	for i := range s.Running {
		r := &s.Running[i]
		// A job that has outstayed its limit may end at any moment, but not now.
		p.ends = append(p.ends, held{max(r.End, s.Now+1), r.Segs, r.Uses})
	}
	p.sorted = false
	p.reserved, p.amounts = p.reserved[:0], p.amounts[:0]
	p.purse.reset(s, nil)
	return nil
}

// idle makes t the machine when nothing runs any more. It fails if a running job holds what the
// machine has free.
func (s *Snapshot) idle(t *nodeset.Table) error {
	t.CopyFrom(s.Nodes)
	for i := range s.Running {
		if err := t.ReleaseWith(s.Running[i].Segs, s.Running[i].Uses); err != nil {
			return fmt.Errorf("running job %s: %w", s.Running[i].ID, err)
		}
	}
	return nil
}

// start lets a job start now on segs, until end.
func (p *planner) start(segs []nodeset.Segment, uses nodeset.Uses, parts *place.Parts, end int64) error {
	if parts != nil {
		return p.startParts(segs, parts, end)
	}
	if err := p.now.AllocateWith(segs, uses); err != nil {
		return err
	}
	p.ends, p.sorted = append(p.ends, held{end, segs, uses}), false
	return nil
}

// place finds an allocation of a job from second t on, for limit seconds, in the first of its
// ways in which it can. It appends it to dst and returns which way that is.
func (p *planner) place(dst []nodeset.Segment, ways []market.Variant, limit, t int64) ([]nodeset.Segment, int, bool) {
	var room *place.Quotas
	if charged(ways) {
		if p.lacking(ways, limit, t) >= 0 {
			return dst, 0, false
		}
		room = &p.purse.room // which that has set
	}
	p.freeAt(&p.at, t)
	for _, r := range p.reserved {
		if r.Start > t && r.Start < t+limit {
			p.freeAt(&p.later, r.Start)
			p.at.Intersect(&p.later)
		}
	}
	p.placer.By(p.pricesAt(t), limit)
	for k := range ways { // of a range the low end is the easiest to place
		spec := ways[k].Spec
		if p.loose {
			spec.Blocks = 0
		}
		if spec.Parts != nil {
			if segs, ok := p.placer.PlaceParts(dst, &p.at, &spec, place.PartsOptions{}, room, 0); ok {
				return segs, k, true
			}
			continue
		}
		if room != nil && spec.Valid() && !room.Narrow(&spec, 0, spec.GPUs.PerNode.Min) {
			continue
		}
		segs, ok := p.placer.Place(dst, p.limited.Of(&p.at, &spec), &spec, spec.GPUs.PerNode.Min)
		if ok && place.ChooseBins(&p.at, segs[len(dst):], spec.More(), p.laterThan(t)) {
			return segs, k, true
		}
	}
	return dst, 0, false
}

// laterThan is what is free now, for a place at a later second t; nil at once.
func (p *planner) laterThan(t int64) *nodeset.Table {
	if t > p.clock {
		return &p.now
	}
	return nil
}

// pricesAt are the prices of starts at second t: they are known for starts now.
func (p *planner) pricesAt(t int64) *place.Prices {
	if t == p.clock {
		return p.prices
	}
	return nil
}

// freeAt sets t to what is free at second when, given that what starts now ends by
// its limit.
func (p *planner) freeAt(t *nodeset.Table, when int64) {
	if !p.times.on || !p.recall(t, when) {
		p.addUp(t, when)
	}
}

// addUp is freeAt, from the beginning.
func (p *planner) addUp(t *nodeset.Table, when int64) {
	t.CopyFrom(&p.now)
	for _, h := range p.ends {
		if h.end <= when {
			must(t.ReleaseWith(h.segs, h.uses))
		}
	}
	p.keep(t, when)
}

// keep takes off t what is reserved at second when.
func (p *planner) keep(t *nodeset.Table, when int64) {
	for _, r := range p.reserved {
		if r.Start <= when && when < r.End {
			must(r.allocate(t))
		}
	}
}

// reserve finds the earliest place of a job after now, in any of its ways, and keeps it. It
// reports false if there is none even when all has ended, as when nodes are down.
func (p *planner) reserve(index int, ways []market.Variant, limit int64) (reservation, bool) {
	p.sortEnds()
	p.segs = resize(p.segs, len(p.reserved)+1)
	buf := &p.segs[len(p.reserved)]
	way := 0
	try := func(t int64) bool {
		var ok bool
		*buf, way, ok = p.place((*buf)[:0], ways, limit, t)
		return ok
	}
	t, ok := p.earliest(try, !severalParts(ways))
	if !ok {
		return reservation{}, false
	}
	spec := &ways[way].Spec
	charges, size := p.counts(spec, *buf)
	r := reservation{index, t, t + limit, *buf, spec.More(), spec.Parts, charges, size}
	p.insert(r)
	return r, true
}

func (p *planner) sortEnds() {
	if !p.sorted {
		slices.SortFunc(p.ends, func(a, b held) int { return cmp.Compare(a.end, b.end) })
		p.sorted = true
	}
}

// earliest is the first moment at which try succeeds, of those at which something
// comes free; try must have been called last for that moment. rising says that try succeeds with
// more that is free where it does with less.
func (p *planner) earliest(try func(int64) bool, rising bool) (int64, bool) {
	if len(p.ends) == 0 && len(p.reserved) == 0 {
		return 0, false
	}
	if len(p.reserved) == 0 && rising { // more and more comes free: search by halves
		lo, hi := 0, len(p.ends)-1
		if !try(p.ends[hi].end) {
			return 0, false
		}
		for lo < hi {
			if mid := (lo + hi) / 2; try(p.ends[mid].end) {
				hi = mid
			} else {
				lo = mid + 1
			}
		}
		return p.ends[lo].end, try(p.ends[lo].end)
	}
	p.search()
	defer func() { p.times.on = false }()
	e := 0
	for t, ok := p.nextEvent(p.clock, &e); ok; t, ok = p.nextEvent(t, &e) {
		if p.stop != nil && p.stop() {
			break
		}
		if try(t) {
			return t, true
		}
	}
	return 0, false
}

// nextEvent is the first end of an allocation or reservation after t, if there is one. *e is
// where to look in p.ends.
func (p *planner) nextEvent(t int64, e *int) (next int64, ok bool) {
	for *e < len(p.ends) && p.ends[*e].end <= t {
		*e++
	}
	if *e < len(p.ends) {
		next, ok = p.ends[*e].end, true
	}
	for _, r := range p.reserved {
		if r.End > t && (!ok || r.End < next) {
			next, ok = r.End, true
		}
	}
	return next, ok
}

// free reports whether segs are free for spec now and stay so for limit seconds.
func (p *planner) free(spec *place.Spec, segs []nodeset.Segment, limit int64) bool {
	if !fits(&p.now, spec, segs) {
		return false
	}
	if spec.Charges != nil && !p.roomFrom(limit, p.clock).Room(spec, segs, 0) {
		return false
	}
	for _, r := range p.reserved {
		if r.Start < p.clock+limit {
			p.freeAt(&p.later, r.Start)
			if !fits(&p.later, spec, segs) {
				return false
			}
		}
	}
	return true
}

// left is, for each reservation in order, what it leaves at its start to jobs that
// start now, before any of those is counted. free is what is free now in all.
func (p *planner) left(dst []nodeset.Table, free *nodeset.Table, running []Running) []nodeset.Table {
	dst = resize(dst, len(p.reserved))
	for k, r := range p.reserved {
		t := &dst[k]
		t.CopyFrom(free)
		for i := range running {
			if max(running[i].End, p.clock+1) <= r.Start {
				must(t.ReleaseWith(running[i].Segs, running[i].Uses))
			}
		}
		for _, o := range p.reserved {
			if o.Start <= r.Start && r.Start < o.End {
				must(o.allocate(t))
			}
		}
	}
	return dst
}

// resize gives s the length n and keeps the memory of elements beyond a former length.
func resize[T any](s []T, n int) []T {
	for cap(s) < n {
		var zero T
		s = append(s[:cap(s)], zero)
	}
	return s[:n]
}

func must(err error) {
	if err != nil {
		panic("core: " + err.Error())
	}
}
