// SPDX-License-Identifier: BSD-3-Clause

package nodeset

import "math/bits"

// planes are the free cores of nodes, cut into bits: bit n%64 of word n/64 of plane b
// is bit b of the free cores of node n. A few operations on words thus add, subtract,
// compare and sum the cores of the 64 nodes of a word w at once.
type planes struct {
	bits  []uint64 // the planes one after the other, that of the lowest bit first
	words int      // of a plane
	width int      // number of planes
}

func newPlanes(words, width int) planes {
	return planes{make([]uint64, words*width), words, width}
}

// nonzero are the nodes of word w with a free core.
func (p *planes) nonzero(w int) uint64 {
	any := uint64(0)
	for i := w; i < len(p.bits); i += p.words {
		any |= p.bits[i]
	}
	return any
}

// atLeast are the nodes of word w with k free cores, for k less than 1<<p.width.
func (p *planes) atLeast(w int, k uint) uint64 {
	ge := ^uint64(0) // by the bits so far
	for i := w; i < len(p.bits); i += p.words {
		if k&1 != 0 {
			ge &= p.bits[i]
		} else {
			ge |= p.bits[i]
		}
		k >>= 1
	}
	return ge
}

// keepAtLeast sets dst to those of the nodes of words that have k free cores, for k from
// 1 to 1<<p.width-1; from is the first of the words. It is atLeast for many words, without
// a branch on what they are.
func (p *planes) keepAtLeast(dst, words []uint64, from int, k uint) {
	b := bits.TrailingZeros(k)
	and(dst, words, p.bits[b*p.words+from:])
	for b++; b < p.width; b++ {
		if plane := p.bits[b*p.words+from:]; k>>b&1 != 0 {
			and(dst, dst, plane)
		} else {
			orAnd(dst, words, plane)
		}
	}
}

// and sets dst to x & y, which are at least as long.
func and(dst, x, y []uint64) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] & y[i]
	}
}

// orAnd adds x & y to dst; both are at least as long.
func orAnd(dst, x, y []uint64) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] |= x[i] & y[i]
	}
}

// unlike are the nodes of word w that have not exactly c cores.
func (p *planes) unlike(w int, c uint) uint64 {
	d := uint64(0)
	for i := w; i < len(p.bits); i += p.words {
		d |= p.bits[i] ^ -(uint64(c) & 1)
		c >>= 1
	}
	return d
}

// sum is the total of the free cores of those nodes of word w that are in m.
func (p *planes) sum(w int, m uint64) int64 {
	s := 0
	for i := len(p.bits) - p.words + w; i >= 0; i -= p.words {
		s = 2*s + bits.OnesCount64(p.bits[i]&m)
	}
	return int64(s)
}

// add gives those nodes of word w that are in m c cores more, modulo their range, and returns which
// nodes of the word have one free.
func (p *planes) add(w int, m uint64, c uint) (nonzero uint64) {
	carry := uint64(0)
	for i := w; i < len(p.bits); i += p.words {
		x, y := p.bits[i], m&-(uint64(c)&1)
		sum := x ^ y ^ carry
		p.bits[i] = sum
		nonzero |= sum
		carry = x&y | (x^y)&carry
		c >>= 1
	}
	return nonzero
}

// set gives those nodes of word w that are in m exactly c cores, and returns which nodes
// of the word have one free.
func (p *planes) set(w int, m uint64, c uint) (nonzero uint64) {
	for i := w; i < len(p.bits); i += p.words {
		x := p.bits[i]&^m | m&-(uint64(c)&1)
		p.bits[i] = x
		nonzero |= x
		c >>= 1
	}
	return nonzero
}

// setLeast gives those nodes of word w that are in m what x or y gives them, whichever is
// less. All are of one machine; p may be one of them.
func (p *planes) setLeast(w int, m uint64, x, y *planes) {
	less := uint64(0) // nodes to which y gives less by the bits so far
	for i := w; i < len(p.bits); i += p.words {
		a, b := x.bits[i], y.bits[i]
		less = b&less&a | ^b&(less|a)
	}
	for i := w; i < len(p.bits); i += p.words {
		least := x.bits[i]&^less | y.bits[i]&less
		p.bits[i] = p.bits[i]&^m | least&m
	}
}

func (p *planes) copyFrom(o *planes) {
	p.bits, p.words, p.width = append(p.bits[:0], o.bits...), o.words, o.width
}
