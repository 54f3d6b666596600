// SPDX-License-Identifier: BSD-3-Clause

package core

import "github.com/aucsched/aucsched/internal/place"

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

// end is in how many seconds the machine could be done with all of it at the soonest.
func (b *backlog) end(m totals) float64 {
	return max(b.cores/float64(max(m.cores, 1)), b.gpus/float64(max(m.gpus, 1)))
}

const (
	// lastShare is which part of the time until all is done a job's limit has to exceed for
	// it to be one of those that may be running last. One would do if a machine were ever
	// filled without gaps.
	lastShare = 1.0 / 2
	// lastClaim is what that adds to a claim: as much as asking for all cores and all GPUs.
	lastClaim = 2
)

// lastFrom is the time limit from which on jobs get places first, lest they start when nothing is
// left to run beside them and the machine is idle around them (longest processing time first,
// Graham 1969, where it matters: at the end). It is known when the whole queue is in the window.
func (w *window) lastFrom(s *Snapshot) float64 {
	if w.next < len(s.Pending) {
		return NoTimeLimit + 1
	}
	b := w.waiting
	b.run(s)
	return b.end(w.machine) * lastShare
}
