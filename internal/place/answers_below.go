// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"cmp"
	"fmt"
	"slices"
)

// fitsBelow reports in words that no switches have the nodes and cores below them that s demands
// there; nil: some may. It does not look at neighbours.
func (m *Machine) fitsBelow(s *Spec) error {
	if !s.Demands() {
		return nil
	}
	rooms := make([]int, len(m.nodes))
	for n := range rooms {
		rooms[n] = m.room(s, s.More(), n)
	}
	nodes, cores := MostBelow(s, rooms)
	if nodes < s.Nodes.Min {
		return fmt.Errorf("can never run: needs %d nodes %s, there are %d at most", s.Nodes.Min, WordsBelow(s), nodes)
	}
	if cores < int64(s.Cores.Total) {
		return fmt.Errorf("can never run: needs %d cores on nodes %s, there are %d at most", s.Cores.Total, WordsBelow(s), cores)
	}
	return nil
}

// MostBelow is how many nodes, and how many cores, are below switches as s demands at most: rooms
// is what each node can give, 0 where it cannot serve s. The two may be below different switches.
func MostBelow(s *Spec, rooms []int) (nodes int, cores int64) {
	within := int(s.Below.Within)
	if within == 0 || within > s.Below.Tree.Levels() {
		within = s.Below.Tree.Levels()
	}
	type has struct {
		top, nodes int
		cores      int64
	}
	leaves := make([]has, s.Below.Tree.Switches(1))
	for n, room := range rooms {
		leaf := &leaves[s.Below.Tree.SwitchOf(1)[n]]
		if s.Below.Within > 0 {
			leaf.top = int(s.Below.Tree.SwitchOf(within)[n])
		}
		if room > 0 {
			leaf.nodes, leaf.cores = leaf.nodes+1, leaf.cores+int64(room)
		}
	}
	if k := int(s.Below.Segment); k > 0 {
		for i := range leaves {
			leaves[i].nodes -= leaves[i].nodes % k
		}
	}
	most := func(order func(a, b has) int, value func(has) int64) (best int64) {
		slices.SortFunc(leaves, func(a, b has) int { return cmp.Or(cmp.Compare(a.top, b.top), order(b, a)) })
		sum, count := int64(0), 0
		for i, leaf := range leaves {
			if i > 0 && leaf.top != leaves[i-1].top {
				sum, count = 0, 0
			}
			if count++; s.Below.Switches == 0 || count <= int(s.Below.Switches) {
				sum += value(leaf)
			}
			best = max(best, sum)
		}
		return best
	}
	nodes = int(most(func(a, b has) int { return cmp.Compare(a.nodes, b.nodes) }, func(h has) int64 { return int64(h.nodes) }))
	return nodes, most(func(a, b has) int { return cmp.Compare(a.cores, b.cores) }, func(h has) int64 { return h.cores })
}

// WordsBelow says what s demands of switches.
func WordsBelow(s *Spec) string {
	words := ""
	if k := s.Below.Segment; k > 0 {
		words = fmt.Sprintf("in segments of %d", k)
	}
	add := func(more string) {
		if words != "" {
			words += ", "
		}
		words += more
	}
	if w := s.Below.Within; w > 0 {
		add(fmt.Sprintf("below one switch of level %d", w))
	}
	switch n := s.Below.Switches; {
	case n == 1:
		add("below one leaf switch")
	case n > 1:
		add(fmt.Sprintf("below %d leaf switches", n))
	}
	return words
}
