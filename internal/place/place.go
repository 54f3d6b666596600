// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"cmp"
	"slices"

	"github.com/aucsched/aucsched/nodeset"
)

// Placer finds one good allocation of a job on a table. Unlike the auction it
// looks at one job alone; drafts, reservations and the earliest start of a job
// are made with it. The zero Placer is ready; it keeps scratch memory only.
type Placer struct {
	sets     []nodeset.Set // in node order
	order    []nodeset.Set // scratch
	spans    []Span
	pieces   []piece
	counts   []int32
	prices   *Prices        // of nodes; nil: none
	limit    int64          // seconds for which the job is placed
	light    []nodeset.Set  // of the tiers that are all taken
	tier     nodeset.Mask   // scratch
	lightest uint16         // tier of those that Survey was told of
	rest     Spec           // scratch
	fewest   Spec           // scratch
	table    *nodeset.Table // of the last search below switches
	tree     tree
	parts    *partsPlacer // nil until there is a job that consists of several
}

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
	if cores, _ := t.SumFree(); int64(s.Cores.Total) > cores {
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
	if share := len(t.Spare()) > 0; share || p.prices.Priced(s) {
		n, ok := p.one(s, t, gpus)
		if !ok {
			return dst, false
		}
		p.spans = append(p.spans[:0], Span{n, n})
		return p.Spread(dst, t, s, p.spans, l, gpus), true
	}
	return p.placeOn(dst, t, s, l, gpus)
}

// placeOn is placeAmong wherever that is.
func (p *Placer) placeOn(dst []nodeset.Segment, t *nodeset.Table, s *Spec, l Layout, gpus int) ([]nodeset.Segment, bool) {
	if s.Nodes.Min < s.Nodes.Max && s.NodesGiven && s.Cores.Total > 0 && s.Blocks == 0 {
		p.fewest = *s
		p.fewest.Nodes.Max = p.fewestNodes(s, t)
		s = &p.fewest
	}
	if sp, ok := p.tightest(s, t); ok {
		p.spans = append(p.spans[:0], sp)
		return p.Spread(dst, t, s, p.spans, l, gpus), true
	}
	if s.Contiguous {
		return dst, false
	}
	if p.several(s, t) {
		return p.Spread(dst, t, s, p.spans, l, gpus), true
	}
	return dst, false
}

// fewestNodes is the least number of nodes of p.sets that hold s, which has a range of them; the
// most that it may have if none do.
func (p *Placer) fewestNodes(s *Spec, t *nodeset.Table) int {
	if s.Contiguous {
		fewest := s.Nodes.Max
		for _, set := range p.sets {
			fewest = min(fewest, s.shortest(t.FreeCores(), int(set.First), int(set.Last)))
		}
		return fewest
	}
	p.setPieces(s, t)
	if nodes, _, _, ok := p.lowest(s); ok {
		return nodes
	}
	return s.Nodes.Max
}

// shortest is the length of the shortest run of nodes in a..b that holds the job; the most nodes that
// it may have if none does.
func (s *Spec) shortest(free []uint16, a, b int) int {
	best, first, sum := s.Nodes.Max, a, 0
	for n := a; n <= b; n++ {
		sum += s.most(free[n])
		for n-first+1 > s.Nodes.Min && sum-s.most(free[first]) >= s.Cores.Total {
			sum -= s.most(free[first])
			first++
		}
		if n-first+1 >= s.Nodes.Min && sum >= s.Cores.Total {
			best = min(best, n-first+1)
		}
	}
	return best
}

// Sets are the nodesets among which the last Place looked. They are the Placer's.
func (p *Placer) Sets() []nodeset.Set { return p.sets }

// Several are nodesets of sets, or parts of them, that together hold the job; false if none are
// found. They are the Placer's.
func (p *Placer) Several(s *Spec, t *nodeset.Table, sets []nodeset.Set) ([]Span, bool) {
	p.sets = append(p.sets[:0], sets...)
	ok := p.several(s, t)
	return p.spans, ok
}

// Neighbours are nodesets of sets from the first on until they hold the job; false if they do not,
// or lie too far apart. They are the Placer's.
func (p *Placer) Neighbours(s *Spec, t *nodeset.Table, sets []nodeset.Set) ([]Span, bool) {
	p.spans = p.spans[:0]
	var y tally
	for _, set := range sets {
		if n := y.take(s, t, int(set.First), int(set.Last)); n > int(set.First) {
			p.spans = append(p.spans, Span{int(set.First), n - 1})
		}
		if y.enough(s) {
			return p.spans, s.together(p.spans)
		}
		if y.nodes >= s.Nodes.Max {
			break
		}
	}
	return p.spans, false
}

