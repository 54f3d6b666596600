// SPDX-License-Identifier: BSD-3-Clause

package bids

import (
	"cmp"
	"slices"

	"github.com/aucsched/aucsched/nodeset"
)

// Placer finds one good allocation of a job on a table. Unlike the auction it
// looks at one job alone; drafts, reservations and the earliest start of a job
// are made with it. The zero Placer is ready; it keeps scratch memory only.
type Placer struct {
	sets   []nodeset.Set // in node order
	heap   setHeap
	spans  []span
	pieces []piece
	counts []int32
}

// Place appends to dst an allocation of r on t with gpus GPUs on each node and
// reports whether there is one: it fails only if none exists. Among several it
// prefers, in this order, the contiguous run in the tightest nodeset, the fewest
// nodesets, and single nodes with most free cores.
func (p *Placer) Place(dst []nodeset.Segment, t *nodeset.Table, r *Request, gpus int) ([]nodeset.Segment, bool) {
	return p.PlaceTogether(dst, t, r, gpus, 0)
}

// PlaceTogether is Place with at most that many blocks of consecutive nodes; 0 for any
// number. It fails as well if the blocks that it prefers are too many, which are the fewest or
// nearly so.
func (p *Placer) PlaceTogether(dst []nodeset.Segment, t *nodeset.Table, r *Request, gpus, blocks int) ([]nodeset.Segment, bool) {
	s, err := r.shape()
	if err != nil {
		return dst, false
	}
	s.blocks = blocks
	if cores, _ := t.SumFree(); int64(s.cores) > cores {
		return dst, false
	}
	return p.place(dst, t, &s, r.Eligible, gpus, level)
}

// place is Place for a shape and a layout. It leaves the nodesets among which it looked
// in p.sets.
func (p *Placer) place(dst []nodeset.Segment, t *nodeset.Table, s *shape, eligible nodeset.Mask, gpus int, l layout) ([]nodeset.Segment, bool) {
	p.sets = t.Scan(p.sets[:0], nodeset.Query{GPUs: gpus, MinCores: s.lo, Eligible: eligible})
	if !s.nodesGiven && l == level {
		l = packUp // type 1 asks for as few nodes as possible
	}
	if sp, ok := p.tightest(s, t); ok {
		p.spans = append(p.spans[:0], sp)
		return p.spread(dst, t, s, p.spans, l, gpus), true
	}
	if s.contiguous {
		return dst, false
	}
	if p.several(s, t) {
		return p.spread(dst, t, s, p.spans, l, gpus), true
	}
	return dst, false
}

// spread appends the allocation of s on all nodes of spans, as shape.spread does.
func (p *Placer) spread(dst []nodeset.Segment, t *nodeset.Table, s *shape, spans []span, l layout, gpus int) []nodeset.Segment {
	p.pieces = s.pieces(p.pieces[:0], t, spans)
	return s.spread(dst, p.pieces, l, gpus)
}

// tightest finds a run in the nodeset that leaves fewest cores over.
func (p *Placer) tightest(s *shape, t *nodeset.Table) (span, bool) {
	var best span
	var left int64
	found := false
	for _, set := range p.sets {
		if set.Len() < s.minNodes || set.Cores < int64(s.cores) || (found && set.Cores >= left) {
			continue
		}
		if sp, ok := s.fitUp(t, int(set.First), int(set.Last)); ok {
			best, left, found = sp, set.Cores, true
		}
	}
	return best, found
}

// fewestSets fills p.spans with whole nodesets, those with most cores first, and
// a part of the last, until the job fits.
func (p *Placer) fewestSets(s *shape, t *nodeset.Table) bool {
	p.spans = p.spans[:0]
	if !p.mayHold(s) {
		return false
	}
	var y tally
	for p.heap.fill(p.sets); len(p.heap) > 0 && y.nodes < s.maxNodes && !y.enough(s); {
		set := p.heap.pop()
		if n := y.take(s, t, int(set.First), int(set.Last)); n > int(set.First) {
			p.spans = append(p.spans, span{int(set.First), n - 1})
		}
	}
	sortSpans(p.spans)
	return y.enough(s)
}

// mayHold reports whether all nodesets together have the nodes and the cores.
func (p *Placer) mayHold(s *shape) bool {
	nodes, cores := 0, int64(0)
	for _, set := range p.sets {
		nodes += set.Len()
		cores += set.Cores
	}
	return nodes >= s.minNodes && cores >= int64(s.cores)
}

// roomiestNodes fills p.spans with as few nodes as hold the job, those with most
// free cores first. If that fails, no choice of nodes holds it.
func (p *Placer) roomiestNodes(s *shape, t *nodeset.Table) bool {
	p.spans = p.spans[:0]
	if !p.mayHold(s) {
		return false
	}
	for _, set := range p.sets {
		p.spans = append(p.spans, span{int(set.First), int(set.Last)})
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
			p.spans = append(p.spans, span{x.first, x.first + k - 1})
		}
	}
	return true
}

// lowest finds the number of cores, and how many nodes that have no more, with which
// the job fits on the nodes of p.pieces that have most.
func (p *Placer) lowest(s *shape) (floor, atFloor int, ok bool) {
	for _, x := range p.pieces {
		floor = max(floor, x.most)
	}
	p.counts = append(p.counts[:0], make([]int32, floor+1)...)
	for _, x := range p.pieces {
		p.counts[x.most] += int32(x.nodes())
	}
	y := tally{}
	for ; floor > 0; floor-- {
		lacking := max(s.minNodes-y.nodes, (s.cores-y.cores+floor-1)/floor, 0)
		atFloor = min(int(p.counts[floor]), s.maxNodes-y.nodes, lacking)
		y.nodes += atFloor
		y.cores += atFloor * floor
		if y.enough(s) || y.nodes == s.maxNodes {
			break
		}
	}
	return floor, atFloor, y.enough(s)
}

func sortSpans(spans []span) {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.first, b.first) })
}
