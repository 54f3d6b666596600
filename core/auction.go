package core

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/layout"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/ipmodel/native"
	"github.com/aucsched/aucsched/nodeset"
)

// Auction is the policy "auction2": AUCSCHED2 with whole-window drafts and
// reservations. With AuctionOptions.Layouts it is "auction1", AUCSCHED1 with these.
type Auction struct {
	entry   entry
	opts    AuctionOptions
	solver  ipmodel.Solver
	layouts *layout.Solver // nil: bids say their layouts themselves
	laying  layout.Window
	laid    layout.Result

	gen      bids.Generator
	book     bids.Book
	build    ipmodel.Builder
	model    ipmodel.Model
	result   ipmodel.Result
	space    bids.Space
	asks     []bids.Ask
	requests []bids.Request // by ask
	ways     []way          // by ask
	askStart []int32        // by job of the window: its first ask, and one more
	beyond   bids.Request   // of a job behind the window
	raised   []nodeset.Segment
	next     int     // index in the queue of the first job behind the window
	window   []int   // index in the queue, and in the decisions, of each job of the window
	jobs     []*Job  // the jobs of the window
	guarded  []guard // by job of the window
	never    neverCache
	equals   equals
	prefer   preferences
	failed   map[equalKey]bool // requests that found nothing left over
	machine  totals
	waiting  backlog   // of the jobs of the window
	order    []int32   // of the walk over the window
	claims   []float64 // by job of the window
	plan     planner
	left     []nodeset.Table
	rest     bids.Rest
	fillers  bids.Placer
	start    []int32
	required []bool
	kept     []nodeset.Segment // what the walk gave to jobs that must start
	eighth   func() bool       // an eighth of the time is over; these four are nil without a deadline
	quarter  func() bool
	half     func() bool
	late     func() bool
	chosen   []int32 // by job of the window: which of the winners it is, or -1; in guard, its bid
	slack    slack   // what is left of a cycle's time to what comes after its deadline
	filling  filling // what the solver leaves of it to the decisions
	shift    int     // asks' priorities are in units of 2^shift
	cut      bool    // the deadline has cut something short
	unproven bool    // the solver's choice: it ran out of time
	wanting  int     // jobs that the window has fewer than it should, for lack of time
	grace    int     // vain attempts to place a job that the cycle has, however late it is
	over     bool    // the time to place jobs
	flat     bids.Flat
	spent    int64 // the solver's work in this cycle
}

// guard is what the walk over the queue has found for a job of the window.
type guard struct {
	must  bool  // has to start now
	start int64 // reserved from that second on, or 0
}

// NewAuction returns the policy with the given solver; nil means the native one.
func NewAuction(o AuctionOptions, solver ipmodel.Solver) (*Auction, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if solver == nil {
		solver = native.New()
	}
	a := &Auction{opts: o, solver: solver, build: ipmodel.Builder{Merge: true}, failed: make(map[equalKey]bool)}
	if o.Layouts {
		a.layouts = layout.New(solver)
	}
	return a, nil
}

// Name is "auction2", or "auction1" with AuctionOptions.Layouts.
func (a *Auction) Name() string {
	if a.layouts != nil {
		return "auction1"
	}
	return "auction2"
}

// Model is AUCSCHED2's model of the last cycle and Book are its bids; both belong to the
// Auction and are valid until the next cycle.
func (a *Auction) Model() (*ipmodel.Model, *bids.Book) { return &a.model, &a.book }

// Decide implements [Policy]. However late it is, it decides on one job at least. It goes on until one starts, or has a
// place reserved, for at most 64 attempts in vain; each way to meet a job is one.
// Without drafts and depth too, as in the paper, only the window's first job is sure to be looked at.
func (a *Auction) Decide(ctx context.Context, s *Snapshot, l Limits, p *Plan) error {
	if a.solver == nil {
		return errNotNew
	}
	return a.entry.run(ctx, s, p, func() error { return a.decideIn(ctx, s, l, p) })
}

func (a *Auction) decideIn(ctx context.Context, s *Snapshot, l Limits, p *Plan) error {
	if l.Now == nil {
		l.Now = time.Now
	}
	begin := l.Now()
	l.Deadline = a.slack.takeOff(begin, l.Deadline)
	a.setTimes(ctx, l, begin)
	a.openWindow(s, p)
	open, err := a.bid(s)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return err
	}
	if !open {
		a.blockAll(p)
	} else if err := a.choose(ctx, s, l, begin, p); err != nil {
		return err
	}
	p.Stats.Late = a.cut
	p.countTimedOut()
	end := l.Now()
	p.Stats.Elapsed = end.Sub(begin)
	a.slack.learn(end)
	return nil
}

// choose has the solver choose among the bids, and turns that into decisions.
func (a *Auction) choose(ctx context.Context, s *Snapshot, l Limits, begin time.Time, p *Plan) error {
	if !l.Deadline.IsZero() {
		l.Deadline = a.filling.takeOff(begin, l.Deadline)
	}
	if err := a.solve(ctx, l); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	solved := l.Now()
	if err := a.decide(s, p); err != nil {
		return err
	}
	a.filling.learn(l.Now().Sub(solved))
	return nil
}

