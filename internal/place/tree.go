// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"cmp"
	"slices"

	"github.com/aucsched/aucsched/nodeset"
)

// tree is what a Placer keeps to find places below switches.
type tree struct {
	cut    []cutSet      // the nodesets, cut where the leaf changes
	rooms  [][]room      // by level and switch: what the nodes below have
	spots  []Spot        // switches to try
	chosen []bool        // by leaf
	leaves []int32       // those chosen
	take   []int32       // by leaf: nodes that may be taken, of a job in segments
	some   []nodeset.Set // the nodesets below chosen leaves
	order  [][]int32     // by level: switches below one, scratch
	sprawl Sprawl
}

// cutSet is a part of a nodeset with the nodes of one leaf.
type cutSet struct {
	nodeset.Set
	leaf int32
}

// room is what the usable nodes below a switch can give a job.
type room struct {
	nodes int32
	cores int64
}

// holds reports whether it is as much as s needs. If it says yes, there need not be a place.
func (r room) holds(s *Spec) bool {
	return int(r.nodes) >= s.Nodes.Min && r.cores >= int64(s.Cores.Total)
}

// Spot is a switch below which a job may have room.
type Spot struct{ Level, Switch int32 }

// Cut appends to dst the parts of sets that have the nodes of one leaf each.
func Cut(dst []nodeset.Set, t *nodeset.Table, tree *nodeset.Topology, sets []nodeset.Set) []nodeset.Set {
	for _, set := range sets {
		eachCut(t, tree, set, func(part nodeset.Set) { dst = append(dst, part) })
	}
	return dst
}

func eachCut(t *nodeset.Table, tree *nodeset.Topology, set nodeset.Set, visit func(nodeset.Set)) {
	runs, left := tree.RunEnds(), set.Cores
	for n := set.First; n <= set.Last; n = runs[n] + 1 {
		part := nodeset.Set{First: n, Last: min(runs[n], set.Last), Cores: left}
		if part.Last < set.Last {
			part.Cores = 0
			for _, c := range t.FreeCores()[n : part.Last+1] {
				part.Cores += int64(c)
			}
		}
		left -= part.Cores
		visit(part)
	}
}

// survey fills p.cut and p.rooms with what p.sets have for s below each switch.
func (p *Placer) survey(s *Spec, t *nodeset.Table) {
	x, levels := &p.tree, s.Below.Tree.Levels()
	p.table = t
	x.rooms = resize(x.rooms, levels)
	for level := range x.rooms {
		k := s.Below.Tree.Switches(level + 1)
		x.rooms[level] = append(x.rooms[level][:0], make([]room, k)...)
	}
	leaf, rooms := s.Below.Tree.SwitchOf(1), x.rooms[0]
	x.cut = x.cut[:0]
	for _, set := range p.sets {
		eachCut(t, s.Below.Tree, set, func(part nodeset.Set) {
			k := leaf[part.First]
			x.cut = append(x.cut, cutSet{part, k})
			rooms[k].nodes += int32(part.Len())
			rooms[k].cores += p.giving(s, t, part)
		})
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
			return spots
		}
	}
	return nil
}

// spotsOf are the switches of a level below which s may have room, the tightest first, without
// those that have no more below them than one of the level before.
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
	if len(x.spots) > 1 {
		slices.SortFunc(x.spots, func(a, b Spot) int {
			return cmp.Or(p.compareSpots(s, level, a.Switch, b.Switch), cmp.Compare(a.Switch, b.Switch))
		})
	}
	return x.spots
}

// compareSpots puts the switch of a level first that has least below it; of equals the one below
// which of the next level up has, so that what is broken already is broken.
func (p *Placer) compareSpots(s *Spec, level int, a, b int32) int {
	for ; level <= s.Below.Tree.Levels() && a != b; level++ {
		rooms := p.tree.rooms[level-1]
		if c := compareRooms(s, rooms[a], rooms[b]); c != 0 {
			return c
		}
		if level < s.Below.Tree.Levels() {
			a, b = s.Below.Tree.Above(level)[a], s.Below.Tree.Above(level)[b]
		}
	}
	return 0
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
	whole := p.sets
	defer func() { p.sets = whole }()
	for level := 1; level <= s.Below.Tree.Levels(); level++ {
		for _, spot := range p.spotsOf(s, level) {
			if dst, ok := p.at(dst, t, s, spot, l, gpus); ok {
				return dst, true
			}
		}
	}
	if !s.Demands() || s.Below.Within > 0 {
		return dst, false
	}
	return p.at(dst, t, s, everywhere(s), l, gpus) // below several roots
}

// everywhere is as a switch above all roots.
func everywhere(s *Spec) Spot { return Spot{Level: int32(s.Below.Tree.Levels()) + 1} }

// At is PlaceAs below one of the last Spots, of which it leaves as many nodes as it can.
func (p *Placer) At(dst []nodeset.Segment, t *nodeset.Table, s *Spec, spot Spot, l Layout, gpus int) ([]nodeset.Segment, bool) {
	whole := p.sets
	defer func() { p.sets = whole }()
	return p.at(dst, t, s, spot, l, gpus)
}

// at is At; it overwrites p.sets.
func (p *Placer) at(dst []nodeset.Segment, t *nodeset.Table, s *Spec, spot Spot, l Layout, gpus int) ([]nodeset.Segment, bool) {
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
