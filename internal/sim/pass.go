// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/nodeset"
)

// NewBackfill returns the policy `backfill`.
func NewBackfill(o BackfillOptions) (*Backfill, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if o.NodeSpaceSize == 0 {
		o.NodeSpaceSize = o.MaxJobTest
	}
	return &Backfill{opt: o, blocked: map[blockedKey]struct{}{}, machine: machine{why: map[shapeKey]error{}}}, nil
}

// Name is "backfill".
func (b *Backfill) Name() string { return "backfill" }

// Decide implements [core.Policy]. The plan has decisions for the jobs that start and for those
// that it looked at without success. Expected is given to those for which nodes were reserved.
func (b *Backfill) Decide(ctx context.Context, s *core.Snapshot, _ core.Limits, p *core.Plan) (err error) {
	if slices.ContainsFunc(s.Claims, func(c core.Claim) bool { return c.Reservation != "" && c.Until > s.Now }) {
		return errors.New("reservations: this policy does not know them")
	}
	b.s, b.p, b.sel.Tree = s, p, s.Topology
	p.Decisions, p.Objective, p.Bound = p.Decisions[:0], 0, 0
	p.Stats = core.Stats{Status: "done"}
	b.started, b.sorted = b.started[:0], false
	if err := b.stop.begin(s); err != nil {
		return err
	}
	if b.stop.any() {
		b.upNodes()
	}
	defer func() {
		for i := range b.started {
			if e := s.Nodes.Release(b.started[i].segs, b.started[i].uses...); e != nil && err == nil {
				err = e
			}
		}
		if e := b.tellGone(); e != nil && err == nil {
			err = e
		}
		b.s, b.p = nil, nil
	}()
	first, err := b.mainLoop()
	if err != nil {
		return err
	}
	if b.behind != nil {
		b.behind(first, s.Now)
	}
	b.keepTime()
	if b.waiting = s.Now < b.due; !b.waiting {
		err = b.proceed(ctx, first)
		b.left = len(s.Pending) > len(b.started)
	}
	b.inOrder()
	p.Stats.Jobs = len(p.Decisions)
	return err
}

// keepTime has passes follow each other by the interval as long as jobs wait, whatever comes or
// goes. A pass that leaves a job counts as a change itself (backfill_agent and _more_work of
// backfill.c). Passes between in which nothing has changed are left out.
func (b *Backfill) keepTime() {
	if every := b.opt.Interval; every > 0 && b.left && !b.pass.under && b.s.Now > b.due {
		b.due += (b.s.Now - b.due + every - 1) / every * every
	}
}

// Again implements [Paced].
func (b *Backfill) Again() int64 {
	if b.waiting {
		return b.due
	}
	return 0
}

// Slurm's defaults: how long a pass of backfill holds the locks, and gives them away.
const (
	yieldInterval = 2 * time.Second
	yieldSleep    = 500 * time.Millisecond
)

// mainLoop starts jobs in order, and returns the index of the first that waits. As in _schedule of
// job_scheduler.c a job that waits keeps from those behind it all nodes of its partition, which are
// those that it may use, and no others: fail_by_part.
func (b *Backfill) mainLoop() (first int, err error) {
	first = len(b.s.Pending)
	b.open, b.begun = nil, b.begun[:0]
	for i, j := range b.s.Pending {
		if b.open != nil && !overlapMasks(b.open, j.Eligible) {
			continue
		}
		segs, ok, err := b.tryNow(j, b.open)
		if err != nil {
			return 0, fmt.Errorf("job %s: %w", j.ID, err)
		}
		if ok {
			if first < i {
				b.begun = append(b.begun, i)
			}
			if err := b.start(i, segs); err != nil {
				return 0, err
			}
			continue
		}
		why, err := b.never(j)
		switch {
		case err != nil:
			return 0, err
		case why != nil && first < i: // left to backfill
			continue
		case why != nil:
			b.decide(core.Decision{Job: i, Reason: why.Error()})
			continue
		case first > i:
			first, b.head = i, len(b.p.Decisions)
			b.decide(core.Decision{Job: i, Reason: ReasonResources})
		}
		if b.behind != nil || !b.close(j.Eligible) {
			return first, nil
		}
	}
	return first, nil
}

