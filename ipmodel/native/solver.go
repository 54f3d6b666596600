// SPDX-License-Identifier: BSD-3-Clause

package native

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aucsched/aucsched/internal/cycle"
	"github.com/aucsched/aucsched/ipmodel"
)

// solver is the native solver. The zero solver is ready. It keeps scratch memory
// between calls, so that solving models of one size allocates nothing in steady
// state, and no state that changes an answer.
//
// Two workers work on a model, in turns: one looks for better choices, the other for lower
// bounds. They tell each other what they have found after every turn. Long turns are
// taken side by side, on two processors if there are two. With a limit on work,
// or without any limit, what comes out is the same all the same.
type solver struct {
	p       problem
	search  worker // for choices
	proof   worker // for bounds
	turn    int64  // units of work of this turn, for each worker
	prove   func() // proveAside, kept so that starting it allocates nothing
	fault   any    // what the proof panicked with
	proving atomic.Bool
	done    sync.WaitGroup
	clock   clock
	gap     float64 // that is near enough
	settled bool    // the proof has excluded all choices better than its best
	idle    int64   // units of work that the proof has left undone
}

// New returns a solver, which is not safe for concurrent use.
func New() ipmodel.Solver { return new(solver) }

// Name is "native".
func (s *solver) Name() string { return "native" }

const (
	leastTurn = 1 << 18 // units of work of the first turn, at least
	turnsOver = 8       // and for each entry of the model
	longTurn  = 1 << 19 // of those that are worth waking another processor for
	smallTurn = 1 << 16 // of one that fills the time until the other worker is done
	lastTurn  = 1 << 23 // of the longest
)

// Solve implements [ipmodel.Solver]. It fails only on a model that is not valid.
func (s *solver) Solve(ctx context.Context, m *ipmodel.Model, o ipmodel.Options, r *ipmodel.Result) error {
	if err := m.Validate(); err != nil {
		return err
	}
	s.p.off = cycle.Off(ctx)
	s.p.reduce(m)
	if s.clock.now = o.Now; s.clock.now == nil {
		s.clock.now = time.Now
	}
	s.search.begin(ctx, &s.p, o, &s.clock)
	s.proof.begin(ctx, &s.p, o, &s.clock)
	s.settled, s.gap, s.idle = false, o.Gap, 0
	h := &s.search
	if !h.loadStart(&h.best, o.Start) {
		h.best.clear(&s.p)
	}
	if !s.p.stuck {
		s.run(o.Work)
	}
	s.finish(r)
	s.search.ctx, s.proof.ctx = nil, nil
	return nil
}

// run lets the workers take turns side by side, ever longer ones.
func (s *solver) run(work int64) {
	s.begin(work)
	if s.prove == nil {
		s.prove = s.proveAside
	}
	for turn := s.firstTurn(); !s.proven() && !s.ended(work); turn = min(2*turn, lastTurn) {
		if work > 0 {
			turn = min(turn, max((work-s.work())/2, 1))
		}
		s.turn = turn
		if turn < longTurn {
			s.proofTurn()
			s.search.anneal(turn)
		} else {
			s.sideBySide(work == 0 && !s.search.deadline.IsZero())
		}
		s.exchange()
	}
}

// sideBySide has both workers take a turn at once. With fill, the search goes on until the proof is
// done: before a deadline nobody can ask for the same answer again. A panic of either worker is the
// caller's, when neither is at work any more.
func (s *solver) sideBySide(fill bool) {
	s.fault = nil
	s.done.Add(1)
	s.proving.Store(true)
	go s.prove()
	defer func() {
		s.done.Wait()
		if s.fault != nil {
			panic(s.fault)
		}
	}()
	s.search.anneal(s.turn)
	for fill && s.proving.Load() && !s.search.stopped() {
		s.search.anneal(smallTurn)
	}
}

// proveAside is the proof's turn in a goroutine of its own, which no panic may leave.
func (s *solver) proveAside() {
	defer func() {
		s.fault = recover()
		s.proving.Store(false)
		s.done.Done()
	}()
	s.proofTurn()
}

