// SPDX-License-Identifier: BSD-3-Clause

package native

import "math/bits"

// tightener reduces capacities to what can be filled, and raises coefficients to what
// can't be used beside them: with coefficients 2, 3 and 5, a row of capacity 9 holds no
// less than one in which 5 counts as 6 (9-5 leaves 4, of which at most 3 can be used).
// The feasible choices stay the same; the bound of the prices gets tighter
// (coefficient reduction, Savelsbergh 1994). It looks at distinct coefficients, each as
// often as it fits.
type tightener struct {
	have []int64        // by row: coefficients, a bit each
	rows [128]tightened // rows that were looked at, each in a place that follows from what it has
}

// tightened says what becomes of rows of one kind.
type tightened struct {
	have, capacity int64    // coefficients, a bit each
	to             [64]int8 // what each of them becomes
	capTo          int64
}

const maxTightened = 62 // the largest capacity that is looked at

// tighten changes the rows of p.
func (t *tightener) tighten(p *problem) {
	t.have = resize(t.have, p.rows())
	for k, r := range p.row {
		if p.cap[r] <= maxTightened {
			t.have[r] |= 1 << p.coef[k]
		}
	}
	from := int32(0)
	for i := range p.columns() {
		for ; from < p.col[i+1]; from++ {
			if r := p.row[from]; t.have[r] != 0 {
				p.coef[from] = int64(t.row(t.have[r], p.cap[r]).to[p.coef[from]])
			}
		}
	}
	for r := range p.cap {
		if t.have[r] != 0 {
			p.cap[r] = t.row(t.have[r], p.cap[r]).capTo
		}
	}
}

// row is what becomes of a row with these coefficients, at least one, and this capacity. It
// is valid until the next call: there are few kinds of rows, most of which keep their place.
func (t *tightener) row(have, capacity int64) *tightened {
	at := uint64(have+capacity<<32) * 0x9e3779b97f4a7c15 >> 57
	x := &t.rows[at]
	if x.have != have || x.capacity != capacity {
		x.set(have, capacity)
	}
	return x
}

// set finds what becomes of a row with these coefficients and this capacity.
func (t *tightened) set(have, capacity int64) {
	t.have, t.capacity = have, capacity
	now := have
	t.capTo = highest(sums(now, capacity), capacity)
	for left := have; left != 0; {
		a := int64(bits.Len64(uint64(left)) - 1)
		left &^= 1 << a
		// A value to which every column with a can be raised, one after the other:
		// while some have a and some the new value already.
		up := a
		for next := t.beside(now, a); next > up; {
			if with := t.beside(now|1<<next, a); with >= next {
				up = next
			} else {
				next = with
			}
		}
		t.to[a] = int8(up)
		now = now&^(1<<a) | 1<<up
	}
}

// beside is the capacity less the most that can be used next to a column with
// coefficient a.
func (t *tightened) beside(have, a int64) int64 {
	return t.capTo - highest(sums(have, t.capTo), t.capTo-a)
}

// sums is the set of the sums up to most of the coefficients in have.
func sums(have, most int64) int64 {
	reach := int64(1)
	for v := int64(1); v <= most; v++ {
		for left := have; left != 0; left &= left - 1 {
			if a := int64(bits.TrailingZeros64(uint64(left))); a <= v && reach&(1<<(v-a)) != 0 {
				reach |= 1 << v
				break
			}
		}
	}
	return reach
}

// highest is the greatest element of a set that is at most most.
func highest(set, most int64) int64 {
	return int64(bits.Len64(uint64(set&(2<<most-1))) - 1)
}
