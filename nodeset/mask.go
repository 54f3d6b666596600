// SPDX-License-Identifier: BSD-3-Clause

package nodeset

import (
	"math/bits"
)

// Mask is a set of nodes: bit n%64 of word n/64 stands for node n. A nil Mask
// stands for every node; a shorter one than the machine leaves the rest out.
// It says which nodes a job may use: its partition, features, drained nodes.
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

// Count is the number of nodes in the mask; 0 for nil.
func (m Mask) Count() int {
	c := 0
	for _, w := range m {
		c += bits.OnesCount64(w)
	}
	return c
}

// Word is word w of the mask: nodes 64w to 64w+63. It is all ones where the mask is nil
// and 0 behind its end.
func (m Mask) Word(w int) uint64 {
	switch {
	case m == nil:
		return ^uint64(0)
	case w < len(m):
		return m[w]
	}
	return 0
}

// CopyFrom makes t an independent copy of o, reusing t's memory. The zero Table
// is a valid receiver.
func (t *Table) CopyFrom(o *Table) {
	t.CopyFreeFrom(o)
	t.copyResources(o)
}

// CopyFreeFrom is CopyFrom without the further resources: t has none afterwards.
func (t *Table) CopyFreeFrom(o *Table) {
	t.total = o.total // never written to
	t.cores = append(t.cores[:0], o.cores...)
	t.gpus = append(t.gpus[:0], o.gpus...)
	t.down = append(t.down[:0], o.down...)
	t.block = append(t.block[:0], o.block...)
	t.plane.copyFrom(&o.plane)
	t.level = copyRows(t.level, o.level)
	t.having = copyRows(t.having, o.having)
	t.freeCores, t.freeGPUs = o.freeCores, o.freeGPUs
	t.more, t.shared.resource = t.more[:0], 0
	t.spare = append(t.spare[:0], o.spare...)
}

func copyRows(dst, src [][]uint64) [][]uint64 {
	for len(dst) < len(src) {
		dst = append(dst, nil)
	}
	dst = dst[:len(src)]
	for i := range src {
		dst[i] = append(dst[i][:0], src[i]...)
	}
	return dst
}

// SetLeast sets what the nodes first to last have free to what they have free in a or in
// b, whichever is less, and takes those down that are down in either. All tables describe the
// same machine, and t may be one of them.
func (t *Table) SetLeast(first, last int, a, b *Table) {
	t.setLeastShares(first, last, a, b) // which looks at the GPUs that they have
	for n := first; n <= last; n++ {
		t.cores[n] = min(a.cores[n], b.cores[n])
		t.gpus[n] = min(a.gpus[n], b.gpus[n])
	}
	t.setLeastOf(first, last, a, b)
	s := Segment{First: int32(first), Last: int32(last)}
	for w := first >> 6; w <= last>>6; w++ {
		m := s.within(w)
		t.down[w] = t.down[w]&^m | (a.down[w]|b.down[w])&m
		t.plane.setLeast(w, m, &a.plane, &b.plane)
		cores := uint32(t.plane.sum(w, ^uint64(0)))
		t.freeCores += int64(cores) - int64(t.block[w])
		t.block[w] = cores
		for g := 1; g < len(t.having); g++ {
			was := t.having[g][w]
			having := was&^m | a.having[g][w]&b.having[g][w]&m
			t.freeGPUs += int64(bits.OnesCount64(having) - bits.OnesCount64(was))
			t.having[g][w] = having
		}
		t.mark(w, t.plane.nonzero(w))
	}
	if t.shared.resource != 0 {
		t.tellShares([]Segment{s})
	}
}
