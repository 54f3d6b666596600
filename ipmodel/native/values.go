// SPDX-License-Identifier: BSD-3-Clause

package native

import "math"

// setX computes the values of the basic variables from inv.
func (l *lp) setX() {
	l.vec = resize(l.vec, l.m)
	for r, row := range l.act {
		l.vec[r] = l.capacity(row)
	}
	for _, key := range l.key {
		l.addColumn(key, -1)
	}
	l.multiply(l.x, l.vec)
	l.setKeys()
}

func (l *lp) setKeys() {
	for g := range l.xkey {
		l.xkey[g] = 1
	}
	for q, v := range l.bas {
		if int(v) < l.n+l.g {
			l.xkey[l.groupOf(v)] -= l.x[q]
		}
	}
}

// setD computes prices and reduced costs from inv.
func (l *lp) setD() {
	clear(l.y)
	for q, v := range l.bas {
		c := 0.0
		if v >= artificial {
			c = l.artCost[v-artificial]
		} else if int(v) < l.n+l.g {
			c = l.worth(v) - l.worth(l.key[l.groupOf(v)])
		}
		if c == 0 {
			continue
		}
		row := l.inv[q*l.wide : q*l.wide+l.m]
		for r := range l.y {
			l.y[r] += float64(c * row[r])
		}
	}
	l.work += int64(l.m*l.m)/2 + 1
	l.dots(l.y)
	for g := range l.g {
		key := l.key[g]
		mu := l.worth(key) - l.alpha[key]
		for i := l.p.start[g]; i < l.p.start[g+1]; i++ {
			l.d[i] = l.worth(i) - l.alpha[i] - mu
		}
		l.d[l.n+g] = -mu
		l.d[key] = 0
	}
	for _, v := range l.bas {
		if int(v) < l.n+l.g {
			l.d[v] = 0
		}
	}
}

// value is the objective of the current basis, in units of scale.
func (l *lp) value() float64 {
	sum := 0.0
	for g, key := range l.key {
		sum += float64(l.worth(key) * l.xkey[g])
	}
	for q, v := range l.bas {
		if int(v) < l.n {
			sum += float64(l.worth(v) * l.x[q])
		} else if v >= artificial {
			sum += float64(l.artCost[v-artificial] * l.x[q])
		}
	}
	return sum
}

// at is the value of a column or none in the solution.
func (l *lp) at(v int32) float64 {
	switch w := l.where[v]; w {
	case nonbasic:
		return 0
	case isKey:
		return l.xkey[l.groupOf(v)]
	default:
		return l.x[w]
	}
}

// infeasibility of a variable with value x: below 0, or above 0 if it is banned. An
// artificial one is always infeasible, so that it leaves in the end.
func (l *lp) infeasibility(v int32, x float64) float64 {
	if v >= artificial {
		return math.Max(math.Abs(x), feasTol)
	}
	if x < -feasTol {
		return -x
	}
	if x > feasTol && int(v) < l.n+l.g && l.ban[v] {
		return x
	}
	return 0
}

// whole01 reports whether the solution is integral.
func (l *lp) whole01() bool {
	for q, v := range l.bas {
		if int(v) < l.n+l.g && l.x[q] > 1e-6 && l.x[q] < 1-1e-6 {
			return false
		}
	}
	for _, x := range l.xkey {
		if x > 1e-6 && x < 1-1e-6 {
			return false
		}
	}
	return true
}
