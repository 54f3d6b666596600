// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"slices"
	"sort"

	"github.com/aucsched/aucsched/nodeset"
)

// Standing is what speaks against a place for a request, what counts most first. Of two places of one
// request that with the lesser one, by Compare, is better.
type Standing [3 + 1 + brokenLevels + 1]int64

// brokenLevels is of how many levels of switches it counts how much else they could have.
const brokenLevels = 3

// Compare is negative if x is better, and 0 if neither is.
func (x Standing) Compare(y Standing) int { return slices.Compare(x[:], y[:]) }

// Survey looks at what sets of t have for s below each switch, and of which tier, for Standings of its
// places.
func (p *Placer) Survey(s *Spec, t *nodeset.Table, sets []nodeset.Set) {
	if p.lightest = 0; s.Tiers != nil {
		p.lightest, _ = s.Tiers.ends(sets)
	}
	if s.Below != nil {
		p.sets = append(p.sets[:0], sets...)
		p.survey(s, t)
	}
}

// Standing is that of segs, a place for s, of which Survey was told last. It has the heaviest tier
// of its nodes and how many there are of it, the sum of the tiers but the lightest, and switches
// beyond the fewest. It has what its switches could give, by level, and nodes, if the job may have
// more or fewer. For a job of several parts it is the sum of theirs, without what switches could
// give.
func (p *Placer) Standing(s *Spec, segs []nodeset.Segment) (x Standing) {
	if s.Parts == nil {
		x = p.standing(s, segs)
		for level := 1; s.Below != nil && level <= min(brokenLevels, s.Below.Tree.Levels()); level++ {
			x[3+level] = p.roomsOf(s, level, segs)
		}
		return x
	}
	for len(segs) > 0 {
		var part []nodeset.Segment
		part, segs = CutPart(segs)
		for i, v := range p.standing(&s.Parts.Specs[part[0].Part], part) {
			x[i] += v
		}
	}
	return x
}

func (p *Placer) standing(s *Spec, segs []nodeset.Segment) (x Standing) {
	if s.Tiers != nil {
		x[0], x[1], x[2] = s.Tiers.weigh(segs, p.lightest)
	}
	if s.Below != nil {
		x[3] = int64(p.tree.sprawl.Beyond(s, segs))
	}
	if s.NodesGiven && s.Nodes.Min < s.Nodes.Max {
		x[len(x)-1] = int64(nodeset.Nodes(segs))
	}
	return x
}

// roomsOf is what the switches of a level that segs are below have for s, in nodes or cores.
func (p *Placer) roomsOf(s *Spec, level int, segs []nodeset.Segment) (sum int64) {
	rooms := p.tree.rooms[level-1]
	p.tree.sprawl.each(s.Below.Tree, level, segs, func(k int32) {
		if s.Exact() {
			sum += int64(rooms[k].nodes)
		} else {
			sum += rooms[k].cores
		}
	})
	return sum
}

// Differ reports whether nodesets have nodes of several tiers.
func (x *Tiers) Differ(sets []nodeset.Set) bool {
	if x == nil {
		return false
	}
	least, most := x.ends(sets)
	return least < most
}

// ends are the lightest and the heaviest tier that nodesets have nodes of.
func (x *Tiers) ends(sets []nodeset.Set) (least, most uint16) {
	least = MaxGrades
	for _, set := range sets {
		of := x.of[set.First : set.Last+1]
		least, most = min(least, slices.Min(of)), max(most, slices.Max(of))
	}
	return least, most
}

// weigh is the heaviest tier of an allocation, how many of its nodes are of that, and the sum over all,
// in tiers beyond the lightest.
func (x *Tiers) weigh(segs []nodeset.Segment, lightest uint16) (heaviest, many, sum int64) {
	for _, seg := range segs {
		for _, tier := range x.of[seg.First : seg.Last+1] {
			beyond := int64(tier) - int64(lightest)
			if sum += beyond; beyond > heaviest {
				heaviest, many = beyond, 0
			}
			if beyond > 0 && beyond == heaviest {
				many++
			}
		}
	}
	return heaviest, many, sum
}

// Set makes x the tiers of nodes by grades, of which the least is the lightest. It reports false if
// all nodes have the same. Time is in the nodes, and in words of a mask for each grade that there is.
func (x *Tiers) Set(grades []uint16) bool {
	there, words := [MaxGrades]uint16{}, (len(grades)+63)/64
	for _, g := range grades {
		there[g] = 1
	}
	tiers := uint16(0)
	for g := range there {
		there[g], tiers = tiers, tiers+there[g]
	}
	x.of, x.upto = append(x.of[:0], grades...), Resize(x.upto, max(int(tiers), 1)-1)
	for k := range x.upto {
		x.upto[k] = append(x.upto[k][:0], make(nodeset.Mask, words)...)
	}
	for n, g := range grades {
		if x.of[n] = there[g]; int(x.of[n]) < len(x.upto) {
			x.upto[x.of[n]].Set(n)
		}
	}
	for k := 1; k < len(x.upto); k++ {
		for w, lighter := range x.upto[k-1] {
			x.upto[k][w] |= lighter
		}
	}
	return tiers > 1
}

// MaxGrades is one more than the greatest grade of a node.
const MaxGrades = 1 << 10

// Count is how many tiers there are before the heaviest.
func (x *Tiers) Count() int {
	if x == nil {
		return 0
	}
	return len(x.upto)
}

// Between appends to dst the nodes of a mask that are of the tiers from beyond+1 to k; behind the last
// one there are none.
func (x *Tiers) Between(dst, of nodeset.Mask, beyond, k int) nodeset.Mask {
	for w := range x.upto[0] {
		word := of.Word(w)
		if k < len(x.upto) {
			word &= x.upto[k][w]
		}
		if beyond >= 0 {
			word &^= x.upto[beyond][w]
		}
		dst = append(dst, word)
	}
	return dst
}

// FirstOf is the first of n numbers that will do, n if none does. All behind one that does do too;
// mostly one of the first does.
func FirstOf(n int, does func(k int) bool) int {
	low, high := 0, 1 // those before low do not
	for high <= n && !does(high-1) {
		low, high = high, 2*high
	}
	return low + sort.Search(min(high, n+1)-1-low, func(k int) bool { return does(low + k) })
}
