// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/format"
	"github.com/aucsched/aucsched/nodeset"
)

// Submit puts a job into the queue, behind those of its priority. It returns an [*Error] if the job
// is invalid. A job that no present node could run is accepted, as nodes may be added; until then
// its Why is Never.
func (c *Cluster) Submit(spec JobSpec) error {
	return c.change(Event{Kind: "submit", Job: spec.ID}, func() error {
		if err := plainID(spec.ID); err != nil {
			return err
		}
		return c.submit(spec.clone(sameList), nil)
	})
}

// submit puts a job into the queue, in the place of old if that is not nil.
func (c *Cluster) submit(spec JobSpec, old *clusterJob) error {
	if err := checkID(spec.ID); err != nil {
		return err
	}
	if spec.exclusive() {
		if err := c.knowExclusive(); err != nil {
			return jobFault(spec.ID, format.Exclusive, true, err.Error(), nil)
		}
	}
	if old != nil {
		old = c.jobs[old.id]
	}
	if _, used := c.jobs[spec.ID]; used && old == nil {
		return jobFault(spec.ID, "id", spec.ID, "there are two jobs of this id", ErrDuplicate)
	}
	if spec.Since.IsZero() {
		if spec.Since = c.timeOf(c.second()); old != nil {
			spec.Since = old.spec.Since
		}
	}
	job, err := c.newJob(&spec, old)
	if err != nil {
		return err
	}
	if old == nil {
		c.serial++
		job.serial = c.serial
	} else {
		job.serial = old.serial
	}
	if old != nil && !old.run {
		c.unqueue(old)
	}
	c.jobs[job.id] = job
	at, _ := slices.BinarySearchFunc(c.queue, job, byQueue)
	c.queue, c.pending = slices.Insert(c.queue, at, job), slices.Insert(c.pending, at, job.job)
	c.coreless = c.coreless || job.job.mayBeCoreless()
	return nil
}

// unqueue takes a job out of the queue.
func (c *Cluster) unqueue(job *clusterJob) {
	at, _ := slices.BinarySearchFunc(c.queue, job, byQueue)
	c.queue, c.pending = slices.Delete(c.queue, at, at+1), slices.Delete(c.pending, at, at+1)
}

// Update replaces the JobSpec of that ID. A waiting job keeps its place among jobs of its priority,
// and its Since unless the new one sets it. Of a running job it changes the time limit, Price,
// Class and Exempt; the rest takes effect after Cluster.Requeue. On an [*Error] nothing is changed.
func (c *Cluster) Update(spec JobSpec) error {
	return c.change(Event{Kind: "update", Job: spec.ID}, func() error {
		old, ok := c.jobs[spec.ID]
		switch {
		case !ok:
			return unknownJob(spec.ID)
		case !old.run:
			return c.submit(spec.clone(sameList), old)
		}
		spec := spec.clone(sameList)
		spec.Since = cmp.Or(spec.Since, old.spec.Since, c.timeOf(old.begin))
		job, err := c.newJob(&spec, old)
		if err != nil {
			return err
		}
		old.spec, old.on, old.prefer = spec, job.on, job.prefer
		old.end, old.price, old.class, old.exempt = old.begin+seconds(spec.TimeLimit), spec.Price, spec.Class, old.exemptFrom(old.begin)
		return nil
	})
}

// Requeue frees what a running job holds and puts it back into the queue: it keeps its Since, and
// its place among jobs of its priority. Use it for a start that could not be launched, and for a
// stopped job that is to run again. It returns an [*Error] if the job is unknown, waits, or was
// adopted without a JobSpec.
func (c *Cluster) Requeue(id string) error {
	return c.change(Event{Kind: "requeue", Job: id}, func() error {
		job, err := c.runningJob(id)
		if err != nil {
			return err
		}
		if job.spec.ID == "" {
			return jobFault(id, "id", id, "what it asks for is not known: say that it has ended, and submit it", nil)
		}
		if err := c.submit(job.spec, job); err != nil {
			return err
		}
		c.giveBack(job)
		return nil
	})
}

// Cancel removes a waiting job from the queue. It returns an [*Error] if the job is unknown or
// runs; stop a running job, then call Ended.
func (c *Cluster) Cancel(id string) error {
	return c.change(Event{Kind: "cancel", Job: id}, func() error {
		job, ok := c.jobs[id]
		switch {
		case !ok:
			return unknownJob(id)
		case job.run:
			return jobFault(id, "id", id, "the job runs: stop it, and say that it has ended", nil)
		}
		c.unqueue(job)
		delete(c.jobs, id)
		return nil
	})
}

