// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"context"
	"slices"
	"time"

	"github.com/aucsched/aucsched/nodeset"
)

// Cycle is what one cycle decided. It belongs to the caller.
type Cycle struct {
	// At is the time of the state on which the cycle decided.
	At time.Time
	// Starts are the jobs to launch now, in queue order. The Cluster counts them as running.
	Starts []Start
	// Preempted are running jobs to stop, and which jobs wait for that. Stop them, say Ended of
	// each, and call Decide: the others start then, unless something better has come up. Until then
	// they are in Waiting, and each cycle says so again. A job that is being stopped costs next to
	// nothing: see SetPrice.
	Preempted []Preempted
	// Waiting are the other jobs, in queue order, but for those that Dropped has, or that came
	// meanwhile.
	Waiting []Waiting
	// Dropped are starts that no longer held when the cycle was over.
	Dropped []Dropped
	// Stats are the policy's figures. If its TimedOut is not 0, Decide has more to do though
	// nothing changes.
	Stats Stats
}

// Start is a job that starts.
type Start struct {
	// Job is its id.
	Job string
	// Alternative is which of its requests is met: 0 is the job's own, k is Alternatives[k-1].
	Alternative int
	// Nodes is what it gets, in the order of the nodes.
	Nodes []Share
	// Takes is what it takes of further resources on each of these, by name; nil: nothing.
	Takes map[string]nodeset.Use
	// GPUShare is how many shares of one GPU of its node it gets; 0: none. SharedGPU says which: it
	// is from 1 to twice the node's GPUs. Jobs with the same number share a GPU, and a number that
	// nobody has yet is of any GPU that nobody has.
	GPUShare  int64
	SharedGPU int
	// Components are what its components get, in their order; Nodes is then what its own request
	// gets. They may share nodes.
	Components []Placed
	// Counts is how much it counts against quotas until it ends, by name; nil: nothing.
	Counts map[string]int64
	// End is the time by which its limit is over.
	End time.Time
	// Price and Class are those of its JobSpec.
	Price int64
	Class int
}

// Preempted is a running job to stop, all of it.
type Preempted struct {
	// Job is its id, and For are those of the jobs that wait for its end, in queue order.
	Job string
	For []string
}

// Waiting is a job that stays in the queue.
type Waiting struct {
	// Job is its id.
	Job string
	// Why is the kind of the Reason: 0 if the cycle has not looked at the job, or the policy gives
	// words only.
	Why Why
	// Reason says in words why the job does not start.
	Reason string
	// Expected is from when a place is kept for the job; Expected.IsZero() if none is.
	Expected time.Time
}

// Dropped is a job that the cycle would have started, had the cluster not changed while it was
// decided. It is as it was: in the queue, for the next cycle, unless it was cancelled.
type Dropped struct {
	// Job is its id.
	Job string
	// Why is a [*NodeError] or a [*JobError].
	Why error
}

// Reasons of a Cluster's own.
const (
	reasonUnseen = "not looked at: too far down the queue"
	reasonEmpty  = "the cluster has no nodes"
	reasonStops  = "waits for running jobs that are being stopped for it"
)

// scratch is what a cycle decides on, and its memory.
type scratch struct {
	snapshot  Snapshot
	nodes     nodeset.Table
	queue     []*clusterJob // that of the snapshot
	running   []*clusterJob // of Snapshot.Running
	names     []string      // of its nodes
	numbering uint64        // of these
	tiers     []uint8       // their memory
	plan      Plan
}

// Decide runs a cycle: it copies the state, has the policy decide on the copy, checks the plan with
// [Verify], and counts as started what still holds by then. Call it when something has changed; a
// job starts by no other way. It is one call at a time: a second one at once gets [ErrBusy], and
// changes nothing. The error may also be that of ctx, [ErrInvalidPlan] where the policy is
// defective, or the policy's; then nothing starts.
func (c *Cluster) Decide(ctx context.Context) (*Cycle, error) {
	if !c.cycle.TryLock() {
		return nil, ErrBusy
	}
	defer c.cycle.Unlock()
	w := &c.scratch
	at, err := c.copyState(w)
	if err != nil {
		return nil, err
	}
	if len(w.names) == 0 {
		return w.nothing(at), ctx.Err()
	}
	limits := Limits{Seed: c.seed}
	if c.deadline > 0 {
		limits.Deadline = c.clock().Add(c.deadline)
	}
	if err := c.policy.Decide(ctx, &w.snapshot, limits, &w.plan); err != nil {
		return nil, err
	}
	if err := Verify(&w.snapshot, &w.plan); err != nil {
		return nil, err
	}
	return c.apply(w, at)
}

