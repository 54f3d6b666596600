// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"cmp"
	"math"
	"slices"

	"github.com/aucsched/aucsched/nodeset"
)

// holds reports whether it is as much as s needs. If it says yes, there need not be a place.
func (r room) holds(s *Spec) bool {
	return int(r.nodes) >= s.Nodes.Min && r.cores >= int64(s.Cores.Total)
}

// Cut appends to dst the parts of sets that have the nodes of one leaf each.
func Cut(dst []nodeset.Set, t *nodeset.Table, tree *nodeset.Topology, sets []nodeset.Set) []nodeset.Set {
	runs := tree.RunEnds()
	for _, set := range sets {
		left := set.Cores
		for n := set.First; n <= set.Last; n = runs[n] + 1 {
			part := nodeset.Set{First: n, Last: min(runs[n], set.Last), Cores: left}
			if part.Last < set.Last {
				part.Cores = sumOf(t, part)
			}
			left -= part.Cores
			dst = append(dst, part)
		}
	}
	return dst
}

// sumOf is how many cores the nodes of a set have free.
func sumOf(t *nodeset.Table, set nodeset.Set) (sum int64) {
	for _, c := range t.FreeCores()[set.First : set.Last+1] {
		sum += int64(c)
	}
	return sum
}

// survey fills p.cut and p.rooms with what p.sets have for s below each switch.
func (p *Placer) survey(s *Spec, t *nodeset.Table) {
	x, levels := &p.tree, s.Below.Tree.Levels()
	p.table = t
	x.rooms = Resize(x.rooms, levels)
	for level := range x.rooms {
		k := s.Below.Tree.Switches(level + 1)
		x.rooms[level] = append(x.rooms[level][:0], make([]room, k)...)
	}
	leaf, rooms := s.Below.Tree.SwitchOf(1), x.rooms[0]
	x.leaf, x.cut = leaf, Cut(x.cut[:0], t, s.Below.Tree, p.sets)
	for _, part := range x.cut {
		k := leaf[part.First]
		rooms[k].nodes += int32(part.Len())
		rooms[k].cores += p.giving(s, t, part)
	}
	if g := s.Below.Segment; g > 0 {
		for k := range rooms {
			rooms[k].nodes -= rooms[k].nodes % g
		}
	}
	for level := 1; level < levels; level++ {
		for k, up := range s.Below.Tree.Above(level) {
			x.rooms[level][up].nodes += x.rooms[level-1][k].nodes
			x.rooms[level][up].cores += x.rooms[level-1][k].cores
		}
	}
}

// giving is how many cores the nodes of a set can give the job.
func (p *Placer) giving(s *Spec, t *nodeset.Table, set nodeset.Set) (sum int64) {
	if s.Exact() {
		return int64(set.Len()) * int64(s.Cores.PerNode.Min)
	}
	if set.Cores <= int64(s.Cores.PerNode.Max) {
		return set.Cores
	}
	for n := int(set.First); n <= int(set.Last); {
		last := t.Alike(n, int(set.Last))
		sum += int64(last-n+1) * int64(s.most(t.FreeCores()[n]))
		n = last + 1
	}
	return sum
}

// Spots are the switches below which s may have room on sets of t, those of the lowest level at
// which there are any, the tightest first. They are the Placer's, and valid until the next call.
func (p *Placer) Spots(s *Spec, t *nodeset.Table, sets []nodeset.Set) []Spot {
	p.sets = append(p.sets[:0], sets...)
	p.survey(s, t)
	for level := 1; level <= s.Below.Tree.Levels(); level++ {
		if spots := p.spotsOf(s, level); len(spots) > 0 {
			slices.SortFunc(spots, func(a, b Spot) int { return p.compareSpots(s, a, b) })
			return spots
		}
	}
	return nil
}

// spotsOf are the switches of a level below which s may have room, in their order.
func (p *Placer) spotsOf(s *Spec, level int) []Spot {
	x := &p.tree
	x.spots = x.spots[:0]
	if w := s.Below.Within; w > 0 && level > int(w) {
		return nil
	}
	rooms := x.rooms[level-1]
	for k := range rooms {
		if rooms[k].holds(s) {
			x.spots = append(x.spots, Spot{int32(level), int32(k)})
		}
	}
	return x.spots
}

