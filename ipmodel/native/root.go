// SPDX-License-Identifier: BSD-3-Clause

package native

import (
	"math"

	"github.com/aucsched/aucsched/internal/ablation"
)

// relaxRoot takes some steps at the root.
func (s *worker) relaxRoot(end int64) {
	t := &s.tree
	out, hope := s.solveRoot(pivotsATurn, end)
	switch {
	case !hope:
		t.stage = done
	case out == solved:
		t.stage = cutting
		s.takeWhole()
		t.last = t.lp.value()
	case out != exhausted && !s.over:
		s.openRoot() // floating point sees no better choice, but there is no proof
	}
}

// solveRoot takes steps at the root until so much work is done, and reports whether there is hope
// for a better choice.
func (s *worker) solveRoot(steps int, end int64) (out outcome, hope bool) {
	s.pauseAt = end
	defer func() { s.pauseAt = math.MaxInt64 }()
	out = s.tree.lp.solve(s.cutoff(), steps)
	hope = s.proveRoot()
	if hope && out == cutOff { // as far as floating point can tell
		out = s.tree.lp.solve(math.Inf(-1), steps)
		hope = s.proveRoot()
	}
	return out, hope
}

// proveRoot proves a bound for the root, drops columns that no choice better than the best
// known has, and reports whether there is hope for any.
func (s *worker) proveRoot() bool {
	t := &s.tree
	bound := s.prove()
	if bound != noColumn {
		bound = t.lp.total(&t.proof)
	}
	if bound < t.atRoot {
		t.atRoot, t.known = bound, math.MinInt64
		t.root, t.proof = t.proof, t.root
	}
	if s.hopeless(t.atRoot) {
		return false
	}
	s.lower(t.atRoot)
	s.fixAtRoot()
	return true
}

// near is how close, relative to the greatest worth, a bound has to come to what is needed
// for a more exact proof to be tried.
const near = 1e-8

// prove proves a bound for the relaxation at hand, more exactly where it comes close to
// what is needed. Without hope for a better choice it is noColumn.
func (s *worker) prove() int64 {
	t := &s.tree
	l := &t.lp
	bound := l.prove(&t.proof)
	if s.hopeless(bound) {
		return noColumn
	}
	if float64(t.proof.worth(bound)-s.incumbent()) > float64(near*l.scale) {
		return bound
	}
	if bound = min(bound, l.refine(&t.proof)); t.proof.shift < 0 && !s.hopeless(bound) {
		if exact := l.prove(&t.whole); min(exact, l.refine(&t.whole), l.refine(&t.whole)) <= s.incumbent() {
			return noColumn
		}
	}
	if s.hopeless(bound) {
		return noColumn
	}
	return bound
}

// lower makes a proven bound on all better choices the solver's.
func (s *worker) lower(bound int64) {
	s.prices.bound = min(s.prices.bound, max(s.tree.proof.worth(bound), s.incumbent()))
}

// fixAtRoot drops columns for good that no choice better than the best known has.
func (s *worker) fixAtRoot() {
	t := &s.tree
	if t.known == s.incumbent() || s.p.off.Has(ablation.CostFixing) {
		return
	}
	t.known = s.incumbent()
	for g := range t.lp.g {
		for i := s.p.start[g]; i < s.p.start[g+1]; i++ {
			if !t.lp.gone[i] && s.hopeless(t.atRoot-t.root.top[g]+t.root.net[i]) {
				t.lp.gone[i] = true
				t.lp.ban[i] = true
			}
		}
	}
}

// cutRoot begins a round of cuts at the root, or goes on with one.
func (s *worker) cutRoot(end int64) {
	t := &s.tree
	if !t.inRound && !s.beginRound() {
		s.openRoot()
		return
	}
	out, hope := s.solveRoot(pivotsARound, end)
	if t.inRound = hope && (s.over || (out == exhausted && t.lp.pivots < t.roundAt+pivotsARound)); t.inRound {
		return // the rest is another turn's
	}
	switch {
	case !hope:
		t.stage = done
	case out == solved:
		s.endRound()
	default:
		s.takeBack()
	}
}

// beginRound adds cuts, and reports whether there are any that are worth a round.
func (s *worker) beginRound() bool {
	t := &s.tree
	l := &t.lp
	s.fixAtRoot()
	t.before = l.cuts.count()
	t.trial.copyFrom(&l.basis)
	if t.rounds >= cutRounds || t.stale >= staleRounds || l.separate(&t.cutter, t.fails == 0, cutsARound) == 0 {
		return false
	}
	t.rounds++
	t.roundAt = t.lp.pivots
	return true
}

// takeBack takes the cuts of a round back that could not be solved with.
func (s *worker) takeBack() {
	t := &s.tree
	t.lp.basis.copyFrom(&t.trial)
	t.lp.cuts.keep(func(cut int) bool { return cut < t.before }, func(int, int) {})
	if t.fails++; t.fails > maxFails {
		s.openRoot()
	}
}

// endRound keeps the cuts that are of use, and notes what they have gained.
func (s *worker) endRound() {
	t := &s.tree
	s.takeWhole()
	t.lp.dropIdleCuts()
	value := t.lp.value()
	if t.last-value < leastGain*(t.last-s.cutoff()) {
		t.stale++
	} else {
		t.stale, t.last = 0, value
	}
}

// openRoot begins the search proper.
func (s *worker) openRoot() {
	t := &s.tree
	t.stage = branching
	at := t.save()
	t.snaps[at].users++
	t.heap.push(node{bound: t.atRoot, parent: at})
}