// Ended frees what a running job holds, and forgets the job: its id may be used again. It returns
// an [*Error] if the job is unknown or waits.
func (c *Cluster) Ended(id string) error {
	return c.change(Event{Kind: "end", Job: id}, func() error {
		job, err := c.runningJob(id)
		if err == nil {
			c.giveBack(job)
			delete(c.jobs, id)
		}
		return err
	})
}

// runningJob is the job of that id, which must run; with c.mu.
func (c *Cluster) runningJob(id string) (*clusterJob, error) {
	job, ok := c.jobs[id]
	switch {
	case !ok:
		return nil, unknownJob(id)
	case !job.run:
		return nil, jobFault(id, "id", id, "the job does not run", nil)
	}
	return job, nil
}

// Adopt adds a job that runs already, as after a restart of the caller: s is what Decide or Running
// returned. Its nodes must exist; they may be down. The error is an [*Error].
func (c *Cluster) Adopt(s Start) error {
	return c.change(Event{Kind: "adopt", Job: s.Job}, func() error {
		if err := plainID(s.Job); err != nil {
			return err
		}
		return c.adopt(&s, JobSpec{})
	})
}

// adopt adopts a job that may have been submitted once as spec says.
func (c *Cluster) adopt(s *Start, spec JobSpec) error {
	if err := checkID(s.Job); err != nil {
		return err
	}
	if _, used := c.jobs[s.Job]; used {
		return jobFault(s.Job, "id", s.Job, "there are two jobs of this id", ErrDuplicate)
	}
	job := &clusterJob{id: s.Job, spec: spec, run: true, begin: c.second(), end: max(0, c.secondOf(s.End)), met: s.Alternative,
		price: s.Price, class: s.Class}
	if !s.Begin.IsZero() {
		job.begin = c.secondOf(s.Begin)
	}
	if !s.Exempt.IsZero() {
		job.exempt = c.secondOf(s.Exempt)
	}
	f := cmp.Or(priceFault(s.Price, s.Class), outOf(format.GPUShare, s.GPUShare, nodeset.MaxAmount))
	if f == nil {
		f = takesFault("uses", &bids.Request{}, s.Takes)
	}
	if f != nil {
		return &Error{Of: "job", Name: s.Job, Job: -1, Fault: f}
	}
	switch {
	case s.GPUShare == 0 && s.SharedGPU != 0:
		return jobFault(s.Job, "shared_gpu", s.SharedGPU, "the job has no share of a GPU", nil)
	case s.GPUShare > 0 && len(s.Nodes) > 1:
		return jobFault(s.Job, format.GPUShare, s.GPUShare, "a share of a GPU is on one node", nil)
	case s.GPUShare > 0:
		if err := c.knowGPUShares(); err != nil {
			return jobFault(s.Job, format.GPUShare, s.GPUShare, err.Error(), nil)
		}
	}
	if s.Exclusive || slices.ContainsFunc(s.Components, func(p Start) bool { return p.Exclusive }) {
		if err := c.knowExclusive(); err != nil {
			return jobFault(s.Job, format.Exclusive, true, err.Error(), nil)
		}
	}
	var err error
	if job.uses, err = c.machine.numbered(s.Job, "uses", s.Takes, s.GPUShare, s.Exclusive); err != nil {
		return err
	}
	if job.counts, err = c.quotas.adopted(s.Job, s.Counts); err != nil {
		return err
	}
	if job.held, err = c.hold(s.Nodes, job.uses, s.SharedGPU); err != nil {
		return err
	}
	c.running = append(c.running, job)
	for k := range s.Components {
		if err := c.adoptComponent(job, k, &s.Components[k]); err != nil {
			c.giveBack(job)
			return err
		}
	}
	c.quotas.count(job.counts, 1)
	c.jobs[job.id] = job
	return nil
}

func (c *Cluster) adoptComponent(job *clusterJob, k int, p *Start) error {
	field := fmt.Sprintf("components[%d].uses", k)
	if f := takesFault(field, &bids.Request{}, p.Takes); f != nil {
		return &Error{Of: "job", Name: job.id, Job: -1, Fault: f}
	}
	uses, err := c.machine.numbered(job.id, field, p.Takes, 0, p.Exclusive)
	if err != nil {
		return err
	}
	held, err := c.hold(p.Nodes, uses, 0)
	if err == nil {
		c.runBeside(job, job.component(k+1, held, uses))
	}
	return err
}

// component is a running component of job, the k-th behind its own request.
func (j *clusterJob) component(k int, held []nodeset.Segment, uses nodeset.Uses) *clusterJob {
	return &clusterJob{id: fmt.Sprintf("%s+%d", j.id, k), run: true, held: held, uses: uses, leader: j}
}

