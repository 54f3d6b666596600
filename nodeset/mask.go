// SPDX-License-Identifier: BSD-3-Clause

package nodeset

import (
	"math/bits"
)

// Mask is a set of nodes: bit n%64 of word n/64 stands for node n. A nil Mask stands for every
// node; a Mask shorter than the machine excludes the rest. It says which nodes a job may use, by
// partition, features or state.
type Mask []uint64

// NewMask returns an empty mask for n nodes.
func NewMask(n int) Mask { return make(Mask, (n+63)/64) }

// Set adds node n. It panics if the mask was made for fewer nodes.
func (m Mask) Set(n int) { m[n>>6] |= 1 << (n & 63) }

// Clear removes node n. It panics if the mask was made for fewer nodes.
func (m Mask) Clear(n int) { m[n>>6] &^= 1 << (n & 63) }

// Has reports whether node n is in the mask.
func (m Mask) Has(n int) bool {
	return m == nil || (n>>6 < len(m) && m[n>>6]>>(n&63)&1 != 0)
}

// Count returns the number of nodes in the mask, 0 for nil.
func (m Mask) Count() int {
	c := 0
	for _, w := range m {
		c += bits.OnesCount64(w)
	}
	return c
}

// Word returns word w of the mask, nodes 64w to 64w+63: all ones if the mask is nil, 0 beyond its
// end.
func (m Mask) Word(w int) uint64 {
	switch {
	case m == nil:
		return ^uint64(0)
	case w < len(m):
		return m[w]
	}
	return 0
}