// close keeps nodes from the jobs behind, and reports whether others are left.
func (b *Backfill) close(nodes nodeset.Mask) (left bool) {
	if nodes == nil {
		return false
	}
	if b.open == nil {
		b.upNodes()
		b.open = append(b.opened[:0], b.up...)
		b.opened = b.open
	}
	for w := range b.open {
		b.open[w] &^= nodes.Word(w)
		left = left || b.open[w] != 0
	}
	return left
}

func overlapMasks(a, b nodeset.Mask) bool {
	for w := range a {
		if a[w]&b.Word(w) != 0 {
			return true
		}
	}
	return false
}

// inOrder puts the decisions in the order of the jobs.
func (b *Backfill) inOrder() {
	if len(b.begun) > 0 {
		slices.SortFunc(b.p.Decisions, func(x, y core.Decision) int { return cmp.Compare(x.Job, y.Job) })
	}
}

// proceed begins a pass of backfill behind the job at index first, or goes on with one unless
// jobs have come or gone.
func (b *Backfill) proceed(ctx context.Context, first int) error {
	p := &b.pass
	if p.under && (p.pending != len(b.s.Pending) || p.running != len(b.s.Running)) {
		p.under = false
		b.due += b.opt.Interval
		if b.waiting = b.s.Now < b.due; b.waiting {
			return nil
		}
	}
	if !p.under {
		b.begin(first)
	}
	return b.backfill(ctx, first)
}

// begin makes ready for a pass from the job at index first on.
func (b *Backfill) begin(first int) {
	reach := min(len(b.s.Pending), first+b.opt.MaxJobTest)
	for _, i := range b.begun { // in order
		if i < reach && reach < len(b.s.Pending) {
			reach++
		}
	}
	end := reach
	b.fit.ready = false
	if !b.opt.Estimates && !b.opt.Plain {
		for end > first && (b.hasBegun(end-1) || !b.mayStart(b.s.Pending[end-1])) {
			end-- // no start depends on what is reserved from here on
		}
	}
	b.pass = pass{began: b.s.Now, next: first, end: end, reach: reach}
	if end > first {
		b.upNodes()
		b.space.reset(b.s.Now, b.opt.Resolution, b.opt.Window, b.up)
	}
}

// backfill is _attempt_backfill, as far as it goes before it gives the locks away.
func (b *Backfill) backfill(ctx context.Context, first int) error {
	p := &b.pass
	to := p.reach
	if b.opt.Test > 0 {
		to = min(to, p.next+int((yieldInterval+b.opt.Test-1)/b.opt.Test))
	}
	b.fit.ready = false
	clear(b.blocked)
	over, err := b.tests(ctx, first, p.next, min(to, p.end))
	if err != nil {
		return err
	}
	p.took += time.Duration(to-p.next) * b.opt.Test
	if p.under = !over && to < p.reach && p.took < time.Duration(b.opt.Interval)*time.Second; p.under {
		p.took += yieldSleep
		p.next, p.end, p.reach = to-b.startedBefore(to), p.end-b.startedBefore(p.end), p.reach-b.startedBefore(p.reach)
		p.pending, p.running = len(b.s.Pending)-len(b.started), len(b.s.Running)+len(b.started)
	}
	b.due = p.began + int64((p.took+time.Second-1)/time.Second)
	if b.waiting = p.under; !p.under {
		b.due += b.opt.Interval
	}
	return nil
}

// startedBefore is how many jobs before index i have been started, by the main scheduler too: they
// leave the queue.
func (b *Backfill) startedBefore(i int) (n int) {
	for k := range b.p.Decisions {
		if d := &b.p.Decisions[k]; d.Start && d.Job < i {
			n++
		}
	}
	return n
}