// bid makes the window's bids and its model. It reports false when there is nothing
// to decide, because nothing is free or nothing that is free suits any job.
func (a *Auction) bid(s *Snapshot) (open bool, err error) {
	if !a.opts.Estimates && !anyFree(s.Nodes) {
		a.book.Asked = len(a.asks) // there is nothing to bid for
		return false, nil
	}
	a.space.Now, a.space.Left = s.Nodes, a.space.Left[:0]
	o := bids.Options{MaxBidsPerJob: a.opts.MaxBidsPerJob, Drafts: a.opts.Drafts, ContiguousOnly: a.opts.ContiguousOnly, Stop: a.quarter}
	guarded := a.opts.Reservations > 0 && len(a.asks) > 0
	needsBids := a.next == len(s.Pending) && !a.opts.Estimates
	if guarded { // the walk over the queue asks for no more
		a.gen.GenerateDraft(&a.space, a.asks, o, &a.book)
	}
	if !guarded || (needsBids && len(a.book.Bids) == 0) {
		a.gen.Generate(&a.space, a.asks, o, &a.book)
	}
	if needsBids && len(a.book.Bids) == 0 && a.book.Asked == len(a.asks) {
		return false, nil
	}
	var required []bool
	if guarded {
		o.Stop = a.half
		if err := a.guard(s, o.Stop); err != nil {
			return false, err
		}
		required = a.requiredJobs()
		a.gen.Generate(&a.space, a.asks, o, &a.book)
	}
	a.grace, a.over = maxGrace, false
	if guarded && len(a.plan.reserved) > 0 { // the walk over the queue has decided on a job
		a.grace = 0
	}
	if err := a.build.Build(&a.space, a.asks, &a.book, required, &a.model); err != nil {
		return false, fmt.Errorf("model: %w", err)
	}
	a.rescale()
	return true, nil
}

// anyFree reports whether any node has a core to give.
func anyFree(t *nodeset.Table) bool {
	for _, w := range t.Usable(0) {
		if w != 0 {
			return true
		}
	}
	return false
}

// verdict is why a job waits.
type verdict struct {
	why    Why
	reason string
}

var (
	blocked      = verdict{Reserved, reasonReserved}
	noNodes      = verdict{NoFit, reasonNoNodes}
	apart        = verdict{NoFit, reasonApart}
	lost         = verdict{Lost, reasonLost}
	lostToEquals = verdict{Lost, reasonEquals}
	undecided    = verdict{TimedOut, reasonTimedOut}
)

// waits records why the job of d does not start.
func (d *Decision) waits(v verdict) { d.Why, d.Reason = v.why, v.reason }

// Why jobs wait, in words.
const (
	reasonReserved = "blocked: its place is reserved from the expected start on"
	reasonNoNodes  = "no nodes are free that suit it"
	reasonApart    = "no nodes are free that suit it and lie close enough together"
	reasonLost     = "other jobs are worth more together"
	reasonEquals   = "jobs ahead of it that ask for the same could take all that is free"
	reasonTimedOut = "the time was over before it was decided on"
)

// noPlace is the verdict on jobs that nothing suits which is free.
func (a *Auction) noPlace() verdict {
	if a.opts.Compact {
		return apart
	}
	return noNodes
}

// blockAll decides a window of which no job bids: nothing suits them, or there was no time to see what does.
func (a *Auction) blockAll(p *Plan) {
	for j, i := range a.window {
		if a.unasked(j) {
			p.Decisions[i].waits(undecided)
		}
	}
	p.blockAll(a.noPlace())
}

// unasked reports whether the time was over before job j of the window had made its bids.
func (a *Auction) unasked(j int) bool { return int(a.askStart[j+1]) > a.book.Asked }

// blockAll decides on all jobs that nothing is said of yet.
func (p *Plan) blockAll(v verdict) {
	for i := range p.Decisions {
		if p.Decisions[i].Reason == "" {
			p.Decisions[i].waits(v)
		}
	}
}

// countTimedOut fills in how many jobs were not decided on.
func (p *Plan) countTimedOut() {
	p.Stats.TimedOut = 0
	for i := range p.Decisions {
		if p.Decisions[i].Why == TimedOut {
			p.Stats.TimedOut++
		}
	}
}

func (p *Plan) reset() {
	p.Decisions, p.segs = p.Decisions[:0], p.segs[:0]
	p.Objective, p.Bound, p.Stats = 0, 0, Stats{}
}

// workPerEntry is how much work a small model is worth: more than that seldom
// betters it.
const workPerEntry = 8000

// work is the limit for the solver.
func (a *Auction) work() int64 {
	return min(a.opts.Work, workPerEntry*int64(len(a.model.Row)+a.model.Columns()))
}

// bestStart is the most worthy choice that is known to be feasible: a draft, what the
// walk over the queue has kept, or, if nothing is, the offers.
func (a *Auction) bestStart() []int32 {
	a.start = append(a.start[:0], a.book.Kept...)
	var most int64
	for _, b := range a.start {
		most += a.asks[a.book.Bids[b].Job].Priority
	}
	for _, d := range a.book.Drafts {
		var worth int64
		musts := 0
		for _, b := range d {
			worth += a.asks[a.book.Bids[b].Job].Priority
			if a.guarded[a.jobOf(b)].must {
				musts++
			}
		}
		if worth > most && musts == len(a.book.Kept) {
			a.start, most = append(a.start[:0], d...), worth
		}
	}
	if len(a.book.Kept) == 0 {
		n := len(a.start)
		all, worth := a.startOfOffers(a.start)
		if a.start = all[:n]; worth > most {
			a.start = all[n:]
		}
	}
	return a.start
}

// requiredJobs says of each job of the window whether it has to start.
func (a *Auction) requiredJobs() []bool {
	a.required = a.required[:0]
	for j := range a.guarded {
		a.required = append(a.required, a.guarded[j].must)
	}
	return a.required
}
