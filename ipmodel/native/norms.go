// SPDX-License-Identifier: BSD-3-Clause

package native

import "math"

// The dual simplex method goes by steepest edges (Forrest and Goldfarb 1992): infeasibility
// squared over the squared length of the variable's row of the inverse of the whole basis,
// that is with the groups' rows: by working row it is inv's, by group g it is minus inv's
// times the column of g's key. A key's row is the group's own less those of the group's other
// basic variables.

// leastNorm is the least squared length that rounding errors are let to make.
const leastNorm = 1e-4

// updateNorms changes the norms for enter, whose column is col, to come in at pos, whose
// row is rho, with keyDot as pivotRow leaves it.
func (l *lp) updateNorms(pos int, enter int32) {
	l.setTau()
	l.kcol, l.ktau = resize(l.kcol, l.g), resize(l.ktau, l.g)
	if int(enter) < l.n+l.g {
		l.kcol[l.groupOf(enter)] = 1
	}
	for g, k := range l.keyDot {
		l.ktau[g] = -k
	}
	pivot, long := l.col[pos], l.norm[pos]
	for q, v := range l.bas {
		c, t := l.col[q], l.tau[q]
		if int(v) < l.n+l.g {
			g := l.groupOf(v)
			l.kcol[g] -= c
			l.ktau[g] -= t
		}
		if q != pos && c != 0 {
			l.norm[q] = turned(l.norm[q], c/pivot, t, long)
		}
	}
	for g, c := range l.kcol {
		if c != 0 {
			l.knorm[g] = turned(l.knorm[g], c/pivot, l.ktau[g], long)
		}
	}
	l.norm[pos] = math.Max(long/float64(pivot*pivot), leastNorm)
	l.work += int64(l.m + l.g)
}

// updateForKey changes the norms for a key that has taken another's place: col is the
// old key's column less the new one's in terms of the basis, tau the old one's. The
// pivot row is the group's own.
func (l *lp) updateForKey() {
	l.kcol, l.ktau = resize(l.kcol, l.g), resize(l.ktau, l.g)
	for q, v := range l.bas {
		l.norm[q] = turned(l.norm[q], -l.col[q], -l.tau[q], 1)
		if int(v) < l.n+l.g {
			g := l.groupOf(v)
			l.kcol[g] += l.col[q]
			l.ktau[g] += l.tau[q]
		}
	}
	for g, c := range l.kcol {
		l.knorm[g] = turned(l.knorm[g], c, l.ktau[g], 1)
	}
}

// turned is the squared length of a row less f times the pivot row; dot is the product of the two.
func turned(norm, f, dot, long float64) float64 {
	return math.Max(norm-float64(2*float64(f*dot))+float64(float64(f*f)*long), leastNorm)
}

// lengthOfRow is the squared length of the pivot row's variable's, see pivotRow.
func (l *lp) lengthOfRow() float64 {
	return math.Max(dot(l.rho, l.rho)+dot(l.keyDot, l.keyDot), leastNorm)
}

// setTau makes tau the products of the rows of the inverse, by position, with the pivot row.
func (l *lp) setTau() {
	rows := int32(l.p.rows())
	clear(l.prefix)
	for g, key := range l.key {
		if l.keyDot[g] != 0 {
			l.addLoad(key, l.keyDot[g])
		}
	}
	for r := range rows {
		l.prefix[r+1] += l.prefix[r]
	}
	l.vec = resize(l.vec, l.m)
	for r, row := range l.act {
		v := l.rho[r]
		if row < rows {
			v += l.prefix[row]
		} else {
			v += dot(l.keyDot, l.cuts.atKeys(int(row-rows), l.key))
			l.work += int64(l.g) / 2
		}
		l.vec[r] = v
	}
	l.work += int64(rows)/4 + int64(l.g)
	l.tau = resize(l.tau, l.m)
	l.multiply(l.tau, l.vec)
}

// setNorms computes all norms anew.
func (l *lp) setNorms() {
	l.norm, l.knorm = resize(l.norm, l.m), resize(l.knorm, l.g)
	for q := range l.m {
		l.norm[q] = l.lengthOf(l.inv[q*l.wide:q*l.wide+l.m], -1)
	}
	for g := range l.g {
		l.knorm[g] = 1
	}
	l.rho = resize(l.rho, l.m)
	for _, v := range l.bas {
		if int(v) >= l.n+l.g || l.knorm[l.groupOf(v)] != 1 {
			continue
		}
		g := l.groupOf(v)
		l.tableauRow(tableauRow{pos: -1, group: g})
		l.knorm[g] = l.lengthOf(l.rho, int(g))
	}
	l.work += int64(l.m * l.m)
}

// setFirstNorms is setNorms while inv is the identity.
func (l *lp) setFirstNorms() {
	l.norm, l.knorm = resize(l.norm, l.m), resize(l.knorm, l.g)
	for g := range l.knorm {
		l.knorm[g] = 1
	}
	clear(l.prefix)
	for _, key := range l.key {
		if int(key) >= l.n {
			continue
		}
		for k := l.p.run[key]; k < l.p.run[key+1]; k++ {
			f := float64(l.p.runCoef[k] * l.p.runCoef[k])
			l.prefix[l.p.runFirst[k]] += f
			l.prefix[l.p.runEnd[k]] -= f
		}
	}
	for r := range l.p.cap {
		l.prefix[r+1] += l.prefix[r]
	}
	for q, row := range l.act {
		l.norm[q] = 1 + l.prefix[row]
	}
}

// lengthOf is the squared length of the whole row of a variable whose row of inv is z;
// own is its group if it is a key, else -1.
func (l *lp) lengthOf(z []float64, own int) float64 {
	l.setPrefix(z)
	l.ktau = resize(l.ktau, l.g)
	if own >= 0 {
		l.ktau[own] = 1
	}
	for g, key := range l.key {
		if int(key) < l.n {
			for k := l.p.run[key]; k < l.p.run[key+1]; k++ {
				l.ktau[g] -= float64(l.p.runCoef[k] * (l.prefix[l.p.runEnd[k]] - l.prefix[l.p.runFirst[k]]))
			}
		}
	}
	for r, row := range l.act {
		if c := int(row) - l.p.rows(); c >= 0 && z[r] != 0 {
			for g, a := range l.cuts.atKeys(c, l.key) {
				l.ktau[g] -= float64(z[r] * a)
			}
			l.work += int64(l.g) / 2
		}
	}
	l.work += int64(l.g)
	return math.Max(dot(z, z)+dot(l.ktau, l.ktau), leastNorm)
}
