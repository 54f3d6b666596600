// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

var errNoContext = errors.New("the context is nil")

// Decide runs a cycle: it copies the state, has the policy decide on the copy, checks the plan with
// [Verify], and counts as started what still holds by then. Call it when something has changed. It
// is not reentrant: a concurrent call returns ErrBusy and changes nothing. Other errors are those
// of ctx and of the policy, and ErrInvalidPlan if the policy is defective; then nothing starts.
//
// Store the state (Cluster.WriteWindow), or each of the Starts, before you launch them. A caller
// that ends in between would otherwise start these jobs twice.
func (c *Cluster) Decide(ctx context.Context) (*Cycle, error) {
	if err := c.turn(ctx); err != nil {
		return nil, err
	}
	defer c.cycle.Unlock()
	w := &c.scratch
	limits := Limits{Seed: c.seed}
	if c.deadline > 0 {
		limits.Deadline = c.clock().Add(c.deadline)
	}
	at, err := c.copyState(w)
	if err != nil {
		return nil, err
	}
	if len(w.names) == 0 {
		return w.nothing(at), ctx.Err()
	}
	if err := c.policy.Decide(ctx, &w.snapshot, limits, &w.plan); err != nil {
		return nil, err
	}
	if err := Verify(&w.snapshot, &w.plan); err != nil {
		return nil, err
	}
	cycle, err := c.apply(w, at)
	if ended, ok := c.policy.(interface{ Ended(time.Time) }); ok && err == nil {
		ended.Ended(c.clock()) // later cycles leave time for this
	}
	if err == nil && c.listen != nil {
		c.listen(Event{At: at, Kind: "cycle", Cycle: cycle})
	}
	return cycle, err
}

// copyState makes w a copy of the state that no other goroutine writes to.
func (c *Cluster) copyState(w *scratch) (at time.Time, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := &c.machine
	c.nameQueue()
	w.names, w.numbering = m.names, m.numbering
	s := &w.snapshot
	clear(w.running) // they would keep ended jobs alive
	clear(s.Running)
	w.running = w.running[:0]
	*s = Snapshot{Now: c.second(), Nodes: &w.nodes, Tiers: m.tiers(w),
		Quotas: c.quotas.left(s.Quotas[:0]), Pending: copied(s.Pending, c.pending), Running: s.Running[:0],
		StrictPreemption: c.strict, sound: true, cores: !c.coreless}
	w.queue = copied(w.queue, c.queue)
	for _, job := range c.running {
		if len(job.held) > 0 && job.id != "" { // its nodes may all be gone
			s.Running = append(s.Running, Running{ID: job.ofJob().id, End: job.ofJob().end, Segs: job.held, Uses: job.uses,
				Eligible: job.ofJob().eligible(), Charges: job.counts, Price: job.price, Class: job.class, Exempt: job.exempt})
			w.running = append(w.running, job)
		}
	}
	s.Claims, s.Pace = c.claimed(), c.pace
	if len(w.names) == 0 {
		return c.timeOf(s.Now), nil
	}
	if s.Topology, err = m.topology(); err != nil {
		return time.Time{}, err
	}
	if err := m.refresh(c.running); err != nil {
		return time.Time{}, err
	}
	w.nodes.CopyFrom(m.table)
	return c.timeOf(s.Now), nil
}

// copied is a copy of src in the memory of dst, which keeps nothing else alive.
func copied[T any](dst, src []T) []T {
	was := len(dst)
	dst = append(dst[:0], src...)
	if len(src) < was {
		clear(dst[len(src):was])
	}
	return dst
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
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pace = w.plan.Pace
	c.nameQueue()
	if len(c.machine.names) > 0 {
		if err := c.machine.refresh(c.running); err != nil {
			return nil, err
		}
	}
	w.claims = c.claimed()
	waits := c.stop(w, cycle)
	var started []int // where they are in the queue
	for i := range w.plan.Decisions {
		d := &w.plan.Decisions[i]
		job := w.queue[d.Job]
		if d.Start && waits[d.Job] {
			d = &Decision{Job: d.Job, Why: Preempting, Reason: reasonStops}
		}
		switch {
		case d.Start:
			if c.start(w, job, d, cycle) {
				at, _ := slices.BinarySearchFunc(c.queue, job, byQueue)
				started = append(started, at)
			}
		case c.jobs[job.id] == job:
			job.told = c.waiting(job, d)
			cycle.Waiting = append(cycle.Waiting, job.told)
		}
	}
	slices.Sort(started)
	c.queue, c.pending = leaveOut(c.queue, started), leaveOut(c.pending, started)
	c.claim(w)
	return cycle, nil
}

// leaveOut is list without the elements at some places, which ascend.
func leaveOut[T any](list []T, places []int) []T {
	if len(places) == 0 {
		return list
	}
	left := list[:places[0]]
	for i, at := range places {
		next := len(list)
		if i+1 < len(places) {
			next = places[i+1]
		}
		left = append(left, list[at+1:next]...)
	}
	clear(list[len(left):])
	return left
}

