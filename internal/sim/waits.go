// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"cmp"
	"math"
	"slices"
)

// Waits is who waits for how long, of the jobs that ran. All fields are 0 where none did.
//
// The mean alone does not tell a better schedule from one in which large jobs wait for small ones.
// So there are the longest waits, and two figures of wide jobs. The width of a job is its share of
// the machine's cores or of its GPUs, whichever is more.
type Waits struct {
	// Median is of an even number of jobs the mean of the two in the middle. P95 is the shortest
	// wait that 95% of the jobs do not exceed.
	Median float64 `json:"wait_median_s"`
	P95    float64 `json:"wait_p95_s"`
	Max    float64 `json:"wait_max_s"`
	// AreaWeighted is the mean with width x run time as weight.
	AreaWeighted float64 `json:"wait_area_weighted_s"`
	// Widest10 is the mean of the widest tenth of the jobs, rounded down to at least one. Of
	// jobs equally wide, of which only some belong to the tenth, each counts in part.
	Widest10 float64 `json:"wait_widest10_s"`
	// BoundedSlowdown is the mean of max(1, (wait + run time) / max(run time, 10 s)), that is of
	// Feitelson et al., "Theory and Practice in Parallel Job Scheduling" (JSSPP'97), section 3.
	BoundedSlowdown float64 `json:"bounded_slowdown_mean"`
	// UserWorst is the greatest of the users' mean waits; 0 if no job names its user.
	UserWorst float64 `json:"user_wait_worst_s"`
}

// slowdownBound is the run time in seconds below which bounded slowdowns do not grow.
const slowdownBound = 10

// waited is what a job waited, and its share of the machine.
type waited struct {
	wait  int64
	width float64
}

// waits adds up Waits. Its memory is one entry a job, and one a user.
type waits struct {
	jobs      []waited
	area, sum float64 // sum of the weights, and of weight x wait
	bounded   moments
	users     map[string]*moments
	cores     int64 // of the machine
	gpus      int64 // in parts of one
}

// add counts a job that has so many parts of GPUs.
func (w *waits) add(ran *Record, x extent, gpus int) {
	wait := ran.Start - ran.Submit
	width := float64(x.cores) / float64(w.cores)
	if w.gpus > 0 {
		width = max(width, float64(gpus)/float64(w.gpus))
	}
	w.jobs = append(w.jobs, waited{wait, width})
	w.area += width * float64(x.runs)
	w.sum += float64(wait) * (width * float64(x.runs))
	w.bounded.add(max(1, float64(ran.End-ran.Submit)/float64(max(x.runs, slowdownBound))))
	if ran.Job.User == "" {
		return
	}
	u := w.users[ran.Job.User]
	if u == nil {
		if u = new(moments); w.users == nil {
			w.users = make(map[string]*moments)
		}
		w.users[ran.Job.User] = u
	}
	u.add(float64(wait))
}

// result sorts the jobs.
func (w *waits) result() Waits {
	n := len(w.jobs)
	if n == 0 {
		return Waits{}
	}
	out := Waits{Widest10: w.widest(max(1, n/10)), BoundedSlowdown: w.bounded.mean}
	if w.area > 0 {
		out.AreaWeighted = w.sum / w.area
	}
	for _, u := range w.users { // a maximum, so that the order does not matter
		out.UserWorst = max(out.UserWorst, u.mean)
	}
	slices.SortFunc(w.jobs, func(a, b waited) int { return cmp.Compare(a.wait, b.wait) })
	at := func(i int) float64 { return float64(w.jobs[i].wait) }
	out.Median = (at((n-1)/2) + at(n/2)) / 2
	out.P95 = at(int(math.Ceil(0.95*float64(n))) - 1)
	out.Max = at(n - 1)
	return out
}

// widest is the mean wait of the k widest jobs, at least one and at most all.
func (w *waits) widest(k int) float64 {
	slices.SortFunc(w.jobs, func(a, b waited) int { return cmp.Compare(b.width, a.width) })
	border := w.jobs[k-1].width
	var wider, equal moments
	for _, j := range w.jobs {
		switch {
		case j.width > border:
			wider.add(float64(j.wait))
		case j.width == border:
			equal.add(float64(j.wait))
		}
	}
	return (float64(wider.n)*wider.mean + float64(k-wider.n)*equal.mean) / float64(k)
}

// loaded adds up what of the machine is used until the last submission: behind that a finite
// workload has a tail, which is not the policy's.
type loaded struct {
	first, last int64 // submissions
	work, gpus  float64
}

// add counts a job with so much nominal work, in core seconds, and so many parts of GPUs.
func (l *loaded) add(ran *Record, work float64, gpus int) {
	if inside := float64(min(ran.End, l.last) - ran.Start); inside > 0 {
		l.work += work * (inside / float64(ran.End-ran.Start))
		l.gpus += float64(gpus) * inside
	}
}

// of is the share of so many units that was used; 0 if all jobs came at once.
func (l *loaded) of(used float64, units int64) float64 {
	if l.last <= l.first || units == 0 {
		return 0
	}
	return used / (float64(l.last-l.first) * float64(units))
}
