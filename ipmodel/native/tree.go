package native

import (
	"cmp"
	"math"
	"slices"
)

// tree is a depth-first branch and bound. A node has decided some groups: a column
// each, or none. Its bound is the Lagrangian bound of what is left, at prices that
// start from the parent's and take a few steps of their own. Bounds are floating
// point sums; slop is more than their rounding can amount to, so that pruning is
// safe to the last unit.
type tree struct {
	decided []bool
	depths  []treeDepth
	use     []float64
	rc      []float64
	kids    []kid
	end     int64 // units of work at which to give up
}

// treeDepth is the memory of one depth of the tree.
type treeDepth struct{ l, best []float64 }

// kid is one decision on a group: a column, or -1 for none.
type kid struct {
	col    int32
	regret float64 // below the best decision, at the node's prices
}

const (
	nodeSteps = 12    // subgradient steps a node
	slopShare = 1e-11 // of the sum of all terms of a bound
)

// search looks for better choices than s.best with at most limit units of work,
// and reports whether it has excluded all.
func (s *Solver) search(limit int64) bool {
	p, t := &s.p, &s.tree
	t.decided = append(t.decided[:0], make([]bool, p.groups())...)
	t.use = append(t.use[:0], make([]float64, p.rows())...)
	t.rc = append(t.rc[:0], make([]float64, p.columns())...)
	t.kids = t.kids[:0]
	t.end = math.MaxInt64
	if limit < math.MaxInt64-s.work {
		t.end = s.work + limit
	}
	s.cur.clear(p)
	s.depth(0)
	copy(t.depths[0].best, s.prices.best)
	return s.branch(0)
}

// depth makes sure that there is memory for depth d.
func (s *Solver) depth(d int) *treeDepth {
	t := &s.tree
	for len(t.depths) <= d {
		t.depths = append(t.depths, treeDepth{})
	}
	x := &t.depths[d]
	x.l = append(x.l[:0], make([]float64, s.p.rows())...)
	x.best = append(x.best[:0], x.l...)
	return x
}

// incumbent is the worth that a node must be able to exceed.
func (s *Solver) incumbent() float64 {
	if s.best.missing > 0 {
		return -1
	}
	return float64(s.best.worth)
}

// branch explores the node in s.cur at depth d; depths[d].best holds the parent's
// prices. It returns false if it was stopped.
func (s *Solver) branch(d int) bool {
	s.nodes++
	if s.work >= s.tree.end || s.stopped() {
		return false
	}
	if s.cur.missing == 0 && s.cur.better(&s.best) {
		s.best.copyFrom(&s.cur)
	}
	bound, slop, g := s.nodeBound(d)
	if bound+slop < s.incumbent()+1 || g < 0 {
		return true
	}
	p, t := &s.p, &s.tree
	base := len(t.kids)
	s.addKids(g)
	t.decided[g] = true
	done := true
	for k := base; k < len(t.kids) && done; k++ {
		kid := t.kids[k]
		if bound+slop-kid.regret < s.incumbent()+1 {
			break // the others regret more
		}
		parent := t.depths[d].best
		child := s.depth(d + 1)
		copy(child.best, parent)
		if kid.col < 0 {
			done = s.branch(d + 1)
			continue
		}
		s.cur.add(p, kid.col)
		done = s.branch(d + 1)
		s.cur.remove(p, g)
	}
	t.decided[g] = false
	t.kids = t.kids[:base]
	return done
}

// addKids appends the decisions on group g, those worth most net of prices first.
func (s *Solver) addKids(g int32) {
	p, t := &s.p, &s.tree
	base := len(t.kids)
	for i := p.start[g]; i < p.start[g+1]; i++ {
		if s.cur.fits(p, i) {
			t.kids = append(t.kids, kid{i, t.rc[i]})
		}
	}
	if !p.required[g] {
		t.kids = append(t.kids, kid{-1, 0})
	}
	kids := t.kids[base:]
	slices.SortFunc(kids, func(a, b kid) int {
		return cmp.Or(cmp.Compare(b.regret, a.regret), cmp.Compare(a.col, b.col))
	})
	if len(kids) > 0 {
		top := kids[0].regret
		for i := range kids {
			kids[i].regret = top - kids[i].regret
		}
	}
}

