// SPDX-License-Identifier: BSD-3-Clause

package native

import "math"

// A column that is worth a little more than its group's prices say would have to enter at once,
// whatever its pivot. Instead its worth is lowered to what it costs (shifting), so that the dual
// simplex method can choose among pivots. When no row is violated any more the worths are set
// right, and the few columns that are then worth more than they cost enter by primal steps. Bounds
// do not depend on any of this: they are proven from the prices and the true worths.

const (
	primalSteps = 200   // for setting the worths right
	primalTol   = 1e-11 // of a reduced cost
	blockTol    = 1e-8  // of the entries of a column that can block it
)

// lower lowers the worth of column i to what it costs.
func (l *lp) lower(i int) {
	l.shift[i] += l.d[i]
	l.d[i], l.shifted = 0, true
}

// lowerAll lowers the worths of all nonbasic columns that are worth more than they cost.
func (l *lp) lowerAll() {
	for i := range l.n {
		if l.d[i] > 0 && l.where[i] == nonbasic {
			l.lower(i)
		}
	}
}

// setRight sets the lowered worths right and takes the steps that this asks for, at most limit.
// What is worth too much even then stays lowered. It reports whether the solution may have changed.
func (l *lp) setRight(limit *int) bool {
	l.shifted = false
	clear(l.shift)
	l.setD()
	changed := false
	for range primalSteps {
		enter, at := l.dearest()
		if enter < 0 {
			return changed
		}
		if *limit <= 0 || (changed && l.over()) || !l.primalStep(enter, at) {
			break
		}
		*limit--
		l.pivots++
		changed = true
	}
	l.lowerAll()
	return changed
}

// dearest is the nonbasic variable that the objective gains most from, -1 if none.
func (l *lp) dearest() (enter int32, at int) {
	enter, at = -1, -1
	most := primalTol
	for j, d := range l.d {
		if d > most && l.where[j] == nonbasic && !l.ban[j] {
			enter, most = int32(j), d
		}
	}
	for r, y := range l.y {
		if v := l.slackOf(l.act[r]); -y > most && l.where[v] == nonbasic {
			enter, at, most = v, r, -y
		}
	}
	l.work += int64(l.n) / 2
	return enter, at
}

// primalStep lets a variable enter the basis and the first that it makes infeasible leave. It
// reports whether that was done.
func (l *lp) primalStep(enter int32, at int) bool {
	l.forward(enter)
	pos, group := l.blocking(enter)
	if group >= 0 {
		if int(enter) < l.n+l.g && l.groupOf(enter) == group && !l.hasBasic(group) {
			l.makeKey(group, enter)
			return true
		}
		if pos = l.swapKey(group); pos < 0 {
			return false
		}
		l.forward(enter)
	}
	if pos < 0 || math.Abs(l.col[pos]) < pivotTol {
		return false
	}
	l.rho = append(l.rho[:0], l.inv[pos*l.wide:pos*l.wide+l.m]...)
	l.pivotRow(l.rho)
	pivot, same := l.col[pos], l.rowEntry(enter, at)
	if math.Abs(pivot-same) > pivotDrift*(1+math.Abs(pivot)) {
		return false
	}
	l.turnPrices(l.reduced(enter, at)/pivot, pos, enter)
	return true
}

// blocking is the first basic variable to become infeasible as enter grows: a position, or -1
// and the group whose key it is. Of those that block alike it has the greatest entry.
func (l *lp) blocking(enter int32) (pos int, group int32) {
	l.keyDot = resize(l.keyDot, l.g)
	if int(enter) < l.n+l.g {
		l.keyDot[l.groupOf(enter)] = 1
	}
	for q, v := range l.bas {
		if int(v) < l.n+l.g {
			l.keyDot[l.groupOf(v)] -= l.col[q]
		}
	}
	pos, group = -1, -1
	least, most := inf, 0.0
	consider := func(v int32, x, a float64, q int, g int32) {
		if math.Abs(a) < blockTol {
			return
		}
		room := math.Max(x, 0)
		if v >= artificial || (int(v) < l.n+l.g && l.ban[v]) {
			room, a = 0, math.Abs(a)
		}
		if a < 0 {
			return
		}
		t := room / a
		if t < least-1e-12 || (t <= least+1e-12 && a > most) {
			least, most, pos, group = math.Min(t, least), a, q, g
		}
	}
	for q, v := range l.bas {
		consider(v, l.x[q], l.col[q], q, -1)
	}
	for g, key := range l.key {
		consider(key, l.xkey[g], l.keyDot[g], -1, int32(g))
	}
	l.work += int64(l.m + l.g)
	return pos, group
}

// hasBasic reports whether a group has a basic variable beside its key.
func (l *lp) hasBasic(g int32) bool {
	for _, v := range l.bas {
		if int(v) < l.n+l.g && l.groupOf(v) == g {
			return true
		}
	}
	return false
}
