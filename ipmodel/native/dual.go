// SPDX-License-Identifier: BSD-3-Clause

package native

import "math"

// stepKind says what became of a step.
type stepKind int

const (
	stepTaken  stepKind = iota
	stepNone            // nothing can enter: no choice is feasible
	stepOther           // another variable should leave: the norm was wrong
	stepUnsafe          // rounding errors have grown too large
)

const (
	rowsARound  = 24   // violated rows that enter at once when all others hold
	rowsBetween = 8    // and before
	pivotsAhead = 10   // pivots between two looks at all rows
	rowsToDrop  = 48   // rows that have to come before the idle ones are dropped again
	pivotDrift  = 1e-6 // by which the two ways to compute a pivot may differ
	goodPivot   = 1e-3 // with which a tolerance need not be widened
	mostTol     = 1e-6 // of a reduced cost, for a good pivot
	normDrift   = 0.25 // of the true norm, below which a norm is put right before it is used
	pivotsFresh = 1500 // pivots between two renewals of the inverse
)

// solve takes dual simplex steps until the relaxation with all its rows is solved, its
// objective (in units of scale) is below limit, or maxPivots have been taken.
func (l *lp) solve(limit float64, maxPivots int) outcome {
	for {
		some := min(maxPivots, pivotsAhead)
		maxPivots -= some
		out := l.dual(limit, &some)
		if maxPivots += some; out != solved && (out != exhausted || maxPivots == 0 || l.over()) {
			return out
		}
		if l.m > l.dropAt {
			l.dropSlackRows()
			l.dropAt = l.m + rowsToDrop
		}
		rows := rowsBetween
		if out == solved {
			rows = rowsARound
		}
		if l.pivots > l.fresh+pivotsFresh {
			l.renew()
		} else if !l.addViolated(rows) && out == solved {
			if l.shifted && l.setRight(&maxPivots) {
				if l.over() {
					return exhausted
				}
				continue
			}
			l.dropSlackRows()
			return solved
		}
	}
}

// dual takes dual simplex steps with the rows at hand.
func (l *lp) dual(limit float64, maxPivots *int) outcome {
	value := l.value()
	for first := true; ; first = false {
		if value < limit {
			if value = l.value(); value < limit {
				return cutOff
			}
		}
		if *maxPivots <= 0 || (!first && l.over()) { // a step at least, so that it goes on
			return exhausted
		}
		pos, group, amount := l.leaving()
		if amount == 0 {
			return solved
		}
		*maxPivots--
		l.pivots++
		if pos < 0 {
			if pos = l.swapKey(group); pos < 0 {
				if !l.replaceKey(group) {
					return noChoice
				}
				value = l.value()
				continue
			}
		}
		loss, took := l.step(pos)
		switch took {
		case stepTaken:
			value -= loss
		case stepUnsafe:
			if l.fresh >= l.pivots-1 {
				return noChoice
			}
			l.renew()
			value = l.value()
		case stepNone:
			return noChoice
		}
	}
}

// leaving picks the basic variable to leave: a position, or -1 and the group whose key
// leaves. It goes by infeasibility squared over the squared length of its row.
func (l *lp) leaving() (pos int, group int32, amount float64) {
	pos, group = -1, -1
	best := 0.0
	for q, v := range l.bas {
		if a := l.infeasibility(v, l.x[q]); a > 0 {
			if s := a * a / l.norm[q]; s > best {
				best, pos, amount = s, q, a
			}
		}
	}
	for g, key := range l.key {
		if a := l.infeasibility(key, l.xkey[g]); a > 0 {
			if s := a * a / l.knorm[g]; s > best {
				best, pos, group, amount = s, -1, int32(g), a
			}
		}
	}
	return pos, group, amount
}

