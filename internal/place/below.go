// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"slices"

	"github.com/aucsched/aucsched/nodeset"
)

// Belows gives equal Belows the same pointer, so that Specs can be compared. The zero Belows is
// ready.
type Belows struct {
	known Pool[Below, Below]
	tree  *nodeset.Topology
}

// Of is the pointer of b.
func (x *Belows) Of(b Below) *Below {
	if x.tree != b.Tree {
		*x = Belows{tree: b.Tree}
	}
	p, _ := x.known.Of(b)
	*p = b
	return p
}

// Tree is where the machine's nodes stand, nil if that does not count.
func (s *Spec) Tree() *nodeset.Topology {
	if s.Below == nil {
		return nil
	}
	return s.Below.Tree
}

// Demands reports whether s demands anything of switches.
func (s *Spec) Demands() bool {
	return s.Below != nil && s.Below.Switches+s.Below.Within+s.Below.Segment > 0
}

// Sprawl counts the switches that allocations are below. The zero Sprawl is ready; it keeps scratch
// memory.
type Sprawl struct {
	seen  []uint32 // by switch: the count in which it was seen last
	nodes []int32  // of the same count, by switch
	turn  uint32

	leaves []int32 // scratch
}

// Of is how many switches of a level segs are below.
func (x *Sprawl) Of(t *nodeset.Topology, level int, segs []nodeset.Segment) (count int) {
	x.each(t, level, segs, func(int32) { count++ })
	return count
}

// each counts the nodes of segs by switch of a level, and visits each switch that has some once.
func (x *Sprawl) each(t *nodeset.Topology, level int, segs []nodeset.Segment, visit func(k int32)) {
	of, runs := t.SwitchOf(level), t.RunEnds()
	x.begin(t.Switches(level))
	for _, s := range segs {
		for n := s.First; n <= s.Last; n = runs[n] + 1 {
			k := of[n]
			if x.seen[k] != x.turn {
				x.seen[k], x.nodes[k] = x.turn, 0
				visit(k)
			}
			x.nodes[k] += min(runs[n], s.Last) - n + 1
		}
	}
}

func (x *Sprawl) begin(switches int) {
	x.turn++
	for len(x.seen) < switches {
		x.seen, x.nodes = append(x.seen, 0), append(x.nodes, 0)
	}
	if x.turn == 0 {
		clear(x.seen)
		x.turn = 1
	}
}

// Beyond is how many switches segs are below, over all levels, beyond the fewest that the fewest
// nodes of s can be below. So places of s compare by their switches, however many nodes they have.
func (x *Sprawl) Beyond(s *Spec, segs []nodeset.Segment) int {
	t := s.Below.Tree
	beyond := x.all(t, segs)
	for level := 1; level <= t.Levels(); level++ {
		beyond -= t.Fewest(level, min(s.Nodes.Min, t.Len()))
	}
	return beyond
}

// all is how many switches segs are below, over all levels.
func (x *Sprawl) all(t *nodeset.Topology, segs []nodeset.Segment) (count int) {
	for level := 1; level <= t.Levels(); level++ {
		count += x.Of(t, level, segs)
	}
	return count
}

// Meets reports whether segs lie below switches as s demands.
func (x *Sprawl) Meets(s *Spec, segs []nodeset.Segment) bool {
	if !s.Demands() {
		return true
	}
	if s.Below.Switches > 0 && x.Of(s.Below.Tree, 1, segs) > int(s.Below.Switches) {
		return false
	}
	if w := min(int(s.Below.Within), s.Below.Tree.Levels()); w > 0 && x.Of(s.Below.Tree, w, segs) > 1 {
		return false
	}
	return s.Below.Segment == 0 || x.segmented(s, segs)
}

// segmented reports whether each leaf has a whole number of the segments that s consists of.
func (x *Sprawl) segmented(s *Spec, segs []nodeset.Segment) bool {
	x.leaves = x.leaves[:0]
	x.each(s.Below.Tree, 1, segs, func(k int32) { x.leaves = append(x.leaves, k) })
	return !slices.ContainsFunc(x.leaves, func(k int32) bool { return x.nodes[k]%s.Below.Segment != 0 })
}
