// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

// NewExplainer decides the window of s. This decision and each trial get the seed of l and as much
// time as is left until l.Deadline now. Without a deadline, explanations are repeatable bit for
// bit.
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

// Explain explains the job of that index in the queue. It returns an error for an index out of
// range, and the policy's errors.
func (e *Explainer) Explain(ctx context.Context, job int, o ExplainOptions) (*Explanation, error) {
	if job < 0 || job >= len(e.s.Pending) {
		return nil, fmt.Errorf("there is no job %d in a queue of %d", job, len(e.s.Pending))
	}
	x := &Explanation{Decision: Decision{Job: job}, Late: e.plan.Stats.Late}
	asked := e.asked(e.s.Pending[job])
	x.Worth, x.Planned = e.worthOf(job), e.auction != nil && e.auction.planning.on()
	if i := e.byJob[job]; i >= 0 {
		x.Looked, x.Decision = true, e.plan.Decisions[i]
		x.Decision.Segs = slices.Clone(x.Decision.Segs)
	}
	if x.Decision.Start {
		e.against(x)
		e.stops(x)
		return x, nil
	}
	about := inquiry{e, x, asked}
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

// findReservations copies what the policy has reserved in the window's decision.
// Places are known of an Auction only.
func (e *Explainer) findReservations() {
	if e.auction != nil {
		for _, r := range e.auction.reservations.claims.reserved {
			if r.Job = e.auction.window.index[r.Job]; !e.decisionOf(r.Job).Kept { // it started, or gave that up
				continue
			}
			r.Segs, r.Counts = slices.Clone(r.Segs), slices.Clone(r.Counts) // the auction will use them again
			if r.Parts != nil {
				r.Parts = r.Parts.Clone()
			}
			e.reserved = append(e.reserved, r)
		}
	}
	for _, d := range e.plan.Decisions {
		if d.Kept && !d.Start && !slices.ContainsFunc(e.reserved, func(r claim) bool { return r.Job == d.Job }) {
			e.kept = append(e.kept, Rival{Role: roleKept, Job: d.Job, Worth: e.worthOf(d.Job), At: d.Expected})
		}
	}
}

// search finds changes of one job's request with which it starts.
type search struct {
	e     *Explainer
	ctx   context.Context
	o     ExplainOptions
	x     *Explanation
	job   *Job
	tried map[string]outcome
	err   error
}

// outcome is what became of a changed job.
type outcome struct {
	start       bool
	segs        []nodeset.Segment
	class       bids.Class
	alternative int
}

// run tries one kind of change at a time; pairs of two only if no single one does.
func (q *search) run() error {
	q.job = q.e.s.Pending[q.x.Decision.Job]
	d := (&inquiry{q.e, q.x, q.job}).dimensions()
	for i := range d {
		if n, ok := q.least(&d[i], q.job); ok {
			q.suggest(d[i].with(q.job, n), !q.over())
		}
	}
	if len(q.x.Suggestions) == 0 {
		for i := range d {
			for k := range d {
				if i != k && !slices.ContainsFunc(d[i].fields, func(f string) bool { return slices.Contains(d[k].fields, f) }) {
					q.pair(&d[i], &d[k])
				}
			}
		}
	}
	slices.SortStableFunc(q.x.Suggestions, func(a, b Suggestion) int { return cmp.Compare(a.Size, b.Size) })
	return q.err
}

// with is the job with a number of steps applied.
func (d *dimension) with(job *Job, steps int64) *Job {
	j := *job
	d.apply(&j, steps)
	return &j
}

// least finds a number of steps with which the job starts while it does not with one
// fewer: the first of ever larger ones that will do, then by halves. It reports false
// if none of those that it tried will do; if the search is over meanwhile, one fewer
// may do as well. With no step at all the job is known to wait.
func (q *search) least(d *dimension, job *Job) (int64, bool) {
	waits, starts := int64(0), int64(-1)
	for _, n := range d.probes() {
		if q.starts(d.with(job, n)) {
			starts = n
			break
		}
		if q.over() {
			return 0, false
		}
		waits = n
	}
	if starts < 0 {
		return 0, false
	}
	for starts-waits > 1 && !q.over() {
		if n := waits + (starts-waits)/2; q.starts(d.with(job, n)) {
			starts = n
		} else {
			waits = n
		}
	}
	return starts, true
}

// pair makes two kinds of changes. With as much of b as there is it finds how little of a will do.
// Then it finds how little of b will do, then less of both.
func (q *search) pair(a, b *dimension) {
	if q.over() || !q.starts(b.with(a.with(q.job, a.steps), b.steps)) {
		return
	}
	m, ok := q.least(a, b.with(q.job, b.steps))
	if !ok {
		return
	}
	n, ok := q.least(b, a.with(q.job, m))
	if !ok {
		return
	}
	both := func(m, n int64) bool { return q.starts(b.with(a.with(q.job, m), n)) }
	for less := true; less && !q.over(); {
		switch {
		case m > 0 && both(m-1, n):
			m--
		case n > 0 && both(m, n-1):
			n--
		default:
			less = false
		}
	}
	q.suggest(b.with(a.with(q.job, m), n), !q.over())
}

// suggest adds a job that starts, unless it is there already.
func (q *search) suggest(job *Job, smallest bool) {
	if q.err != nil {
		return
	}
	out := q.tried[q.keyOf(job)]
	list, size := changes(q.e.s.Nodes, q.job, job)
	for _, s := range q.x.Suggestions {
		if slices.Equal(s.Changes, list) {
			return
		}
	}
	q.x.Suggestions = append(q.x.Suggestions, Suggestion{Job: *job, Changes: list,
		Size: size, Smallest: smallest, Segs: out.segs, Class: out.class, Alternative: out.alternative})
}

// keyOf tells a changed job from others.
func (q *search) keyOf(job *Job) string { return fmt.Sprintf("%v %d", job.Request, job.TimeLimit) }

// over reports whether the search has to end.
func (q *search) over() bool { return q.x.Cut != "" || q.err != nil }

// starts reports whether the window, with the job changed, has it start. It does not
// if the search is over. A request that is not valid, or that has no place even if
// the job were alone, needs no trial.
func (q *search) starts(job *Job) bool {
	key := q.keyOf(job)
	if out, ok := q.tried[key]; ok {
		return out.start
	}
	if q.over() {
		return false
	}
	out := outcome{}
	q.e.space.reset(q.e.s, nil)
	if job.Validate() == nil && (&inquiry{q.e, q.x, q.e.asked(job)}).suited() {
		switch {
		case q.x.Trials >= q.o.Trials:
			q.x.Cut = fmt.Sprintf("the search for changes ended after %d trials", q.x.Trials)
		case !q.o.Deadline.IsZero() && !q.e.clock().Before(q.o.Deadline):
			q.x.Cut = "the search for changes ran out of time"
		default:
			out, q.err = q.try(job)
		}
		if q.over() {
			return false
		}
	}
	q.tried[key] = out
	return out.start
}

// try decides the window with the job changed.
func (q *search) try(job *Job) (outcome, error) {
	if err := q.ctx.Err(); err != nil {
		return outcome{}, err
	}
	e, i := q.e, q.x.Decision.Job
	e.pending = append(e.pending[:0], e.s.Pending...)
	e.pending[i] = job
	s := *e.s
	s.Pending = e.pending
	q.x.Trials++
	err := e.decide(q.ctx, &s, &e.trial)
	if e.auction != nil { // what jobs with a range ask for is what they asked for in the window
		e.auction.window.scarce = e.scarce
	}
	if err != nil {
		return outcome{}, err
	}
	q.x.Late = q.x.Late || e.trial.Stats.Late
	for _, d := range e.trial.Decisions {
		if d.Job == i && d.Start {
			return outcome{true, slices.Clone(d.Segs), d.Class, d.Alternative}, nil
		}
	}
	return outcome{}, nil
}
