// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/place"
)

// awards is the last stage of a cycle: it turns the winners into decisions.
type awards struct {
	opts *AuctionOptions
	won  []int32 // by job of the window: which of the winners it is, or -1
	left leftovers
}

// sums are the worth of what starts, and the bound on it.
type sums struct{ objective, bound float64 }

// decide turns the winners into decisions, gives what is left over to jobs that
// lost, and checks the whole by allocating it.
func (a *awards) decide(s *Snapshot, in *stages, c *clock, p *Plan) error {
	space := &in.reservations.space
	if in.preemption.on {
		if err := in.preemption.settle(in); err != nil {
			return err
		}
		space = &in.preemption.space
	}
	a.left.reset(in, space, c)
	if in.reservations.on {
		in.reservations.claims.restart(s.Nodes)
	}
	if err := a.takeWinners(in); err != nil {
		return err
	}
	m, result, book := &in.model, &in.winners.result, &in.bidding.book
	x := sums{m.Objective(result.Value), m.Objective(result.Bound)}
	if in.preemption.on {
		x = in.preemption.sums(m, result.Bound)
	}
	for j := range in.window.jobs {
		if err := a.decideJob(j, in, p); err != nil {
			return err
		}
	}
	seated := a.left.added
	err := a.left.fillOthers(s, p)
	if in.window.scarce.ranges {
		err = cmp.Or(err, a.left.fillFewer(s, p))
	}
	if err = cmp.Or(err, a.left.fillKept(s, p)); err != nil {
		return err
	}
	added, beside := a.left.added, a.left.added-seated
	p.Stats.GlobalBound = m.boundAll(&in.window, &in.bidding.gen) + beside
	if in.preemption.on {
		p.Stats.GlobalBound = m.boundAll(&in.window, &in.preemption.bound) - in.preemption.prices(m) + beside
		in.preemption.list(p)
	}
	p.Objective, p.Bound = x.objective+added, min(x.bound+added, p.Stats.GlobalBound)
	p.Stats.Jobs, p.Stats.Bids, p.Stats.BidClasses = len(in.window.jobs), len(book.Bids), book.NodeSets
	p.Stats.Rows, p.Stats.Entries = m.Groups()+len(m.Cap), len(m.Row)
	p.Stats.Status, p.Stats.Work = result.Status.String(), result.Work
	return nil
}

// takeWinners notes the winners, and takes what they get from what is left.
func (a *awards) takeWinners(in *stages) error {
	a.won = a.won[:0]
	for range in.window.jobs {
		a.won = append(a.won, -1)
	}
	for i, b := range in.winners.result.Chosen {
		bid := &in.bidding.book.Bids[b]
		if int(bid.Job) >= len(in.window.variants) {
			continue // a running job
		}
		j := in.window.jobOf(bid)
		a.won[j] = int32(i)
		v := &in.window.variants[bid.Job]
		if err := a.left.rest.Take(&v.Spec, in.winners.by.Allocation(i), v.Crosses); err != nil {
			return fmt.Errorf("the solver's choice is not feasible: job %s: %w", in.window.jobs[j].ID, err)
		}
		if in.preemption.on {
			continue
		}
		if err := in.reservations.starts(&v.Spec, in.winners.by.Allocation(i), in.window.jobs[j].TimeLimit); err != nil {
			return fmt.Errorf("job %s: %w", in.window.jobs[j].ID, err)
		}
	}
	return nil
}

// decideJob decides on job j of the window.
func (a *awards) decideJob(j int, in *stages, p *Plan) error {
	d := &p.Decisions[in.window.index[j]] // so far these are in queue order, an element a job
	if w := a.won[j]; w >= 0 {
		a.decideWinner(int(w), in, d, p)
		return nil
	}
	kept := in.reservations.guarded[j]
	if !kept.reserved && a.opts.Drafts > 0 {
		w := &in.window
		err := a.left.fill(w.jobs[j], int(w.variantStart[j]), int(w.variantStart[j+1]), d, p)
		if err != nil || d.Start {
			return err
		}
	}
	d.Kept, d.Expected = kept.reserved, kept.start
	d.waits(a.whyNot(j, in, d.Why == TimedOut))
	return nil
}

// decideWinner starts the w-th winner's job. A layout that the program has chosen for an offer need
// not be the offer's: then it is a bid like others.
func (a *awards) decideWinner(w int, in *stages, d *Decision, p *Plan) {
	b := in.winners.result.Chosen[w]
	bid := &in.bidding.book.Bids[b]
	d.Start, d.Class, d.Alternative = true, bid.Class, int(in.window.ways[bid.Job].alternative)
	a.left.grace = 0
	spec := &in.window.variants[bid.Job].Spec
	d.Segs, d.Uses, d.PartUses = p.keep(in.winners.by.Allocation(w)), spec.More(), p.keepUses(spec.Parts)
	if bid.Class == market.ClassS && !slices.Equal(d.Segs, in.bidding.book.Allocation(int(b))) {
		d.Class = in.bidding.gen.Describe(&in.window.variants[bid.Job], d.Segs).Class
	}
}

// whyNot is why job j of the window waits. untried: there was no time to try what the winners left.
func (a *awards) whyNot(j int, in *stages, untried bool) verdict {
	silent := in.bidding.silent(&in.window, j)
	quota := in.reservations.guarded[j].quota - 1
	if quota < 0 {
		quota = lackingOf(a.left.rest.Quotas(), in.window.variantsOf(j))
	}
	switch {
	case quota >= 0:
		return in.window.quotas.verdict(quota)
	case in.reservations.guarded[j].reserved:
		return blocked
	case silent && !in.bidding.unasked(&in.window, j):
		return a.opts.noPlace()
	case silent, untried, in.winners.unproven && a.opts.Drafts == 0:
		// without drafts left-overs are not given out
		return undecided
	}
	return lost
}

// lackingOf is the first quota that has too little left for a job in all of its
// ways; -1 if none has.
func lackingOf(q *place.Quotas, ways []market.Variant) int {
	first := -1
	for k := range ways {
		if !ways[k].Spec.Valid() {
			continue
		}
		quota := q.Lacks(&ways[k].Spec, ways[k].Crosses)
		if quota < 0 {
			return -1
		}
		if first < 0 {
			first = quota
		}
	}
	return first
}
