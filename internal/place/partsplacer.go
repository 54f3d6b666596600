// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"cmp"
	"slices"

	"github.com/aucsched/aucsched/nodeset"
)

// PartsOptions are choices in placing the parts of a job.
type PartsOptions struct {
	// Layout is that of parts that name their number of nodes.
	Layout Layout
	// MostGPUs has parts with a range of GPUs take the most that there is a place with, not the
	// least.
	MostGPUs bool
	// Turn is how many of the parts, the hardest ones, are placed last; and, where all parts have
	// to be below one switch, how many of the switches are tried last. It is for variety.
	Turn int
}

// partsPlacer is what a Placer keeps to place jobs that consist of several parts.
type partsPlacer struct {
	table   nodeset.Table // what the parts placed so far leave
	limited Limited
	order   []int // parts, the next one first
	moved   uint32
	got     []nodeset.Segment // by order
	parts   [MaxParts]span32  // in got
	mask    nodeset.Mask      // of the nodes for a part
	below   nodeset.Mask      // of the nodes below the switch that is tried
	spec    Spec
	spots   []Spot
	sum     Spec // scratch
	under   Below
	raised  []nodeset.Segment
	plain   Parts // of which all parts have the fewest nodes
}

// span32 is what a part has: got[first:last].
type span32 struct{ first, last int }

// PlaceParts appends to dst an allocation for all parts of s on t, part after part, if it finds one
// within quotas (nil: there are none) for a job that runs into the first crosses reservations. t
// has the further resources; it is as all parts see it. Each part is placed on what those before it
// leave, the hardest first; where one finds no place, once more with that one in front. There may
// be an allocation though none is found.
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
	dst, ok = p.placeParts(dst, t, s, o)
	if !ok || q == nil || q.Room(s, dst[from:], crosses) {
		return dst, ok
	}
	// what is counted grows with nodes and GPUs
	o.MostGPUs = false
	dst, ok = p.placeParts(dst[:from], t, p.parts.fewest(s), o)
	if !ok || !q.Room(s, dst[from:], crosses) {
		return dst[:from], false
	}
	return dst, true
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
		x.got = segs
		if !ok {
			continue
		}
		if o.MostGPUs && own.MixedGPUs {
			x.raised = RaiseGPUs(x.raised[:0], segs[from:], t.FreeGPUs(), own.GPUs.PerNode.Max)
			x.got = append(x.got[:from], x.raised...)
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
