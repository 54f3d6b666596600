// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"fmt"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/answers"
	"github.com/aucsched/aucsched/nodeset"
)

// leftovers gives out what the winners leave, job after job.
type leftovers struct {
	in     *stages // of this cycle
	clock  *clock
	rest   bids.Rest // what is left
	placer bids.Placer
	raised []nodeset.Segment // scratch
	beyond bids.Request      // of a job behind the window
	failed map[equalKey]bool // requests of such that found nothing
	grace  int               // vain attempts to place a job that the cycle has, however late it is
	over   bool              // the time to place jobs
}

// maxGrace is how often a late cycle tries in vain to start a job, before it gives up. With fewer, a few jobs that
// find no place would keep those behind them from starting for ever.
const maxGrace = 64

// reset begins with all that is free.
func (f *leftovers) reset(in *stages, c *clock) {
	f.in, f.clock = in, c
	f.rest.Reset(&in.reservations.space)
	f.grace, f.over = maxGrace, false
	if len(in.reservations.planner.reserved) > 0 { // the walk over the queue has decided on a job
		f.grace = 0
	}
	if f.failed == nil {
		f.failed = make(map[equalKey]bool)
	}
	clear(f.failed)
}

// noTime reports whether it is too late to try one more job on what the winners left. A cycle that has
// started none has its grace first.
func (f *leftovers) noTime() bool {
	f.over = f.over || f.grace <= 0 && f.clock.past(late)
	return f.over
}

// fillAny starts job j of the window on what the winners left, in the first of its ways in which
// that is possible, or says that there is no time to try.
func (f *leftovers) fillAny(j int, d *Decision, p *Plan) (worth float64, err error) {
	w := &f.in.window
	for k := w.askStart[j]; k < w.askStart[j+1] && !d.Start && err == nil; k++ {
		if f.noTime() {
			d.waits(undecided)
			break
		}
		d.Alternative = int(w.ways[k].alternative)
		worth, err = f.fill(w.jobs[j], &w.asks[k], d, p)
	}
	if !d.Start {
		d.Alternative = 0
	}
	return worth, err
}

// fill starts a job on what the winners left, if that is possible. It returns what that
// adds to the objective, which the bound has to be raised by as well.
func (f *leftovers) fill(job *Job, ask *bids.Ask, d *Decision, p *Plan) (worth float64, err error) {
	from := len(p.segs)
	view := f.rest.View(ask.Crosses)
	for g := min(max(ask.MinGPUs, ask.MaxGPUs), view.MaxGPUs()); g >= ask.MinGPUs; g-- {
		segs, ok := f.placer.PlaceTogether(p.segs, view, ask.Request, g, ask.Blocks)
		if p.segs = segs; !ok {
			continue
		}
		if ask.MixedGPUs {
			f.raised = bids.RaiseGPUs(f.raised[:0], view, ask.Request, p.segs[from:])
			p.segs = append(p.segs[:from], f.raised...)
		}
		d.Segs = p.segs[from:len(p.segs):len(p.segs)]
		if err := f.rest.Take(d.Segs, ask.Crosses); err != nil {
			return 0, fmt.Errorf("left-overs: %w", err)
		}
		bid, err := f.in.bidding.gen.Describe(ask, d.Segs)
		if err != nil {
			return 0, fmt.Errorf("left-overs: %w", err)
		}
		d.Start, d.Class, f.grace = true, bid.Class, 0
		preference := f.in.model.build.Worth(&bids.Ask{}, &bid)
		return f.in.window.weight(job) + f.in.model.Objective(preference), nil
	}
	f.grace--
	return 0, nil
}

// fillBeyond gives what is left over to jobs behind the window, in queue order. A
// request that found no place finds none later either, for there is ever less. Where the time is over it says so, also
// of jobs that the window would have had with more time.
func (f *leftovers) fillBeyond(s *Snapshot, o *AuctionOptions, p *Plan) (worth float64, err error) {
	w := &f.in.window
	for i := w.next; i < len(s.Pending) && i-w.next < max(o.Depth, w.wanting); i++ {
		cores, _ := f.rest.View(0).SumFree()
		if cores == 0 && i-w.next >= w.wanting {
			break
		}
		d := Decision{Job: i}
		if cores == 0 || i-w.next >= o.Depth || f.noTime() {
			d.waits(undecided)
			p.Decisions = append(p.Decisions, d)
			continue
		}
		job := s.Pending[i]
		if o.ContiguousOnly {
			job = contiguous(job)
		}
		added, err := f.fillJobBeyond(s, job, &d, p)
		if err != nil {
			return 0, fmt.Errorf("job %s: %w", job.ID, err)
		}
		worth += added
		if !d.Start {
			d.waits(o.noPlace())
			if why := neverRuns(&w.answers, job); why != "" {
				d.waits(verdict{Never, why})
			}
		}
		p.Decisions = append(p.Decisions, d)
	}
	return worth, nil
}

// fillJobBeyond is fillAny for a job behind the window.
func (f *leftovers) fillJobBeyond(s *Snapshot, job *Job, d *Decision, p *Plan) (worth float64, err error) {
	for k := range min(job.Ways(), 1+MaxAlternatives) {
		d.Alternative = k
		r, _ := job.Way(k)
		if preferred, ok := f.in.window.prefer.first(job, &r); ok {
			if worth, err = f.fillBeyondAs(s, job, &preferred, d, p); d.Start || err != nil {
				return worth, err
			}
		}
		if worth, err = f.fillBeyondAs(s, job, &r, d, p); d.Start || err != nil {
			return worth, err
		}
	}
	d.Alternative = 0
	return 0, nil
}

// fillBeyondAs is fillJobBeyond for one of the job's requests.
func (f *leftovers) fillBeyondAs(s *Snapshot, job *Job, r *bids.Request, d *Decision, p *Plan) (worth float64, err error) {
	f.beyond = *r
	key := equalKey{answers.KeyOf(r), job.TimeLimit}
	if f.failed[key] {
		return 0, nil
	}
	ask := bids.Ask{
		Request: &f.beyond, Priority: max(job.Priority, 1),
		Crosses: f.in.reservations.crosses(s, job), Blocks: f.in.window.blocksOf(s, r),
	}
	if worth, err = f.fill(job, &ask, d, p); err == nil && !d.Start {
		f.failed[key] = true
	}
	return worth, err
}
