package native

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/aucsched/aucsched/ipmodel"
)

// Solver is the native solver. The zero Solver is ready. It keeps scratch memory
// between calls, so that solving models of one size allocates nothing in steady
// state, and no state that changes an answer.
type Solver struct {
	p       problem
	prices  prices
	tree    tree
	best    choice // the best choice so far
	cur     choice
	trial   choice
	order   []int32
	key     []float64 // by group: place in the order of recreate
	density []float64 // by group: worth by cost at the prices
	mark    []int64   // by row: epoch of the last mark
	epoch   int64
	pool    []int32
	relaxed []int32
	unit    float64 // the most loss that is accepted at first

	src      *rand.PCG
	rng      *rand.Rand
	work     int64
	nodes    int64
	over     bool
	ctx      context.Context
	opts     ipmodel.Options
	now      func() time.Time
	nextLook int64
}

// New returns a Solver.
func New() *Solver { return new(Solver) }

// Name is "native".
func (s *Solver) Name() string { return "native" }

const (
	priceSteps = 400     // subgradient steps at the root
	lookEvery  = 1 << 14 // units of work between two looks at the clock
	firstTurn  = 1 << 18 // units of work of the tree's first turn
)

// Solve implements [ipmodel.Solver]. It never fails on a valid model.
func (s *Solver) Solve(ctx context.Context, m *ipmodel.Model, o ipmodel.Options, r *ipmodel.Result) error {
	s.begin(ctx, o)
	s.p.reduce(m)
	s.size()
	s.prices.clear(&s.p)
	s.prices.relax(&s.p)
	if !s.loadStart(&s.best, o.Start) {
		s.best.clear(&s.p)
	}
	exhausted := false
	if !s.p.stuck {
		exhausted = s.run()
	}
	s.finish(m, r, exhausted)
	s.ctx = nil
	return nil
}

// run goes through the stages and reports whether all choices have been excluded
// that are better than s.best.
func (s *Solver) run() bool {
	s.construct(&s.best)
	s.prices.descend(&s.p, priceSteps, s.best.worth, func(work int) bool {
		s.work += int64(work)
		return s.stopped() || s.work > s.share(4)
	})
	s.setDensity()
	s.trial.clear(&s.p)
	s.construct(&s.trial)
	if s.trial.better(&s.best) {
		s.best.copyFrom(&s.trial)
	}
	if s.proven() {
		return true
	}
	// Local search and the tree take turns with ever more work: small windows are
	// proven at once, large ones are improved most of the time.
	for turn := int64(firstTurn); ; turn *= 2 {
		if s.search(turn) {
			return true
		}
		if s.improve(4 * turn); s.proven() {
			return true
		}
		if s.stopped() {
			return false
		}
	}
}

// share is one n-th of the work allowed in all; much where there is no limit but
// time.
func (s *Solver) share(n int64) int64 {
	if s.opts.Work > 0 {
		return s.opts.Work / n
	}
	return 1 << 40 / n
}

func (s *Solver) begin(ctx context.Context, o ipmodel.Options) {
	s.ctx, s.opts = ctx, o
	if s.now = o.Now; s.now == nil {
		s.now = time.Now
	}
	if s.rng == nil {
		s.src = rand.NewPCG(0, 0)
		s.rng = rand.New(s.src)
	}
	s.src.Seed(o.Seed, 0x9e3779b97f4a7c15)
	s.work, s.nodes, s.over, s.nextLook = 0, 0, false, 0
}

// size makes the scratch arrays fit the problem.
func (s *Solver) size() {
	p := &s.p
	s.key = append(s.key[:0], make([]float64, p.groups())...)
	s.density = append(s.density[:0], s.key...)
	s.mark = append(s.mark[:0], make([]int64, p.rows())...)
	s.epoch = 0
}

// setDensity gives each group its worth over what its cheapest column costs at
// the prices.
func (s *Solver) setDensity() {
	p := &s.p
	s.prices.relax(p)
	copy(s.prices.l, s.prices.best)
	s.prices.relax(p)
	for g := range p.groups() {
		best := 0.0
		for i := p.start[g]; i < p.start[g+1]; i++ {
			w := float64(p.worth[i])
			cost := math.Max(w-s.prices.rc[i], 0)
			best = math.Max(best, w/(cost+float64(1e-3*w)+1))
		}
		s.density[g] = best
	}
}

// stopped reports whether the solve has to end: the deadline, the context or the
// limit on work. It looks at the clock only now and then.
func (s *Solver) stopped() bool {
	if s.over {
		return true
	}
	if s.opts.Work > 0 && s.work >= s.opts.Work {
		s.over = true
		return true
	}
	if s.work >= s.nextLook {
		s.nextLook = s.work + lookEvery
		s.over = s.ctx.Err() != nil || (!s.opts.Deadline.IsZero() && !s.now().Before(s.opts.Deadline))
	}
	return s.over
}

// proven reports whether the best choice meets the bound.
func (s *Solver) proven() bool {
	return s.best.missing == 0 && s.best.worth >= s.prices.bound
}

func (s *Solver) finish(m *ipmodel.Model, r *ipmodel.Result, exhausted bool) {
	r.Chosen, r.Worth, r.Work, r.Nodes = r.Chosen[:0], 0, s.work, s.nodes
	r.Bound, r.Status = 0, ipmodel.Infeasible
	if s.p.stuck || (exhausted && s.best.missing > 0) {
		return
	}
	r.Bound, r.Status = s.prices.bound, ipmodel.Unknown
	if s.best.missing > 0 {
		return
	}
	for _, i := range s.best.pick {
		if i >= 0 {
			r.Chosen = append(r.Chosen, s.p.orig[i])
		}
	}
	slices.Sort(r.Chosen)
	r.Worth, r.Status = s.best.worth, ipmodel.Feasible
	if exhausted || s.proven() {
		r.Bound, r.Status = r.Worth, ipmodel.Optimal
	}
}
