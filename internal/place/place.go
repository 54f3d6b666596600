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
	sets    []nodeset.Set // in node order
	heap    setHeap
	spans   []Span
	pieces  []piece
	counts  []int32
	prices  *Prices        // of nodes; nil: none
	ranking []nodeset.Set  // scratch
	limit   int64          // seconds for which the job is placed
	table   *nodeset.Table // of the last search below switches
	tree    tree
	parts   *partsPlacer // nil until there is a job that consists of several
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
	p.sets = t.Scan(p.sets[:0], s.Query(gpus))
	if !s.NodesGiven && l == Level {
		l = PackUp // type 1 asks for as few nodes as possible
	}
	if s.Below != nil && (s.Nodes.Max > 1 || s.Demands()) {
		if p.mayHold(s) {
			if dst, ok := p.below(dst, t, s, l, gpus); ok {
				return dst, true
			}
		}
		if s.Demands() {
			return dst, false
		}
	}
	if len(t.Spare()) > 0 {
		return p.placeShare(dst, t, s, l)
	}
	if p.prices.Priced(s) {
		n, ok := p.cheapest(s, t, gpus)
		if !ok {
			return dst, false
		}
		p.spans = append(p.spans[:0], Span{n, n})
		return p.Spread(dst, t, s, p.spans, l, gpus), true
	}
	return p.placeOn(dst, t, s, l, gpus)
}

// placeOn is PlaceAs on the nodesets of p.sets.
func (p *Placer) placeOn(dst []nodeset.Segment, t *nodeset.Table, s *Spec, l Layout, gpus int) ([]nodeset.Segment, bool) {
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
	if !p.mayHold(s) {
		return false
	}
	var y tally
	for p.heap.fill(p.sets); len(p.heap) > 0 && y.nodes < s.Nodes.Max && !y.enough(s); {
		set := p.heap.pop()
		if n := y.take(s, t, int(set.First), int(set.Last)); n > int(set.First) {
			p.spans = append(p.spans, Span{int(set.First), n - 1})
		}
	}
	sortSpans(p.spans)
	return y.enough(s)
}

// mayHold reports whether all nodesets together have the nodes and the cores.
func (p *Placer) mayHold(s *Spec) bool {
	nodes, cores := 0, int64(0)
	for _, set := range p.sets {
		nodes += set.Len()
		cores += set.Cores
	}
	return nodes >= s.Nodes.Min && cores >= int64(s.Cores.Total)
}

// roomiestNodes fills p.spans with as few nodes as hold the job, those with most
// free cores first. If that fails, no choice of nodes holds it.
func (p *Placer) roomiestNodes(s *Spec, t *nodeset.Table) bool {
	p.spans = p.spans[:0]
	if !p.mayHold(s) {
		return false
	}
	for _, set := range p.sets {
		p.spans = append(p.spans, Span{int(set.First), int(set.Last)})
	}
	p.pieces = s.pieces(p.pieces[:0], t, p.spans)
	floor, atFloor, ok := p.lowest(s)
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

// lowest finds the number of cores, and how many nodes that have no more, with which
// the job fits on the nodes of p.pieces that have most.
func (p *Placer) lowest(s *Spec) (floor, atFloor int, ok bool) {
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
	return floor, atFloor, y.enough(s)
}

func sortSpans(spans []Span) {
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Compare(a.First, b.First) })
}