// Spread appends an allocation for s on all nodes of spans, which ascend and together can hold it.
func (p *Placer) Spread(dst []nodeset.Segment, t *nodeset.Table, s *Spec, spans []Span, l Layout, gpus int) []nodeset.Segment {
	p.pieces = s.pieces(p.pieces[:0], t, spans)
	return s.spread(dst, p.pieces, l, gpus)
}

// tightest finds a run in the nodeset that leaves fewest cores over.
func (p *Placer) tightest(s *Spec, t *nodeset.Table) (Span, bool) {
	var best Span
	var left int64
	found := false
	for _, set := range p.sets {
		if set.Len() < s.Nodes.Min || set.Cores < int64(s.Cores.Total) || (found && set.Cores >= left) {
			continue
		}
		if sp, ok := s.FitUp(t, int(set.First), int(set.Last)); ok {
			best, left, found = sp, set.Cores, true
		}
	}
	return best, found
}

// fewestSets fills p.spans with whole nodesets, those with most cores first, and
// a part of the last, until the job fits.
func (p *Placer) fewestSets(s *Spec, t *nodeset.Table) bool {
	p.spans = p.spans[:0]
	if !s.MayBeOn(p.sets) {
		return false
	}
	var y tally
	p.order = append(p.order[:0], p.sets...)
	slices.SortFunc(p.order, func(a, b nodeset.Set) int {
		return cmp.Or(cmp.Compare(b.Cores, a.Cores), cmp.Compare(a.First, b.First))
	})
	for _, set := range p.order {
		if n := y.take(s, t, int(set.First), int(set.Last)); n > int(set.First) {
			p.spans = append(p.spans, Span{int(set.First), n - 1})
		}
		if y.nodes >= s.Nodes.Max || y.enough(s) {
			break
		}
	}
	sortSpans(p.spans)
	return y.enough(s)
}

// MayBeOn reports whether all nodesets together have the nodes and the cores.
func (s *Spec) MayBeOn(sets []nodeset.Set) bool {
	nodes, cores := 0, int64(0)
	for _, set := range sets {
		nodes += set.Len()
		cores += set.Cores
	}
	return nodes >= s.Nodes.Min && cores >= int64(s.Cores.Total)
}

// roomiestNodes fills p.spans with as few nodes as hold the job, those with most
// free cores first. If that fails, no choice of nodes holds it.
func (p *Placer) roomiestNodes(s *Spec, t *nodeset.Table) bool {
	p.spans = p.spans[:0]
	if !s.MayBeOn(p.sets) {
		return false
	}
	p.setPieces(s, t)
	_, floor, atFloor, ok := p.lowest(s)
	if !ok {
		return false
	}
	p.spans = p.spans[:0]
	for _, x := range p.pieces {
		k := x.nodes()
		switch {
		case x.most < floor:
			k = 0
		case x.most == floor:
			k = min(k, atFloor)
			atFloor -= k
		}
		if k > 0 {
			p.spans = append(p.spans, Span{x.first, x.first + k - 1})
		}
	}
	return true
}

// setPieces fills p.pieces with all nodes of p.sets.
func (p *Placer) setPieces(s *Spec, t *nodeset.Table) {
	p.spans = p.spans[:0]
	for _, set := range p.sets {
		p.spans = append(p.spans, Span{int(set.First), int(set.Last)})
	}
	p.pieces = s.pieces(p.pieces[:0], t, p.spans)
}

// lowest finds the number of cores, and how many nodes that have no more, with which
// the job fits on the nodes of p.pieces that have most: so many.
func (p *Placer) lowest(s *Spec) (nodes, floor, atFloor int, ok bool) {
	for _, x := range p.pieces {
		floor = max(floor, x.most)
	}
	p.counts = append(p.counts[:0], make([]int32, floor+1)...)
	for _, x := range p.pieces {
		p.counts[x.most] += int32(x.nodes())
	}
	y := tally{}
	for ; floor > 0; floor-- {
		lacking := max(s.Nodes.Min-y.nodes, (s.Cores.Total-y.cores+floor-1)/floor, 0)
		atFloor = min(int(p.counts[floor]), s.Nodes.Max-y.nodes, lacking)
		y.nodes += atFloor
		y.cores += atFloor * floor
		if y.enough(s) || y.nodes == s.Nodes.Max {
			break
		}
	}
	return y.nodes, floor, atFloor, y.enough(s)
}

func sortSpans(spans []Span) {
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Compare(a.First, b.First) })
}
