// SPDX-License-Identifier: BSD-3-Clause

package locality

import (
	"slices"
)

// job is a job of a run.
type job struct {
	*Job
	// duration and wall are what is left of the job's when the simulation begins.
	duration, wall int64
	file           int32 // place in files; 0: none
	hasFile        bool
	class          int32 // place in queue.classes
	seq            int32 // place in the queue, which grows for ever
	index          int32 // place in run.jobs and run.given
	started        bool
	pass           int32 // of standing
	node           int32
	start, end     int64
	ids            []uint16 // of the cores
	copy           *copyOf  // of its file, while it runs
	transfer, wait int64
	kept           bool // it found its file in memory or on its way
}

// kind is what a job shares with others: places in files and in queue.classes.
type kind struct{ file, class int32 }

// run is a simulation.
type run struct {
	mode   Mode
	policy policy
	nodes  []Node
	order  []int // places of nodes in the caller's list; nil: the same
	// given are the jobs in the order of the file, kinds what else is known of them; jobs are those
	// of them that wait or run, and nil for others. spare are none's, to be used again.
	given []Job
	kinds []kind
	jobs  []*job
	spare []*job
	// plain has every search look at every node, for tests.
	plain   bool
	fastest int32 // the node with the best link
	// mostMemory is that of the node with the most, in GB.
	mostMemory float64
	allCores   int

	now     int64
	coming  []int32 // jobs that have not been submitted yet, in order
	cores   *cores
	files   *files
	line    timeline
	gaps    *profiles // of Paper with backfilling
	holes   *holes    // of Reference with backfilling
	search  search
	queue   queue
	planned timeHeap // starts of the plan
	ending  timeHeap // ends of running jobs

	using   []int32 // running jobs of each node
	free    []int32 // idle cores of each node
	busy    int     // nodes with running jobs
	newly   int     // further nodes that the pass has jobs start on now
	newlyAt []int64 // the pass in which a node was counted in newly
	left    int     // evaluated jobs that have not started
	broken  bool    // Reference: the programme would have ended with an error
	passes  int64   // how often the queue was planned

	// queued are the cores that waiting jobs ask for, behind those of jobs that the pass
	// has not come to; idle are the cores that run nothing, passIdle those of them that the
	// pass has not given away.
	queued, behind, idle, passIdle int
	keep                           Keep // nil: the five schedulers' rules

	// upTo is the place in the queue where the text's last pass stopped, witness the first of
	// queue.open that was not known then to fit nowhere, and starting its jobs that start now.
	upTo, witness int
	starting      []int32
	plan          *plan // what the last pass has left; nil: each is from scratch
	outdated      bool  // a job has ended since the last pass from scratch, or there was none

	standing *standing // of FCFS without backfilling
	sums     sums
	onStart  func(s Start)
	onPlan   func(j *job) // is told of each place given, for tests
}

// weights are those for nodes that are free now, and for the others.
func (r *run) weights(j *job) (now, later weights) {
	if r.keep != nil {
		now, later := r.keep(r.demand(j))
		return between(now), between(later)
	}
	switch r.policy.rule {
	case fcfs:
		return startOnly, startOnly
	case eft:
		return finishSoon, finishSoon
	case leo:
		return finishSoon, keepFiles
	case lem:
		if (r.busy+r.newly)*100 < busyPercent*len(r.nodes) {
			return finishSoon, finishSoon
		}
	}
	return keepFiles, keepFiles
}

// coresLine is the timeline without backfilling.
type coresLine struct{ *cores }

func (c coresLine) from(j *job, node int, _ int64) int64 { return c.cores.from(node, j.Cores) }
func (c coresLine) earliest(j *job) (int64, int)         { return c.cores.earliest(j.Cores) }
func (c coresLine) next(j *job, i int, bound int64, f filter) int {
	return c.cores.next(j.Cores, i, bound, f)
}

// book notes a place in the plan: the files and, if the job starts now, the node that it makes
// busy. It is called before the cores are taken.
func (r *run) book(j *job, c choice) {
	j.node, j.start = c.node, c.start
	if r.policy.rule == fcfs {
		return
	}
	if c.start == r.now {
		r.passIdle -= j.Cores
	}
	end := c.start + j.wall
	if j.hasFile || r.mode == Reference {
		r.files.plan(j.file, c.node, j.FileSize, span{c.start, c.ready, end})
	}
	if r.mode == Paper {
		r.files.planStart(c.node, c.start)
	}
	if c.start == r.now && r.using[c.node] == 0 && r.newlyAt[c.node] != r.files.pass && r.unreserved(c.node) {
		r.newlyAt[c.node] = r.files.pass
		r.newly++
	}
}

// unreserved tells whether the reference programme would count the node as newly busy: only if no
// core of it has a reservation. The text has no such condition.
func (r *run) unreserved(node int32) bool {
	return r.mode == Paper || r.cores.from(int(node), r.nodes[node].Cores) <= r.now
}

