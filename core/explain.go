// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// Explainer decides a window once and then says of its jobs, one by one, why they
// start or wait. It works with any Policy; what it knows of reservations' places is
// exact for an Auction. It uses the policy and the snapshot until it is dropped, and
// must not be used by two goroutines at once.
type Explainer struct {
	policy  Policy
	auction *Auction // the policy, if it is one
	s       *Snapshot
	after   *Snapshot // s when those are gone whom the plan preempts
	limits  Limits
	clock   func() time.Time
	each    time.Duration // what a decision may take; 0: as long as it needs

	plan     Plan
	byJob    []int // by job of the queue: index in plan.Decisions, or -1
	started  []int // jobs that start
	reserved []claim
	kept     []Rival         // reservations of which only the job and the time is known
	waiting  map[int][]Rival // by job that starts: whose rival it is; nil: not known yet
	trial    Plan
	pending  []*Job // scratch: the queue with one job changed
	space    claims
	normal   normal
	limit    int64    // of the job that was read last
	scarce   scarcity // in the window, of which the auction forgets with every trial
	placer   place.Placer
	limited  place.Limited // scratch
	answers  place.Cache
}

// ExplainOptions bound the search for changes. The zero value searches for none.
type ExplainOptions struct {
	// Trials is the most decisions on a changed window. 200 are enough for nearly every job.
	Trials int
	// Deadline is when the last trial may begin, by the policy's clock; zero: none.
	Deadline time.Time
}

// Explanation is why one job starts or waits. It owns its memory.
type Explanation struct {
	// Decision is the policy's; Decision.Job is the job's index in the queue.
	Decision Decision
	// Looked is false if the policy made no decision on the job.
	Looked bool
	// Worth is what the start of the job is worth to the objective, before a bid's
	// preference; policies without an objective count the priority.
	Worth float64
	// Why is why the job waits, from what is free and who takes it: Never (see
	// NeverWhy); NoFit: nothing that is free suits it even if it were alone; Lost: jobs
	// that start now take its place; Reserved: kept places alone, or a reservation, are in its way;
	// OverQuota: a quota has too little left, or would have beside jobs that start now. 0 if it
	// starts, and if there is room for it that the policy did not use.
	Why Why
	// NeverWhy says in words what the machine lacks.
	NeverWhy string
	// Lacks is what the job's first way that this machine could meet has too little of among what is
	// free, if Why is NoFit or OverQuota, or beside jobs that start now: given all of that, it has a
	// place.
	Lacks []Lack
	// Place is where the job would be if all of Rivals were gone, nil if even that
	// does not help or only the names of rivals are known. Nodes has it by name, from a Cluster.
	Place []nodeset.Segment
	Nodes []Share
	// Rivals are in the way: were they gone, the job would have room, and none of them
	// can be left out. If the job starts, Rivals are the jobs that wait and have it in
	// their way, alone or among others.
	Rivals []Rival
	// Stops are the running jobs that have to be preempted before the job starts.
	Stops []Rival
	// Foreseen says that the job will have room if nothing else starts before, and Expected at
	// which second, from the time limits of what runs and starts now and the places reserved.
	// Kept says that the policy keeps that place for it.
	Foreseen bool
	Expected int64
	Kept     bool
	// Suggestions are changes of the request, the smallest first, with each of which
	// the job would have started now. There are none for a job with Components.
	Suggestions []Suggestion
	// Trials is the number of decisions on changed windows.
	Trials int
	// Cut says in words what ended the search for changes early; "" if nothing did.
	Cut string
	// Late says that the deadline of single decisions cut some of them short: they
	// may come out differently another time.
	Late bool
}

// The roles of rivals, in the order of blame.
const (
	roleRuns   = "running"
	roleStarts = "starting"
	roleKept   = "reserved"
	roleWaits  = "waiting"
)

var roles = [...]string{roleRuns, roleStarts, roleKept, roleWaits}

// Rival is another job that is in the way of one, or the other way round.
type Rival struct {
	// Role is running, starting (it starts now), reserved (a place is kept for it) or waiting (for
	// what the job took).
	Role string
	// Job is the job's index in Snapshot.Pending, or in Snapshot.Running if it runs; -1 of a
	// reservation.
	Job int
	// ID is the job's, and Nodes has Segs by name, from a Cluster; the name of a reservation.
	ID    string
	Nodes []Share
	// Segs is what it has on nodes of Explanation.Place; of a job that waits, what it
	// would take of the other's nodes is on these. Uses is what goes with it of further resources.
	Segs []nodeset.Segment
	Uses nodeset.Uses
	// Worth is as in Explanation; of a job that runs what is lost if it is stopped, 0 if the
	// job that is explained may not preempt it: Preemptable says whether it may. Preempted says
	// that somebody does now.
	Worth                  float64
	Preemptable, Preempted bool
	// At is the second by which it ends (running, starting) or from which its place is
	// reserved (reserved).
	At int64
}

