// SPDX-License-Identifier: BSD-3-Clause

package ipsched

import (
	"slices"

	"github.com/aucsched/aucsched/nodeset"
)

// nodes makes nodes of what jobs take of cells. Nodes of a cell are alike, so that any of them do,
// whatever comes later; runs of neighbours are preferred.
type nodes struct {
	left  []nodeset.Capacity
	masks []uint64
	user  []int32 // by node: the last job that got it, or -1
	own   []nodeset.Segment
}

func (n *nodes) reset(free []nodeset.Capacity, masks []uint64) {
	n.left, n.masks, n.user = append(n.left[:0], free...), masks, n.user[:0]
	for range free {
		n.user = append(n.user, -1)
	}
}

// maxLooks is at how many nodes runs are chosen for a take; after that it gets the
// first that there are.
const maxLooks = 1 << 15

// give gives a job its nodes and appends them to segs, ascending.
func (n *nodes) give(takes []take, gpus uint8, segs []nodeset.Segment) []nodeset.Segment {
	n.own = n.own[:0]
	for k := range takes {
		t := &takes[k]
		at := 0
		for runs := 0; t.from.nodes > 0; runs++ {
			choose := runs*len(n.left) < maxLooks
			first, last := n.run(t, at, choose)
			if !choose {
				at = last + 1
			}
			for i := first; i <= last; i++ {
				n.left[i].Cores, n.left[i].GPUs = n.left[i].Cores-t.cores, n.left[i].GPUs-gpus
				n.user[i] = t.job
			}
			t.from.nodes -= int32(last - first + 1)
			n.own = append(n.own, nodeset.Segment{First: int32(first), Last: int32(last), Cores: t.cores, GPUs: gpus})
		}
	}
	slices.SortFunc(n.own, func(a, b nodeset.Segment) int { return int(a.First - b.First) })
	from := len(segs)
	for _, seg := range n.own {
		if len(segs) == from { // not to be merged with another job's
			segs = append(segs, seg)
			continue
		}
		segs = nodeset.Append(segs, seg)
	}
	return segs
}

// run is the shortest run of nodes that has all that is wanted, cut to that, or the longest; or, if
// there is no choice, the first from a node on.
func (n *nodes) run(t *take, from int, choose bool) (first, last int) {
	want, best := int(t.from.nodes), 0
	for i := from; i < len(n.left); i++ {
		if !n.fits(i, t) {
			continue
		}
		end := i + 1
		for end < len(n.left) && n.fits(end, t) {
			end++
		}
		length := end - i
		if best == 0 || (length > best && best < want) || (length < best && length >= want) {
			best, first, last = length, i, min(end, i+want)-1
		}
		if !choose {
			break
		}
		i = end
	}
	return first, last
}

// fits reports whether node i is one of those that the take is from.
func (n *nodes) fits(i int, t *take) bool {
	c := &n.left[i]
	return c.Cores == t.from.cores && c.GPUs == t.from.gpus && n.masks[i] == t.from.masks && n.user[i] != t.job
}
