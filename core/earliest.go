// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"slices"

	"github.com/aucsched/aucsched/internal/market"
)

// reserve finds the earliest place of a job after now, in any of its ways, and keeps it. It
// reports false if there is none even when all has ended, as when nodes are down.
func (p *claims) reserve(job int, ways []market.Variant, limit int64) (claim, bool) {
	p.segs = resize(p.segs, len(p.reserved)+1)
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
	p.search()
	defer func() { p.recalled.on = false }()
	n := p.after(p.clock + endless - 1)
	if len(p.reserved)+len(p.booked.claims) == 0 && rising { // more and more comes free: mostly it is one of the first
		lo, hi := 0, 0
		for ; hi < n && !try(p.endOf(hi)); lo, hi = hi+1, 2*hi+1 {
		}
		if hi >= n {
			if hi = n - 1; hi < lo || !try(p.endOf(hi)) {
				return 0, false
			}
		}
		for lo < hi {
			if mid := (lo + hi) / 2; try(p.endOf(mid)) {
				hi = mid
			} else {
				lo = mid + 1
			}
		}
		return p.endOf(lo), try(p.endOf(lo))
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

// search begins one.
func (p *claims) search() {
	x := &p.recalled
	x.on, x.over = true, 0
	x.freed.own().copyFrom(&p.now)
	x.starts, x.known = resize(x.starts, len(p.reserved)), resize(x.known, len(p.reserved))
	clear(x.known)
}