// step lets the variable at position pos leave the basis and the one that keeps all
// reduced costs at most 0 enter. It returns what the objective loses.
func (l *lp) step(pos int) (loss float64, took stepKind) {
	l.rho = append(l.rho[:0], l.inv[pos*l.wide:pos*l.wide+l.m]...)
	l.pivotRow(l.rho)
	sign := 1.0 // of alpha, for entering variables that lead the right way
	if l.x[pos] < -feasTol {
		sign = -1
	}
	thought := l.norm[pos]
	if l.norm[pos] = l.lengthOfRow(); thought < normDrift*l.norm[pos] {
		return 0, stepOther
	}
	enter, at := l.entering(sign)
	if enter < 0 {
		l.followRay(pos, -sign)
		return 0, stepNone
	}
	l.forward(enter)
	pivot, same := l.col[pos], l.rowEntry(enter, at)
	if math.Abs(pivot-same) > pivotDrift*(1+math.Abs(pivot)) || math.Abs(pivot) < pivotTol {
		return 0, stepUnsafe
	}
	if int(enter) < l.n && l.d[enter] > 0 {
		// within tolerance: its worth is lowered to that of the others
		l.lower(int(enter))
	}
	theta := l.reduced(enter, at) / pivot // same sign as -sign, or 0
	loss = math.Abs(theta * l.x[pos])
	l.turnPrices(theta, pos, enter)
	for _, c := range l.cand {
		if c.v == enter || l.reduced(c.v, int(c.at)) <= dualTol {
			continue
		}
		if l.shifted = true; int(c.v) < l.n { // the price of a row can't be lowered
			l.lower(int(c.v))
		}
	}
	return loss, stepTaken
}

// turnPrices changes the prices by theta along the pivot row and exchanges the variables.
func (l *lp) turnPrices(theta float64, pos int, enter int32) {
	if theta != 0 {
		for j, a := range l.alpha {
			l.d[j] -= float64(theta * a)
		}
		for r := range l.y {
			l.y[r] += float64(theta * l.rho[r])
		}
	}
	left := l.bas[pos]
	l.updateNorms(pos, enter)
	l.exchange(pos, enter)
	if int(left) < l.n+l.g {
		l.d[left] = -theta
	}
	if int(enter) < l.n+l.g {
		l.d[enter] = 0
	}
}

// rowEntry is the pivot row's entry of a variable.
func (l *lp) rowEntry(v int32, at int) float64 {
	if int(v) >= l.n+l.g {
		return l.rho[at]
	}
	return l.alpha[v]
}

// followRay moves the prices so far along the ray that shows that there is no choice that
// the objective is below 0.
func (l *lp) followRay(pos int, sign float64) {
	t := sign * 2 * (l.value() + 1) / math.Abs(l.x[pos])
	for r := range l.y {
		l.y[r] += float64(t * l.rho[r])
	}
}

// pivotRow makes alpha the row of the basic variable whose row of inv is rho.
func (l *lp) pivotRow(rho []float64) {
	l.dots(rho)
	for g, key := range l.key {
		k := l.alpha[key]
		l.keyDot[g] = k
		if k == 0 {
			continue
		}
		for i := l.p.start[g]; i < l.p.start[g+1]; i++ {
			l.alpha[i] -= k
		}
		l.alpha[l.n+g] = -k
	}
	l.work += int64(l.n) / 2
}

// reduced is the reduced cost of a variable; at is its working row if it is a slack.
func (l *lp) reduced(v int32, at int) float64 {
	if int(v) >= l.n+l.g {
		return -l.y[at]
	}
	return l.d[v]
}

// entering is the ratio test: among the nonbasic variables with sign*alpha > 0, one of
// the least |d/alpha|, the greatest alpha of those nearly as small (Harris 1973). Where that is a
// bad pivot, what counts as nearly as small is widened; step lowers the worths of those
// that are passed over.
func (l *lp) entering(sign float64) (enter int32, at int) {
	l.candidates(sign)
	for tol := dualTol; ; tol *= 10 {
		least := inf
		for _, c := range l.cand {
			least = math.Min(least, (tol+c.room)/c.alpha)
		}
		most := 0.0
		enter, at = -1, -1
		for _, c := range l.cand {
			if c.alpha > most && c.room <= least*c.alpha {
				enter, at, most = c.v, int(c.at), c.alpha
			}
		}
		if enter < 0 || most >= goodPivot || tol > mostTol {
			return enter, at
		}
	}
}

// entrant is a variable that can enter the basis.
type entrant struct {
	v, at int32   // the variable, and its working row if it is a slack
	alpha float64 // of the pivot row, times the sign that it enters by
	room  float64 // by which its reduced cost is below 0
}

// candidates lists the variables that can enter.
func (l *lp) candidates(sign float64) {
	l.cand = l.cand[:0]
	for j, a := range l.alpha {
		if a *= sign; a > pivotTol && l.where[j] == nonbasic && !l.ban[j] {
			l.cand = append(l.cand, entrant{int32(j), -1, a, -l.d[j]})
		}
	}
	for r, a := range l.rho {
		if a *= sign; a > pivotTol && l.where[l.slackOf(l.act[r])] == nonbasic {
			l.cand = append(l.cand, entrant{l.slackOf(l.act[r]), int32(r), a, l.y[r]})
		}
	}
	l.work += int64(l.n)
}
