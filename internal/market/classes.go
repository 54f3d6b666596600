// SPDX-License-Identifier: BSD-3-Clause

package market

import (
	"math"

	"github.com/aucsched/aucsched/nodeset"
)

// nodeSetIndex numbers the bid classes: a hash table from sets of nodes to the
// first bid with those nodes.
type nodeSetIndex struct {
	slots []int32 // index of a bid, or -1
	count int
}

func (x *nodeSetIndex) reset() {
	x.count = 0
	for i := range x.slots {
		x.slots[i] = -1
	}
}

// of returns the number of the class of segs, a new one if no bid of b has it.
// The bid itself is about to become the last of b.
func (x *nodeSetIndex) of(b *Book, segs []nodeset.Segment) int32 {
	if 2*(len(b.Bids)+1) > len(x.slots) {
		x.grow(b)
	}
	at := x.find(b, segs)
	if x.slots[at] >= 0 {
		return b.Bids[x.slots[at]].NodeSet
	}
	x.slots[at] = int32(len(b.Bids))
	x.count++
	return int32(x.count - 1)
}

func (x *nodeSetIndex) find(b *Book, segs []nodeset.Segment) int {
	at := int(hashNodes(segs) & uint64(len(x.slots)-1))
	for x.slots[at] >= 0 && !sameNodes(b.Allocation(int(x.slots[at])), segs) {
		at = (at + 1) & (len(x.slots) - 1)
	}
	return at
}

func (x *nodeSetIndex) grow(b *Book) {
	x.slots = append(x.slots, make([]int32, max(64, len(x.slots)))...)
	for i := range x.slots {
		x.slots[i] = -1
	}
	for i := range b.Bids {
		if at := x.find(b, b.Allocation(i)); x.slots[at] < 0 {
			x.slots[at] = int32(i)
		}
	}
}

// hashNodes mixes the runs of nodes of an allocation (FNV-1a by words).
func hashNodes(segs []nodeset.Segment) uint64 {
	h := uint64(14695981039346656037)
	mix := func(v int32) { h = (h ^ uint64(uint32(v))) * 1099511628211 }
	for i, s := range segs {
		if i == 0 || segs[i-1].Last+1 != s.First {
			if i > 0 {
				mix(segs[i-1].Last)
			}
			mix(s.First)
		}
	}
	mix(segs[len(segs)-1].Last)
	return h ^ h>>29
}

// sameNodes reports whether two allocations are on the same nodes.
func sameNodes(a, b []nodeset.Segment) bool {
	i, k := 0, 0
	for {
		af, al, an := run(a, i)
		bf, bl, bn := run(b, k)
		if af != bf || al != bl {
			return false
		}
		if af == math.MinInt32 {
			return true
		}
		i, k = an, bn
	}
}

// run is the contiguous run of nodes that starts at segment i, and the segment
// after it; first is math.MinInt32 behind the last.
func run(s []nodeset.Segment, i int) (first, last int32, next int) {
	if i >= len(s) {
		return math.MinInt32, 0, i
	}
	first, last = s[i].First, s[i].Last
	for i++; i < len(s) && s[i].First == last+1; i++ {
		last = s[i].Last
	}
	return first, last, i
}
