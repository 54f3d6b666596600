// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"cmp"
	"math/bits"
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
	prices   *Prices       // of nodes; nil: none
	limit    int64         // seconds for which the job is placed
	light    []nodeset.Set // of the tiers that are all taken
	tier     nodeset.Mask  // scratch
	lightest uint16        // tier of those that Survey was told of
	rest     Spec          // scratch
	fewest   Spec          // scratch
	few      Spec          // scratch
	raised   []nodeset.Segment
	limited  Limited        // scratch
	table    *nodeset.Table // of the last search below switches
	tree     tree
	parts    *partsPlacer // nil until there is a job that consists of several
}

// placeOn is placeAmong wherever that is.
func (p *Placer) placeOn(dst []nodeset.Segment, t *nodeset.Table, s *Spec, l Layout, gpus int) ([]nodeset.Segment, bool) {
	if s.Nodes.Min < s.Nodes.Max && s.NodesGiven && s.Cores.Total > 0 && s.Blocks == 0 {
		p.fewest = *s
		p.fewest.Nodes.Max = cmp.Or(p.fewestNodes(s, t), s.Nodes.Max)
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

// fewestNodes is the least number of nodes of p.sets that hold s; 0 if none do.
func (p *Placer) fewestNodes(s *Spec, t *nodeset.Table) (fewest int) {
	if s.Contiguous {
		for _, set := range p.sets {
			if n := s.shortest(t.FreeCores(), int(set.First), int(set.Last)); fewest == 0 || n > 0 && n < fewest {
				fewest = n
			}
		}
		return fewest
	}
	p.setPieces(s, t)
	if nodes, _, _, ok := s.lowest(p.counts); ok {
		return nodes
	}
	return 0
}

// shortest is the length of the shortest run of nodes in a..b that holds the job; 0 if none does.
func (s *Spec) shortest(free []uint16, a, b int) int {
	best, first, sum := s.Nodes.Max+1, a, 0
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
	if best > s.Nodes.Max {
		return 0
	}
	return best
}

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
	ok := p.fillFrom(s, t, sets) && s.together(p.spans)
	return p.spans, ok
}

// fillFrom fills p.spans with whole nodesets, the first of sets, and a part of the last, until the
// job fits.
func (p *Placer) fillFrom(s *Spec, t *nodeset.Table, sets []nodeset.Set) bool {
	p.spans = p.spans[:0]
	var y tally
	for _, set := range sets {
		if n := y.take(s, t, int(set.First), int(set.Last)); n > int(set.First) {
			p.spans = append(p.spans, Span{int(set.First), n - 1})
		}
		if y.nodes >= s.Nodes.Max || y.enough(s) {
			break
		}
	}
	return y.enough(s)
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

// fewestSets fills p.spans with nodesets, those with most cores first, until the job fits.
func (p *Placer) fewestSets(s *Spec, t *nodeset.Table) bool {
	if !s.MayBeOn(p.sets) {
		return false
	}
	p.order = append(p.order[:0], p.sets...)
	key := func(x nodeset.Set) int64 { return int64(x.First) - x.Cores*nodeset.MaxNodes } // of equals the first
	slices.SortFunc(p.order, func(a, b nodeset.Set) int { return cmp.Compare(key(a), key(b)) })
	ok := p.fillFrom(s, t, p.order)
	sortSpans(p.spans)
	return ok
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
	p.setPieces(s, t)
	_, floor, atFloor, ok := s.lowest(p.counts)
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

// several fills p.spans with nodesets, or parts of them, that together hold the
// job as it is to lie.
func (p *Placer) several(s *Spec, t *nodeset.Table) bool {
	if s.near() {
		return p.nearest(s, t)
	}
	return (p.fewestSets(s, t) || p.roomiestNodes(s, t)) && s.together(p.spans)
}

// nearest fills p.spans with all of a nodeset and the near end of another one, those that extend
// least; of several pairs the first.
func (p *Placer) nearest(s *Spec, t *nodeset.Table) bool {
	p.spans = p.spans[:0]
	if !s.MayBeOn(p.sets) {
		return false
	}
	least := 0 // extent of p.spans
	for i, a := range p.sets {
		for _, b := range p.sets[i+1:] {
			apart := int(b.First - a.Last)
			if least > 0 && apart >= least {
				break // as all behind it
			}
			// All of one of them and a node of the other extend over so many.
			if least > 0 && apart+min(a.Len(), b.Len()) >= least || a.Cores+b.Cores < int64(s.Cores.Total) ||
				a.Len()+b.Len() < s.Nodes.Min {
				continue
			}
			for _, pair := range [2][2]Span{s.ofPair(t, a, b, false), s.ofPair(t, a, b, true)} {
				if pair[0].Last < pair[0].First || pair[1].Last < pair[1].First || !s.within(pair[:]) {
					continue
				}
				if e := extent(pair[:]); least == 0 || e < least {
					least = e
					p.spans = append(p.spans[:0], pair[:]...)
				}
			}
		}
	}
	return least > 0
}

// ofPair is all of a and the beginning of b, or with down the end of a and all of b. It is nothing
// of one of them if the other is enough, or if they can't hold the job.
func (s *Spec) ofPair(t *nodeset.Table, a, b nodeset.Set, down bool) (pair [2]Span) {
	var y tally
	first, last := int(a.First), int(b.Last)
	if down {
		y.take(s, t, int(b.First), last)
		first = y.takeDown(s, t, first, int(a.Last)) + 1
	} else {
		y.take(s, t, first, int(a.Last))
		last = y.take(s, t, int(b.First), last) - 1
	}
	if !y.enough(s) {
		return [2]Span{{0, -1}, {0, -1}}
	}
	return [2]Span{{first, int(a.Last)}, {int(b.First), last}}
}

// setPieces fills p.pieces with all nodes of p.sets, and p.counts.
func (p *Placer) setPieces(s *Spec, t *nodeset.Table) {
	p.spans = p.spans[:0]
	for _, set := range p.sets {
		p.spans = append(p.spans, Span{int(set.First), int(set.Last)})
	}
	p.pieces, p.counts = s.pieces(p.pieces[:0], t, p.spans), p.counts[:0]
	for _, x := range p.pieces {
		p.count(x.most, x.nodes())
	}
}

// count adds nodes that can give so many cores each.
func (p *Placer) count(cores, nodes int) {
	for len(p.counts) <= cores {
		p.counts = append(p.counts, 0)
	}
	p.counts[cores] += int32(nodes)
}

// Lacks reports whether t surely has no place for s: with [Spec.Loose] it has one otherwise. It finds
// none, and so costs far less: nodes are counted, one by one, until what they have is enough.
func (p *Placer) Lacks(t *nodeset.Table, s *Spec) bool {
	if cores, gpus := t.SumFree(); s.LeastCores() > cores || s.LeastGPUs() > gpus {
		return true
	}
	if s.Coreless() || s.Parts != nil || t.ShareOf(s.More()) > 0 {
		return false
	}
	eligible, y, rich := s.Mask(), tally{}, 0
	p.counts = p.counts[:0]
	for w, usable := range t.Usable(s.GPUs.PerNode.Min) {
		for usable &= eligible.Word(w); usable != 0; usable &= usable - 1 {
			n := w<<6 + bits.TrailingZeros64(usable)
			c := t.Free(n)
			for _, u := range s.More() {
				c = u.Limit(c, t.FreeOf(u.Row)[n], s.GPUs.PerNode.Min)
			}
			room := s.Room(c)
			if room == 0 {
				continue
			}
			if room*s.Nodes.Max >= s.Cores.Total {
				rich++
			}
			y.nodes, y.cores = y.nodes+1, y.cores+room
			if rich == s.Nodes.Max || y.enough(s) && y.nodes <= s.Nodes.Max {
				return false
			}
			p.count(room, 1)
		}
	}
	_, _, _, ok := s.lowest(p.counts)
	return !ok
}

// Loose reports whether s is valid, and any nodes of t will do that have enough, wherever they are.
func (s *Spec) Loose(t *nodeset.Table) bool {
	return s.Valid() && !s.Contiguous && !s.Demands() && s.Blocks == 0 && !s.Coreless() && s.Parts == nil && t.ShareOf(s.More()) == 0
}

// lowest finds the number of cores, and how many nodes that have no more, with which the job fits
// on those nodes that have most: so many. counts are nodes by their cores.
func (s *Spec) lowest(counts []int32) (nodes, floor, atFloor int, ok bool) {
	y := tally{}
	for floor = len(counts) - 1; floor > 0; floor-- {
		lacking := max(s.Nodes.Min-y.nodes, (s.Cores.Total-y.cores+floor-1)/floor, 0)
		atFloor = min(int(counts[floor]), s.Nodes.Max-y.nodes, lacking)
		y.nodes += atFloor
		y.cores += atFloor * floor
		if y.enough(s) || y.nodes == s.Nodes.Max {
			break
		}
	}
	return y.nodes, max(floor, 0), atFloor, y.enough(s)
}

func sortSpans(spans []Span) {
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Compare(a.First, b.First) })
}

// tree is what a Placer keeps to find places below switches.
type tree struct {
	cut    []nodeset.Set // the nodesets, cut where the leaf changes
	leaf   []int32       // by node
	rooms  [][]room      // by level and switch: what the nodes below have
	spots  []Spot        // switches to try
	chosen []bool        // by leaf
	leaves []int32       // those chosen
	take   []int32       // by leaf: nodes that may be taken, of a job in segments
	some   []nodeset.Set // the nodesets below chosen leaves
	order  [][]int32     // by level: switches below one, scratch
	sprawl Sprawl
}

// room is what the usable nodes below a switch can give a job.
type room struct {
	nodes int32
	cores int64
}

// Spot is a switch below which a job may have room.
type Spot struct{ Level, Switch int32 }

// PartsOptions are choices in placing the parts of a job.
type PartsOptions struct {
	// Layout is that of parts that name their number of nodes.
	Layout Layout
	// MostGPUs has parts with a range of GPUs take the most that there is a place with, not the
	// least.
	MostGPUs bool
	// Turn is how many of the parts, the hardest ones, are placed last. Where all parts have to be
	// below one switch, it is how many of the switches are tried last. It is for variety.
	Turn int
	// Fast is for one of many attempts: not all places are tried.
	Fast bool
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
	plain   Parts // of which all parts have the fewest nodes
	exact   exact
}

// span32 is what a part has: got[first:last].
type span32 struct{ first, last int }
