package locality

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
)

// Start tells of one job that was started.
type Start struct {
	// Job and Node are places in the lists that Simulate was given.
	Job, Node int
	// Cores are the ids, from 0 on, of the job's cores on the node. They are the simulation's own: copy
	// them to keep them.
	Cores []uint16
	// At and End are when the job started and ended, in seconds on the log's clock.
	At, End int64
	// Transfer is how long the job loads its file, LoadWait how long it waits for the load of
	// another job, in seconds. One of them is 0.
	Transfer, LoadWait int64
	// Reused tells that the file was in memory, or on its way there.
	Reused bool
}

// Options are those of a simulation.
type Options struct {
	Policy Policy
	Mode   Mode
	// OnStart, if not nil, is called for each job that starts, in the order of time. The end of a job is
	// known at its start.
	OnStart func(Start)
	// plain has each search look at all nodes, for tests.
	plain bool
}

// ErrStalled is the error of a run in which jobs wait although nothing will happen any more. The
// reference programme comes to this when all that is left are reservations of jobs that have
// ended long ago (D3), and counts seconds then until it gives up.
var ErrStalled = errors.New("jobs wait, and nothing will happen that could start them")

// ErrProgrammeEnds is the error of a run in the reference mode in which the programme finds its own state
// to be wrong, and ends: stale reservations (D3) have put a core into two holes.
var ErrProgrammeEnds = errors.New("the reference programme ends here with an error: a core is reserved twice")

// ErrNothingEvaluated is the error of a workload without jobs of class Evaluated.
var ErrNothingEvaluated = errors.New("no job of class 1, which the results would be of")

// JobError is a job that cannot be simulated.
type JobError struct {
	ID    int64
	Field string
	Value any
	Why   string
}

func (e *JobError) Error() string {
	return fmt.Sprintf("job %d: %s: %v: %s", e.ID, e.Field, e.Value, e.Why)
}

// IsInput tells whether an error of [Simulate] is the workload's fault.
func IsInput(err error) bool {
	var job *JobError
	return errors.As(err, &job) || errors.Is(err, ErrNothingEvaluated)
}

// Simulate runs the jobs on the nodes until the last evaluated job has started. Jobs come in their
// order; those of class Running run when it begins, which is when the first job of class WarmUp is
// submitted. If there is none, it begins with the first submission, or in the reference mode at 0.
//
// It fails for jobs that fit no node or are out of bounds, with a [*JobError], for
// workloads without an evaluated job, with [ErrStalled] or [ErrProgrammeEnds], and when ctx ends. The same input gives the same result,
// bit for bit. It changes neither list.
func Simulate(ctx context.Context, nodes []Node, jobs []Job, o Options) (*Result, error) {
	r, err := newRun(nodes, jobs, o)
	if err != nil {
		return nil, err
	}
	if err := r.run(ctx); err != nil {
		return nil, err
	}
	return r.sums.result(o, r.allCores, r.passes), nil
}

func newRun(nodes []Node, jobs []Job, o Options) (*run, error) {
	r := &run{mode: o.Mode, policy: o.Policy, plain: o.plain, nodes: nodes, onStart: o.OnStart, outdated: true}
	if o.Mode == Reference {
		r.programmeOrder()
	}
	if err := r.check(jobs); err != nil {
		return nil, err
	}
	for i, n := range r.nodes {
		r.allCores += n.Cores
		if n.Bandwidth > r.nodes[r.fastest].Bandwidth {
			r.fastest = int32(i)
		}
	}
	r.cores = newCores(r.nodes)
	r.using, r.newlyAt = make([]int32, len(nodes)), make([]int64, len(nodes))
	r.free = slices.Clone(r.cores.count)
	r.search.r = r
	r.takeJobs(jobs)
	r.line = coresLine{r.cores}
	switch {
	case o.Policy.Backfill && o.Mode == Paper:
		r.gaps = newProfiles(r, len(r.queue.classes))
		r.line = r.gaps
	case o.Policy.Backfill:
		r.holes = newHoles(r.cores)
	}
	return r, nil
}

// programmeOrder puts the nodes in the order in which the programme visits them: by memory, and in the
// file's order where that is equal.
func (r *run) programmeOrder() {
	if slices.IsSortedFunc(r.nodes, func(a, b Node) int { return cmp.Compare(a.Memory, b.Memory) }) {
		return
	}
	r.order = make([]int, len(r.nodes))
	for i := range r.order {
		r.order[i] = i
	}
	given := r.nodes
	slices.SortStableFunc(r.order, func(a, b int) int { return cmp.Compare(given[a].Memory, given[b].Memory) })
	r.nodes = make([]Node, len(given))
	for i, place := range r.order {
		r.nodes[i] = given[place]
	}
}