// nodeBound lowers the node's bound by subgradient steps, and returns it with its
// slop and the group to branch on: -1 if the node is closed, because no undecided
// group is left that could add anything or because a required group has lost all
// its columns.
func (s *Solver) nodeBound(d int) (bound, slop float64, g int32) {
	t := &s.tree
	x := &t.depths[d]
	copy(x.l, x.best)
	bound = math.Inf(1)
	size := 1.0
	for step := 0; ; step++ {
		b, sl, at := s.nodeRelax(x.l)
		if b < bound {
			bound, slop, g = b, sl, at
			copy(x.best, x.l)
		} else {
			size /= 2
		}
		if bound+slop < s.incumbent()+1 || at < 0 || step == nodeSteps || !s.nodeStep(x.l, b, size) {
			break
		}
	}
	if g >= 0 {
		_, _, g = s.nodeRelax(x.best) // leaves the net worths for addKids
	}
	return bound, slop, g
}

// nodeStep moves the prices l one subgradient step from their bound b, and reports
// whether there was anywhere to go.
func (s *Solver) nodeStep(l []float64, b, size float64) bool {
	norm := 0.0
	for r, c := range s.cur.slack {
		if d := s.tree.use[r] - float64(c); d > 0 || l[r] > 0 {
			norm += float64(d * d)
		}
	}
	if norm == 0 {
		return false
	}
	step := size * math.Max(b-s.incumbent(), 1) / norm
	for r, c := range s.cur.slack {
		l[r] = math.Max(0, l[r]+float64(step*(s.tree.use[r]-float64(c))))
	}
	return true
}

// nodeRelax solves the relaxation of the undecided groups at prices l: the bound,
// its slop, and the group to branch on: the one whose relaxed choice uses the most
// overdrawn rows, weighted by its worth.
func (s *Solver) nodeRelax(l []float64) (bound, slop float64, at int32) {
	p, t := &s.p, &s.tree
	clear(t.use)
	bound = float64(s.cur.worth)
	for r, c := range s.cur.slack {
		bound += float64(l[r] * float64(c))
	}
	terms := bound
	s.relaxed = s.relaxed[:0]
	any := int32(-1) // the most worthy column that could still be added
	for g := range p.groups() {
		if t.decided[g] {
			continue
		}
		top, best := 0.0, int32(-1)
		if p.required[g] {
			top = math.Inf(-1)
		}
		for i := p.start[g]; i < p.start[g+1]; i++ {
			s.work += int64(p.col[i+1]-p.col[i]) + 1
			if !s.cur.fits(p, i) {
				continue
			}
			if any < 0 || p.worth[i] > p.worth[any] {
				any = i
			}
			v := float64(p.worth[i])
			for k := p.col[i]; k < p.col[i+1]; k++ {
				v -= float64(l[p.row[k]] * float64(p.coef[k]))
			}
			if t.rc[i] = v; v > top {
				top, best = v, i
			}
		}
		if math.IsInf(top, -1) {
			return top, 0, -1 // a required group has no column that fits
		}
		bound += top
		terms += math.Abs(top)
		if best >= 0 {
			terms += float64(p.worth[best])
			s.relaxed = append(s.relaxed, best)
			for k := p.col[best]; k < p.col[best+1]; k++ {
				t.use[p.row[k]] += float64(p.coef[k])
			}
		}
	}
	if at := s.mostContested(); at >= 0 || any < 0 {
		return bound, slopShare * terms, at
	}
	return bound, slopShare * terms, p.group[any] // nothing pays at these prices, yet the bound is open
}

// mostContested picks the group whose relaxed choice is to be branched on, -1 if
// there is no relaxed choice.
func (s *Solver) mostContested() int32 {
	p, t := &s.p, &s.tree
	at, most := int32(-1), -1.0
	for _, i := range s.relaxed {
		over := 0.0
		for k := p.col[i]; k < p.col[i+1]; k++ {
			if d := t.use[p.row[k]] - float64(s.cur.slack[p.row[k]]); d > 0 {
				over += d
			}
		}
		if v := (1 + over) * float64(p.worth[i]); v > most {
			at, most = p.group[i], v
		}
	}
	return at
}
