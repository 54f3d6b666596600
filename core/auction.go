// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/aucsched/aucsched/internal/cycle"
	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/ipmodel/native"
)

// Auction is the policy "auction2": AUCSCHED2 with whole-window drafts and reservations. A cycle
// goes through the stages in the order of the fields; a stage reads only earlier ones.
type Auction struct {
	// Determiner chooses the winners. Read it only.
	Determiner market.Determiner

	entry   cycle.Entry
	checker checker
	opts    AuctionOptions
	slack   cycle.Slack // what is left of a cycle's time to what comes after its deadline
	clock   clock
	stages
	awards awards // and what is left over, as decisions
}

// NewAuction returns the policy with the given solver; nil means the native one. The error is an
// [*OptionError]: the first setting that is out of range.
func NewAuction(o AuctionOptions, solver ipmodel.Solver) (*Auction, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	o.Drafts = min(o.Drafts, o.MaxBidsPerJob)
	if solver == nil {
		solver = native.New()
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	a := &Auction{opts: o}
	a.window.opts, a.reservations.opts, a.bidding.opts, a.winners.opts = &a.opts, &a.opts, &a.opts, &a.opts
	a.preemption.opts, a.planning.opts = &a.opts, &a.opts
	a.reservations.claims.booked = &a.window.normal.booked
	a.model.build.Merge = true
	a.winners.by = &packing{solver: solver}
	if o.Determiner != nil {
		a.winners.by = o.Determiner(solver)
	}
	a.Determiner = a.winners.by
	return a, nil
}

// Name returns "auction2", or the Determiner's name.
func (a *Auction) Name() string { return a.winners.by.Name() }

// Decide implements Policy. After its deadline it still goes on until one job starts or has a
// reservation, for at most 64 failed attempts; each alternative counts as one. Without drafts and
// depth, as in the paper, only the window's first job is sure to be decided on.
func (a *Auction) Decide(ctx context.Context, s *Snapshot, l Limits, p *Plan) error {
	if a.winners.by == nil {
		return errNotNew
	}
	if s == nil || p == nil {
		return errNoPlan
	}
	check := func() error { return a.checker.check(s) }
	return a.entry.Run(ctx, p.reset, check, func() error { return a.cycle(ctx, s, l, p) })
}

func (a *Auction) cycle(ctx context.Context, s *Snapshot, l Limits, p *Plan) error {
	begin := a.opts.Clock()
	a.opts.off = cycle.Off(ctx)
	l.Deadline = a.slack.TakeOff(begin, l.Deadline)
	a.clock.start(ctx, a.opts.Clock, l.Deadline, begin, a.slack.Left())
	defer a.clock.end()
	s = a.preemption.begin(s, &a.window, p)
	a.window.reset(s, a.preemption.classes)
	a.planning.jobs = a.planning.jobs[:0]
	if p.Pace = s.Pace; a.planning.on() {
		p.Pace = a.pacing.look(s, a.window.machine)
	}
	a.window.open(s, &a.clock, p)
	a.reservations.reset(s, &a.window)
	open, err := a.bid(s, l.Seed)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return err
	}
	if !open {
		a.blockAll(s, p)
	} else if err := a.choose(ctx, s, l, begin, p); err != nil {
		return err
	}
	a.preemption.finish(&a.window, p)
	p.Stats.Late = a.clock.cut || (open && a.winners.unproven)
	p.countTimedOut()
	end := a.opts.Clock()
	p.Stats.Elapsed = end.Sub(begin)
	a.slack.Learn(end)
	return nil
}

// bid makes the window's bids and its model. It reports false when there is nothing
// to decide, because nothing is free or nothing that is free suits any job.
func (a *Auction) bid(s *Snapshot, seed uint64) (open bool, err error) {
	w, r, b := &a.window, &a.reservations, &a.bidding
	whole := a.opts.Estimates || a.preemption.classes != 0 || len(w.passed) > 0 // however little is free
	if !whole && !w.anyFree(s) {
		b.book.Asked = len(w.variants)
		return false, nil
	}
	guarded := a.opts.Reservations > 0 && len(w.variants) > 0
	if err := a.checker.holdings(s); err != nil {
		return false, err
	}
	b.price(s, w)
	r.claims.prices = b.prices
	needsBids := w.next == len(s.Pending) && !whole
	if guarded { // the walk over the queue asks for no more
		r.claims.reset(s, w.quotas.book.Unit)
		b.make(&r.space, w.variants, market.Options{BestDraft: true, Stop: a.clock.stop(quarter)})
	}
	if !guarded || (needsBids && len(b.book.Bids) == 0) {
		b.make(&r.space, w.variants, market.Options{Stop: a.clock.stop(quarter)})
	}
	if needsBids && len(b.book.Bids) == 0 && b.book.Asked == len(w.variants) && !w.scarce.ranges {
		return false, nil
	}
	var required []bool
	if guarded {
		if a.planning.on() {
			order := a.planning.arrange(s, w, r, seed, a.clock.stop(third)) // that sets r.order
			r.order = append(r.order[:0], order...)
		} else {
			r.inRankOrder(s, w)
		}
		if err := r.walk(s, w, &b.book, a.clock.stop(half)); err != nil {
			return false, err
		}
		required = r.musts
		b.make(&r.space, w.variants, market.Options{FixedOnly: r.settled(s, w), Stop: a.clock.stop(half)})
	}
	if err := a.model.make(&r.space, w.variants, w, &b.book, required); err != nil {
		return false, fmt.Errorf("model: %w", err)
	}
	return true, nil
}

// choose has the solver choose among the bids, and turns that into decisions.
func (a *Auction) choose(ctx context.Context, s *Snapshot, l Limits, begin time.Time, p *Plan) error {
	if !l.Deadline.IsZero() { // what is left over has to be given out as well
		l.Deadline = l.Deadline.Add(-l.Deadline.Sub(begin) / solverLeaves)
	}
	if err := a.winners.find(ctx, l, &a.stages); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return a.awards.decide(s, &a.stages, &a.clock, p)
}

// find finds the winners.
func (x *winners) find(ctx context.Context, l Limits, in *stages) error {
	w, r, book, m := &in.window, &in.reservations, &in.bidding.book, &in.model
	o := ipmodel.Options{
		Deadline: l.Deadline, Now: x.opts.Clock, Seed: l.Seed, Start: book.Kept, // what the walk over the queue has kept
		Work: min(x.opts.Work, workPerEntry*int64(len(m.Row)+len(m.Value))),
	}
	x.in = market.Window{Space: &r.space, Variants: w.variants, Book: book, Fixed: &m.Model}
	if err := x.by.Determine(ctx, &x.in, o, &x.result); err != nil {
		return err
	}
	x.unproven = x.result.Status != ipmodel.Optimal && !l.Deadline.IsZero() && !x.opts.Clock().Before(l.Deadline)
	return nil
}

// solverLeaves is which part of a cycle's time the solver leaves to what comes after it. A window
// whose jobs all start can keep it busy over preferences, while more jobs wait behind.
const solverLeaves = 4

// blockAll decides a window of which no job bids: nothing suits them, or there was no
// time to see what does.
func (a *Auction) blockAll(s *Snapshot, p *Plan) {
	a.awards.left.reset(&a.stages, &a.clock)
	for j, i := range a.window.index {
		p.Decisions[i].waits(a.awards.whyNot(s, j, &a.stages, false))
	}
}

// Ended reports when the caller was done with its own work before the deadline, such as checking
// the plan, so that later cycles leave time for that. The call is optional.
func (a *Auction) Ended(at time.Time) { a.slack.Learn(at) }
