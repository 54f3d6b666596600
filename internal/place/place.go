// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"cmp"
	"slices"

	"github.com/aucsched/aucsched/nodeset"
)

// Place appends to dst an allocation for s on t with gpus GPUs on each node and reports whether
// there is one. It fails only if none exists, and if the blocks that it prefers are more than s may
// have; those are the fewest or nearly so. Among several it prefers, in this order, the contiguous
// run in the tightest nodeset, the fewest nodesets, and single nodes with most free cores. Where
// there is a tree of switches it first looks below the lowest and tightest switch that has room. A
// job that counts its cores may be missed if nodes differ, and it may be below several leaves, but
// not any number, or is in several segments.
func (p *Placer) Place(dst []nodeset.Segment, t *nodeset.Table, s *Spec, gpus int) ([]nodeset.Segment, bool) {
	if !s.Valid() {
		return dst, false
	}
	return p.PlaceAs(dst, t, s, gpus, Level)
}

// PlaceAs is Place for a valid Spec, with a layout for jobs that name their number of nodes.
func (p *Placer) PlaceAs(dst []nodeset.Segment, t *nodeset.Table, s *Spec, gpus int, l Layout) ([]nodeset.Segment, bool) {
	if s.Parts != nil {
		return p.PlaceParts(dst, t, s, PartsOptions{Layout: l}, nil, 0)
	}
	if !s.NodesGiven && l == Level {
		l = PackUp // type 1 asks for as few nodes as possible
	}
	from, last := len(dst), -1
	k := FirstOf(s.Tiers.Count(), func(k int) (ok bool) {
		last = k
		dst, ok = p.placeUpTo(dst[:from], t, s, k, gpus, l)
		return ok
	})
	if k == last {
		return dst, true
	}
	return p.placeUpTo(dst[:from], t, s, k, gpus, l)
}

// placeUpTo is PlaceAs on the k+1 lightest tiers, where the k lightest are too few: it takes all of
// these, and of the next one what is lacking. A job of which the nodes have to lie as it demands gets
// any of them.
func (p *Placer) placeUpTo(dst []nodeset.Segment, t *nodeset.Table, s *Spec, k, gpus int, l Layout) ([]nodeset.Segment, bool) {
	if k > 0 && !s.Contiguous && !s.Demands() && s.Blocks == 0 && s.Nodes.Max > 1 {
		if dst, ok := p.placeBeyond(dst, t, s, k, gpus, l); ok {
			return dst, true
		}
	}
	p.sets = p.scan(p.sets[:0], t, s, gpus, -1, k)
	return p.placeAmong(dst, t, s, gpus, l)
}

// scan appends the nodesets of nodes that can serve s, of the tiers beyond the given one up to k.
func (p *Placer) scan(dst []nodeset.Set, t *nodeset.Table, s *Spec, gpus, beyond, k int) []nodeset.Set {
	q := s.Query(gpus)
	if beyond >= 0 || k < s.Tiers.Count() {
		p.tier = s.Tiers.Between(p.tier[:0], q.Eligible, beyond, k)
		q.Eligible = p.tier
	}
	return t.Scan(dst, q)
}

// placeBeyond is placeUpTo that takes all nodes of the k lightest tiers. It fails if these are too
// many, or too few with the next tier.
func (p *Placer) placeBeyond(dst []nodeset.Segment, t *nodeset.Table, s *Spec, k, gpus int, l Layout) ([]nodeset.Segment, bool) {
	p.light = p.scan(p.light[:0], t, s, gpus, -1, k-1)
	var y tally
	for _, set := range p.light {
		y.take(s, t, int(set.First), int(set.Last))
	}
	if y.nodes == 0 || y.nodes >= s.Nodes.Max {
		return dst, false
	}
	rest := &p.rest
	*rest = *s
	rest.Nodes = Range{max(s.Nodes.Min-y.nodes, 1), s.Nodes.Max - y.nodes}
	if s.Cores.Total > 0 {
		rest.Cores.Total = max(s.Cores.Total-y.cores, rest.Nodes.Min*s.Cores.PerNode.Min)
	}
	from, ok := len(dst), false
	p.sets = p.scan(p.sets[:0], t, s, gpus, k-1, k)
	if dst, ok = p.placeAmong(dst, t, rest, gpus, l); !ok {
		return dst, false
	}
	p.spans = p.spans[:0]
	for _, seg := range dst[from:] {
		p.spans = append(p.spans, Span{int(seg.First), int(seg.Last)})
	}
	for _, set := range p.light {
		p.spans = append(p.spans, Span{int(set.First), int(set.Last)})
	}
	sortSpans(p.spans)
	return p.Spread(dst[:from], t, s, p.spans, l, gpus), true
}

