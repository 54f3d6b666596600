// SPDX-License-Identifier: BSD-3-Clause

package native

import (
	"math"
	"math/bits"
)

// proof turns prices into a bound in whole numbers. They count worth in units of
// 1/2^shift, finer than the model's where there is room, and coarser (worths are
// rounded up) where the sum of all worths is so large that prices would not fit.
type proof struct {
	shift int
	top   []int64 // by group: the most that it adds to the bound
	net   []int64 // by column: worth net of prices
	price []int64 // by working row
}

// worthBits is the length of the sum of all worths in a proof.
const worthBits = 54

func (f *proof) setShift(p *problem) {
	var total uint64
	for g := range p.groups() {
		var most int64
		for i := p.start[g]; i < p.start[g+1]; i++ {
			most = max(most, p.worth[i])
		}
		total += uint64(most)
	}
	f.shift = worthBits - bits.Len64(total)
}

// fine is a worth in units of the proof.
func (f *proof) fine(worth int64) int64 {
	if f.shift >= 0 {
		return worth << f.shift
	}
	return (worth-1)>>-f.shift + 1
}

// worth is a bound in units of worth, rounded down where it can be.
func (f *proof) worth(bound int64) int64 {
	if f.shift >= 0 {
		return bound >> f.shift
	}
	if bound > math.MaxInt64>>-f.shift {
		return math.MaxInt64
	}
	return bound << -f.shift
}

const noColumn = math.MinInt64

// prove returns an upper bound on the worth, in units of 1/2^shift, of every choice
// without banned variables, from the relaxation's prices: L(y) of prices.go, cuts being rows
// as well. It returns noColumn if a group has nothing left.
func (l *lp) prove(f *proof) int64 {
	rows := int32(l.p.rows())
	f.price = resize(f.price, l.m)
	unit := math.Ldexp(l.scale, f.shift)
	left := float64(proofRoom)
	for r, row := range l.act {
		u := unit * l.y[r]
		if row >= rows {
			u /= cutUnit
		}
		if size := l.sizeOfRow(row); u >= 1 && u*size < left {
			left -= u * size
			f.price[r] = int64(u)
		}
	}
	return l.total(f)
}

// proofRoom bounds what rows and prices can add up to in a proof, so that no sum
// overflows.
const proofRoom = 1 << 61

// sizeOfRow bounds what a unit of a row's price adds to, or takes from, a proof's sums.
func (l *lp) sizeOfRow(row int32) float64 {
	if c := int(row) - l.p.rows(); c >= 0 {
		return float64(l.cuts.size[c])
	}
	return float64(l.p.cap[row]) + 1
}

// total adds up the bound of the whole prices.
func (l *lp) total(f *proof) int64 {
	p := l.p
	rows := int32(p.rows())
	f.net, f.top = resize(f.net, l.n), resize(f.top, l.g)
	var total int64
	for r, row := range l.act {
		if row < rows {
			total += f.price[r] * p.cap[row]
		} else {
			total += f.price[r] * l.cuts.rhs[row-rows]
		}
	}
	l.addRows(f.net, f.price, 0)
	for g := range l.g {
		top := int64(noColumn)
		if !l.ban[l.n+g] {
			top = 0
		}
		for i := p.start[g]; i < p.start[g+1]; i++ {
			f.net[i] = f.fine(p.worth[i]) - f.net[i]
			if !l.ban[i] {
				top = max(top, f.net[i])
			}
		}
		if top == noColumn {
			return noColumn
		}
		f.top[g] = top
		total = satAdd(total, top)
	}
	l.work += int64(l.n)
	return total
}

// refine is prove once more, with the prices of the last proof put right by what the
// basic variables' worths net of them still differ (iterative refinement): prices
// as exact as whole numbers can be, where floating point alone leaves the last units open.
func (l *lp) refine(f *proof) int64 {
	l.vec = resize(l.vec, l.m)
	for q, v := range l.bas {
		if int(v) >= l.n+l.g {
			continue
		}
		diff := float64(f.netOf(l, v) - f.netOf(l, l.key[l.groupOf(v)]))
		for r, a := range l.inv[q*l.wide : q*l.wide+l.m] {
			l.vec[r] += float64(diff * a)
		}
	}
	left := float64(proofRoom)
	rows := int32(l.p.rows())
	for r, row := range l.act {
		u := l.vec[r]
		if row >= rows {
			u /= cutUnit
		}
		u = math.Round(u)
		size := l.sizeOfRow(row)
		if now := float64(f.price[r]) + u; math.Abs(u) < 1<<52 && now >= 0 && now*size < left {
			left -= now * size
			f.price[r] += int64(u)
		} else {
			f.price[r] = 0
		}
	}
	l.work += int64(l.m * l.m)
	return l.total(f)
}

// netOf is the worth of a column or none net of the proof's prices.
func (f *proof) netOf(l *lp, v int32) int64 {
	if int(v) >= l.n {
		return 0
	}
	return f.net[v]
}
