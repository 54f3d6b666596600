// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"sort"

	"github.com/aucsched/aucsched/nodeset"
)

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
	x.of, x.upto = append(x.of[:0], grades...), resize(x.upto, max(int(tiers), 1)-1)
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
