// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"slices"

	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/settings"
	"github.com/aucsched/aucsched/nodeset"
)

// open takes the first jobs of the queue that could run at all. To find that out takes its time on
// a large machine the first time; jobs for which there is none are behind the window. It has the
// first job at least, if not as many as Window before it can never run.
func (w *window) open(s *Snapshot, c *clock, p *Plan) {
	looked := 0
	for i, job := range s.Pending {
		if looked == w.opts.Window || ((looked > 0 || i >= w.opts.Window) && c.past(eighth)) {
			w.next, w.wanting = i, w.opts.Window-looked
			break
		}
		job = w.asks(job, true)
		w.normal.read(job)
		if why := w.normal.never(&w.answers, job); why != "" {
			p.Decisions = append(p.Decisions, Decision{Job: i, Reason: why, Why: Never})
			continue
		}
		w.normal.distinct(&w.answers, w.opts.ContiguousOnly)
		if why := w.unmodelled(); why != "" {
			p.Decisions = append(p.Decisions, Decision{Job: i, Reason: why, Why: Unmodelled})
			continue
		}
		w.waiting.wait(job)
		seat := 1
		if len(s.Quotas) > 0 {
			out := false
			if seat, out = w.admit(s, i, job, p); out {
				continue
			}
		}
		looked += seat
		p.Decisions = append(p.Decisions, Decision{Job: i})
		w.index, w.jobs = append(w.index, i), append(w.jobs, job)
		w.addVariants(s, job)
	}
	w.weigh()
}

// admit says for how many jobs of the window the last read job counts, the i-th of the queue, or that
// its quotas keep it out. The window is for jobs that can start: a user at his limit keeps nobody
// else out. In a window with room for all, every job that could start has one.
// The first job over each quota is in, and counts for none: a part of the quota may be kept for it.
func (w *window) admit(s *Snapshot, i int, job *Job, p *Plan) (seats int, out bool) {
	q, specs := &w.quotas, w.normal.specs
	d := Decision{Job: i}
	over := q.over(specs)
	switch {
	case over >= 0 && job.Preempts&w.stoppable != 0:
		return 1, false // it may have some of the quota given back
	case over >= 0 && w.opts.Reservations > 0 && q.isHead(over):
		return 0, false
	case over >= 0:
		d.waits(q.verdict(over))
	case len(s.Pending) > w.opts.Window && q.crowded(specs):
		w.passed = append(w.passed, len(p.Decisions))
	default:
		q.admit(specs)
		return 1, false
	}
	p.Decisions = append(p.Decisions, d)
	return 0, true
}

// unmodelled says why a Determiner's program does not know the job that was read last, or "".
func (w *window) unmodelled() string {
	switch {
	case w.opts.Determiner == nil:
	case slices.ContainsFunc(w.normal.specs, func(s place.Spec) bool { return s.Parts != nil }):
		return reasonComponents
	case slices.ContainsFunc(w.normal.specs, func(s place.Spec) bool { return s.Coreless() }):
		return reasonCoreless
	}
	return ""
}

// addVariants adds a variant for each way to meet the job that was read last.
func (w *window) addVariants(s *Snapshot, job *Job) {
	from := len(w.variants)
	for k := range w.normal.specs {
		spec := w.normal.specs[k]
		if !spec.Valid() {
			continue
		}
		if w.opts.Compact && spec.Parts == nil { // jobs are to stay together
			spec.Blocks = int32(w.answers.FewestBlocks(&spec))
		}
		w.variants = append(w.variants, market.Variant{
			Job: int32(len(w.variantStart) - 1), Alternative: int32(k), Spec: w.normal.now(spec, job.TimeLimit),
			Rank: len(w.variants) - from, Priority: max(job.Priority, 1), Limit: job.TimeLimit,
		})
		if k == 0 {
			w.variants[len(w.variants)-1].Offer = w.offer(s, job)
		}
	}
	for k := from; k < len(w.variants); k++ {
		w.variants[k].Of = len(w.variants) - from
	}
	w.variantStart = append(w.variantStart, int32(len(w.variants)))
}

// addRead is addVariants for a job outside the window, which runs into the first crosses reservations.
// They are taken out again with remove. It returns the first of them.
func (w *window) addRead(s *Snapshot, job *Job, crosses int) (from int) {
	from = len(w.variants)
	w.normal.distinct(&w.answers, w.opts.ContiguousOnly)
	w.addVariants(s, job)
	for k := from; k < len(w.variants); k++ {
		w.variants[k].Crosses = crosses
	}
	return from
}

// reset begins a cycle, in which running jobs of some classes may be stopped.
func (w *window) reset(s *Snapshot, stoppable uint64) {
	w.index, w.jobs = w.index[:0], w.jobs[:0]
	w.variants, w.variantStart = w.variants[:0], append(w.variantStart[:0], 0)
	w.normal.reset(s)
	if w.answers.Reset(s.Nodes) {
		w.machine = totalsOf(s.Nodes)
	}
	w.stoppable = stoppable
	w.quotas.reset(s)
	w.passed = w.passed[:0]
	w.waiting, w.scarce, w.taken = backlog{}, scarcity{}, 0
	if w.mostGPUs = s.Nodes.MaxGPUs(); w.opts.Goal != settings.NoGoal && w.opts.Reservations > 0 && !w.opts.off.Ranges {
		w.scarce = w.scarcityOf(s)
	}
	w.next, w.wanting = len(s.Pending), 0
}

// offer is what a job was offered, if it is what its first request asks for.
func (w *window) offer(s *Snapshot, job *Job) []nodeset.Segment {
	if len(job.Offer) == 0 || len(job.Components) > 0 {
		return nil
	}
	r := job.Request
	r.Contiguous = r.Contiguous || w.opts.ContiguousOnly
	if place.CheckSegments(&r, job.Offer, s.Nodes.Len()) != nil || checkBelow(s.Topology, &r, job.Offer) != nil ||
		barred(s.Claims, s.Now, job, job.Offer) != nil {
		return nil
	}
	return job.Offer
}
