// SPDX-License-Identifier: BSD-3-Clause

package native

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// cutList holds the cuts of one round before the best are chosen.
type cutList struct {
	coef  []int32 // by cut and column
	rhs   []int64
	score []float64
	order []int32
	basic []int32   // the basic columns
	sight []float64 // by cut and basic column: its coefficients in a vector of length 1
}

func (f *cutList) clear() {
	f.coef, f.rhs, f.score, f.order = f.coef[:0], f.rhs[:0], f.score[:0], f.order[:0]
	f.basic, f.sight = f.basic[:0], f.sight[:0]
}

// noise is the size of coefficients that are left out: some come from rounding the
// multipliers, and a wide range of coefficients makes bad bases.
const noise = 32

// offer scales the cut in o.cut to cutUnit, which may only weaken it, and adds it to
// the list if the solution violates it.
func (l *lp) offer(o *gomory, rhs int64) {
	most := int64(0)
	for i, a := range o.cut {
		if l.gone[i] {
			o.cut[i] = 0
			continue
		}
		most = max(most, a, -a)
	}
	shift := max(0, bits.Len64(uint64(most))-cutBits)
	if shift > 0 {
		rhs = (rhs-1)>>shift + 1
	}
	over, norm := 0.0, 0.0
	for g := range l.g {
		worst := int64(0)
		for i := l.p.start[g]; i < l.p.start[g+1]; i++ {
			a := o.cut[i] >> shift
			if -noise <= a && a <= noise {
				worst, a = max(worst, -a), 0
			}
			if o.cut[i] = a; a != 0 {
				norm += float64(a) * float64(a)
				if l.where[i] != nonbasic {
					over += float64(a) * l.at(i)
				}
			}
		}
		rhs += worst
	}
	if over -= float64(rhs); over <= 1e-4*cutUnit || norm == 0 {
		return
	}
	f := &o.found
	f.look(o.cut)
	for _, a := range o.cut {
		f.coef = append(f.coef, int32(a))
	}
	f.rhs = append(f.rhs, rhs)
	f.order = append(f.order, int32(len(f.score)))
	f.score = append(f.score, over/math.Sqrt(norm))
}

// look appends what the solution sees of a cut.
func (f *cutList) look(cut []int64) {
	from := len(f.sight)
	for _, i := range f.basic {
		f.sight = append(f.sight, float64(cut[i]))
	}
	sight := f.sight[from:]
	if length := math.Sqrt(dot(sight, sight)); length > 0 {
		for k := range sight {
			sight[k] /= length
		}
	}
}

// alike is the cosine from which a cut is too much like a better one, to the eye of the
// solution: among the basic columns.
const alike = 0.9

func (f *cutList) alike(a, b int32) bool {
	n := len(f.basic)
	return dot(f.sight[int(a)*n:int(a+1)*n], f.sight[int(b)*n:int(b+1)*n]) > alike
}

// takeCuts adds the best of the cuts found, as far as they differ, at most limit.
func (l *lp) takeCuts(o *gomory, limit int) int {
	f, n := &o.found, l.n
	slices.SortFunc(f.order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(f.score[b], f.score[a]), cmp.Compare(a, b))
	})
	taken := f.order[:0]
	for _, c := range f.order {
		if len(taken) >= limit || l.cuts.full() {
			break
		}
		if slices.ContainsFunc(taken, func(t int32) bool { return f.alike(c, t) }) {
			continue
		}
		taken = append(taken, c)
		row := f.coef[int(c)*n : int(c+1)*n]
		l.cuts.add(row, f.rhs[c], l.sizeOf(row, f.rhs[c]))
		l.where = append(l.where, idle)
		l.addRow(int32(l.p.rows() + l.cuts.count() - 1))
	}
	return len(taken)
}

// sizeOf adds up the groups' greatest coefficients, of either sign, and the right-hand side.
func (l *lp) sizeOf(cut []int32, rhs int64) int64 {
	size := max(rhs, -rhs)
	for g := range l.g {
		most := int64(0)
		for _, a := range cut[l.p.start[g]:l.p.start[g+1]] {
			most = max(most, int64(a), -int64(a))
		}
		size += most
	}
	return size
}

// dropIdleCuts drops the cuts whose slack is basic from the rows and the pool.
func (l *lp) dropIdleCuts() {
	rows, first := int32(l.p.rows()), int32(l.n+l.g+l.p.rows())
	for q := l.m - 1; q >= 0; q-- {
		if v := l.bas[q]; v >= first && v < artificial && l.x[q] > 1e-6 {
			l.dropRow(q)
		}
	}
	l.cuts.keep(func(cut int) bool {
		return l.where[l.slackOf(rows+int32(cut))] != idle
	}, func(from, to int) {
		a, b := l.slackOf(rows+int32(from)), l.slackOf(rows+int32(to))
		l.where[b] = l.where[a]
		if r := slices.Index(l.act, rows+int32(from)); r >= 0 {
			l.act[r] = rows + int32(to)
		}
		if q := l.where[b]; q >= 0 {
			l.bas[q] = b
		}
	})
	l.where = l.where[:int(first)+l.cuts.count()]
}
