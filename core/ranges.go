// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"math"
	"slices"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
)

// lengthWith is how long a job runs with k GPUs a node, if it runs for limit seconds with low, the
// fewest of its range. It is Amdahl's law, and aucsched2, equation 5, if Serial is 0.
func (o *AuctionOptions) lengthWith(limit float64, low, k int) float64 {
	if k <= low {
		return limit
	}
	serial := float64(o.Serial) / maxSerial
	return limit * (serial + float64((1-serial)*float64(low)/float64(k)))
}

// hasRange reports whether the policy may choose how many GPUs each of a request's nodes gives: at
// least one, or nobody knows what they do for the job.
func hasRange(r *bids.Request) bool {
	return r.MinGPUs > 0 && r.MinGPUs < r.MaxGPUs && !r.MixedGPUs && len(r.Components) == 0
}

// hasRange reports whether a way to meet the job has one.
func (j *Job) hasRange() bool {
	return hasRange(&j.Request) || slices.ContainsFunc(j.Alternatives, func(r bids.Request) bool { return hasRange(&r) })
}

func (w *window) scarcityOf(s *Snapshot) (x scarcity) {
	var b backlog
	for _, job := range s.Pending[:min(w.opts.Window, len(s.Pending))] {
		b.wait(job)
		x.ranges = x.ranges || job.hasRange()
	}
	if !x.ranges {
		return x
	}
	b.run(s)
	x.cores, x.gpus = b.cores/float64(max(w.machine.cores, 1)), b.gpus/float64(max(w.machine.gpus, 1))
	return x
}

// costWith is what it costs all that wait if a request of a job with that limit has k GPUs a node. It
// is its shares of all cores and GPUs, for as long as it runs, by how scarce they are. GPUs count that
// nobody else can have then, if all ask for as many: of nodes with three, two cost as much as three.
func (w *window) costWith(r *bids.Request, limit int64, k int) float64 {
	cores := float64(place.LeastCores(r)) / float64(max(w.machine.cores, 1))
	most := float64(w.mostGPUs)
	gpus := float64(max(r.MinNodes, 1)) * most / math.Floor(most/float64(k)) / float64(max(w.machine.gpus, 1))
	share := float64(cores*w.scarce.cores) + float64(gpus*w.scarce.gpus)
	return w.opts.lengthWith(float64(limit), r.MinGPUs, k) * share
}

// gpusFor is how many GPUs a node such a request should have: the number that costs least, of several
// the most. It is no more than the machine and quotas can give now, but at least its range's fewest.
func (w *window) gpusFor(r, on *bids.Request, limit int64) int {
	best, least := r.MinGPUs, math.Inf(1)
	for k := min(r.MaxGPUs, w.mostGPUs); k >= r.MinGPUs; k-- {
		if cost := w.costWith(r, limit, k); cost < least*(1-nearly) {
			best, least = k, cost
		}
	}
	spec, err := w.normal.spec(r, on)
	for x := &w.one; err == nil && best > r.MinGPUs; best-- {
		*x = spec
		x.GPUs.PerNode = place.Range{Min: best, Max: best}
		if w.answers.Never(x) == "" && w.quotas.book.Lacks(x, 0) < 0 {
			break
		}
	}
	return best
}

// nearly is by which part two costs differ that are taken for the same.
const nearly = 1.0 / 1024

// asks is the job as the window takes it: in place of ranges of GPUs it asks for what costs all
// least. A request that is not valid stays as it is: with another range it could be. That of the
// last call without keep is valid until the next.
func (w *window) asks(job *Job, keep bool) *Job {
	if !w.scarce.ranges || !job.hasRange() {
		return job
	}
	if w.taken == len(w.fixed) {
		w.fixed = append(w.fixed, new(fixed))
	}
	w.normal.read(job) // what is the same in others is the job's, not its copy's
	one := w.fixed[w.taken]
	one.Job, one.alternatives = *job, append(one.alternatives[:0], job.Alternatives...)
	if len(job.Alternatives) > 0 {
		one.Alternatives = one.alternatives
	}
	if r := &job.Request; hasRange(r) && w.normal.specs[0].Valid() {
		w.opts.fix(&one.Job, job, w.gpusFor(r, r, job.TimeLimit))
	}
	for k := range job.Alternatives {
		r, on := &job.Alternatives[k], &job.Alternatives[k]
		if r.Eligible == nil {
			on = &job.Request
		}
		if hasRange(r) && k+1 < len(w.normal.specs) && w.normal.specs[k+1].Valid() {
			gpus := w.gpusFor(r, on, job.TimeLimit)
			one.Alternatives[k].MinGPUs, one.Alternatives[k].MaxGPUs = gpus, gpus
		}
	}
	if keep {
		w.taken++
	}
	return &one.Job
}

// fix has one, which is a job, ask for k GPUs a node.
func (o *AuctionOptions) fix(one, job *Job, k int) {
	one.MinGPUs, one.MaxGPUs, one.TimeLimit = k, k, job.TimeLimit
	if o.ShrinkLimits && len(job.Alternatives) == 0 {
		one.TimeLimit = int64(math.Ceil(o.lengthWith(float64(job.TimeLimit), job.MinGPUs, k)))
	}
}

// widen is asks with ranges again, of numbers with which the job takes no longer than so many seconds.
func (w *window) widen(job *Job, seconds float64) *Job {
	one, limit := w.asks(job, false), float64(job.TimeLimit)
	fewest := func(low, k int) int {
		for ; k > low && w.opts.lengthWith(limit, low, k-1) <= seconds; k-- {
		}
		return k
	}
	w.opts.fix(one, job, fewest(job.MinGPUs, one.MinGPUs))
	one.MaxGPUs = max(one.MinGPUs, job.MaxGPUs)
	for k := range one.Alternatives {
		r := &one.Alternatives[k]
		r.MinGPUs, r.MaxGPUs = fewest(job.Alternatives[k].MinGPUs, r.MinGPUs), max(r.MaxGPUs, job.Alternatives[k].MaxGPUs)
	}
	return one
}
