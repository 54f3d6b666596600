// SPDX-License-Identifier: BSD-3-Clause

package native

import (
	"math"

	"github.com/aucsched/aucsched/internal/ablation"
)

// dive takes the best open node and goes down from it until a node is closed or work
// is at end.
func (s *worker) dive(end int64) {
	t := &s.tree
	s.fixAtRoot()
	t.heap.setOrder(len(t.heap.open) > maxOpen)
	if len(t.heap.open) == 0 {
		t.stage = done
		return
	}
	n := t.heap.pop()
	if s.hopeless(n.bound) {
		t.release(n.parent)
		if !t.heap.deepest {
			t.stage = done
		}
		return
	}
	t.load(n.parent)
	for {
		if n.lo < n.hi {
			t.apply(n.decision)
		}
		s.nodes++
		bound, v := s.examine(n.bound)
		s.settle()
		if s.over {
			t.heap.push(n) // what examine says may be half done
			break
		}
		t.release(n.parent)
		if v < 0 {
			break
		}
		kid := s.branch(&n, bound, v)
		if s.work >= end || s.stopped() {
			t.heap.push(kid)
			break
		}
		n = kid
		s.lower(t.heap.top(n.bound))
	}
	if len(t.heap.open) > 0 {
		s.lower(t.heap.top(noColumn))
	}
}

// branch makes the children of a node that has been examined: one is put off, the other returned.
func (s *worker) branch(n *node, bound int64, v int32) node {
	t := &s.tree
	down, up := t.decisions(v)
	at := t.save()
	t.snaps[at].users = 2
	t.seq += 2
	kid := node{bound: bound, parent: at, depth: n.depth + 1, seq: t.seq, decision: up}
	other := kid
	other.decision = down
	other.seq--
	t.heap.push(other)
	return kid
}

// decisions are the two branches of a variable: 0 and 1.
func (t *tree) decisions(v int32) (down, up decision) {
	l := &t.lp
	if g := int(v) - l.n; g >= 0 {
		all := decision{lo: l.p.start[g], hi: l.p.start[g+1], in: true}
		none := all
		none.in = false
		return all, none
	}
	return decision{v, v + 1, false}, decision{v, v + 1, true}
}

// examine solves the node at hand, whose parent's bound is given. It returns the node's
// bound and the variable to branch on, -1 if the node is closed.
func (s *worker) examine(bound int64) (int64, int32) {
	t := &s.tree
	l := &t.lp
	for {
		open := s.propagate()
		if open == 0 {
			return 0, -1
		}
		out := l.solve(s.cutoff(), 1000)
		bound = min(bound, s.prove())
		if s.hopeless(bound) {
			return 0, -1
		}
		if out == cutOff {
			out = l.solve(math.Inf(-1), 1000)
			bound = min(bound, s.prove())
		}
		if out == noChoice {
			l.renew()
		}
		if s.hopeless(bound) {
			return 0, -1
		}
		if out == solved {
			if s.takeWhole(); s.hopeless(bound) {
				return 0, -1
			}
			if s.fixAtNode() {
				continue
			}
		}
		return bound, s.chooseBranch(out == solved)
	}
}

// fixAtNode bans variables by the node's proof, and reports whether that changes its
// solution.
func (s *worker) fixAtNode() bool {
	t := &s.tree
	l := &t.lp
	if s.p.off.Has(ablation.CostFixing) {
		return false
	}
	changed := false
	bound := l.total(&t.proof)
	for g := range l.g {
		spare := bound - t.proof.top[g]
		for i := l.p.start[g]; i < l.p.start[g+1]; i++ {
			if !l.ban[i] && s.hopeless(spare+t.proof.net[i]) {
				l.ban[i] = true
				changed = changed || l.at(i) > feasTol
			}
		}
		if none := int32(l.n + g); !l.ban[none] && s.hopeless(spare) {
			l.ban[none] = true
			changed = changed || l.at(none) > feasTol
		}
	}
	return changed
}
