// SPDX-License-Identifier: BSD-3-Clause

package core

import "github.com/aucsched/aucsched/nodeset"

// times are what is free at the moments of a search that goes on from one to the next. Nothing is
// started, and no place kept, while it goes on: so what has come free by a moment is that of the
// one before and a little more, and at the starts of reservations it is always the same.
type times struct {
	on     bool
	freed  nodeset.Table // what is free, reservations aside, when some of planner.ends are over
	over   int           // so many, the first
	starts []nodeset.Table
	known  []bool // of starts
}

// search begins one. planner.ends have to be sorted.
func (p *planner) search() {
	x := &p.times
	x.on, x.over = true, 0
	x.freed.CopyFrom(&p.now)
	x.starts, x.known = resize(x.starts, len(p.reserved)), resize(x.known, len(p.reserved))
	clear(x.known)
}

// recall is freeAt in a search. It reports false if it does not know.
func (p *planner) recall(t *nodeset.Table, when int64) bool {
	x := &p.times
	for k := range p.reserved {
		if p.reserved[k].Start != when {
			continue
		}
		if !x.known[k] {
			p.addUp(&x.starts[k], when)
			x.known[k] = true
		}
		t.CopyFrom(&x.starts[k])
		return true
	}
	if x.over > 0 && p.ends[x.over-1].end > when {
		return false
	}
	for ; x.over < len(p.ends) && p.ends[x.over].end <= when; x.over++ {
		must(x.freed.ReleaseWith(p.ends[x.over].segs, p.ends[x.over].uses))
	}
	t.CopyFrom(&x.freed)
	p.keep(t, when)
	return true
}
