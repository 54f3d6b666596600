// SPDX-License-Identifier: BSD-3-Clause

package locality

import (
	"math"
)

// timeline tells from when on a job can run on nodes.
type timeline interface {
	// from is when the job can start on the node, at or before now meaning now; never if it cannot.
	// If that is after bound, it may be told too early, but after bound.
	from(j *job, node int, bound int64) int64
	// earliest is the least from of all nodes, and the first node that has it; never and -1 if the
	// job can start nowhere.
	earliest(j *job) (int64, int)
	// next is the first node from i on with a from of at most bound that the
	// filter leaves; -1: none.
	next(j *job, i int, bound int64, f filter) int
}

// choice is a place for a job.
type choice struct {
	node         int32 // -1: none
	start, ready int64
	score        float64
	// order tells equal scores apart: the first node wins, and there the hole comes last.
	order int
	hole  bool
}

// search finds the node with the least score, the first of these, as a scan of all nodes does
// (lines 2 to 9 of algorithm 3), without looking at each. Nodes differ by two things: when they
// are free, and which files they hold. So it looks at the few that may hold the job's file, and
// among the others at those alone that are free early enough to beat the best so far.
type search struct {
	r    *run
	j    *job
	best choice
	// now and later are the weights for nodes that are free now, and for others.
	now, later weights
	// own is what the job adds to scores with the weights later at least; 0 in the reference mode,
	// whose single precision can put a score below its start.
	own float64
	// sticky is the first node for which the weights now count in the reference programme: the
	// first that is free now (D6).
	sticky int
}

// choose finds a place for the job without the reference programme's holes.
func (r *run) choose(j *job) choice {
	s := &r.search
	if r.standing != nil {
		s.j = j
		return s.soonest(r.standing.choose(s))
	}
	s.begin(j)
	return s.find()
}

// find is choose for the job with which the search began.
func (s *search) find() choice {
	r := s.r
	switch {
	case r.plain:
		s.all()
	case s.now == startOnly:
		s.best = s.soonest(s.first())
	default:
		s.fast()
	}
	return s.best
}

func (s *search) begin(j *job) {
	r := s.r
	s.j = j
	s.reset()
	s.now, s.later = r.weights(j)
	s.own = r.ownPart(j, s.later)
	s.sticky = 0
	if r.mode == Reference && s.now != s.later {
		if s.sticky = r.firstFree(j); s.sticky < 0 {
			s.sticky = len(r.nodes)
		}
	}
}

// reset forgets the best so far.
func (s *search) reset() { s.best = choice{node: -1, score: math.Inf(1), order: math.MaxInt} }

// firstFree is the first node on which the job can start now; -1: none.
func (r *run) firstFree(j *job) int {
	if !r.plain {
		return r.line.next(j, 0, r.now, filter{})
	}
	for i := range r.nodes {
		if r.line.from(j, i, r.now) <= r.now {
			return i
		}
	}
	return -1
}

// all is the plain scan.
func (s *search) all() {
	for i := range s.r.nodes {
		s.consider(int32(i), s.r.files.held(s.j.file, int32(i)))
	}
}

// first is the earliest start, and the first node with it.
func (s *search) first() (at int64, node int) {
	at, node = s.r.line.earliest(s.j)
	if node >= 0 && at <= s.r.now {
		at, node = s.r.now, s.r.line.next(s.j, 0, s.r.now, filter{})
	}
	return at, node
}

// soonest is the choice of whoever minds the start alone.
func (s *search) soonest(at int64, node int) choice {
	return choice{node: int32(node), start: at, ready: at, score: float64(at), order: 2 * node}
}

func (s *search) fast() {
	r, j := s.r, s.j
	if r.plan != nil && r.plan.sorts(s) {
		s.holders()
		s.idle()
		s.soon()
		return
	}
	_, node := s.first()
	if node < 0 {
		return
	}
	s.consider(int32(node), r.files.held(j.file, int32(node)))
	s.holders()
	if r.mode == Reference {
		s.scan(0, s.sticky, s.later, s.later)
		s.scan(s.sticky, len(r.nodes), s.now, s.now)
		return
	}
	s.scan(0, len(r.nodes), s.now, s.later)
}

// holders considers the nodes that may have the file in memory, and marks them. A score is no
// less than the start.
func (s *search) holders() {
	f := s.r.files
	f.mark++
	limit := s.limit()
	for _, c := range f.holders(s.j.file) {
		f.marks[c.node] = f.mark
		// Without a plan, which backfilling may have changed, the cores tell a lower bound.
		at := s.r.cores.from(int(c.node), s.j.Cores)
		if at > limit || s.own > 0 && at > s.r.now && float64(at)+s.own > s.best.score {
			continue
		}
		if from := s.r.line.from(s.j, int(c.node), limit); from <= limit {
			f.open(c)
			s.offer(c.node, c, max(from, s.r.now), false)
			limit = s.limit()
		}
	}
}

// limit is a bound on the start of nodes that could still win, with some room for what single
// precision rounds off.
func (s *search) limit() int64 {
	if s.best.node < 0 {
		return never - 1
	}
	at := int64(s.best.score)
	return at + at>>22 + 1
}

// scan considers the nodes lo..hi-1 that do not hold the file and could be the best.
func (s *search) scan(lo, hi int, now, later weights) {
	score := math.NaN()
	var upTo, below int64
	for i := lo; i < hi; i++ {
		if s.best.score != score {
			score = s.best.score
			upTo = s.r.latestStart(s.j, score, false, now, later)
			below = s.r.latestStart(s.j, score, true, now, later)
		}
		bound := below
		if 2*i < s.best.order {
			bound = upTo
		}
		if bound < 0 {
			return
		}
		if i = s.r.line.next(s.j, i, bound, filter{}); i < 0 || i >= hi {
			return
		}
		if s.r.files.marks[i] != s.r.files.mark {
			s.consider(int32(i), nil)
		}
	}
}

// consider compares a node with the best so far. c is the file's copy there, nil if there is none.
func (s *search) consider(node int32, c *copyOf) {
	limit := s.limit()
	from := s.r.line.from(s.j, int(node), limit)
	if from > limit {
		return
	}
	s.offer(node, c, max(from, s.r.now), false)
}

func (s *search) offer(node int32, c *copyOf, start int64, hole bool) {
	r := s.r
	w := s.later
	if r.mode == Reference && int(node) >= s.sticky || r.mode == Paper && start == r.now {
		w = s.now
	}
	order := 2 * int(node)
	if hole {
		order++
	}
	score, ready := r.score(s.j, node, c, start, start, w, s.best.score)
	if score < s.best.score || score == s.best.score && order < s.best.order {
		s.best = choice{node: node, start: start, ready: ready, score: score, order: order, hole: hole}
	}
}
