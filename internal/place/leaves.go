// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"cmp"
	"math"
	"slices"

	"github.com/aucsched/aucsched/nodeset"
)

// choice is a way to choose leaves.
type choice int

const (
	// nested takes of a switch the roomiest ones below it and at last the tightest that will do,
	// on each level.
	nested choice = iota
	// flat does so with all leaves at once, for the fewest.
	flat
	// generous takes the roomiest leaves, as many as there may be: where nodes differ, leaves that
	// have nodes and cores enough need not have them on as many nodes as the job may have.
	generous
)

// suits reports whether a choice may find a place that those before it did not.
func (w choice) suits(s *Spec, spot Spot) bool {
	all := spot == everywhere(s)
	switch w {
	case nested:
		return !all
	case flat:
		return all || s.Below.Switches > 1
	}
	return !s.Exact() && s.Below.Segment == 0
}

// choose chooses leaves below a switch that together may hold s.
func (p *Placer) choose(s *Spec, spot Spot, w choice) {
	x := &p.tree
	x.leaves = x.leaves[:0]
	n := s.Below.Tree.Switches(1)
	x.chosen, x.take = resize(x.chosen, n), resize(x.take, n)
	clear(x.chosen)
	lacks := room{int32(s.Nodes.Min), int64(s.Cores.Total)}
	x.order = resize(x.order, s.Below.Tree.Levels())
	if w == nested {
		p.fill(s, spot, &lacks)
		return
	}
	x.order[0] = p.leavesBelow(x.order[0][:0], s, spot)
	if w == flat {
		p.descend(s, x.order[0], 1, &lacks)
		return
	}
	p.takeRoomiest(s, x.order[0], &lacks)
}

// takeRoomiest takes as many leaves as there may be, the roomiest first.
func (p *Placer) takeRoomiest(s *Spec, order []int32, lacks *room) {
	p.roomiestFirst(s, order, 1)
	if k := int(s.Below.Switches); k > 0 {
		order = order[:min(k, len(order))]
	}
	for _, k := range order {
		p.takeLeaf(s, k, lacks)
	}
}

// leavesBelow appends the leaves below a switch.
func (p *Placer) leavesBelow(dst []int32, s *Spec, spot Spot) []int32 {
	all := spot == everywhere(s)
	for k := range int32(s.Below.Tree.Switches(1)) {
		at := k
		for level := 1; level < int(spot.Level) && !all; level++ {
			at = s.Below.Tree.Above(level)[at]
		}
		if all || at == spot.Switch {
			dst = append(dst, k)
		}
	}
	return dst
}

// fill takes what is lacking below a switch.
func (p *Placer) fill(s *Spec, spot Spot, lacks *room) {
	x := &p.tree
	if spot.Level == 1 {
		p.takeLeaf(s, spot.Switch, lacks)
		return
	}
	level := int(spot.Level) - 1
	order := x.order[level][:0]
	for k, up := range s.Below.Tree.Above(level) {
		if up == spot.Switch && x.rooms[level-1][k].nodes > 0 {
			order = append(order, int32(k))
		}
	}
	x.order[level] = order
	p.descend(s, order, level, lacks)
}

// descend takes what is lacking below switches of a level: all below the roomiest, and the rest
// below the tightest that has it.
func (p *Placer) descend(s *Spec, order []int32, level int, lacks *room) {
	rooms := p.tree.rooms[level-1]
	p.roomiestFirst(s, order, level)
	for i, k := range order {
		if lacks.none() {
			return
		}
		if lacks.within(rooms[k]) {
			for _, tighter := range order[i+1:] {
				if lacks.within(rooms[tighter]) {
					k = tighter
				}
			}
			p.fill(s, Spot{int32(level), k}, lacks)
			return
		}
		p.fill(s, Spot{int32(level), k}, lacks)
	}
}

// roomiestFirst sorts switches of a level.
func (p *Placer) roomiestFirst(s *Spec, order []int32, level int) {
	rooms := p.tree.rooms[level-1]
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(compareRooms(s, rooms[b], rooms[a]), cmp.Compare(a, b))
	})
}