// copyState makes w a copy of the state that no other goroutine writes to.
func (c *Cluster) copyState(w *scratch) (at time.Time, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := &c.machine
	m.nameQueue(c.queue)
	w.names, w.numbering = m.names, m.numbering
	s := &w.snapshot
	clear(w.queue) // they would keep ended jobs alive
	clear(w.running)
	w.running = w.running[:0]
	clear(s.Pending)
	clear(s.Running)
	*s = Snapshot{Now: c.second(), Nodes: &w.nodes, Tiers: m.tiers(w), Recent: append(s.Recent[:0], c.demand.Recent()...),
		Quotas: c.quotas.left(s.Quotas[:0]), Pending: s.Pending[:0], Running: s.Running[:0]}
	w.queue = append(w.queue[:0], c.queue...)
	for _, job := range c.queue {
		s.Pending = append(s.Pending, job.job)
	}
	for _, job := range c.running {
		if len(job.held) > 0 { // its nodes may all be gone
			s.Running = append(s.Running, Running{ID: job.id, End: job.end, Segs: job.held, Uses: job.uses, Charges: job.counts,
				Price: job.price, Class: job.class})
			w.running = append(w.running, job)
		}
	}
	if len(w.names) == 0 {
		return c.timeOf(s.Now), nil
	}
	if err := m.refresh(c.running); err != nil {
		return time.Time{}, err
	}
	w.nodes.CopyFrom(m.table)
	return c.timeOf(s.Now), nil
}

// nothing is the cycle of a cluster without nodes.
func (w *scratch) nothing(at time.Time) *Cycle {
	cycle := &Cycle{At: at}
	for _, job := range w.queue {
		cycle.Waiting = append(cycle.Waiting, Waiting{Job: job.id, Why: NoFit, Reason: reasonEmpty})
	}
	return cycle
}

// apply starts what of a plan still holds.
func (c *Cluster) apply(w *scratch, at time.Time) (*Cycle, error) {
	cycle := &Cycle{At: at, Stats: w.plan.Stats}
	decided := make([]*Decision, len(w.queue))
	for i := range w.plan.Decisions {
		decided[w.plan.Decisions[i].Job] = &w.plan.Decisions[i]
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.machine.nameQueue(c.queue)
	if len(c.machine.names) > 0 {
		if err := c.machine.refresh(c.running); err != nil {
			return nil, err
		}
	}
	waits := c.stop(w, cycle)
	for i, job := range w.queue {
		d := decided[i]
		if d != nil && d.Start && waits[i] {
			d = &Decision{Reason: reasonStops}
		}
		if d != nil && d.Start {
			c.start(w, job, d, cycle)
		} else if c.jobs[job.id] == job {
			cycle.Waiting = append(cycle.Waiting, c.waiting(job, d))
		}
	}
	c.queue = slices.DeleteFunc(c.queue, func(job *clusterJob) bool { return job.run })
	return cycle, nil
}

// start starts a job as decided, or says in the cycle why not. The queue has it still.
func (c *Cluster) start(w *scratch, job *clusterJob, d *Decision, cycle *Cycle) {
	held, err := c.stillHolds(w, job, d)
	var counts nodeset.Uses
	way, _ := job.job.Way(d.Alternative)
	if err == nil {
		counts = amountsOfParts(&way, held)
		if err = c.quotas.lack(job.id, counts); err == nil {
			err = c.machine.takeParts(held, d)
		}
	}
	if err != nil {
		cycle.Dropped = append(cycle.Dropped, Dropped{job.id, err})
		return
	}
	c.demand.Come(&way, c.second())
	job.run, job.held, job.end, job.counts = true, held[0], c.second()+job.job.TimeLimit, counts
	_, job.uses = d.Part(0)
	c.quotas.count(counts, 1)
	job.job, job.on, job.prefer = nil, nil, nil
	c.running = append(c.running, job)
	takes, share := c.machine.takes(job.uses)
	cycle.Starts = append(cycle.Starts, Start{Job: job.id, Alternative: d.Alternative,
		Nodes: shares(c.machine.names, job.held), Takes: takes, GPUShare: share, SharedGPU: int(job.held[0].Bin),
		Components: c.startComponents(job, d, held), Counts: c.quotas.counts(counts), End: c.timeOf(job.end),
		Price: job.price, Class: job.class})
}

// waiting is what a cycle says of a job that does not start; d is nil if it has not looked at it.
func (c *Cluster) waiting(job *clusterJob, d *Decision) Waiting {
	if d == nil {
		return Waiting{Job: job.id, Reason: reasonUnseen}
	}
	w := Waiting{Job: job.id, Why: d.Why, Reason: d.Reason}
	if d.Kept {
		w.Expected = c.timeOf(d.Expected)
	}
	return w
}
