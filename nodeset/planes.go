package nodeset

import "math/bits"

// planes are the free cores of nodes, cut into bits: bit n%64 of word n/64 of plane b
// is bit b of the free cores of node n. A few operations on words thus add, subtract,
// compare and sum the cores of the 64 nodes of a word w at once.
type planes [][]uint64

// nonzero are the nodes of word w with a free core.
func (p planes) nonzero(w int) uint64 {
	any := uint64(0)
	for _, x := range p {
		any |= x[w]
	}
	return any
}

// atLeast are the nodes of word w with k free cores, for k less than 1<<len(p).
func (p planes) atLeast(w int, k uint) uint64 {
	ge := ^uint64(0) // by the bits up to b
	for _, x := range p {
		if k&1 != 0 {
			ge &= x[w]
		} else {
			ge |= x[w]
		}
		k >>= 1
	}
	return ge
}

// keepAtLeast sets dst to those of the nodes of words that have k free cores, for k from
// 1 to 1<<len(p)-1; from is the first of the words. It is atLeast for many words, without
// a branch on what they are.
func (p planes) keepAtLeast(dst, words []uint64, from int, k uint) {
	low := bits.TrailingZeros(k)
	and(dst, words, p[low][from:])
	for _, plane := range p[low+1:] {
		k >>= 1
		if x := plane[from:]; k>>low&1 != 0 {
			and(dst, dst, x)
		} else {
			orAnd(dst, x, words)
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
func (p planes) unlike(w int, c uint) uint64 {
	d := uint64(0)
	for _, x := range p {
		d |= x[w] ^ -(uint64(c) & 1)
		c >>= 1
	}
	return d
}

// sum is the total of the free cores of those nodes of word w that are in m.
func (p planes) sum(w int, m uint64) int64 {
	s := 0
	for b := len(p) - 1; b >= 0; b-- {
		s = 2*s + bits.OnesCount64(p[b][w]&m)
	}
	return int64(s)
}

// add gives those nodes of word w that are in m c cores more, and returns which nodes of
// the word have one free.
func (p planes) add(w int, m uint64, c uint) (nonzero uint64) {
	carry := uint64(0)
	for _, x := range p {
		v, y := x[w], m&-(uint64(c)&1)
		x[w] = v ^ y ^ carry
		nonzero |= x[w]
		carry = v&y | (v^y)&carry
		c >>= 1
	}
	return nonzero
}

// subtract takes c cores from those nodes of word w that are in m, which have them, and
// returns which nodes of the word have one free.
func (p planes) subtract(w int, m uint64, c uint) (nonzero uint64) {
	borrow := uint64(0)
	for _, x := range p {
		v, y := x[w], m&-(uint64(c)&1)
		x[w] = v ^ y ^ borrow
		nonzero |= x[w]
		borrow = ^v&(y|borrow) | y&borrow
		c >>= 1
	}
	return nonzero
}

// set gives those nodes of word w that are in m exactly c cores.
func (p planes) set(w int, m uint64, c uint) {
	for _, x := range p {
		x[w] = x[w]&^m | m&-(uint64(c)&1)
		c >>= 1
	}
}

// lower gives each node of word w what o gives it if that is less.
func (p planes) lower(w int, o planes) {
	less := uint64(0) // nodes that o gives less by the bits up to b
	for b, x := range p {
		y := o[b][w]
		less = y&less&x[w] | ^y&(less|x[w])
	}
	for b, x := range p {
		x[w] = x[w]&^less | o[b][w]&less
	}
}