// placeAmong is PlaceAs on the nodesets of p.sets.
func (p *Placer) placeAmong(dst []nodeset.Segment, t *nodeset.Table, s *Spec, gpus int, l Layout) ([]nodeset.Segment, bool) {
	if s.Below != nil && (s.Nodes.Max > 1 || s.Demands()) {
		if s.MayBeOn(p.sets) {
			if dst, ok := p.below(dst, t, s, l, gpus); ok {
				return dst, true
			}
		}
		if s.Demands() {
			return dst, false
		}
	}
	if p.prices.Priced(s) || t.Unlimited().ShareOf(s.More()) > 0 {
		n, bin, ok := p.one(s, t, gpus)
		if !ok {
			return dst, false
		}
		p.spans = append(p.spans[:0], Span{n, n})
		dst = p.Spread(dst, t, s, p.spans, l, gpus)
		dst[len(dst)-1].Bin = bin
		return dst, true
	}
	return p.placeOn(dst, t, s, l, gpus)
}

// PlaceFew appends to dst an allocation for s with the fewest GPUs, on what s sees of t, within quotas
// unless q is nil. GPUs that it shares get numbers that are free in now too, which may be nil.
func (p *Placer) PlaceFew(dst []nodeset.Segment, t *nodeset.Table, s *Spec, q *Quotas, now *nodeset.Table) ([]nodeset.Segment, bool) {
	if s.Parts != nil {
		return p.PlaceParts(dst, t, s, PartsOptions{}, q, 0)
	}
	from := len(dst)
	if !s.Valid() || p.Lacks(t, s) {
		return dst, false
	}
	dst, ok := p.PlaceMost(dst, p.limited.Of(t, s), s, s.GPUs.PerNode.Min, q, 0)
	return dst, ok && ChooseBins(t, dst[from:], s.More(), now)
}

// PlaceMost appends to dst an allocation for s, of one part, on what s sees of t. It has the most
// GPUs a node, up to most, with which there is a place. It is within quotas, nil for none, for a
// job that runs into the first crosses reservations.
func (p *Placer) PlaceMost(
	dst []nodeset.Segment, t *nodeset.Table, s *Spec, most int, q *Quotas, crosses int,
) (segs []nodeset.Segment, ok bool) {
	from, least := len(dst), s.GPUs.PerNode.Min
	for g := max(min(most, t.MaxGPUs()), least); g >= least; g-- {
		p.few = *s
		if q != nil && !q.Narrow(&p.few, crosses, g) {
			continue
		}
		if dst, ok = p.Place(dst, t, &p.few, g); !ok {
			continue
		}
		if most > least {
			dst = p.RaiseGPUs(dst, from, t, s, q, crosses)
		}
		return dst, true
	}
	return dst, false
}

// RaiseGPUs has the allocation dst[from:] give as many GPUs of each node as are free in t, up to
// the most of s, and at least what it gives. It does not if that would pass quotas, nil for none.
// It is for Specs with MixedGPUs: all others get the same number on each node.
func (p *Placer) RaiseGPUs(
	dst []nodeset.Segment, from int, t *nodeset.Table, s *Spec, q *Quotas, crosses int,
) []nodeset.Segment {
	if !s.MixedGPUs {
		return dst
	}
	p.raised = p.raised[:0]
	for _, seg := range dst[from:] {
		for one := seg; one.First <= seg.Last; one.First++ {
			one.Last, one.GPUs = one.First, max(seg.GPUs, uint8(min(int(t.FreeGPUs()[one.First]), s.GPUs.PerNode.Max)))
			p.raised = nodeset.Append(p.raised, one)
		}
	}
	if q != nil && !q.Room(s, p.raised, crosses) {
		return dst
	}
	return append(dst[:from], p.raised...)
}

