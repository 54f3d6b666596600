// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"slices"

	"github.com/aucsched/aucsched/internal/place"
)

// preempted reports whether the plan preempts a running job.
func (e *Explainer) preempted(running int) bool {
	return slices.ContainsFunc(e.plan.Preempted, func(x Preemption) bool {
		return slices.Contains(slices.Collect(e.s.together(x.Running)), running)
	})
}

// stops finds whom a job that starts preempts.
func (e *Explainer) stops(x *Explanation) {
	for _, p := range e.plan.Preempted {
		if r := &e.s.Running[p.Running]; slices.Contains(p.For, x.Decision.Job) {
			x.Stops = append(x.Stops, Rival{Role: Holds, Job: p.Running, Segs: slices.Clone(r.Segs), Uses: r.Uses,
				At: max(r.End, e.s.Now+1)})
		}
	}
	e.markPreemptable(x.Stops, e.s.Pending[x.Decision.Job])
}

// markPreemptable says which of a job's rivals it may preempt.
func (e *Explainer) markPreemptable(rivals []Rival, job *Job) {
	for i := range rivals {
		r := &rivals[i]
		if r.Role != Holds {
			continue
		}
		run := &e.s.Running[r.Job]
		r.Preempted = e.preempted(r.Job)
		if r.Preemptable = run.Price > 0 && job.Preempts>>run.Class&1 == 1; r.Preemptable {
			r.Worth = e.priceOf(r.Job)
		}
	}
}

// priceOf is what is lost if a running job is stopped, in the objective's unit.
func (e *Explainer) priceOf(running int) float64 {
	r := &e.s.Running[running]
	if e.auction == nil {
		return float64(r.Price)
	}
	return e.auction.opts.lossOf(e.auction.window.machine, e.s, running, place.SizeOf(r.Segs))
}
