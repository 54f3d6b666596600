package core

import (
	"context"
	"fmt"
	"time"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/ipmodel/native"
	"github.com/aucsched/aucsched/nodeset"
)

// AuctionOptions are the settings of an Auction. DefaultAuctionOptions has the
// recommended ones, PaperAuctionOptions those of the papers.
type AuctionOptions struct {
	// Window is the number of jobs that take part, the first of the queue by
	// priority (MAX_JOB_COUNT of ipsched, section IV). Jobs that can never run on
	// this machine do not count.
	Window int
	// MaxBidsPerJob is MAXBIDSPERJOB of aucsched1, section 5.
	MaxBidsPerJob int
	// Drafts is how many of a job's bids may come from drafts of the whole window.
	Drafts int
	// ContiguousOnly leaves out bids of class C.
	ContiguousOnly bool
	// Reservations is for how many blocked jobs, the first by priority, the
	// earliest possible start is kept free of jobs that come after them. 0 is the
	// papers' auction, in which a wide job can wait for ever.
	Reservations int
	// Estimates has reservations made even when nothing is free, so that blocked
	// jobs are always told when they are expected to start. Without it a cycle on
	// a full machine costs next to nothing.
	Estimates bool
	// Work bounds one solve, in the units of ipmodel.Options; small models get less.
	// 0 leaves the end to the deadline. With a bound the decisions do not depend on the machine's
	// speed.
	Work int64
}

// DefaultAuctionOptions are the recommended settings.
func DefaultAuctionOptions() AuctionOptions {
	return AuctionOptions{Window: 200, MaxBidsPerJob: 15, Drafts: 7, Reservations: 1, Work: 10_000_000}
}

// PaperAuctionOptions are the settings of aucsched1, section 6: windows of 200 jobs,
// 5 bids a job by the rules of sections 4 and 5 alone, and no reservation.
func PaperAuctionOptions() AuctionOptions {
	return AuctionOptions{Window: 200, MaxBidsPerJob: 5, Work: 10_000_000}
}

// Validate reports the first setting that is out of range.
func (o *AuctionOptions) Validate() error {
	switch {
	case o.Window < 1 || o.Window > 1<<20:
		return fmt.Errorf("window %d: must be 1 to %d jobs", o.Window, 1<<20)
	case o.MaxBidsPerJob < 1 || o.MaxBidsPerJob > 1<<12:
		return fmt.Errorf("bids per job %d: must be 1 to %d", o.MaxBidsPerJob, 1<<12)
	case o.Drafts < 0 || o.Drafts > o.MaxBidsPerJob:
		return fmt.Errorf("drafts %d: must be 0 to the %d bids per job", o.Drafts, o.MaxBidsPerJob)
	case o.Reservations < 0 || o.Reservations > 64:
		return fmt.Errorf("reservations %d: must be 0 to 64", o.Reservations)
	case o.Work < 0:
		return fmt.Errorf("work %d: must not be negative", o.Work)
	}
	return nil
}

// Auction is the policy "auction2": AUCSCHED2 with whole-window drafts and
// reservations.
type Auction struct {
	opts   AuctionOptions
	solver ipmodel.Solver

	gen      bids.Generator
	book     bids.Book
	build    ipmodel.Builder
	model    ipmodel.Model
	result   ipmodel.Result
	space    bids.Space
	asks     []bids.Ask
	window   []int   // index in the queue of each job of the window
	jobs     []*Job  // the jobs of the window, contiguous if all bids have to be
	guarded  []guard // by job of the window
	never    neverCache
	equals   equals
	plan     planner
	left     []nodeset.Table
	rest     bids.Rest
	fillers  bids.Placer
	start    []int32
	required []bool
	kept     []nodeset.Segment // what the walk gave to jobs that must start
	late     func() bool       // the deadline is over; nil without one
	chosen   []int32           // by job of the window: the winning bid, or -1
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
	return &Auction{opts: o, solver: solver, build: ipmodel.Builder{Merge: true}}, nil
}

// Name is "auction2".
func (a *Auction) Name() string { return "auction2" }

// Model is the model of the last cycle and Book are its bids; both belong to the
// Auction and are valid until the next cycle.
func (a *Auction) Model() (*ipmodel.Model, *bids.Book) { return &a.model, &a.book }

