// SPDX-License-Identifier: BSD-3-Clause

package place

import "github.com/aucsched/aucsched/nodeset"

// setHeap hands out nodesets, those with most cores first, of equals that on the first
// nodes first. Most who ask want a few of many, and need not have them all sorted.
type setHeap []nodeset.Set

// fill makes h the heap of sets, which it copies.
func (h *setHeap) fill(sets []nodeset.Set) {
	*h = append((*h)[:0], sets...)
	for i := len(*h)/2 - 1; i >= 0; i-- {
		h.sift(i)
	}
}

func (h setHeap) before(i, k int) bool {
	if h[i].Cores != h[k].Cores {
		return h[i].Cores > h[k].Cores
	}
	return h[i].First < h[k].First
}

// pop takes the first off; there is one.
func (h *setHeap) pop() nodeset.Set {
	set, last := (*h)[0], len(*h)-1
	(*h)[0] = (*h)[last]
	*h = (*h)[:last]
	h.sift(0)
	return set
}

// sift moves element i down to where it belongs.
func (h setHeap) sift(i int) {
	for {
		k := 2*i + 1
		if k >= len(h) {
			return
		}
		if k+1 < len(h) && h.before(k+1, k) {
			k++
		}
		if !h.before(k, i) {
			return
		}
		h[i], h[k] = h[k], h[i]
		i = k
	}
}
