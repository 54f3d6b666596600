// SPDX-License-Identifier: BSD-3-Clause

package layout

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// improver looks for better winners near those it has: a bid comes in, winners on its nodes go out
// until it has a layout, and losers fill up what is left (ruin and recreate). What is worth a
// little less is kept as well, ever less of it (threshold accepting).
type improver struct {
	rng   *rand.Rand
	src   *rand.PCG
	order []int32   // bids, those that cost least for what they are worth first
	rank  []float64 // by bid
}

const (
	mostOut    = 6    // winners that go out for one bid
	mostFailed = 6    // insertions that fail in one filling
	mostLoss   = 0.02 // of a job's mean worth: what is accepted at the beginning

	workPerPart = 256 // of an improvement without any limit

	movesALook = 256     // between two looks at the clock
	workALook  = 1 << 14 // likewise, whichever comes first
)

func (m *improver) reset(seed uint64) {
	if m.rng == nil {
		m.src = rand.NewPCG(0, 0)
		m.rng = rand.New(m.src)
	}
	m.src.Seed(seed, 0x6c61796f7574)
}

// setOrder ranks the bids by prices: what they cost for what they are worth.
func (s *Solver) setOrder() {
	m := &s.improver
	m.order, m.rank = m.order[:0], m.rank[:0]
	for b := range s.p.items {
		cost := float64(s.p.items[b].need)
		if len(s.prices.core) >= s.p.tables() && s.prices.value > 0 {
			cost = s.prices.cost(&s.p, int32(b), s.prices.core, s.prices.gpu, math.Inf(1))
		}
		m.order, m.rank = append(m.order, int32(b)), append(m.rank, cost/float64(max(s.p.w.Fixed.Value[b], 1)))
	}
	slices.SortFunc(m.order, func(a, b int32) int { return cmp.Or(cmp.Compare(m.rank[a], m.rank[b]), cmp.Compare(a, b)) })
	s.flow.work += int64(len(s.p.part))
}

// share is how much of what improve may use is used: of half of the work that is left, of half of
// the time, or of so many steps for each part of a bid where there is no limit.
type share struct {
	from, work int64
	begun      time.Time
	span       time.Duration
	timed      float64 // of the time, when last looked at
	moves      int     // until the next look
	nextLook   int64   // or at that work
}

func (s *Solver) newShare() share {
	x := share{from: s.flow.work, work: workPerPart * int64(len(s.p.part))}
	if !s.o.Deadline.IsZero() {
		x.begun = s.o.Now()
		x.span, x.work = max(s.o.Deadline.Sub(x.begun)/2, 1), math.MaxInt64
	}
	if s.o.Work > 0 {
		x.work = max((s.o.Work-s.spent)/2, 1)
	}
	return x
}

// used is the share that is used, 1 and more when all is. A move can take less than a look at the
// clock, so that it is asked only now and then.
func (s *Solver) used(x *share) float64 {
	if x.moves--; x.span > 0 && (x.moves < 0 || s.flow.work >= x.nextLook) {
		x.moves, x.nextLook = movesALook, s.flow.work+workALook
		x.timed = float64(s.o.Now().Sub(x.begun)) / float64(x.span)
	}
	return max(float64(s.flow.work-x.from)/float64(x.work), x.timed)
}

// improve goes on from the best.
func (s *Solver) improve() {
	if s.missing > 0 || len(s.p.items) == 0 {
		return
	}
	s.setOrder()
	s.load(s.best)
	jobs, limit := 0, s.newShare()
	for _, b := range s.best {
		if b >= 0 {
			jobs++
		}
	}
	loss := mostLoss * float64(s.worth) / float64(max(jobs, 1))
	now := s.worth
	for {
		used := s.used(&limit)
		if used >= 1 || s.ctx.Err() != nil {
			break
		}
		s.flow.log = s.flow.log[:0]
		worth, ok := s.move(now)
		if !ok || float64(worth) < float64(now)-float64(loss*(1-used)) {
			s.flow.undo(0)
			continue
		}
		if now = worth; now > s.worth {
			s.worth = now
			s.best = append(s.best[:0], s.flow.bid...)
		}
	}
	s.spent += s.flow.work - limit.from
}

// load makes winners of bids that have layouts.
func (s *Solver) load(best []int32) {
	s.flow.reset(&s.p)
	for _, b := range best {
		if b >= 0 && !s.flow.insert(b) {
			panic("layout: winners that had a layout have none")
		}
	}
}

// move is one change of the winners, which are worth that much. It returns what they are worth
// then; false if it has come to nothing.
func (s *Solver) move(worth int64) (int64, bool) {
	m, f, w := &s.improver, &s.flow, s.p.w
	b := int32(m.rng.IntN(len(s.p.items)))
	x := &s.p.items[b]
	if f.bid[x.job] == b {
		return 0, false
	}
	if old := f.bid[x.job]; old >= 0 {
		worth -= w.Fixed.Value[old]
		f.remove(x.job)
	}
	for out := 0; !f.roomFor(b) || !f.insert(b); out++ {
		j := s.rival(x)
		if out == mostOut || j < 0 {
			return 0, false
		}
		worth -= w.Fixed.Value[f.bid[j]]
		f.remove(j)
	}
	return worth + w.Fixed.Value[b] + s.refill(), true
}

// rival is a winner on a node of a bid that may go out, drawn by lot; -1 if none is found.
func (s *Solver) rival(x *item) int32 {
	parts := s.p.parts(x)
	for range 8 {
		at := s.flow.at[parts[s.improver.rng.IntN(len(parts))].cell]
		s.flow.work++
		if len(at) == 0 {
			continue
		}
		if j := at[s.improver.rng.IntN(len(at))].job; !s.p.w.Fixed.IsRequired(int(j)) {
			return j
		}
	}
	return -1
}

// refill lets in losers, and returns what they are worth.
func (s *Solver) refill() (worth int64) {
	m, f := &s.improver, &s.flow
	failed := 0
	for _, b := range m.order {
		if f.bid[s.p.items[b].job] >= 0 {
			continue
		}
		if f.work++; !f.roomFor(b) {
			continue
		}
		if f.insert(b) {
			worth += s.p.w.Fixed.Value[b]
		} else if failed++; failed == mostFailed {
			break
		}
	}
	return worth
}
