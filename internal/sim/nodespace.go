// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"slices"

	"github.com/aucsched/aucsched/nodeset"
)

// nodeSpace is the table of the same name in Slurm's backfill.c: a list of time
// slots, each with the nodes that no reservation has taken in it. Slots of equal
// nodes are merged as there, one pair for each reservation.
type nodeSpace struct {
	slots []slot // the first is slots[0]
	// records counts the slots ever made in a cycle, as Slurm does for bf_node_space_size.
	records int
}

type slot struct {
	begin, end int64
	next       int // index of the next slot, 0 at the end
	avail      nodeset.Mask
}

// reset leaves one slot, from now to the end of the window, with the nodes of up.
func (s *nodeSpace) reset(now, resolution, window int64, up nodeset.Mask) {
	s.slots, s.records = s.slots[:0], 0
	s.insert(now/resolution*resolution, (now+window)/resolution*resolution, 0, up)
}

// insert makes a slot and returns its index.
func (s *nodeSpace) insert(begin, end int64, next int, avail nodeset.Mask) int {
	n := len(s.slots)
	if n == cap(s.slots) {
		s.slots = append(s.slots, slot{})
	}
	s.slots = s.slots[:n+1]
	at := &s.slots[n]
	at.begin, at.end, at.next, at.avail = begin, end, next, append(at.avail[:0], avail...)
	s.records++
	return n
}

// free sets avail to the nodes of base that nothing has reserved between from and to. It returns
// the end of the first slot after which others would be free, 0 if there is none.
func (s *nodeSpace) free(from, to int64, base nodeset.Mask, avail *nodeset.Mask) (later int64) {
	*avail = append((*avail)[:0], base...)
	for i := 0; ; {
		at := &s.slots[i]
		if at.end > from && at.next != 0 && later == 0 {
			following := s.slots[at.next].avail
			for w := range base {
				if base[w]&following[w]&^((*avail)[w]&at.avail[w]) != 0 {
					later = at.end
					break
				}
			}
		}
		if at.end > from {
			if at.begin > to {
				return later
			}
			for w := range *avail {
				(*avail)[w] &= at.avail[w]
			}
		}
		if i = at.next; i == 0 {
			return later
		}
	}
}

// overlaps reports whether a node of use is reserved at some time from start to end.
func (s *nodeSpace) overlaps(start, end int64, use nodeset.Mask) bool {
	for i := 0; ; {
		at := &s.slots[i]
		if at.end > start && at.begin < end {
			for w := range use {
				if use[w]&^at.avail[w] != 0 {
					return true
				}
			}
		}
		if i = at.next; i == 0 {
			return false
		}
	}
}

// add reserves nodes from start to end, at least for one slot.
func (s *nodeSpace) add(start, end, resolution int64, nodes nodeset.Mask) {
	start = max(start, s.slots[0].begin)
	end = max(end, start+resolution)
	before, i, ok := s.split(start)
	if !ok {
		return
	}
	after := -1
	for i = s.slots[i].next; i != 0; i = s.slots[i].next {
		if at := s.slots[i]; end < at.end {
			n := s.insert(end, at.end, at.next, at.avail)
			s.slots[i].end, s.slots[i].next = end, n
		}
		at := &s.slots[i]
		for w := range nodes {
			at.avail[w] &^= nodes[w]
		}
		if at.end == end {
			if at.next != 0 {
				after = at.next
			}
			break
		}
	}
	s.merge(before, after)
}

// split makes a slot begin at start. It returns the slot that ends there and the one before it.
func (s *nodeSpace) split(start int64) (before, i int, ok bool) {
	for {
		at := s.slots[i]
		if at.end > start {
			n := s.insert(start, at.end, at.next, at.avail)
			s.slots[i].end, s.slots[i].next = start, n
			return before, i, true
		}
		if at.end == start {
			return before, i, true
		}
		before = i
		if i = at.next; i == 0 {
			return before, i, false
		}
	}
}

// merge joins the first two neighbours with the same nodes.
func (s *nodeSpace) merge(from, to int) {
	for i := from; i != to; {
		n := s.slots[i].next
		if n == 0 {
			return
		}
		if slices.Equal(s.slots[i].avail, s.slots[n].avail) {
			s.slots[i].end, s.slots[i].next = s.slots[n].end, s.slots[n].next
			return
		}
		i = n
	}
}
