// SPDX-License-Identifier: BSD-3-Clause

package native

import (
	"context"
	"math"
	"math/bits"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/aucsched/aucsched/ipmodel"
)

// worker is one of the two searches, with a state of its own.
type worker struct {
	p      problem // shared with the other worker: nobody changes it
	prices prices
	all    enumeration
	flow   assignment
	best   solution // the best choice that this worker knows
	cur    solution
	pack   packing // the annealing's choice
	log    []step  // what the last move did to it
	near   int32   // a row that has got room, or -1
	cool   cooling
	chance []float64
	rank   ranking // of the columns, for the annealing
	order  []int32
	key    []float64 // by group: place in the order of construct

	src      *rand.PCG
	work     int64
	nodes    int64
	priced   bool // the prices alone do not lower the bound any more
	over     bool // the time is
	ctx      context.Context
	deadline time.Time
	clock    *clock
	nextLook int64
}

func (s *worker) begin(ctx context.Context, p *problem, o ipmodel.Options, c *clock) {
	s.p, s.clock = *p, c
	s.ctx, s.deadline = ctx, o.Deadline
	if s.src == nil {
		s.src = rand.NewPCG(0, 0)
	}
	s.src.Seed(o.Seed, 0x9e3779b97f4a7c15)
	s.work, s.nodes, s.over, s.nextLook = 0, 0, false, 0
	s.all.begun, s.all.spent, s.cool, s.priced = false, 0, cooling{}, false
	s.key = append(s.key[:0], make([]float64, p.groups())...)
	s.best.clear(p)
	s.prices.clear(p)
	s.prices.relax(p)
	s.rank.stale = true
}

// descend lowers the bound by the prices alone, and notes when that gains no more.
func (s *worker) descend(turn int64) {
	end := s.work + turn
	s.work += int64(len(s.p.runFirst)) // for the bound in whole numbers
	s.priced = !s.prices.descend(&s.p, math.MaxInt, s.best.value, func(work int) bool {
		s.work += int64(work)
		return s.work >= end || s.stopped()
	})
}

// lookEvery is how many units of work there are between two looks at the clock.
const lookEvery = 1 << 14

// stopped reports whether the time is over or nobody waits for the answer any more. It looks
// at the clock only now and then.
func (s *worker) stopped() bool {
	if !s.over && s.work >= s.nextLook {
		s.nextLook = s.work + lookEvery
		s.over = s.ctx.Err() != nil || (!s.deadline.IsZero() && !s.clock.reads().Before(s.deadline))
	}
	return s.over
}

// proven reports whether the best choice meets the bound.
func (s *worker) proven() bool {
	return s.best.missing == 0 && s.best.value >= s.prices.bound
}

// draw is a random integer of 0..n-1, n > 0.
func (s *worker) draw(n int) int {
	hi, _ := bits.Mul64(s.src.Uint64(), uint64(n))
	return int(hi)
}

// clock is that of the options, for both workers.
type clock struct {
	mu  sync.Mutex
	now func() time.Time
}

func (c *clock) reads() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

// enumeration tries all choices that the prices do not exclude, by branch and bound (Land and Doig
// 1960) with the bound of prices.go. The group with the fewest columns left comes first. It
// settles small windows, and gives up on others. It can be stopped, and continues where it was.
type enumeration struct {
	price  []int64 // by row, in whole units of worth
	net    []int64 // by column: worth net of prices
	top    []int64 // by group: the most net of its columns that fit
	fit    []bool  // by column
	levels []level
	cand   []int32 // the levels' columns to try, and noColumn for doing without
	fixed  []bool  // by group: it has a level
	begun  bool
	spent  int64 // units of work
}

// assignment settles models in which a column takes room in one row at most, and all columns of a row
// take as much. Those are windows of jobs of one core each, say, or of one GPU. Their best choice is a
// flow of most worth: one in which no groups can change places in a circle with a gain (Klein 1967).
// It starts with the best choice known, and keeps it if it is a best one.
type assignment struct {
	need []int64 // by row: what a column takes there
	// By place, which is a row, or one of the two behind: room for all, and where groups without a column are.
	gain []int64 // of a chain of groups that ends there, each moving to where the next one leaves
	from []int32 // where the last of them moves away
	who  []int32 // that group; -1: nobody, as there is room
	col  []int32 // and its column here; -1: none
	seen []bool
}

// level is a group that is decided for the time being.
type level struct {
	group int32
	first int32 // of its candidates
	at    int32 // the next of these
}

// cooling is an annealing run, which goes on from turn to turn.
type cooling struct {
	length int64 // units of work of the whole run; 0: none has begun
	done   int64 // of these
	step   int64
	worth  float64 // what the chosen columns were typically worth as it began
	heat   float64
	hot    bool // this run began at twice the heat
}

// step is one column put into the packing or taken out of it.
type step struct {
	col int32
	put bool
}

// Units of work, each about what a touched entry takes.
const (
	workPerMove  = 8
	workPerRun   = 4
	workPerTry   = 8
	workPerEntry = 5
	repairRows   = 2 // how many freed rows a repair fills, if any
)