// Decide implements [Policy].
func (a *Auction) Decide(ctx context.Context, s *Snapshot, l Limits, p *Plan) error {
	clock := l.Now
	if clock == nil {
		clock = time.Now
	}
	begin := clock()
	p.reset()
	a.openWindow(s, p)
	if !a.opts.Estimates && !anyFree(s.Nodes) {
		p.blockAll()
		p.Stats.Elapsed = clock().Sub(begin)
		return nil
	}
	a.space.Now, a.space.Left = s.Nodes, a.space.Left[:0]
	o := bids.Options{MaxBidsPerJob: a.opts.MaxBidsPerJob, Drafts: a.opts.Drafts, ContiguousOnly: a.opts.ContiguousOnly}
	a.late = nil
	if !l.Deadline.IsZero() {
		o.Stop = past(clock, begin, l.Deadline, 4)
		a.late = past(clock, begin, l.Deadline, 1)
	}
	a.gen.Generate(&a.space, a.asks, o, &a.book)
	if len(a.book.Bids) == 0 && !a.opts.Estimates {
		p.blockAll()
		p.Stats.Elapsed = clock().Sub(begin)
		return nil
	}
	var required []bool
	if a.opts.Reservations > 0 && len(a.asks) > 0 {
		if o.Stop != nil { // half of the time is the solver's
			o.Stop = past(clock, begin, l.Deadline, 2)
		}
		if err := a.guard(s, o.Stop); err != nil {
			return err
		}
		required = a.requiredJobs()
		a.gen.Generate(&a.space, a.asks, o, &a.book)
	}
	if err := a.build.Build(&a.space, a.asks, &a.book, required, &a.model); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	err := a.solver.Solve(ctx, &a.model, ipmodel.Options{
		Deadline: l.Deadline, Now: l.Now, Work: a.work(), Seed: l.Seed, Start: a.bestStart(),
	}, &a.result)
	if err != nil {
		return fmt.Errorf("solver %s: %w", a.solver.Name(), err)
	}
	if err := a.decide(s, p); err != nil {
		return err
	}
	p.Stats.Elapsed = clock().Sub(begin)
	return nil
}