// none reports whether nothing is lacking.
func (r *room) none() bool { return r.nodes <= 0 && r.cores <= 0 }

// within reports whether o has as much.
func (r *room) within(o room) bool { return o.nodes >= r.nodes && o.cores >= r.cores }

// takeLeaf chooses a leaf.
func (p *Placer) takeLeaf(s *Spec, k int32, lacks *room) {
	x := &p.tree
	if x.chosen[k] {
		return
	}
	has := x.rooms[0][k]
	x.chosen[k] = true
	x.take[k] = math.MaxInt32
	if s.Below.Segment > 0 && (len(x.leaves) > 0 || !lacks.within(has)) { // not all of one leaf
		x.take[k] = min(has.nodes, max(lacks.nodes, 0))
	}
	x.leaves = append(x.leaves, k)
	lacks.nodes -= has.nodes
	lacks.cores -= has.cores
}

// gather sets p.sets to the nodesets below the chosen leaves, neighbours as one.
func (p *Placer) gather() {
	x := &p.tree
	x.some = x.some[:0]
	for _, c := range x.cut {
		if !x.chosen[c.leaf] || x.take[c.leaf] == 0 {
			continue
		}
		set := c.Set
		if n := x.take[c.leaf]; int(n) < set.Len() { // of its last segment only a part
			set.Last = set.First + n - 1
			set.Cores = p.sumOf(set)
		}
		x.take[c.leaf] -= int32(set.Len())
		if k := len(x.some) - 1; k >= 0 && x.some[k].Last+1 == set.First {
			x.some[k].Last, x.some[k].Cores = set.Last, x.some[k].Cores+set.Cores
			continue
		}
		x.some = append(x.some, set)
	}
	p.sets = x.some
}

// sumOf is how many cores the nodes of a set have free.
func (p *Placer) sumOf(set nodeset.Set) (sum int64) {
	for _, c := range p.table.FreeCores()[set.First : set.Last+1] {
		sum += int64(c)
	}
	return sum
}

// runBelow is below for consecutive nodes: of the first runs of each leaf, and of those that begin
// or end at an end of a leaf, that below the fewest switches, in the tightest nodeset.
func (p *Placer) runBelow(dst []nodeset.Segment, t *nodeset.Table, s *Spec, l Layout, gpus int) ([]nodeset.Segment, bool) {
	x := &p.tree
	var best Span
	least, left, found := 0, int64(0), false
	consider := func(sp Span, ok bool, cores int64) {
		if !ok {
			return
		}
		one := [1]nodeset.Segment{{First: int32(sp.First), Last: int32(sp.Last)}}
		if !x.sprawl.Meets(s, one[:]) {
			return
		}
		if n := x.sprawl.all(s.Below.Tree, one[:]); !found || n < least || n == least && cores < left {
			best, least, left, found = sp, n, cores, true
		}
	}
	runs := s.Below.Tree.RunEnds()
	for _, set := range p.sets {
		if set.Len() < s.Nodes.Min || set.Cores < int64(s.Cores.Total) {
			continue
		}
		for n := set.First; n <= set.Last; n = runs[n] + 1 {
			end := min(runs[n], set.Last)
			sp, ok := s.FitUp(t, int(n), int(end))
			if consider(sp, ok, set.Cores); !ok {
				sp, ok = s.FitUp(t, int(n), int(set.Last))
				consider(sp, ok, set.Cores)
			}
			sp, ok = s.FitDown(t.FreeCores(), int(set.First), int(end))
			consider(sp, ok, set.Cores)
			// Whole segments at the end of this leaf, and the rest in the next ones.
			for g, first := s.Below.Segment, end+1-s.Below.Segment; g > 0 && first > n; first -= g {
				sp, ok = s.FitUp(t, int(first), min(int(first)+s.Nodes.Min-1, int(set.Last)))
				consider(sp, ok, set.Cores)
			}
		}
	}
	if !found {
		return dst, false
	}
	p.spans = append(p.spans[:0], best)
	return p.Spread(dst, t, s, p.spans, l, gpus), true
}