// takeJobs makes the jobs, their files and their classes.
func (r *run) takeJobs(jobs []Job) {
	r.jobs = make([]job, len(jobs))
	type request struct {
		cores int
		wall  int64
	}
	classes, places := map[request]int32{}, map[int64]int32{0: 0}
	total := 0
	for i := range jobs {
		total += jobs[i].Cores
	}
	ids := make([]uint16, total)
	for i := range jobs {
		j := &r.jobs[i]
		*j = job{Job: &jobs[i], index: int32(i), duration: jobs[i].Duration, wall: jobs[i].WallTime, hasFile: jobs[i].File != 0}
		j.ids, ids = ids[:j.Cores:j.Cores], ids[j.Cores:]
		place, ok := places[j.File]
		if !ok {
			place = int32(len(places))
			places[j.File] = place
		}
		j.file = place
	}
	r.settleHistory()
	for i := range r.jobs {
		j := &r.jobs[i]
		key := request{cores: j.Cores}
		if r.policy.Backfill {
			key.wall = j.wall
		}
		place, ok := classes[key]
		if !ok {
			place = int32(len(classes))
			classes[key] = place
			r.queue.classes = append(r.queue.classes, class{some: j})
		}
		j.class = place
		if j.Class == Evaluated {
			r.left++
		}
		if j.Class != Running {
			r.coming = append(r.coming, int32(i))
		}
	}
	r.files = newFiles(r.mode, len(r.nodes), len(places))
	for i := range r.jobs {
		r.files.files[r.jobs[i].file].pending++
	}
}

// settleHistory finds when the simulation begins, and what is left then of the jobs that run.
func (r *run) settleHistory() {
	r.now = -1
	for i := range r.jobs {
		if j := &r.jobs[i]; j.Class == WarmUp || j.Class != Running && r.now < 0 && r.mode == Paper {
			if r.now = j.Submit; j.Class == WarmUp {
				break
			}
		}
	}
	r.now = max(r.now, 0)
	for i := range r.jobs {
		if j := &r.jobs[i]; j.Class == Running {
			j.duration = max(1, j.duration-(r.now-j.Started))
			j.wall = max(1, j.wall-(r.now-j.Started))
		}
	}
}

// history is the jobs that run when the simulation begins, in the order in which the programme takes
// them: by the start of the log, the first ones in reverse where that is equal.
func (r *run) history() []int32 {
	var out []int32
	for i := range r.jobs {
		j := &r.jobs[i]
		if j.Class != Running {
			continue
		}
		at := 0
		if len(out) > 0 && r.jobs[out[0]].Started < j.Started {
			at, _ = slices.BinarySearchFunc(out, j.Started, func(i int32, t int64) int {
				if r.jobs[i].Started <= t {
					return -1
				}
				return 1
			})
		}
		out = slices.Insert(out, at, int32(i))
	}
	return out
}

// runHistory starts the jobs that run when the simulation begins, each on its node of the log. Those for
// which there are no cores left head the queue.
func (r *run) runHistory() {
	r.files.begin(r.now)
	for _, i := range r.history() {
		j := &r.jobs[i]
		r.queue.add(r, i)
		j.node = int32(max(0, (j.StartNode-1)%len(r.nodes)))
		if j.start = max(r.now, r.cores.from(int(j.node), j.Cores)); j.start == never {
			continue // too small a node: the job waits for the first pass
		}
		r.cores.take(j.node, j.ids, j.start+j.wall)
		r.planned.push(j.start, j.seq, i)
	}
	r.startPlanned()
}

// run is the loop over all seconds in which something happens.
func (r *run) run(ctx context.Context) error {
	r.sums.first = -1
	r.runHistory()
	for first := true; r.left > 0; first = false {
		if !first {
			if r.now = r.nextEvent(); r.now == never || r.now > MaxTime {
				return ErrStalled
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		ended := r.endJobs()
		if r.mode == Reference {
			if r.reference(ended); r.broken {
				return ErrProgrammeEnds
			}
		} else {
			r.text(ended)
		}
	}
	return nil
}

func (r *run) nextEvent() int64 {
	next := r.ending.first()
	if r.mode == Reference {
		next = min(next, r.planned.first())
	}
	if len(r.coming) > 0 {
		next = min(next, r.jobs[r.coming[0]].Submit)
	}
	return next
}

func (r *run) endJobs() bool {
	ended := false
	for r.ending.first() == r.now {
		r.finish(&r.jobs[r.ending.pop()])
		ended = true
	}
	return ended
}

// startPlanned starts the jobs that the plan has start now.
func (r *run) startPlanned() {
	for r.planned.first() == r.now {
		r.begin(&r.jobs[r.planned.pop()])
	}
}

// arrive puts the jobs that have been submitted into the queue, and tells whether there were any.
func (r *run) arrive() bool {
	n := 0
	for n < len(r.coming) && r.jobs[r.coming[n]].Submit <= r.now {
		r.queue.add(r, r.coming[n])
		n++
	}
	r.coming = r.coming[n:]
	return n > 0
}

// reference is what the programme does in a second.
func (r *run) reference(ended bool) {
	r.startPlanned()
	place := len(r.queue.jobs)
	arrived := r.arrive()
	switch {
	case ended && r.queue.waiting() > 0:
		r.replanAll()
	case arrived:
		r.planFrom(place)
	}
	r.startPlanned()
}

// text is what happens in a second by the text.
func (r *run) text(ended bool) {
	arrived := r.arrive()
	r.outdated = r.outdated || ended
	switch {
	case r.queue.waiting() == 0:
		return
	case r.outdated || arrived && r.policy.Rule != FCFS:
		r.replanText()
		r.outdated = false
	case arrived:
		r.resumeText()
	default:
		return
	}
	for _, i := range r.starting {
		r.begin(&r.jobs[i])
	}
}
