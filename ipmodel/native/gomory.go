// SPDX-License-Identifier: BSD-3-Clause

package native

import (
	"math"

	"github.com/aucsched/aucsched/internal/ablation"
)

// gomory makes mixed-integer rounding cuts (Nemhauser and Wolsey 1990) from rows of the
// simplex tableau (Gomory 1960). The multipliers of the rows are rounded to
// multiples of 1/2^20 first; everything after that is done in whole numbers, so
// that each cut holds for every feasible choice whatever floating point has done.
type gomory struct {
	row    []int64 // by column: the base row, in units of 1/modulus
	cut    []int64 // by column
	mult   []int64 // by working row: multiplier in units of 1/2^20
	group  []int64 // by group
	rows   []tableauRow
	found  cutList
	clique cliquer
}

const (
	multBits = 20
	modulus  = 1 << (multBits + cutBits)
	least    = 0.02 // fraction of a tableau row worth rounding

	// Rows that are rounded in a round. Multiples of rows were tried as well: they take longer than
	// the better bound is worth.
	rowsTried = 400
)

// separate adds cuts that the solution violates to the pool and the working rows, and
// reports how many. Without round they are cliques only, which make good bases.
func (l *lp) separate(o *gomory, round bool, limit int) int {
	o.found.clear()
	for i := range int32(l.n) {
		if l.where[i] != nonbasic {
			o.found.basic = append(o.found.basic, i)
		}
	}
	if !l.p.off.Has(ablation.Cliques) {
		l.separateCliques(&o.clique, o)
	}
	if !round || l.p.off.Has(ablation.Rounding) {
		return l.takeCuts(o, limit)
	}
	l.listFractional(&o.rows)
	l.rho = resize(l.rho, l.m)
	for _, r := range o.rows[:min(len(o.rows), rowsTried)] {
		if l.over() {
			return 0
		}
		l.tableauRow(r)
		l.roundTableau(o, r.group)
	}
	l.roundObjective(o)
	return l.takeCuts(o, limit)
}

func fractional(x float64) bool { return x > least && x < 1-least }

// roundObjective tries the row that proves the relaxation's value, in units of several
// worths: where worths are nearly equal, it bounds the number of columns chosen.
func (l *lp) roundObjective(o *gomory) {
	least, most := inf, 0.0
	for g, key := range l.key {
		if w := l.worth(key); w > 0 && l.xkey[g] > 0.5 {
			least, most = min(least, w), max(most, w)
		}
	}
	if most == 0 {
		return
	}
	l.rho = append(l.rho[:0], l.y...)
	l.dots(l.rho)
	for _, unit := range []float64{least, most, (least + most) / 2} {
		f := 1 / unit
		for r := range l.rho {
			l.rho[r] = l.y[r] * f
		}
		for g, key := range l.key {
			l.keyDot[g] = (l.worth(key) - l.alpha[key]) * f
		}
		l.roundRow(o, false)
	}
}

// roundTableau makes a cut of the row with multipliers rho; group is the one whose own
// row counts once more, or -1.
func (l *lp) roundTableau(o *gomory, group int32) {
	l.dots(l.rho)
	for g, key := range l.key {
		l.keyDot[g] = -l.alpha[key]
	}
	if group >= 0 {
		l.keyDot[group]++
	}
	l.roundRow(o, true)
}

// roundRow makes a cut of the row with multipliers rho for the working rows and keyDot
// for the groups. fold says that multipliers matter only up to whole numbers.
func (l *lp) roundRow(o *gomory, fold bool) {
	if !l.setMultipliers(o, fold) {
		return
	}
	p := l.p
	rows := int32(p.rows())
	o.row = resize(o.row, l.n)
	var beta int64
	for r, row := range l.act {
		u := o.mult[r]
		if u == 0 {
			continue
		}
		if row < rows {
			beta += u * p.cap[row] << cutBits
		} else {
			beta += u * l.cuts.rhs[row-rows]
		}
	}
	l.addRows(o.row, o.mult, cutBits)
	for g, u := range o.group {
		if u == 0 {
			continue
		}
		beta += u << cutBits
		for i := p.start[g]; i < p.start[g+1]; i++ {
			o.row[i] += u << cutBits
		}
	}
	f0 := mod(beta)
	if f0 < modulus/50 || f0 > modulus-modulus/50 {
		return
	}
	l.substitute(o, beta, f0)
}

// setMultipliers rounds the multipliers, and reports whether all sums will stay small.
func (l *lp) setMultipliers(o *gomory, fold bool) bool {
	rows := int32(l.p.rows())
	o.mult, o.group = resize(o.mult, l.m), resize(o.group, l.g)
	size := 0.0
	for r, f := range l.rho {
		if math.Abs(f) < 1e-9 {
			continue
		}
		c := 1.0
		if row := l.act[r]; row < rows {
			if fold {
				f -= math.Floor(f)
			}
			c = float64(l.p.cap[row] + 1)
		}
		size += math.Abs(f) * c
		if size > 1<<16 {
			return false
		}
		o.mult[r] = int64(math.Round(f * (1 << multBits)))
	}
	for g, f := range l.keyDot {
		if math.Abs(f) < 1e-9 {
			continue
		}
		if fold {
			f -= math.Floor(f)
		}
		if size += math.Abs(f); size > 1<<16 {
			return false
		}
		o.group[g] = int64(math.Round(f * (1 << multBits)))
	}
	return true
}

// addRows adds the working rows times their multipliers to v, capacity rows shifted up.
func (l *lp) addRows(v, mult []int64, shift int) {
	p := l.p
	rows := int32(p.rows())
	l.whole = resize(l.whole, int(rows)+1)
	for r, row := range l.act {
		if u := mult[r]; u == 0 {
			continue
		} else if row < rows {
			l.whole[row+1] = u << shift
		} else {
			l.cuts.addWhole(v, int(row-rows), u)
		}
	}
	for r := range rows {
		l.whole[r+1] += l.whole[r]
	}
	for i := range l.n {
		for k := l.p.run[i]; k < l.p.run[i+1]; k++ {
			v[i] += int64(l.p.runCoef[k]) * (l.whole[l.p.runEnd[k]] - l.whole[l.p.runFirst[k]])
		}
	}
	l.work += 3 * (int64(len(l.p.runFirst)) + int64(rows))
}

func mod(v int64) int64 { return v & (modulus - 1) }

// rounded is the rounding function of an integer variable, times modulus-f0.
func rounded(v, f0 int64) int64 {
	return (v>>(multBits+cutBits))*(modulus-f0) + max(0, mod(v)-f0)
}

// substitute rounds the base row and puts the slacks' rows in place of the slacks.
func (l *lp) substitute(o *gomory, beta, f0 int64) {
	p := l.p
	rows := int32(p.rows())
	o.cut = resize(o.cut, l.n)
	rhs := rounded(beta, f0)
	for r, row := range l.act {
		u := o.mult[r]
		if u == 0 {
			continue
		}
		if row < rows {
			u = -rounded(u<<cutBits, f0)
			rhs += u * p.cap[row]
		} else {
			u = -min(0, u)
			rhs += u * l.cuts.rhs[row-rows]
		}
		o.mult[r] = u
	}
	l.addRows(o.cut, o.mult, 0)
	for g := range l.g {
		u := o.group[g]
		if u != 0 && !p.required[g] {
			u = rounded(u<<cutBits, f0)
			rhs -= u
		} else {
			u = 0
		}
		for i := p.start[g]; i < p.start[g+1]; i++ {
			o.cut[i] += rounded(o.row[i], f0) - u
		}
	}
	l.offer(o, rhs)
}
