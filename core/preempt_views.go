// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// setSpaces makes the views' spaces: what is free now, and left by each reservation, without the
// victims of their sets.
func (x *preemption) setSpaces(in *reservations) {
	x.in = in
	for i := range x.victims {
		v := &x.victims[i]
		end := max(x.s.Running[v.running].End, x.s.Now+1)
		for v.crosses = 0; v.crosses < len(in.space.Left) && in.claims.reserved[v.crosses].Start < end; v.crosses++ {
		}
	}
	x.spaces, x.memory = resize(x.spaces, len(x.sets)), resize(x.memory, len(x.sets))
	for u, set := range x.sets {
		m := resize(x.memory[u], 1+len(in.space.Left))
		x.memory[u] = m
		m[0].CopyFrom(in.space.Now)
		for k, left := range in.space.Left {
			m[k+1].CopyFrom(left)
		}
		for i := range x.victims {
			v := &x.victims[i]
			if v.class&set == 0 {
				continue
			}
			for k := range v.crosses + 1 {
				must(m[k].ReleaseWith(v.segs, v.uses))
			}
		}
		space := &x.spaces[u]
		*space = market.Space{Now: &m[0], Left: space.Left[:0], Quotas: in.space.Quotas}
		for k := range in.space.Left {
			space.Left = append(space.Left, &m[k+1])
		}
	}
	x.without.reset(x)
	x.now.reset(x)
	for i := range x.victims {
		x.now.hold(&x.victims[i])
	}
}

// setVariants makes the bidders of the model: the window's variants, with their numbers, and then
// the victims.
func (x *preemption) setVariants() {
	x.variants = append(x.variants[:0], x.window.variants...)
	for k := range x.variants {
		x.variants[k].Fixed, x.variants[k].Offer = nil, nil
	}
	for i := range x.victims {
		v := &x.victims[i]
		spec := place.Spec{
			Nodes: place.Range{Min: int(v.size.Nodes), Max: int(v.size.Nodes)},
			Cores: place.Amount{Total: int(v.size.Cores)}, GPUs: place.Amount{Total: int(v.size.GPUs)},
		}
		if len(v.uses) > 0 {
			spec.Uses = &v.uses
		}
		x.variants = append(x.variants, market.Variant{Spec: spec, Priority: v.worth, Crosses: v.crosses})
	}
}

// modelViews are the views of the model but for the widest, which is its space.
func (x *preemption) modelViews(dst []market.View) []market.View {
	x.binds = resize(x.binds, len(x.sets))
	for u, set := range x.sets[1:] {
		binds, any := x.binds[u][:0], false
		for _, need := range x.needs {
			binds = append(binds, need&^set == 0)
			any = any || need&^set == 0
		}
		for i := range x.victims {
			binds = append(binds, x.victims[i].class&set != 0)
		}
		if x.binds[u] = binds; any {
			dst = append(dst, market.View{Space: &x.spaces[u+1], Binds: binds})
		}
	}
	return dst
}

// remains is what is left of each view.
type remains struct {
	x       *preemption
	tables  [][]nodeset.Table // by view; now, and at each reservation
	scratch nodeset.Table
}

// reset begins with all that the views have.
func (l *remains) reset(x *preemption) {
	l.x = x
	l.tables = resize(l.tables, len(x.memory))
	for u := range x.memory {
		l.tables[u] = resize(l.tables[u], len(x.memory[u]))
		for k := range x.memory[u] {
			l.tables[u][k].CopyFrom(&x.memory[u][k])
		}
	}
}

// copyFrom is reset to what another has left.
func (l *remains) copyFrom(o *remains) {
	l.x, l.tables = o.x, resize(l.tables, len(o.tables))
	for u := range o.tables {
		l.tables[u] = resize(l.tables[u], len(o.tables[u]))
		for k := range o.tables[u] {
			l.tables[u][k].CopyFrom(&o.tables[u][k])
		}
	}
}

// sharer is what takes part in views: those of all sets that have need.
type sharer struct {
	need    uint64
	crosses int
	segs    []nodeset.Segment
	uses    nodeset.Uses
	parts   *place.Parts // of a start of several parts
}

func (p *sharer) allocate(t *nodeset.Table) error {
	if p.parts != nil {
		return p.parts.Allocate(t, p.segs)
	}
	return t.AllocateWith(p.segs, p.uses)
}

func (p *sharer) release(t *nodeset.Table) error {
	if p.parts != nil {
		return p.parts.Release(t, p.segs)
	}
	return t.ReleaseWith(p.segs, p.uses)
}

func (p *sharer) fits(t *nodeset.Table) bool {
	if p.parts != nil {
		return p.parts.Fits(t, p.segs)
	}
	return t.FitsWith(p.segs, p.uses)
}

func (v *victim) sharer() sharer { return sharer{v.class, v.crosses, v.segs, v.uses, nil} }

func (l *remains) take(p sharer) {
	for u, set := range l.x.sets {
		for k := 0; p.need&^set == 0 && k <= p.crosses; k++ {
			must(p.allocate(&l.tables[u][k]))
		}
	}
}

func (l *remains) give(p sharer) {
	for u, set := range l.x.sets {
		for k := 0; p.need&^set == 0 && k <= p.crosses; k++ {
			must(p.release(&l.tables[u][k]))
		}
	}
}

func (l *remains) fits(p sharer) bool {
	for u, set := range l.x.sets {
		for k := 0; p.need&^set == 0 && k <= p.crosses; k++ {
			if !p.fits(&l.tables[u][k]) {
				return false
			}
		}
	}
	return true
}

func (l *remains) hold(v *victim) { l.take(v.sharer()) }
func (l *remains) stop(v *victim) { l.give(v.sharer()) }

// seenBy is what a job sees that preempts need and runs into the first crosses reservations. It is
// l's, to be read only, until the next call.
func (l *remains) seenBy(need uint64, crosses int) *nodeset.Table {
	var only *nodeset.Table
	copied := false
	for u, set := range l.x.sets {
		for k := 0; need&^set == 0 && k <= crosses; k++ {
			t := &l.tables[u][k]
			switch {
			case only == nil:
				only = t
			case !copied:
				l.scratch.CopyFrom(only)
				only, copied = &l.scratch, true
				fallthrough
			default:
				l.scratch.Intersect(t)
			}
		}
	}
	return only
}

// leastOf sets dst to what all views have left at reservation k, or now, 0.
func (l *remains) leastOf(dst *nodeset.Table, k int) {
	dst.CopyFrom(&l.tables[0][k])
	for u := range l.tables[1:] {
		dst.Intersect(&l.tables[u+1][k])
	}
}

// overlaps reports whether two allocations have a node in common.
func overlaps(a, b []nodeset.Segment) bool {
	for len(b) > 0 {
		var part []nodeset.Segment
		if part, b = place.CutPart(b); meet(a, part) {
			return true
		}
	}
	return false
}

// meet is overlaps for allocations of one part.
func meet(a, b []nodeset.Segment) bool {
	for len(a) > 0 && len(b) > 0 {
		if max(a[0].First, b[0].First) <= min(a[0].Last, b[0].Last) {
			return true
		}
		if a[0].Last < b[0].Last {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return false
}

// sharerOf is the start of variant k of the window on segs.
func (x *preemption) sharerOf(k int, segs []nodeset.Segment) sharer {
	v := &x.window.variants[k]
	return sharer{x.needs[k], v.Crosses, segs, v.Spec.More(), v.Spec.Parts}
}
