// SPDX-License-Identifier: BSD-3-Clause

package native

import (
	"math"

	"github.com/aucsched/aucsched/internal/ablation"
)

// tree is a branch and cut: the relaxation of lp.go, tightened by the cuts of gomory.go
// at the root, and a best-first search that goes on with one child of each node as long as
// it can. Floating point guides it; a node is closed only by a bound that proof has
// shown in whole numbers. It can be stopped and goes on where it was.
type tree struct {
	lp     lp
	cutter gomory
	proof  proof
	root   proof // of the root
	whole  proof // in units of worth
	atRoot int64 // the root's bound, in units of the proof
	stage  stage
	rounds int
	fails  int     // rounds of cuts taken back because of rounding errors
	stale  int     // rounds of cuts without much gain
	last   float64 // value of the last round

	inRound bool  // a round of cuts has begun and is not solved yet
	roundAt int64 // the relaxation's pivots before it
	before  int   // the cuts before it

	heap  nodeHeap
	snaps []snapshot
	free  []int32
	used  int32
	seq   int32
	debt  int64 // work done beyond the limits so far
	trial basis // before a round of cuts
	cand  []candidate
	slack []int64 // by row, scratch
	order []int32
	known int64 // worth for which columns have been fixed
}

type stage int

const (
	fresh stage = iota
	relaxing
	cutting
	branching
	done
)

const (
	cutRounds    = 60
	cutsARound   = 100
	staleRounds  = 5       // without leastGain together
	leastGain    = 0.03    // of the gap
	maxFails     = 2       // rounds of cuts that may fail
	pivotsATurn  = 64      // between two looks at the limit
	pivotsARound = 50_000  // of cuts, at most
	maxOpen      = 1 << 14 // open nodes before depth goes first
)

// search goes on with the tree for at most limit units of work, and reports whether it
// has excluded all better choices than s.best.
func (s *worker) search(limit int64) bool {
	t := &s.tree
	end := int64(math.MaxInt64)
	if limit < math.MaxInt64-s.work {
		end = s.work + limit - t.debt
	}
	defer func() { t.debt = max(0, s.work-end) }()
	for t.stage != done && s.work < end && !s.stopped() {
		switch t.stage {
		case fresh:
			if t.lp.over == nil {
				t.lp.over = func() bool { s.settle(); return s.stopped() || s.work >= s.pauseAt }
			}
			t.lp.begin(&s.p, s.prices.best)
			t.begin(&s.p)
			t.stage = relaxing
		case relaxing:
			s.relaxRoot(end)
		case cutting:
			s.cutRoot(end)
		case branching:
			if s.p.off.Has(ablation.Branching) {
				s.work = max(s.work, end)
				return false
			}
			s.dive(end)
		}
		s.settle()
	}
	return t.stage == done
}

// settle books the work done.
func (s *worker) settle() {
	s.work += s.tree.lp.work
	s.tree.lp.work = 0
}

func (t *tree) begin(p *problem) {
	t.proof.setShift(p)
	t.heap.open, t.heap.deepest = t.heap.open[:0], false
	t.free, t.used, t.seq = t.free[:0], 0, 0
	t.rounds, t.fails, t.stale, t.last, t.inRound = 0, 0, 0, inf, false
	t.root.shift, t.atRoot, t.known = t.proof.shift, math.MaxInt64, math.MinInt64
	t.slack = resize(t.slack, p.rows())
}

// incumbent is the worth that a better choice exceeds.
func (s *worker) incumbent() int64 {
	if s.best.missing > 0 {
		return -1
	}
	return s.best.value
}

// hopeless says that a proven bound leaves nothing better than the best choice.
func (s *worker) hopeless(bound int64) bool {
	return bound == noColumn || s.tree.proof.worth(bound) <= s.incumbent()
}

// cutoff is the relaxation's value below which a node is probably hopeless.
func (s *worker) cutoff() float64 {
	v := (float64(s.incumbent()) + 1) / s.tree.lp.scale
	return v - float64(1e-12*math.Abs(v))
}
