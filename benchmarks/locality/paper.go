// SPDX-License-Identifier: BSD-3-Clause

package locality

// replanText is a pass of the text's algorithms: "called each time a task completes or upon the
// submission of a new job" (section 4), they give each waiting job a place from scratch. The jobs
// that start now are left in starting.
//
// A pass stops as soon as no job that is still to come in the queue can start now. That changes
// nothing: reservations for later only matter to what starts now, since the next pass comes before
// the first of them begins, at the latest when the wall time of the job ends that it waits for.
func (r *run) replanText() {
	r.queue.tidy(r)
	r.queue.tidyClasses(r)
	r.resetCores()
	if r.gaps != nil {
		r.gaps.reset()
	}
	r.pass()
	r.upTo = 0
	if r.plan != nil {
		r.plan.revise()
		return
	}
	r.resumeText()
}

// resumeText goes on with the last pass. Without a job that has ended since, FCFS and its twin come
// to the same plan again, in which only the new jobs could start.
func (r *run) resumeText() {
	r.passes++
	r.starting = r.starting[:0]
	r.witness = 0
	for ; r.upTo < len(r.queue.jobs); r.upTo++ {
		i := r.queue.jobs[r.upTo]
		if !r.waits(i) {
			continue
		}
		j := r.jobs[i]
		if !r.plain && !r.someFits() {
			return
		}
		r.behind -= j.Cores
		c := r.choose(j)
		r.book(j, c)
		r.reserve(j, c)
		if r.onPlan != nil {
			r.onPlan(j)
		}
		if c.start == r.now {
			r.starting = append(r.starting, i)
		}
	}
}

// reserve takes cores for a job's place in the plan.
func (r *run) reserve(j *job, c choice) {
	if r.gaps != nil {
		r.gaps.take(c.node, j.ids, c.start, c.start+j.wall)
	} else {
		r.cores.take(c.node, j.ids, c.start+j.wall)
	}
}

// someFits tells whether a job from upTo on could start now.
func (r *run) someFits() bool {
	for ; r.witness < len(r.queue.open); r.witness++ {
		class := r.queue.open[r.witness]
		if r.queue.lastOf(r, class) >= r.upTo && r.line.next(r.queue.classes[class].some, 0, r.now, filter{}) >= 0 {
			return true
		}
	}
	return false
}

// tidyClasses forgets the open classes without a job in the queue.
func (q *queue) tidyClasses(r *run) {
	kept := q.open[:0]
	for _, class := range q.open {
		if q.lastOf(r, class) >= 0 {
			kept = append(kept, class)
		} else {
			q.classes[class].isOpen = false
		}
	}
	q.open = kept
}