// PlaceParts appends to dst an allocation for all parts of s on t, part after part, if it finds one
// within quotas, nil for none. The job runs into the first crosses reservations. t has the further
// resources, as all parts see it. Each part is placed on what those before it leave, the hardest
// first. Where one finds no place, it is tried once more in front. If that leads astray, all places
// are tried: on large machines, or for many parts, there may be one though none is found.
func (p *Placer) PlaceParts(dst []nodeset.Segment, t *nodeset.Table, s *Spec, o PartsOptions, q *Quotas, crosses int) (
	segs []nodeset.Segment, ok bool,
) {
	if p.parts == nil {
		p.parts = new(partsPlacer)
	}
	if q != nil && q.Lacks(s, crosses) >= 0 {
		return dst, false
	}
	prices := p.prices
	p.prices = nil // they are of jobs of one node
	defer func() { p.prices = prices }()
	from := len(dst)
	if dst, ok = p.placeParts(dst, t, s, o); ok && q != nil && !q.Room(s, dst[from:], crosses) {
		// what is counted grows with nodes and GPUs
		o.MostGPUs = false
		dst, ok = p.placeParts(dst[:from], t, p.parts.fewest(s), o)
		ok = ok && q.Room(s, dst[from:], crosses)
	}
	switch {
	case ok:
		return dst, true
	case o.Fast:
		return dst[:from], false
	}
	return p.parts.exact.place(dst[:from], t, s, q, crosses)
}

// fewest is s with as few nodes of each part as that may have.
func (x *partsPlacer) fewest(s *Spec) *Spec {
	specs := append(x.plain.Specs[:0], s.Parts.Specs...)
	x.plain = *s.Parts
	for k := range specs {
		specs[k].Nodes.Max = specs[k].Nodes.Min
	}
	x.plain.Specs = specs
	x.spec = *s
	x.spec.Parts = &x.plain
	return &x.spec
}

// placeParts is PlaceParts without quotas.
func (p *Placer) placeParts(dst []nodeset.Segment, t *nodeset.Table, s *Spec, o PartsOptions) ([]nodeset.Segment, bool) {
	x := p.parts
	x.table.CopyFrom(t)
	if s.Parts.Within == 0 {
		return p.placeAnywhere(dst, s, o, nil)
	}
	p.findSpots(t, s)
	for i := range x.spots {
		x.setBelow(s.Parts, x.spots[(i+o.Turn)%len(x.spots)])
		if dst, ok := p.placeAnywhere(dst, s, o, x.below); ok {
			return dst, true
		}
	}
	return dst, false
}

// findSpots sets x.spots to the switches below which the job may have room, the tightest first.
func (p *Placer) findSpots(t *nodeset.Table, s *Spec) {
	x := p.parts
	cores, _ := t.SumFree()
	x.sum, x.under = *s, Below{Tree: s.Parts.Tree, Within: s.Parts.Within}
	x.sum.Below = &x.under
	p.sets = append(p.sets[:0], nodeset.Set{Last: int32(t.Len() - 1), Cores: cores})
	p.survey(&x.sum, t)
	x.spots = append(x.spots[:0], p.spotsOf(&x.sum, min(int(s.Parts.Within), s.Parts.Tree.Levels()))...)
	slices.SortFunc(x.spots, func(a, b Spot) int { return p.compareSpots(&x.sum, a, b) })
}

// setBelow sets x.below to the nodes below a switch.
func (x *partsPlacer) setBelow(parts *Parts, at Spot) {
	of := parts.Tree.SwitchOf(int(at.Level))
	x.below = append(x.below[:0], make(nodeset.Mask, (len(of)+63)/64)...)
	for n, k := range of {
		if k == at.Switch {
			x.below.Set(n)
		}
	}
}

// placeAnywhere places the parts on nodes of a mask, nil for all, and takes them off x.table. If it
// finds no place x.table is as before.
func (p *Placer) placeAnywhere(dst []nodeset.Segment, s *Spec, o PartsOptions, below nodeset.Mask) ([]nodeset.Segment, bool) {
	x := p.parts
	x.setOrder(s.Parts, o.Turn)
	for {
		failed := p.placeInOrder(s, o, below)
		if failed < 0 {
			break
		}
		k := x.order[failed]
		if failed == 0 || x.moved>>k&1 == 1 { // alone, or it has had its turn
			return dst, false
		}
		x.moved |= 1 << k
		copy(x.order[1:failed+1], x.order[:failed])
		x.order[0] = k
	}
	for k := range s.Parts.Specs {
		dst = append(dst, x.got[x.parts[k].first:x.parts[k].last]...)
	}
	return dst, true
}