// NewExplainer decides the window of s. Every decision, this one and later trials,
// gets the seed of l and as much time as is left until l.Deadline now; without a
// deadline explanations are the same bit for bit.
func NewExplainer(ctx context.Context, p Policy, s *Snapshot, l Limits) (*Explainer, error) {
	clock := time.Now
	if a, ok := p.(*Auction); ok && a.opts.Clock != nil {
		clock = a.opts.Clock
	}
	return newExplainer(ctx, p, s, l, clock)
}

// newExplainer is NewExplainer with the policy's clock.
func newExplainer(ctx context.Context, p Policy, s *Snapshot, l Limits, clock func() time.Time) (*Explainer, error) {
	e := &Explainer{policy: p, s: s, limits: l, clock: clock}
	e.normal.reset(s)
	e.space.booked = &e.normal.booked
	e.answers.Reset(s.Nodes)
	e.auction, _ = p.(*Auction)
	if !l.Deadline.IsZero() {
		e.each = max(l.Deadline.Sub(clock()), time.Nanosecond)
	}
	if err := cmp.Or(e.decide(ctx, s, &e.plan), new(checker).holdings(s)); err != nil {
		return nil, err
	}
	if e.auction != nil {
		e.scarce = e.auction.window.scarce
	}
	e.after = s.without(e.preempted)
	e.byJob = slices.Repeat([]int{-1}, len(s.Pending))
	for i, d := range e.plan.Decisions {
		e.byJob[d.Job] = i
		if d.Start {
			e.started = append(e.started, d.Job)
		}
	}
	e.findReservations()
	return e, nil
}

// Plan is the window's decision. It belongs to the Explainer.
func (e *Explainer) Plan() *Plan { return &e.plan }

func (e *Explainer) decide(ctx context.Context, s *Snapshot, p *Plan) error {
	l := e.limits
	if e.each > 0 {
		l.Deadline = e.clock().Add(e.each)
	}
	return e.policy.Decide(ctx, s, l, p)
}

// Explain explains one job of the queue, by its index. It fails for an index
// outside of the queue, and if the policy fails.
func (e *Explainer) Explain(ctx context.Context, job int, o ExplainOptions) (*Explanation, error) {
	if job < 0 || job >= len(e.s.Pending) {
		return nil, fmt.Errorf("there is no job %d in a queue of %d", job, len(e.s.Pending))
	}
	x := &Explanation{Decision: Decision{Job: job}, Late: e.plan.Stats.Late}
	asked := e.asked(e.s.Pending[job])
	x.Worth = e.worthOf(job)
	if i := e.byJob[job]; i >= 0 {
		x.Looked, x.Decision = true, e.plan.Decisions[i]
		x.Decision.Segs = slices.Clone(x.Decision.Segs)
	}
	if x.Decision.Start {
		e.against(x)
		e.stops(x)
		return x, nil
	}
	about := e.about(x, asked)
	about.blame()
	e.markPreemptable(x.Rivals, asked)
	if x.Why != Never {
		about.expect()
	}
	if x.Looked && o.Trials > 0 && len(asked.Components) == 0 {
		q := search{e: e, ctx: ctx, o: o, x: x, tried: make(map[string]outcome)}
		if err := q.run(); err != nil {
			return nil, fmt.Errorf("a changed window: %w", err)
		}
	}
	return x, nil
}

// asked is the job as the policy understands it.
func (e *Explainer) asked(job *Job) *Job {
	if e.auction == nil {
		return job
	}
	if w := &e.auction.window; w.scarce.ranges && job.hasRange() {
		one := *w.asks(job, false)
		one.Alternatives = slices.Clone(one.Alternatives)
		job = &one
	}
	if e.auction.opts.ContiguousOnly {
		return contiguous(job)
	}
	return job
}

// worthOf is what the start of a job of the queue is worth.
func (e *Explainer) worthOf(job int) float64 {
	if e.auction == nil {
		return float64(max(e.s.Pending[job].Priority, 1))
	}
	return e.auction.window.weight(e.asked(e.s.Pending[job]))
}

// decisionOf is the decision on a job, nil if there is none.
func (e *Explainer) decisionOf(job int) *Decision {
	if i := e.byJob[job]; i >= 0 {
		return &e.plan.Decisions[i]
	}
	return nil
}

// findReservations copies what the policy has reserved in the window's decision.
// Places are known of an Auction only.
func (e *Explainer) findReservations() {
	placed := make(map[int]bool)
	if e.auction != nil {
		for _, r := range e.auction.reservations.claims.reserved {
			if r.Job = e.auction.window.index[r.Job]; e.decisionOf(r.Job).Start { // in place of others
				continue
			}
			if r.Segs = slices.Clone(r.Segs); r.parts != nil { // the auction will use them again
				r.parts, r.charges = r.parts.Clone(), slices.Clone(r.charges)
			}
			placed[r.Job] = true
			e.reserved = append(e.reserved, r)
		}
	}
	for _, d := range e.plan.Decisions {
		if d.Kept && !d.Start && !placed[d.Job] {
			e.kept = append(e.kept, Rival{Role: roleKept, Job: d.Job, Worth: e.worthOf(d.Job), At: d.Expected})
		}
	}
}