// compareSpots puts the switch of a level first that has least below it. Of equals it is the one
// whose next level up has least: what is broken already is broken.
func (p *Placer) compareSpots(s *Spec, x, y Spot) int {
	a, b := x.Switch, y.Switch
	for level := int(x.Level); level <= s.Below.Tree.Levels() && a != b; level++ {
		rooms := p.tree.rooms[level-1]
		if c := compareRooms(s, rooms[a], rooms[b]); c != 0 {
			return c
		}
		if level < s.Below.Tree.Levels() {
			a, b = s.Below.Tree.Above(level)[a], s.Below.Tree.Above(level)[b]
		}
	}
	return cmp.Compare(x.Switch, y.Switch)
}

// compareRooms puts the smaller first: that with fewer nodes, or fewer cores if it is these that
// the job counts.
func compareRooms(s *Spec, a, b room) int {
	if s.Exact() {
		return cmp.Compare(a.nodes, b.nodes)
	}
	return cmp.Or(cmp.Compare(a.cores, b.cores), cmp.Compare(a.nodes, b.nodes))
}

// below is PlaceAs below the lowest switch that has room: false if there is none.
func (p *Placer) below(dst []nodeset.Segment, t *nodeset.Table, s *Spec, l Layout, gpus int) ([]nodeset.Segment, bool) {
	if s.Contiguous {
		return p.runBelow(dst, t, s, l, gpus)
	}
	p.survey(s, t)
	for level := 1; level <= s.Below.Tree.Levels(); level++ {
		for spots := p.spotsOf(s, level); len(spots) > 0; spots = spots[1:] { // the first mostly has a place
			least := slices.MinFunc(spots, func(a, b Spot) int { return p.compareSpots(s, a, b) })
			spots[slices.Index(spots, least)] = spots[0]
			if dst, ok := p.At(dst, t, s, least, l, gpus); ok {
				return dst, true
			}
		}
	}
	if !s.Demands() || s.Below.Within > 0 {
		return dst, false
	}
	return p.At(dst, t, s, everywhere(s), l, gpus) // below several roots
}

// everywhere is as a switch above all roots.
func everywhere(s *Spec) Spot { return Spot{Level: int32(s.Below.Tree.Levels()) + 1} }

// At is PlaceAs below one of the last Spots, of which it leaves as many nodes as it can.
func (p *Placer) At(dst []nodeset.Segment, t *nodeset.Table, s *Spec, spot Spot, l Layout, gpus int) ([]nodeset.Segment, bool) {
	whole := p.sets
	defer func() { p.sets = whole }()
	from := len(dst)
	for _, w := range [...]choice{nested, flat, generous} {
		if !w.suits(s, spot) {
			continue
		}
		if p.choose(s, spot, w); s.Below.Switches > 0 && len(p.tree.leaves) > int(s.Below.Switches) {
			continue
		}
		p.gather()
		if dst, ok := p.placeOn(dst, t, s, l, gpus); ok && p.tree.sprawl.Meets(s, dst[from:]) {
			return dst, true
		}
		dst = dst[:from]
	}
	return dst, false
}

// choice is a way to choose leaves.
type choice int

const (
	// nested takes of a switch the roomiest ones below it and at last the tightest that will do,
	// on each level.
	nested choice = iota
	// flat does so with all leaves at once, for the fewest.
	flat
	// generous takes the roomiest leaves, as many as there may be. Where nodes differ, leaves with
	// nodes and cores enough may have the cores on more nodes than the job may have.
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
	x.chosen, x.take = Resize(x.chosen, n), Resize(x.take, n)
	clear(x.chosen)
	lacks := room{int32(s.Nodes.Min), int64(s.Cores.Total)}
	x.order = Resize(x.order, s.Below.Tree.Levels())
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
	for _, set := range x.cut {
		leaf := x.leaf[set.First]
		if !x.chosen[leaf] || x.take[leaf] == 0 {
			continue
		}
		if n := x.take[leaf]; int(n) < set.Len() { // of its last segment only a part
			set.Last = set.First + n - 1
			set.Cores = sumOf(p.table, set)
		}
		x.take[leaf] -= int32(set.Len())
		if k := len(x.some) - 1; k >= 0 && x.some[k].Last+1 == set.First {
			x.some[k].Last, x.some[k].Cores = set.Last, x.some[k].Cores+set.Cores
			continue
		}
		x.some = append(x.some, set)
	}
	p.sets = x.some
}

// runBelow is below for consecutive nodes. It looks at the first runs of each leaf, and at those
// that begin or end at an end of one. It takes one below the fewest switches, in the tightest set.
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