// past returns a function that says whether the first n-th of the time from begin
// to end is over.
func past(clock func() time.Time, begin, end time.Time, n int) func() bool {
	until := begin.Add(end.Sub(begin) / time.Duration(n))
	return func() bool { return !clock().Before(until) }
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

// Why jobs wait.
const (
	reasonReserved = "blocked: its place is reserved from the expected start on"
	reasonNoNodes  = "no nodes are free that suit it"
	reasonLost     = "other jobs are worth more together"
	reasonEquals   = "jobs ahead of it that ask for the same could take all that is free"
)

// blockAll decides a window of which no job can start.
func (p *Plan) blockAll() {
	for i := range p.Decisions {
		if p.Decisions[i].Reason == "" {
			p.Decisions[i].Reason = reasonNoNodes
		}
	}
}

func (p *Plan) reset() {
	p.Decisions, p.segs = p.Decisions[:0], p.segs[:0]
	p.Objective, p.Bound, p.Stats = 0, 0, Stats{}
}

// openWindow takes the first jobs of the queue that could run at all.
func (a *Auction) openWindow(s *Snapshot, p *Plan) {
	a.window, a.jobs, a.asks, a.guarded = a.window[:0], a.jobs[:0], a.asks[:0], a.guarded[:0]
	a.never.reset(s.Nodes)
	a.equals.reset(s.Nodes, a.opts.Reservations)
	looked := 0
	for i, job := range s.Pending {
		if looked == a.opts.Window {
			break
		}
		if why := a.never.check(s.Nodes, &job.Request); why != "" {
			p.Decisions = append(p.Decisions, Decision{Job: i, Reason: why})
			continue
		}
		looked++
		if why, ok := a.equals.enough(job); ok {
			p.Decisions = append(p.Decisions, Decision{Job: i, Reason: why})
			continue
		}
		if a.opts.ContiguousOnly && !job.Contiguous {
			job = contiguous(job)
		}
		p.Decisions = append(p.Decisions, Decision{Job: i})
		a.window, a.jobs = append(a.window, i), append(a.jobs, job)
		a.asks = append(a.asks, bids.Ask{Request: &job.Request, Priority: max(job.Priority, 1)})
		a.guarded = append(a.guarded, guard{})
	}
}

// contiguous is the job as if it had asked for consecutive nodes.
func contiguous(job *Job) *Job {
	c := *job
	c.Contiguous = true
	return &c
}

// workPerEntry is how much work a small model is worth: more than that seldom
// betters it.
const workPerEntry = 2000

// work is the limit for the solver.
func (a *Auction) work() int64 {
	return min(a.opts.Work, workPerEntry*int64(len(a.model.Row)+a.model.Columns()))
}

// bestStart is the most worthy choice that is known to be feasible: a draft, or
// what the walk over the queue has kept.
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
			if a.guarded[a.book.Bids[b].Job].must {
				musts++
			}
		}
		if worth > most && musts == len(a.book.Kept) {
			a.start, most = append(a.start[:0], d...), worth
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

// decide turns the winners into decisions, gives what is left over to jobs that
// lost, and checks the whole by allocating it.
func (a *Auction) decide(s *Snapshot, p *Plan) error {
	a.chosen = a.chosen[:0]
	for range a.window {
		a.chosen = append(a.chosen, -1)
	}
	a.rest.Reset(&a.space)
	worth, bound := a.result.Worth, a.result.Bound
	for _, b := range a.result.Chosen {
		bid := &a.book.Bids[b]
		a.chosen[bid.Job] = b
		if err := a.rest.Take(a.book.Allocation(int(b)), a.asks[bid.Job].Crosses); err != nil {
			return fmt.Errorf("the solver's choice is not feasible: job %s: %w", a.jobs[bid.Job].ID, err)
		}
	}
	k := 0
	for i := range p.Decisions {
		d := &p.Decisions[i]
		if d.Reason != "" {
			continue
		}
		j := k
		k++
		if b := a.chosen[j]; b >= 0 {
			d.Start, d.Class = true, a.book.Bids[b].Class
			d.Segs = p.keep(a.book.Allocation(int(b)))
			continue
		}
		if added := a.fill(s, j, d, p); added > 0 {
			worth, bound = worth+added, bound+added
			continue
		}
		d.Expected = a.guarded[j].start
		d.Reason = a.whyNot(j)
	}
	p.Objective, p.Bound = a.model.Objective(worth), a.model.Objective(bound)
	p.Stats.Jobs, p.Stats.Bids, p.Stats.BidClasses = len(a.window), len(a.book.Bids), a.book.NodeSets
	p.Stats.Rows, p.Stats.Entries = a.model.Rows(), len(a.model.Row)
	p.Stats.Status, p.Stats.Work = a.result.Status.String(), a.result.Work
	return nil
}

// fill starts job j, which lost, on what the winners left, if that is possible. It
// returns the worth of the new bid, which the bound has to be raised by as well.
func (a *Auction) fill(s *Snapshot, j int, d *Decision, p *Plan) int64 {
	ask := &a.asks[j]
	if a.opts.Drafts == 0 || a.guarded[j].start > 0 || (a.late != nil && a.late()) {
		return 0
	}
	from := len(p.segs)
	for g := min(max(ask.MinGPUs, ask.MaxGPUs), s.Nodes.MaxGPUs()); g >= ask.MinGPUs; g-- {
		segs, ok := a.fillers.Place(p.segs, a.rest.View(ask.Crosses), ask.Request, g)
		if p.segs = segs; !ok {
			continue
		}
		d.Segs = p.segs[from:len(p.segs):len(p.segs)]
		must(a.rest.Take(d.Segs, ask.Crosses))
		d.Start = true
		bid := a.gen.Describe(j, d.Segs)
		d.Class = bid.Class
		return a.build.Worth(ask, &bid)
	}
	return 0
}

func (a *Auction) whyNot(j int) string {
	switch {
	case a.guarded[j].start > 0:
		return reasonReserved
	case len(a.book.Of(j)) == 0:
		return reasonNoNodes
	}
	return reasonLost
}

// keep copies segments into the plan's own memory.
func (p *Plan) keep(segs []nodeset.Segment) []nodeset.Segment {
	from := len(p.segs)
	p.segs = append(p.segs, segs...)
	return p.segs[from:len(p.segs):len(p.segs)]
}
