// SPDX-License-Identifier: BSD-3-Clause

package native

import (
	"cmp"
	"math"
	"slices"
)

// candidate is a fractional variable to branch on.
type candidate struct {
	v        int32
	down, up float64 // what the objective loses at least
}

func (c *candidate) score() float64 {
	return math.Max(c.down, 1e-9) * math.Max(c.up, 1e-9)
}

// chooseBranch picks the variable to branch on: of the fractional ones, that whose branches
// both lose most.
func (s *worker) chooseBranch(solved bool) int32 {
	t := &s.tree
	t.cand = t.cand[:0]
	if solved {
		t.lp.listCandidates(&t.cand)
	}
	if len(t.cand) == 0 {
		return t.anyOpen()
	}
	best := slices.MaxFunc(t.cand, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.score(), b.score()), cmp.Compare(b.v, a.v))
	})
	return best.v
}

// anyOpen is a variable of a group with more than one left.
func (t *tree) anyOpen() int32 {
	for g := range t.lp.g {
		if only, left := t.left(g); left > 1 {
			return only
		}
	}
	return -1
}

// listCandidates lists the fractional variables with what the first dual step of either
// branch loses (Driebeek 1966).
func (l *lp) listCandidates(list *[]candidate) {
	l.rho = resize(l.rho, l.m)
	for q, v := range l.bas {
		if x := l.x[q]; int(v) < l.n+l.g && x > 1e-6 && x < 1-1e-6 {
			l.tableauRow(tableauRow{pos: int32(q), group: -1})
			l.pivotRow(l.rho)
			*list = append(*list, l.penalties(v, x))
		}
	}
	for g, v := range l.key {
		x := l.xkey[g]
		if x <= 1e-6 || x >= 1-1e-6 {
			continue
		}
		l.tableauRow(tableauRow{pos: -1, group: int32(g)})
		l.pivotRow(l.rho)
		for i := l.p.start[g]; i < l.p.start[g+1]; i++ {
			l.alpha[i]++
		}
		l.alpha[l.n+g]++
		*list = append(*list, l.penalties(v, x))
	}
}

// penalties of a variable with value x whose row is in alpha and rho.
func (l *lp) penalties(v int32, x float64) candidate {
	down, up := 1e3, 1e3
	consider := func(d, a float64) {
		if a > pivotTol {
			down = math.Min(down, d/a*x)
		} else if a < -pivotTol {
			up = math.Min(up, d/-a*(1-x))
		}
	}
	for j, a := range l.alpha {
		if a != 0 && l.where[j] == nonbasic && !l.ban[j] {
			consider(-l.d[j], a)
		}
	}
	for r, a := range l.rho {
		if l.where[l.slackOf(l.act[r])] == nonbasic {
			consider(l.y[r], a)
		}
	}
	return candidate{v, math.Max(down, 0), math.Max(up, 0)}
}
