package nodeset

import "math/bits"

// planes are the free cores of the 64 nodes of a word, cut into bits: bit n%64 of
// plane b is bit b of the free cores of node n. A few operations on words thus add,
// subtract, compare and sum the cores of 64 nodes at once.
type planes []uint64

// nonzero are the nodes with a free core.
func (p planes) nonzero() uint64 {
	any := uint64(0)
	for _, x := range p {
		any |= x
	}
	return any
}

// atLeast are the nodes with k free cores, for k from 1 to 1<<len(p)-1.
func (p planes) atLeast(k uint) uint64 {
	low := bits.TrailingZeros(k)
	ge := p[low] // by the bits up to b
	k >>= low
	for _, x := range p[low+1:] {
		if k >>= 1; k&1 != 0 {
			ge &= x
		} else {
			ge |= x
		}
	}
	return ge
}

// unlike are the nodes that have not exactly c cores.
func (p planes) unlike(c uint) uint64 {
	d := uint64(0)
	for b, x := range p {
		d |= x ^ -(uint64(c) >> b & 1)
	}
	return d
}

// sum is the total of the free cores of the nodes in m.
func (p planes) sum(m uint64) int64 {
	s := 0
	for b, x := range p {
		s += bits.OnesCount64(x&m) << b
	}
	return int64(s)
}

// add gives the nodes in m c cores more, and returns which nodes have one free.
func (p planes) add(m uint64, c uint) (nonzero uint64) {
	carry := uint64(0)
	for b, x := range p {
		y := m & -(uint64(c) >> b & 1)
		p[b] = x ^ y ^ carry
		nonzero |= p[b]
		carry = x&y | (x^y)&carry
	}
	return nonzero
}

// subtract takes c cores from the nodes in m, which have them, and returns which nodes
// have one free.
func (p planes) subtract(m uint64, c uint) (nonzero uint64) {
	borrow := uint64(0)
	for b, x := range p {
		y := m & -(uint64(c) >> b & 1)
		p[b] = x ^ y ^ borrow
		nonzero |= p[b]
		borrow = ^x&(y|borrow) | y&borrow
	}
	return nonzero
}

// set gives the nodes in m exactly c cores.
func (p planes) set(m uint64, c uint) {
	for b := range p {
		p[b] = p[b]&^m | m&-(uint64(c)>>b&1)
	}
}

// lower gives each node what o gives it if that is less.
func (p planes) lower(o planes) {
	less := uint64(0) // nodes that o gives less by the bits up to b
	for b, x := range p {
		less = o[b]&less&x | ^o[b]&(less|x)
	}
	for b, x := range p {
		p[b] = x&^less | o[b]&less
	}
}
