package native

import (
	"cmp"
	"math"
	"slices"

	"github.com/aucsched/aucsched/internal/ablation"
)

// candidate is a fractional variable to branch on.
type candidate struct {
	v        int32
	down, up float64 // what the objective loses at least
}

func (c *candidate) score() float64 {
	return math.Max(c.down, 1e-9) * math.Max(c.up, 1e-9)
}

// chooseBranch picks the variable to branch on. Where trying one out proves one of its
// branches hopeless, it takes the other and says that the node has to be examined again.
func (s *hand) chooseBranch(solved bool) (v int32, again bool) {
	t := &s.tree
	l := &t.lp
	t.cand = t.cand[:0]
	if solved {
		l.listCandidates(&t.cand)
	}
	if len(t.cand) == 0 {
		return t.anyOpen(), false
	}
	slices.SortFunc(t.cand, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score(), a.score()), cmp.Compare(a.v, b.v))
	})
	if s.p.off.Has(ablation.StrongBranching) {
		return t.cand[0].v, false
	}
	t.trial.copyFrom(&l.basis)
	base := l.value()
	best, most := t.cand[0].v, -1.0
	for i := range t.cand[:min(len(t.cand), maxTried)] {
		c := &t.cand[i]
		down, up := t.decisions(c.v)
		for _, d := range []struct {
			take, other decision
			loss        *float64
		}{{down, up, &c.down}, {up, down, &c.up}} {
			loss, closed := s.try(d.take, base)
			l.basis.copyFrom(&t.trial)
			if closed {
				t.apply(d.other)
				return -1, true
			}
			*d.loss = math.Max(*d.loss, loss)
		}
		if v := c.score(); v > most {
			best, most = c.v, v
		}
	}
	return best, false
}

// try takes a few steps after a decision and returns what the objective loses, and
// whether that is proven to be too much.
func (s *hand) try(d decision, base float64) (loss float64, closed bool) {
	t := &s.tree
	l := &t.lp
	g := l.p.group[d.lo]
	first, last := l.p.start[g], l.p.start[g+1]
	t.saved = append(append(t.saved[:0], l.ban[first:last]...), l.ban[int32(l.n)+g])
	t.apply(d)
	steps := triedSteps
	out := l.dual(s.cutoff(), &steps)
	if out == cutOff || out == noChoice {
		closed = s.hopeless(l.prove(&t.proof))
	}
	loss = base - l.value()
	if out == noChoice {
		loss = base
	}
	copy(l.ban[first:last], t.saved)
	l.ban[int32(l.n)+g] = t.saved[last-first]
	return loss, closed
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
