// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// leftovers gives out what the winners leave, job after job.
type leftovers struct {
	in     *stages // of this cycle
	clock  *clock
	rest   place.Residual // what is left
	placer place.Placer
	raised []nodeset.Segment // scratch
	failed map[equalKey]bool // requests of such that found nothing
	grace  int               // vain attempts to place a job that the cycle has, however late it is
	over   bool              // the time to place jobs
}

// maxGrace is how often a late cycle tries in vain to start a job, before it gives up. With fewer,
// a few jobs that find no place would keep those behind them from starting for ever.
const maxGrace = 64

// reset begins with all that the winners and those behind them may take.
func (f *leftovers) reset(in *stages, space *market.Space, c *clock) {
	f.in, f.clock = in, c
	f.rest.Reset(space.Now, space.Left)
	f.rest.Limit(&space.Quotas)
	f.grace, f.over = maxGrace, in.window.opts.off.Leftovers
	if len(in.reservations.claims.reserved) > 0 { // the walk over the queue has decided on a job
		f.grace = 0
	}
	if f.failed == nil {
		f.failed = make(map[equalKey]bool)
	}
	clear(f.failed)
}

// noTime reports whether it is too late to try one more job on what the winners left. A cycle that
// has started none has its grace first.
func (f *leftovers) noTime() bool {
	f.over = f.over || f.grace <= 0 && f.clock.past(late)
	return f.over
}

// fillAny starts job j of the window on what the winners left, in the first of its ways in which
// that is possible, or says that there is no time to try.
func (f *leftovers) fillAny(j int, d *Decision, p *Plan) (worth float64, err error) {
	w := &f.in.window
	for k := w.variantStart[j]; k < w.variantStart[j+1] && !d.Start && err == nil; k++ {
		if f.noTime() {
			d.waits(undecided)
			break
		}
		d.Alternative = int(w.ways[k].alternative)
		worth, err = f.fill(w.jobs[j], &w.variants[k], d, p)
	}
	if !d.Start {
		d.Alternative = 0
	}
	return worth, err
}

// fill starts a job on what the winners left, if that is possible. It returns what that
// adds to the objective, which the bound has to be raised by as well.
func (f *leftovers) fill(job *Job, v *market.Variant, d *Decision, p *Plan) (worth float64, err error) {
	if v.Spec.Parts != nil {
		return f.fillParts(job, v, d, p)
	}
	from := len(p.segs)
	view, gpus := f.rest.For(&v.Spec, v.Crosses), v.Spec.GPUs.PerNode
	f.placer.By(f.in.bidding.prices, job.TimeLimit)
	for g := min(gpus.Max, view.MaxGPUs()); g >= gpus.Min; g-- {
		spec := v.Spec
		if !f.rest.Quotas().Narrow(&spec, v.Crosses, g) {
			continue
		}
		segs, ok := f.placer.Place(p.segs, view, &spec, g)
		if p.segs = segs; !ok {
			continue
		}
		if v.Spec.MixedGPUs {
			f.raised = place.RaiseGPUs(f.raised[:0], p.segs[from:], view.FreeGPUs(), gpus.Max)
			if f.rest.Quotas().Room(&v.Spec, f.raised, v.Crosses) {
				p.segs = append(p.segs[:from], f.raised...)
			}
		}
		return f.give(job, v, from, d, p)
	}
	f.grace--
	return 0, nil
}

