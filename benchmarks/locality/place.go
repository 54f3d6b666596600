// SPDX-License-Identifier: BSD-3-Clause

package locality

import (
	"math"
	"slices"
)

// seat is of a waiting job's place in the standing plan what tells most jobs that they keep it.
type seat struct {
	node, file int32 // node is -1 if the job is not in the plan
	// beat is the greater one of the place's beatNow and beatLater.
	beat int64
}

// place is what a waiting job has in the standing plan.
type place struct {
	node, file, cores int32
	start, ready      int64
	score             float64
	// now and later are the weights that the score is of.
	now, later weights
	// beatNow and beatLater bound the start of a node without the job's file that could have no
	// greater score, by whether it is free now.
	beatNow, beatLater int64
	// part is what the job adds to scores of starts after now at least.
	part float64
}

func (own *place) weighs(now, later weights) bool { return own.now == now && own.later == later }

// note keeps what later passes need to know of a place.
func (p *plan) note(j *job, i int, c choice) {
	r, s := p.r, &p.r.search
	r.queue.places[i] = place{node: c.node, file: j.file, cores: int32(j.Cores), start: c.start, ready: c.ready, score: c.score,
		now: s.now, later: s.later, beatNow: r.beats(j, c.score, s.now), beatLater: r.beats(j, c.score, s.later), part: s.own}
	own := &r.queue.places[i]
	r.queue.seats[i] = seat{node: c.node, file: j.file, beat: max(own.beatNow, own.beatLater)}
}

// remove takes the job that the pass has come to out of a node's plan.
func (p *plan) remove(j *job, node int32) {
	p.change(node)
	p.bring(node)
	n := &p.nodes[node]
	n.jobs = slices.Delete(n.jobs, n.given, n.given+1)
	p.use(j, node, -1)
}

// insert gives the job that the pass has come to a place, which stands if it is for later.
func (p *plan) insert(j *job, c choice) {
	p.change(c.node)
	p.bring(c.node)
	p.r.give(j, c)
	if j.hasFile {
		p.contend(p.r.files.find(j.file, c.node))
	}
	n := &p.nodes[c.node]
	p.ends.set(int(c.node), min(p.ends.at(int(c.node)), c.start+j.wall))
	if c.start == p.r.now {
		n.renewed = p.r.files.pass
		return
	}
	n.jobs = slices.Insert(n.jobs, n.given, j.index)
	n.given++
	p.use(j, c.node, 1)
}

// use counts the jobs in the plan that use a copy.
func (p *plan) use(j *job, node, by int32) {
	if j.hasFile {
		p.r.files.find(j.file, node).planned += by
	}
}

// cut takes those jobs out of the plan that the pass has not come to.
func (p *plan) cut() {
	q := &p.r.queue
	for i := p.upTo - 1; i >= p.r.upTo; i-- {
		t := &q.seats[i]
		if t.node < 0 {
			continue
		}
		n := &p.nodes[t.node]
		n.jobs = n.jobs[:len(n.jobs)-1]
		p.use(p.r.jobs[q.jobs[i]], t.node, -1)
		t.node = -1
	}
	p.upTo = p.r.upTo
}

// tidyPlaces is tidy for what it says of the jobs.
func (q *queue) tidyPlaces(r *run) {
	kept, seats, upTo := q.places[:0], q.seats[:0], 0
	for k, i := range q.jobs {
		if !r.waits(i) {
			continue
		}
		kept, seats = append(kept, q.places[k]), append(seats, q.seats[k])
		if k < r.plan.upTo {
			upTo++
		}
	}
	q.places, q.seats, r.plan.upTo = kept, seats, upTo
}

// tell has a test hear of all places of the pass.
func (p *plan) tell() {
	p.at = math.MaxInt32
	for node := range p.nodes {
		p.bring(int32(node))
	}
	for _, i := range p.r.queue.jobs[:p.r.upTo] {
		if p.r.waits(i) {
			p.r.onPlan(p.r.jobs[i])
		}
	}
}
