// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"math"
	"slices"

	"github.com/aucsched/aucsched/internal/place"
)

// preempted reports whether the plan preempts a running job.
func (e *Explainer) preempted(running int) bool {
	return slices.ContainsFunc(e.plan.Preempted, func(x Preemption) bool { return x.Running == running })
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
			r.Worth = e.priceOf(run)
		}
	}
}

// priceOf is what is lost if a running job is stopped, in the objective's unit.
func (e *Explainer) priceOf(r *Running) float64 {
	price := float64(r.Price)
	if e.auction == nil {
		return price
	}
	size, m := place.SizeOf(r.Segs), &e.auction.window.machine
	switch e.auction.opts.Objective {
	case BySize:
		price *= float64(size.Cores)
	case ByRate:
		price *= math.Ldexp(float64(rateOf(m.shareOf(uint64(size.Cores), uint64(size.GPUs)), r.End-e.s.Now)), -rateBits)
	}
	return price
}