// fillBeyond gives what is left over to jobs behind the window, in queue order. A request that
// found no place finds none later either, for there is ever less. Where the time is over it says
// so, also of jobs that the window would have had with more time.
func (f *leftovers) fillBeyond(s *Snapshot, o *AuctionOptions, p *Plan) (worth float64, err error) {
	w := &f.in.window
	behind := s.Pending[w.next:min(w.next+max(o.Depth, w.wanting), len(s.Pending))]
	for n, job := range behind {
		cores, _ := f.rest.View(0).SumFree()
		full := cores == 0 && !job.mayBeCoreless()
		if full && n >= w.wanting && !slices.ContainsFunc(behind[n+1:], (*Job).mayBeCoreless) {
			break
		}
		d := Decision{Job: w.next + n}
		if full && n < w.wanting || n >= o.Depth || f.noTime() {
			d.waits(undecided)
			p.Decisions = append(p.Decisions, d)
			continue
		}
		job = w.asks(job, false)
		if w.normal.read(job); o.ContiguousOnly {
			w.normal.contiguous()
		}
		added := 0.0
		if !full {
			if added, err = f.fillJobBeyond(s, job, &d, p); err != nil {
				return 0, fmt.Errorf("job %s: %w", job.ID, err)
			}
		}
		worth += added
		if !d.Start {
			f.waitsBeyond(job, &d, o)
		}
		p.Decisions = append(p.Decisions, d)
	}
	return worth, nil
}

// waitsBeyond says why a job that was read last, and has no seat in the window, waits.
func (f *leftovers) waitsBeyond(job *Job, d *Decision, o *AuctionOptions) {
	w := &f.in.window
	d.waits(o.noPlace())
	if why := w.normal.never(&w.answers, job); why != "" {
		d.waits(verdict{why: Never, reason: why})
	} else if quota := f.lacking(w.normal.specs); quota >= 0 {
		d.waits(w.quotas.verdict(quota))
	}
}

// lacking is the first quota that has too little left for all valid ones of specs; -1 if none has.
func (f *leftovers) lacking(specs []place.Spec) int {
	first := -1
	for k := range specs {
		if !specs[k].Valid() {
			continue
		}
		quota := f.rest.Quotas().Lacks(&specs[k], 0)
		if quota < 0 {
			return -1
		}
		if first < 0 {
			first = quota
		}
	}
	return first
}

// fillPassed gives what is left over to jobs that have no seat in the window for their quotas'
// sake, as fillBeyond does, before it.
func (f *leftovers) fillPassed(s *Snapshot, o *AuctionOptions, p *Plan) (worth float64, err error) {
	w := &f.in.window
	for n, at := range w.passed {
		d := &p.Decisions[at]
		job := s.Pending[d.Job]
		if n >= o.Depth {
			d.waits(lost)
			continue
		}
		if f.noTime() {
			d.waits(undecided)
			continue
		}
		job = w.asks(job, false)
		if w.normal.read(job); o.ContiguousOnly {
			w.normal.contiguous()
		}
		added, err := f.fillJobBeyond(s, job, d, p)
		if err != nil {
			return 0, fmt.Errorf("job %s: %w", job.ID, err)
		}
		if worth += added; !d.Start {
			f.waitsBeyond(job, d, o)
		}
	}
	return worth, nil
}

// fillJobBeyond is fillAny for the job behind the window that was read last.
func (f *leftovers) fillJobBeyond(s *Snapshot, job *Job, d *Decision, p *Plan) (worth float64, err error) {
	w := &f.in.window
	for k := range w.normal.specs {
		d.Alternative = k
		if preferred, ok := w.prefer.first(job, &w.normal.specs[k]); ok {
			if worth, err = f.fillBeyondAs(s, job, preferred, d, p); d.Start || err != nil {
				return worth, err
			}
		}
		if worth, err = f.fillBeyondAs(s, job, w.normal.specs[k], d, p); d.Start || err != nil {
			return worth, err
		}
	}
	d.Alternative = 0
	return 0, nil
}

// fillBeyondAs is fillJobBeyond for one of the job's requests.
func (f *leftovers) fillBeyondAs(s *Snapshot, job *Job, spec place.Spec, d *Decision, p *Plan) (worth float64, err error) {
	key := equalKey{spec, job.TimeLimit}
	if f.failed[key] {
		return 0, nil
	}
	spec.Blocks = int32(f.in.window.blocksOf(s, &spec))
	v := market.Variant{Spec: spec, Priority: max(job.Priority, 1), Crosses: f.in.reservations.crosses(s, job)}
	if worth, err = f.fill(job, &v, d, p); err == nil && !d.Start {
		f.failed[key] = true
	}
	return worth, err
}
