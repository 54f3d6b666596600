// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"slices"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/place"
)

// window is the stage that says which jobs take part in a cycle, and what they ask for.
type window struct {
	opts         *AuctionOptions
	jobs         []*Job
	index        []int            // by job: its index in the queue, and in the decisions
	variants     []market.Variant // of all jobs; reservations binds them
	variantStart []int32          // by job: its first variant, and one more
	next         int              // index in the queue of the first job behind the window
	wanting      int              // jobs that the window has fewer than it should, for lack of time
	shift        int              // variants' priorities are in units of 2^shift
	waiting      backlog          // of the jobs
	machine      totals
	normal       normal
	answers      place.Cache
	stoppable    uint64 // classes of running jobs that may be stopped
	quotas       quotas
	scarce       scarcity
	mostGPUs     int        // of a node
	one          place.Spec // scratch
	fixed        []*fixed   // jobs with ranges of GPUs; taken: how many, the rest is memory
	taken        int
	passed       []int // decisions on jobs that take no part for their quotas' sake
}

func (w *window) remove(from int) {
	w.variants, w.variantStart = w.variants[:from], w.variantStart[:len(w.variantStart)-1]
}

// variantsOf are the variants of job j of the window.
func (w *window) variantsOf(j int) []market.Variant {
	return w.variants[w.variantStart[j]:w.variantStart[j+1]]
}

// jobOf is the job that a bid is of.
func (w *window) jobOf(b *market.Bid) int { return int(w.variants[b.Job].Job) }

// contiguous is the job as if it had asked for consecutive nodes in all its ways.
func contiguous(job *Job) *Job {
	if job.Contiguous && len(job.Alternatives) == 0 {
		return job
	}
	c := *job
	c.Contiguous = true
	c.Alternatives = slices.Clone(c.Alternatives)
	for k := range c.Alternatives {
		c.Alternatives[k].Contiguous = true
	}
	return &c
}

// mostLooked is how many times Depth jobs are looked at behind the window, however alike they are.
const mostLooked = 16

// anyFree reports whether there may be anything to give: a core of any node, or what jobs ask for
// that take none.
func (w *window) anyFree(s *Snapshot) bool {
	if slices.ContainsFunc(s.Nodes.Usable(0), func(w uint64) bool { return w != 0 }) {
		return true
	}
	return !s.cores && slices.ContainsFunc(s.Pending[:min(w.next+mostLooked*w.opts.Depth, len(s.Pending))], (*Job).mayBeCoreless)
}

// mayBeCoreless reports whether a way to meet the job takes no core, if it is valid.
func (j *Job) mayBeCoreless() bool {
	return place.LeastCores(&j.Request) == 0 ||
		slices.ContainsFunc(j.Alternatives, func(r bids.Request) bool { return place.LeastCores(&r) == 0 })
}

// scarcity is how scarce cores and GPUs are: the seconds in which the machine could be done with
// all that waits in a window and runs. ranges: there are jobs with a range.
type scarcity struct {
	cores, gpus float64
	ranges      bool
}

// fixed is a job that asks for numbers of GPUs in place of ranges.
type fixed struct {
	Job
	alternatives []bids.Request // memory
}

// backlog is what the running and the waiting jobs have still to do, by their time limits, in
// seconds of cores and of GPUs. The sums are exact up to 2^53.
type backlog struct{ cores, gpus float64 }

// wait adds a waiting job, as the first of its ways.
func (b *backlog) wait(job *Job) {
	limit := float64(job.TimeLimit)
	b.cores += limit * float64(place.LeastCores(&job.Request))
	b.gpus += limit * float64(leastGPUs(&job.Request))
}

// run adds the rest of what runs.
func (b *backlog) run(s *Snapshot) {
	for i := range s.Running {
		r := &s.Running[i]
		// a job that has outstayed its limit may end at any moment
		left := float64(max(r.End-s.Now, 1))
		for _, seg := range r.Segs {
			b.cores += left * float64(seg.Len()) * float64(seg.Cores)
			b.gpus += left * float64(seg.Len()) * float64(seg.GPUs)
		}
	}
}

// end is in how many seconds the machine could be done with all of it at the earliest.
func (b *backlog) end(m totals) float64 {
	return max(b.cores/float64(max(m.cores, 1)), b.gpus/float64(max(m.gpus, 1)))
}
