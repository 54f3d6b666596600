package core

import (
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

// decide turns the winners into decisions, gives what is left over to jobs that
// lost, and checks the whole by allocating it.
func (a *Auction) decide(s *Snapshot, p *Plan) error {
	a.chosen = a.chosen[:0]
	for range a.window {
		a.chosen = append(a.chosen, -1)
	}
	a.rest.Reset(&a.space)
	objective, bound := a.model.Objective(a.result.Worth), a.model.Objective(a.result.Bound)
	for i, b := range a.result.Chosen {
		j := a.jobOf(b)
		a.chosen[j] = int32(i)
		if err := a.rest.Take(a.won(i), a.asks[a.book.Bids[b].Job].Crosses); err != nil {
			return fmt.Errorf("the solver's choice is not feasible: job %s: %w", a.jobs[j].ID, err)
		}
	}
	for j, i := range a.window { // decisions so far are in queue order, an element a job
		d := &p.Decisions[i]
		if w := a.chosen[j]; w >= 0 {
			if err := a.decideWinner(int(w), d, p); err != nil {
				return err
			}
			continue
		}
		if a.guarded[j].start == 0 && a.opts.Drafts > 0 {
			added, err := a.fillAny(j, d, p)
			if err != nil {
				return err
			}
			if objective, bound = objective+added, bound+added; d.Start {
				continue
			}
		}
		d.Expected = a.guarded[j].start
		d.waits(a.whyNot(j, d.Why == TimedOut))
	}
	added, err := a.fillBeyond(s, p)
	if err != nil {
		return err
	}
	p.Stats.BoundAll = a.boundAll() + added
	p.Objective, p.Bound = objective+added, min(bound+added, p.Stats.BoundAll)
	p.Stats.Jobs, p.Stats.Bids, p.Stats.BidClasses = len(a.window), len(a.book.Bids), a.book.NodeSets
	p.Stats.Rows, p.Stats.Entries = a.model.Rows(), len(a.model.Row)
	p.Stats.Status, p.Stats.Work = a.result.Status.String(), a.spent
	return nil
}

// decideWinner starts the w-th winner's job. A layout that the program has chosen for an offer need not be the offer's: then
// it is a bid like others.
func (a *Auction) decideWinner(w int, d *Decision, p *Plan) error {
	b := a.result.Chosen[w]
	bid := &a.book.Bids[b]
	d.Start, d.Class, d.Alternative = true, bid.Class, int(a.ways[bid.Job].alternative)
	a.grace = 0
	d.Segs = p.keep(a.won(w))
	if a.layouts == nil || bid.Class != bids.ClassS || slices.Equal(d.Segs, a.book.Allocation(int(b))) {
		return nil
	}
	described, err := a.gen.Describe(&a.asks[bid.Job], d.Segs)
	d.Class = described.Class
	return err
}

// fillAny starts job j of the window on what the winners left, in the first of its ways in which
// that is possible, or says that there is no time to try.
func (a *Auction) fillAny(j int, d *Decision, p *Plan) (worth float64, err error) {
	for k := a.askStart[j]; k < a.askStart[j+1] && !d.Start && err == nil; k++ {
		if a.noTimeToFill() {
			d.waits(undecided)
			break
		}
		d.Alternative = int(a.ways[k].alternative)
		worth, err = a.fill(a.jobs[j], &a.asks[k], d, p)
	}
	if !d.Start {
		d.Alternative = 0
	}
	return worth, err
}

// maxGrace is how often a late cycle tries in vain to start a job, before it gives up. With fewer, a few jobs that
// find no place would keep those behind them from starting for ever.
const maxGrace = 64

// noTimeToFill reports whether it is too late to try one more job on what the winners left. A cycle that has started
// none has its grace first.
func (a *Auction) noTimeToFill() bool {
	a.over = a.over || a.grace <= 0 && a.late != nil && a.late()
	return a.over
}

// fill starts a job on what the winners left, if that is possible. It returns what that
// adds to the objective, which the bound has to be raised by as well.
func (a *Auction) fill(job *Job, ask *bids.Ask, d *Decision, p *Plan) (worth float64, err error) {
	from := len(p.segs)
	view := a.rest.View(ask.Crosses)
	for g := min(max(ask.MinGPUs, ask.MaxGPUs), view.MaxGPUs()); g >= ask.MinGPUs; g-- {
		segs, ok := a.fillers.PlaceTogether(p.segs, view, ask.Request, g, ask.Blocks)
		if p.segs = segs; !ok {
			continue
		}
		if ask.MixedGPUs {
			a.raised = bids.RaiseGPUs(a.raised[:0], view, ask.Request, p.segs[from:])
			p.segs = append(p.segs[:from], a.raised...)
		}
		d.Segs = p.segs[from:len(p.segs):len(p.segs)]
		if err := a.rest.Take(d.Segs, ask.Crosses); err != nil {
			return 0, fmt.Errorf("left-overs: %w", err)
		}
		bid, err := a.gen.Describe(ask, d.Segs)
		if err != nil {
			return 0, fmt.Errorf("left-overs: %w", err)
		}
		d.Start, d.Class, a.grace = true, bid.Class, 0
		preference := a.build.Worth(&bids.Ask{}, &bid)
		return a.weight(job) + a.model.Objective(preference), nil
	}
	a.grace--
	return 0, nil
}

// fillBeyond gives what is left over to jobs behind the window, in queue order. A
// request that found no place finds none later either, for there is ever less. Where the time is over it says so, also
// of jobs that the window would have had with more time.
func (a *Auction) fillBeyond(s *Snapshot, p *Plan) (worth float64, err error) {
	clear(a.failed)
	for i := a.next; i < len(s.Pending) && i-a.next < max(a.opts.Depth, a.wanting); i++ {
		cores, _ := a.rest.View(0).SumFree()
		if cores == 0 && i-a.next >= a.wanting {
			break
		}
		d := Decision{Job: i}
		if cores == 0 || i-a.next >= a.opts.Depth || a.noTimeToFill() {
			d.waits(undecided)
			p.Decisions = append(p.Decisions, d)
			continue
		}
		job := s.Pending[i]
		if a.opts.ContiguousOnly {
			job = contiguous(job)
		}
		added, err := a.fillJobBeyond(s, job, &d, p)
		if err != nil {
			return 0, fmt.Errorf("job %s: %w", job.ID, err)
		}
		worth += added
		if !d.Start {
			d.waits(a.noPlace())
			if why := a.never.checkWays(job); why != "" {
				d.waits(verdict{Never, why})
			}
		}
		p.Decisions = append(p.Decisions, d)
	}
	return worth, nil
}

// fillJobBeyond is fillAny for a job behind the window.
func (a *Auction) fillJobBeyond(s *Snapshot, job *Job, d *Decision, p *Plan) (worth float64, err error) {
	for k := range min(job.Ways(), 1+MaxAlternatives) {
		d.Alternative = k
		r, _ := job.Way(k)
		if preferred, ok := a.prefer.first(job, &r); ok {
			if worth, err = a.fillBeyondAs(s, job, &preferred, d, p); d.Start || err != nil {
				return worth, err
			}
		}
		if worth, err = a.fillBeyondAs(s, job, &r, d, p); d.Start || err != nil {
			return worth, err
		}
	}
	d.Alternative = 0
	return 0, nil
}

// fillBeyondAs is fillJobBeyond for one of the job's requests.
func (a *Auction) fillBeyondAs(s *Snapshot, job *Job, r *bids.Request, d *Decision, p *Plan) (worth float64, err error) {
	a.beyond = *r
	key := equalKey{keyOf(r), job.TimeLimit}
	if a.failed[key] {
		return 0, nil
	}
	ask := bids.Ask{Request: &a.beyond, Priority: max(job.Priority, 1), Crosses: a.crosses(s, job), Blocks: a.blocksOf(s, r)}
	if worth, err = a.fill(job, &ask, d, p); err == nil && !d.Start {
		a.failed[key] = true
	}
	return worth, err
}

// whyNot is why job j of the window waits. untried: there was no time to try what the winners left.
func (a *Auction) whyNot(j int, untried bool) verdict {
	noBids := a.book.JobStart[a.askStart[j]] == a.book.JobStart[a.askStart[j+1]]
	switch {
	case a.guarded[j].start > 0:
		return blocked
	case noBids && !a.unasked(j):
		return a.noPlace()
	case noBids, untried, a.unproven && a.opts.Drafts == 0: // without drafts left-overs are not given out
		return undecided
	}
	return lost
}

// keep copies segments into the plan's own memory.
func (p *Plan) keep(segs []nodeset.Segment) []nodeset.Segment {
	from := len(p.segs)
	p.segs = append(p.segs, segs...)
	return p.segs[from:len(p.segs):len(p.segs)]
}