// start starts a job as decided, or says in the cycle why not. The queue has it still.
func (c *Cluster) start(w *scratch, job *clusterJob, d *Decision, cycle *Cycle) bool {
	held, err := c.stillHolds(w, job, d)
	var counts nodeset.Uses
	if err == nil {
		way, _ := job.job.Way(d.Alternative)
		counts = amountsOfParts(&way, held)
		if err = c.quotas.lack(job.id, counts); err == nil {
			err = c.machine.takeParts(held, d)
		}
	}
	if err != nil {
		if cycle.Dropped == nil {
			cycle.Dropped = make(map[string]error)
		}
		cycle.Dropped[job.id] = err
		return false
	}
	job.run, job.held, job.begin, job.met, job.counts = true, held[0], c.second(), d.Alternative, counts
	job.end, job.exempt = job.begin+job.job.TimeLimit, job.exemptFrom(job.begin)
	_, job.uses = d.part(0)
	c.quotas.count(counts, 1)
	job.job = nil
	c.running = append(c.running, job)
	for k := 1; k < len(held); k++ {
		_, uses := d.part(k)
		c.runBeside(job, job.component(k, held[k], uses))
	}
	cycle.Starts = append(cycle.Starts, c.startOf(job))
	return true
}

// stillHolds is the decision's allocation by part on the nodes of now, in memory of its own, if the
// request is still met by it.
func (c *Cluster) stillHolds(w *scratch, job *clusterJob, d *Decision) (held [][]nodeset.Segment, err error) {
	m := &c.machine
	switch now := c.jobs[job.id]; {
	case now == nil:
		return nil, unknownJob(job.id)
	case now != job:
		return nil, jobFault(job.id, "id", job.id, "it asks for something else now", nil)
	}
	var all []nodeset.Segment
	for k := range d.parts() {
		part, _ := d.part(k)
		part = slices.Clone(part)
		if w.numbering != m.numbering {
			if part, err = m.renumbered(w.names, part); err != nil {
				return nil, err
			}
		}
		for i := range part {
			part[i].Part = uint8(k)
		}
		held, all = append(held, part), append(all, part...)
	}
	way, _ := job.job.Way(d.Alternative)
	// Nodes may lie elsewhere than they did.
	if err := place.CheckSegments(&way, all, len(m.names)); err != nil {
		return nil, jobFault(job.id, "nodes", shares(m.names, all), "they no longer suit it", nil)
	}
	tree, err := m.topology()
	if err == nil && tree != w.snapshot.Topology {
		err = checkBelow(tree, &way, all)
	}
	if barred := barred(w.claims, c.now, job.job, all); barred != nil {
		err = jobFault(job.id, "reservation", job.spec.Reservation, barred.Error(), nil)
	}
	return held, err
}

// takeParts takes what a job starts on, part by part. If a node lacks any of it, nothing is taken.
func (m *machine) takeParts(held [][]nodeset.Segment, d *Decision) error {
	for k, part := range held {
		_, uses := d.part(k)
		err := m.notUp(part)
		if err == nil {
			err = m.lack(part, uses)
		}
		if err != nil {
			for i, part := range held[:k] {
				_, uses := d.part(i)
				must(m.table.Release(part, uses...))
			}
			return err
		}
		must(m.table.Allocate(part, uses...))
	}
	return nil
}

// waiting is what a cycle says of a job that does not start.
func (c *Cluster) waiting(job *clusterJob, d *Decision) Waiting {
	w := Waiting{Job: job.id, Why: d.Why, Reason: d.Reason}
	if d.Kept {
		w.Expected = c.timeOf(d.Expected)
	}
	return w
}

// Snapshot returns the state as policies see it, and the names of the nodes by number: for another
// policy, Verify, or an Explainer. The caller owns it.
func (c *Cluster) Snapshot() (s *Snapshot, nodes []string, err error) {
	if c.policy == nil {
		return nil, nil, errNotNewCluster
	}
	w := new(scratch)
	if _, err = c.copyState(w); err == nil && len(w.names) == 0 {
		err = errNoNodes
	}
	w.snapshot.cores = false // callers may change jobs
	return &w.snapshot, w.names, err
}

// turn takes the policy's turn, or says why there is none.
func (c *Cluster) turn(ctx context.Context) error {
	switch {
	case c.policy == nil:
		return errNotNewCluster
	case ctx == nil:
		return errNoContext
	case !c.cycle.TryLock():
		return ErrBusy
	}
	return nil
}

// Explain says why a waiting job waits, with names: see [Explainer]. It runs the policy on the
// present state, and up to o.Trials times on changed ones. So it excludes Decide: either of them
// may return ErrBusy. It returns an [*Error] if the job is unknown.
func (c *Cluster) Explain(ctx context.Context, id string, o ExplainOptions) (*Explanation, error) {
	if err := c.turn(ctx); err != nil {
		return nil, err
	}
	defer c.cycle.Unlock()
	s, names, err := c.Snapshot()
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(s.Pending, func(job *Job) bool { return job.ID == id })
	if at < 0 {
		return nil, unknownJob(id)
	}
	limits := Limits{Seed: c.seed}
	if c.deadline > 0 {
		limits.Deadline = c.clock().Add(c.deadline)
	}
	e, err := NewExplainer(ctx, c.policy, s, limits)
	if err != nil {
		return nil, err
	}
	x, err := e.Explain(ctx, at, o)
	if err == nil {
		x.name(s, names)
	}
	return x, err
}

// name puts an explanation into names.
func (x *Explanation) name(s *Snapshot, nodes []string) {
	x.Nodes = shares(nodes, x.Place)
	for _, rivals := range [][]Rival{x.Rivals, x.Stops} {
		for i := range rivals {
			r := &rivals[i]
			switch r.Nodes = shares(nodes, r.Segs); {
			case r.Role == roleRuns:
				r.ID = s.Running[r.Job].ID
			case r.Job >= 0:
				r.ID = s.Pending[r.Job].ID
			}
		}
	}
}