func (c *Cluster) runBeside(job, component *clusterJob) {
	job.beside = append(job.beside, component)
	c.running = append(c.running, component)
}

// exemptFrom is the second before which a job that runs from another on is not stopped; 0: none.
func (j *clusterJob) exemptFrom(begin int64) int64 {
	if j.spec.Exempt <= 0 {
		return 0
	}
	return begin + seconds(j.spec.Exempt)
}

// giveBack gives back what a running job and its components hold and count.
func (c *Cluster) giveBack(job *clusterJob) {
	for _, x := range append([]*clusterJob{job}, job.beside...) {
		c.machine.release(x)
	}
	if c.jobs[job.id] != nil {
		c.quotas.count(job.counts, -1)
	}
	c.running = slices.DeleteFunc(c.running, func(x *clusterJob) bool { return x.ofJob() == job })
}

// Jobs are the waiting jobs, in queue order.
func (c *Cluster) Jobs() []JobSpec {
	c.mu.Lock()
	defer c.mu.Unlock()
	jobs := make([]JobSpec, len(c.queue))
	for i, job := range c.queue {
		jobs[i] = job.spec.clone(slices.Clone)
	}
	return jobs
}

// Waiting returns the waiting jobs in queue order, each with the reason of the last cycle that
// looked at it.
func (c *Cluster) Waiting() []Waiting {
	c.mu.Lock()
	defer c.mu.Unlock()
	waiting := make([]Waiting, len(c.queue))
	for i, job := range c.queue {
		if waiting[i] = job.told; job.told.Job == "" {
			waiting[i] = Waiting{Job: job.id, Reason: reasonUnseen}
		}
	}
	return waiting
}

// Running are the running jobs, in the order of their starts, with what they hold now: without
// nodes that were removed. A Cluster with the same nodes adopts them.
func (c *Cluster) Running() []Start {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []Start
	for _, job := range c.running {
		if job.leader == nil {
			all = append(all, c.startOf(job))
		}
	}
	return all
}

// startOf is a running job as one that starts.
func (c *Cluster) startOf(job *clusterJob) Start {
	m := &c.machine
	s := Start{Job: job.id, Alternative: job.met, Nodes: shares(m.names, job.held),
		Counts: c.quotas.counts(job.counts), Begin: c.timeOf(job.begin), End: c.timeOf(job.end), Price: job.price, Class: job.class}
	m.setTakes(&s, job.uses)
	if len(job.held) > 0 {
		s.SharedGPU = int(job.held[0].Bin)
	}
	if job.exempt != 0 {
		s.Exempt = c.timeOf(job.exempt)
	}
	for _, x := range job.beside {
		s.Components = append(s.Components, Start{Nodes: shares(m.names, x.held)})
		m.setTakes(&s.Components[len(s.Components)-1], x.uses)
	}
	return s
}

// setTakes has s take uses, by name.
func (m *machine) setTakes(s *Start, uses nodeset.Uses) {
	takes := format.Named(uses, func(r int) string { return m.more[r].name })
	s.GPUShare, s.Exclusive = takes[format.GPUShare].PerNode, takes[format.Exclusive].PerNode > 1
	delete(takes, format.GPUShare)
	if delete(takes, format.Exclusive); len(takes) > 0 {
		s.Takes = takes
	}
}

// byQueue orders jobs as the queue does: by falling priority, equals as they came.
func byQueue(a, b *clusterJob) int {
	return cmp.Or(cmp.Compare(b.spec.Priority, a.spec.Priority), cmp.Compare(a.serial, b.serial))
}

// clone is a copy that shares no memory but that of On, which names copies.
func (s *JobSpec) clone(names func([]string) []string) JobSpec {
	x := *s
	x.On, x.Prefer = names(s.On), slices.Clone(s.Prefer)
	x.Takes, x.Counts = maps.Clone(s.Takes), maps.Clone(s.Counts)
	x.Components, x.Alternatives = cloneWays(s.Components, names), cloneWays(s.Alternatives, names)
	return x
}

func cloneWays(ways []Way, names func([]string) []string) []Way {
	ways = slices.Clone(ways)
	for k := range ways {
		w := &ways[k]
		w.On, w.Takes, w.Counts = names(w.On), maps.Clone(w.Takes), maps.Clone(w.Counts)
		w.Components = cloneWays(w.Components, names)
	}
	return ways
}

// sameList leaves a list that newJob copies.
func sameList(names []string) []string { return names }

// Reasons of a Cluster's own.
const (
	reasonUnseen = "not looked at: too far down the queue"
	reasonEmpty  = "the cluster has no nodes"
	reasonStops  = "waits for running jobs that are being stopped for it"
)
