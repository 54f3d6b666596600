// SPDX-License-Identifier: BSD-3-Clause

package locality

// replanAll is the reference programme's pass after a job has ended: all that is planned is thrown
// away, and the queue is gone through from its head.
func (r *run) replanAll() {
	r.queue.tidy(r)
	r.resetCores()
	if r.holes != nil {
		r.holes.reset()
	}
	r.planned = r.planned[:0]
	r.planFrom(0)
}

// planFrom places the jobs of the queue from that place on, on top of the plan. The scored
// schedulers do not remember which files earlier passes have planned (D2).
func (r *run) planFrom(place int) {
	r.passes++
	r.pass()
	for _, i := range r.queue.jobs[:place] {
		if r.waits(i) {
			r.behind -= r.jobs[i].Cores
		}
	}
	for _, i := range r.queue.jobs[place:] {
		if !r.waits(i) {
			continue
		}
		j := r.jobs[i]
		r.behind -= j.Cores
		switch {
		case r.cores.someFree(r.now):
			r.placeReference(j)
		case r.holes == nil || r.holes.atNow >= r.allCores || r.holes.biggest == 0:
			return
		case j.Cores <= r.holes.biggest:
			if c := r.onlyHoles(j); c.node >= 0 {
				j.node, j.start = c.node, r.now
				r.broken = !r.holes.fill(r.cores, c.node, j.ids, j.Cores, r.now+j.wall) || r.broken
				r.holes.atNow += j.Cores
				r.holes.placed(r.nodes, c.node)
				r.planned.push(j.start, j.seq, i)
			}
		}
	}
}

// placeReference gives a job a place in the plan.
func (r *run) placeReference(j *job) {
	c := r.chooseReference(j)
	r.book(j, c)
	end := c.start + j.wall
	switch {
	case r.holes == nil:
		r.cores.take(c.node, j.ids, end)
	case c.hole:
		inHoles, _ := r.holes.fits(r.cores, c.node, j.Cores, r.now, end)
		r.broken = !r.holes.fill(r.cores, c.node, j.ids, inHoles, end) || r.broken
	default:
		r.holes.reserve(r.cores, c.node, j.ids, r.now, c.start, end)
	}
	if r.holes != nil {
		if c.start == r.now {
			r.holes.atNow += j.Cores
		}
		r.holes.placed(r.nodes, c.node)
	}
	r.planned.push(j.start, j.seq, j.index)
	if r.onPlan != nil {
		r.onPlan(j)
	}
}

// chooseReference is choose, with holes.
func (r *run) chooseReference(j *job) choice {
	c := r.choose(j)
	if r.holes == nil {
		return c
	}
	r.search.offerHoles()
	return r.search.best
}