// setOrder puts the hardest parts first, and turns of these last.
func (x *partsPlacer) setOrder(parts *Parts, turn int) {
	x.order, x.moved = x.order[:0], 0
	for k := range parts.Specs {
		x.order = append(x.order, k)
	}
	slices.SortStableFunc(x.order, func(a, b int) int { return harderPart(&parts.Specs[a], &parts.Specs[b]) })
	n := len(x.order)
	for range turn % n {
		k := x.order[0]
		copy(x.order, x.order[1:])
		x.order[n-1] = k
	}
}

// harderPart is negative if a has fewer places than b, by what it asks for.
func harderPart(a, b *Spec) int {
	return cmp.Or(
		cmp.Compare(b.GPUs.PerNode.Min, a.GPUs.PerNode.Min),
		first(a.Eligible != nil, b.Eligible != nil),
		first(a.Uses != nil, b.Uses != nil),
		first(a.Contiguous || a.Demands(), b.Contiguous || b.Demands()),
		first(a.NodesGiven, b.NodesGiven),
		cmp.Compare(b.Nodes.Min, a.Nodes.Min),
		cmp.Compare(b.LeastCores(), a.LeastCores()),
	)
}

// first is negative if a alone is true.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// placeInOrder places one part after the other. It returns which one of the order has no place, and
// then gives all others back; -1 if each has.
func (p *Placer) placeInOrder(s *Spec, o PartsOptions, below nodeset.Mask) (failed int) {
	x := p.parts
	x.got = x.got[:0]
	for i, k := range x.order {
		from := len(x.got)
		if !p.placePart(s, k, i, o, below) {
			for _, k := range x.order[:i] {
				must(x.table.Release(x.got[x.parts[k].first:x.parts[k].last], s.Parts.Specs[k].More()...))
			}
			return i
		}
		segs := x.got[from:]
		for n := range segs {
			segs[n].Part = uint8(k)
		}
		x.parts[k] = span32{from, len(x.got)}
		must(x.table.Allocate(segs, s.Parts.Specs[k].More()...))
	}
	return -1
}

// placePart appends to x.got a place for part k, after the first so many of the order.
func (p *Placer) placePart(s *Spec, k, before int, o PartsOptions, below nodeset.Mask) bool {
	x := p.parts
	own := s.Parts.Specs[k]
	own.Contiguous = own.Contiguous || s.Contiguous
	if x.setMask(s.Parts, k, before, below) {
		own.Eligible = &x.mask
	}
	t := x.limited.Of(&x.table, &own)
	from, high := len(x.got), own.GPUs.PerNode.Min
	if o.MostGPUs {
		high = max(high, min(own.GPUs.PerNode.Max, t.MaxGPUs()))
	}
	for g := high; g >= own.GPUs.PerNode.Min; g-- {
		segs, ok := p.PlaceAs(x.got, t, &own, g, o.Layout)
		if x.got = segs; !ok {
			continue
		}
		if o.MostGPUs {
			x.got = p.RaiseGPUs(segs, from, t, &own, nil, 0)
		}
		return true
	}
	return false
}

// setMask sets x.mask to the nodes that part k may use beside the first so many of the order. It
// reports false if these are just its own.
func (x *partsPlacer) setMask(parts *Parts, k, before int, below nodeset.Mask) bool {
	apart := func(i int) bool { return (parts.Apart>>k|parts.Apart>>i)&1 == 1 }
	if below == nil && !slices.ContainsFunc(x.order[:before], apart) {
		return false
	}
	x.mask = append(x.mask[:0], make(nodeset.Mask, (x.table.Len()+63)/64)...)
	eligible := parts.Specs[k].Mask()
	for w := range x.mask {
		x.mask[w] = eligible.Word(w)
		if below != nil {
			x.mask[w] &= below.Word(w)
		}
	}
	for _, i := range x.order[:before] {
		if !apart(i) {
			continue
		}
		for _, g := range x.got[x.parts[i].first:x.parts[i].last] {
			for n := g.First; n <= g.Last; n++ {
				x.mask.Clear(int(n))
			}
		}
	}
	return true
}