// begin finds a first choice and first prices, each with the help of the other.
func (s *solver) begin(work int64) {
	h := &s.proof
	turn := s.firstTurn()
	if work > 0 {
		turn = min(turn, work/4)
	}
	s.search.construct(&s.search.best)
	h.best.copyFrom(&s.search.best)
	if h.assign(turn) {
		s.exchange()
		return
	}
	h.descend(turn)
	h.cur.clear(&s.p)
	h.construct(&h.cur)
	if h.cur.better(&h.best) {
		h.best.copyFrom(&h.cur)
	}
	s.exchange()
	if !s.proven() && !s.ended(work) {
		s.search.pack.load(&s.p)
		s.search.work += int64(len(s.p.row))
		s.search.setChances()
	}
}

// firstTurn is in proportion to the model, so that something can be done in it.
func (s *solver) firstTurn() int64 { return max(leastTurn, turnsOver*int64(len(s.p.row))) }

// proofTurn lowers the bound by prices as long as that gains something, and then tries all choices
// that they leave, or gives up.
func (s *solver) proofTurn() {
	h := &s.proof
	switch {
	case !h.priced:
		h.descend(s.turn)
	case h.gaveUp():
		s.idle += s.turn
	default:
		s.settled = h.enumerate(s.turn)
	}
}

// gaveUp reports whether nothing more will be proven.
func (s *worker) gaveUp() bool {
	return s.all.spent >= maxEnumeration || s.priced && s.p.off.Enumeration
}

// exchange tells each worker of what the other has found.
func (s *solver) exchange() {
	a, b := &s.search, &s.proof
	if b.best.better(&a.best) {
		a.best.copyFrom(&b.best)
	} else {
		b.best.copyFrom(&a.best)
	}
	if a.prices.bound != b.prices.bound {
		copy(a.prices.best, b.prices.best)
		a.rank.stale = true
	}
	a.prices.bound = b.prices.bound
}

// work is what both have done, and what the proof could have.
func (s *solver) work() int64 { return s.search.work + s.proof.work + s.idle }

// ended says whether the time or the work allowed is over, or nobody asks for a better answer.
// Where neither is limited it is over when nothing more will be proven.
func (s *solver) ended(work int64) bool {
	limited := work > 0 || !s.search.deadline.IsZero()
	return s.search.stopped() || s.proof.stopped() || (work > 0 && s.work() >= work) || s.nearEnough() ||
		!limited && s.proof.gaveUp()
}

// nearEnough reports whether the best choice is within the gap that is asked for.
func (s *solver) nearEnough() bool {
	best := &s.search.best
	return best.missing == 0 && ipmodel.WithinGap(best.value, s.search.prices.bound, s.gap)
}

// proven reports whether no choice is worth more than the best.
func (s *solver) proven() bool { return s.settled || s.search.proven() }

func (s *solver) finish(r *ipmodel.Result) {
	r.Chosen, r.Value, r.Work, r.Nodes = r.Chosen[:0], 0, s.work()-s.idle, s.proof.nodes
	r.Bound, r.Status = 0, ipmodel.Infeasible
	r.Prices = s.proof.rowPrices(r.Prices[:0])
	best := &s.search.best
	if s.p.stuck || (s.settled && best.missing > 0) {
		return
	}
	r.Bound, r.Status = s.search.prices.bound, ipmodel.Unknown
	if best.missing > 0 {
		return
	}
	for _, i := range best.pick {
		if i >= 0 {
			r.Chosen = append(r.Chosen, s.p.orig[i])
		}
	}
	slices.Sort(r.Chosen)
	r.Value, r.Status = best.value, ipmodel.Feasible
	if s.proven() {
		r.Bound, r.Status = r.Value, ipmodel.Optimal
	}
}

// rowPrices appends the prices of the least bound at the root, an element for each row
// of the model. Rows that can't bind have none.
func (s *worker) rowPrices(dst []float64) []float64 {
	for _, r := range s.p.newRow {
		price := 0.0
		if r >= 0 {
			price = s.prices.best[r]
		}
		dst = append(dst, price)
	}
	return dst
}