// resetCores takes the plan away for a pass from scratch.
func (r *run) resetCores() {
	r.cores.reset()
	if r.standing != nil {
		r.standing.begin(r.cores.changed)
	}
}

// pass begins a planning pass.
func (r *run) pass() {
	r.files.begin(r.now)
	r.newly, r.behind, r.passIdle = 0, r.queued, r.idle
}

// begin starts a planned job.
func (r *run) begin(j *job) {
	load := int64(0)
	if j.hasFile {
		load = r.load(j, j.node)
	}
	j.start, j.started = r.now, true
	j.transfer, j.wait, j.kept = r.files.start(j, j.node, load, r.now)
	j.end = r.now + min(j.duration+j.transfer+j.wait, j.wall)
	r.cores.hold(j.node, j.ids, r.now+j.wall)
	if r.free[j.node] -= int32(j.Cores); r.free[j.node] < 0 {
		r.broken = true
	}
	if r.using[j.node]++; r.using[j.node] == 1 {
		r.busy++
	}
	r.queued -= j.Cores
	r.idle -= j.Cores
	r.ending.push(j.end, j.seq, j.index)
	r.queue.started++
	if r.policy.rule == fcfs {
		r.files.memory(j.node) // nothing else tidies it
	}
	if j.Class == Evaluated {
		r.left--
		r.sums.add(r, j)
	}
	if r.onStart != nil {
		node := int(j.node)
		if r.order != nil {
			node = r.order[node]
		}
		r.onStart(Start{Job: int(j.index), Node: node, Cores: j.ids, At: j.start, End: j.end,
			Transfer: j.transfer, LoadWait: j.wait, Reused: j.kept})
	}
}

// finish ends a running job.
func (r *run) finish(j *job) {
	r.cores.release(j.node, j.ids)
	r.free[j.node] += int32(j.Cores)
	r.idle += j.Cores
	if r.using[j.node]--; r.using[j.node] == 0 {
		r.busy--
	}
	r.files.end(j, r.now)
	r.jobs[j.index] = nil
	r.spare = append(r.spare, j)
}

// job is a job that waits from now on, or did before.
func (r *run) job(i int32) *job {
	if r.jobs[i] != nil {
		return r.jobs[i]
	}
	j := new(job)
	if n := len(r.spare); n > 0 {
		j, r.spare = r.spare[n-1], r.spare[:n-1]
	}
	given, ids := &r.given[i], j.ids
	if cap(ids) < given.Cores {
		ids = make([]uint16, given.Cores)
	}
	*j = job{Job: given, index: i, duration: given.Duration, wall: given.WallTime, hasFile: given.File != 0,
		file: r.kinds[i].file, class: r.kinds[i].class, ids: ids[:given.Cores]}
	r.jobs[i] = j
	return j
}

// waits tells whether a job that has been submitted has not started.
func (r *run) waits(i int32) bool { return r.jobs[i] != nil && !r.jobs[i].started }

// queue is the jobs that wait, in the order of submission, history first.
type queue struct {
	jobs    []int32 // some have started
	places  []place // of jobs, in the standing plan
	seats   []seat  // of places, what each pass looks at
	first   int32   // seq of jobs[0]
	started int
	classes []class
	// open are the classes that may have jobs in the queue.
	open []int32
}

// class is the jobs of one request: those that fit the same places.
type class struct {
	some   *job
	queued []int32 // some have started
	isOpen bool
}

func (q *queue) add(r *run, i int32) {
	j := r.job(i)
	r.queued += j.Cores
	j.seq = q.first + int32(len(q.jobs))
	q.jobs = append(q.jobs, i)
	if r.plan != nil {
		q.places, q.seats = append(q.places, place{}), append(q.seats, seat{node: -1})
		r.files.await(j.file, r.now)
	}
	c := &q.classes[j.class]
	c.queued = append(c.queued, i)
	if !c.isOpen {
		c.isOpen = true
		q.open = append(q.open, j.class)
	}
}

// waiting is how many jobs wait.
func (q *queue) waiting() int { return len(q.jobs) - q.started }

// tidy forgets started jobs when they are half of the list. Places in the queue change by it, the
// order of seq does not.
func (q *queue) tidy(r *run) {
	if q.started*2 < len(q.jobs) {
		return
	}
	last := q.first + int32(len(q.jobs))
	if r.plan != nil {
		q.tidyPlaces(r)
	}
	q.jobs = slices.DeleteFunc(q.jobs, func(i int32) bool { return !r.waits(i) })
	q.started, q.first = 0, last-int32(len(q.jobs))
	for k, i := range q.jobs {
		r.jobs[i].seq = q.first + int32(k)
	}
}

// lastOf is the place in the queue of the class's last waiting job; -1: none waits.
func (q *queue) lastOf(r *run, class int32) int {
	c := &q.classes[class]
	for n := len(c.queued); n > 0; n-- {
		if i := c.queued[n-1]; r.waits(i) {
			return int(r.jobs[i].seq - q.first)
		}
		c.queued = c.queued[:n-1]
	}
	return -1
}
