// SPDX-License-Identifier: BSD-3-Clause

package locality

import (
	"context"
	"errors"
	"fmt"
)

// Start tells of one job that was started.
type Start struct {
	// Job and Node are places in the lists that Simulate was given.
	Job, Node int
	// Cores are the ids, from 0 on, of the job's cores on the node. They are the simulation's own:
	// copy them to keep them.
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
	// Policy is one of [Policies]; the empty name is fcfs.
	Policy string
	// Mode is the report's text, unless a test of this module wants its oracle.
	Mode Mode
	// OnStart, if not nil, is called for each job that starts, in the order of time. The end of a
	// job is known at its start.
	OnStart func(Start)
	// Keep, if not nil, takes the place of the policy's rule, of EFT, LEO, LEA, LEM or LEAD.
	// FCFS looks at no files.
	Keep Keep
	// plain has each search look at all nodes, for tests.
	plain bool
}

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

// Simulate runs the jobs on the nodes until the last evaluated job has started. Jobs come in their
// order; those of class Running run when it begins, which is when the first job of class WarmUp is
// submitted. If there is none, it begins with the first submission, or in the reference mode at 0.
//
// It fails for a policy that is none; for jobs that fit no node or are out of bounds, with a
// [*JobError]; for workloads without an evaluated job, with [ErrNothingEvaluated]; when jobs wait
// although nothing will happen by MaxTime; and when ctx ends. The same input gives the same result,
// bit for bit. It changes neither list.
func Simulate(ctx context.Context, nodes []Node, jobs []Job, o Options) (*Result, error) {
	r, err := newRun(nodes, jobs, o)
	if err != nil {
		return nil, err
	}
	if err := r.run(ctx); err != nil {
		return nil, err
	}
	return r.sums.result(r.policy, r.mode, r.allCores, r.passes), nil
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
		next = min(next, r.given[r.coming[0]].Submit)
	}
	return next
}

func (r *run) endJobs() bool {
	ended := false
	for r.ending.first() == r.now {
		r.finish(r.jobs[r.ending.pop()])
		ended = true
	}
	return ended
}

// startPlanned starts the jobs that the plan has start now.
func (r *run) startPlanned() {
	for r.planned.first() == r.now {
		r.begin(r.jobs[r.planned.pop()])
	}
}

// arrive puts the jobs that have been submitted into the queue, and tells whether there were any.
func (r *run) arrive() bool {
	n := 0
	for n < len(r.coming) && r.given[r.coming[n]].Submit <= r.now {
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
	case r.outdated || arrived && r.policy.rule != fcfs:
		r.replanText()
		r.outdated = false
	case arrived:
		r.resumeText()
	default:
		return
	}
	for _, i := range r.starting {
		r.begin(r.jobs[i])
	}
}
