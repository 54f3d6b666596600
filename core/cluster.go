// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

// Cluster keeps a cluster scheduled: it owns the table of nodes, the queue, the running jobs and
// all names, and decides on them with a [Policy]. All methods may be called by any number of
// goroutines. None of them waits for a cycle: [Cluster.Decide] works on a copy.
//
// A Cluster starts nothing and stops nothing. The caller launches what Decide says, and reports
// back.
type Cluster struct {
	policy   Policy
	clock    func() time.Time
	deadline time.Duration
	seed     uint64
	cycle    sync.Mutex // held for a whole cycle; never locked while mu is
	scratch  scratch    // of the cycle

	mu      sync.Mutex // guards all below
	epoch   time.Time  // second 0 of the policy's time
	now     int64      // the latest second that the clock told
	serial  uint64     // of the job submitted last
	jobs    map[string]*clusterJob
	queue   []*clusterJob // in queue order
	running []*clusterJob // in the order of their starts
	machine machine
	quotas  clusterQuotas
	demand  Demand // of all jobs that have started
}

// ClusterOptions are the settings of a Cluster. The zero value is that of an Auction with
// the preset none, and cycles that end by themselves.
type ClusterOptions struct {
	// Policy decides; nil means an Auction without a preset and with Clock. It must not be
	// used elsewhere, and has to go by the same clock.
	Policy Policy
	// Clock tells the time; nil means time.Now.
	Clock func() time.Time
	// Deadline is how long a cycle may take; 0 leaves its end to the policy.
	Deadline time.Duration
	// Seed starts the random choices of each cycle.
	Seed uint64
}

// JobSpec is a job as it is submitted to a Cluster.
type JobSpec struct {
	// ID names the job. No other job that waits or runs may have it.
	ID string
	// Request is what the job asks for, in the way that it likes best. Its Eligible, Uses, Charges
	// and Components must be nil.
	bids.Request
	// Components are its further parts: see [bids.Request.Components].
	Components []Way
	// On names the nodes that the job may use; nil means all, those added later too.
	On []string
	// Takes is what the job takes of further resources on each of its nodes, by name.
	Takes map[string]nodeset.Use
	// GPUShare is how many of the shares of one GPU the job wants, and no GPU beside, on its one
	// node; 0: none. See [Cluster.SetGPUShares].
	GPUShare int64
	// Counts is what the job counts against quotas while it runs, by name.
	Counts map[string]nodeset.Use
	// Alternatives are further ways to meet the job, the one liked best first.
	// See Job.Alternatives.
	Alternatives []Way
	// Prefer names nodes on which the job would rather be. See Job.Prefer.
	Prefer []string
	// Priority is 1 to MaxPriority; a higher one comes first.
	Priority int64
	// TimeLimit is for how long the job may run, more than 0. NoTimeLimit * time.Second is without
	// a limit. Parts of a second are rounded up.
	TimeLimit time.Duration
	// Preempts are the classes of running jobs that may be stopped for the job. See Job.Preempts.
	Preempts uint64
	// Price and Class say for whom the job may be stopped once it runs. See Running.Price.
	Price int64
	Class int
}

// Way is one way to meet a job.
type Way struct {
	// Request is complete by itself. Its Eligible, Uses, Charges and Components must be nil.
	bids.Request
	// On names the nodes that may be used; nil means those of the job, for a component all.
	On []string
	// Takes is what is taken of further resources; nil means nothing.
	Takes map[string]nodeset.Use
	// GPUShare is a share of a GPU, as in JobSpec; 0, for a component always: none.
	GPUShare int64
	// Counts is what is counted against quotas; nil means nothing.
	Counts map[string]nodeset.Use
}

// clusterJob is a job that waits or runs.
type clusterJob struct {
	id     string
	serial uint64
	job    *Job       // of a waiting job; replaced, never changed, since a cycle may read it
	on     [][]string // nodes that its ways name, the job's own first, those of components last
	prefer []string
	run    bool
	end    int64             // of a running job
	held   []nodeset.Segment // by a running job; replaced, never changed
	uses   nodeset.Uses      // by a running job on these; never changed
	price  int64             // once it runs; 0: nobody may have it stopped
	class  int
	counts nodeset.Uses  // of a running job, each as an amount; never changed
	beside []*clusterJob // of a running job: its components, which run as jobs do
	leader *clusterJob   // of such a component: the job
}

// NewCluster returns a cluster without nodes and jobs.
func NewCluster(o ClusterOptions) (*Cluster, error) {
	if o.Deadline < 0 {
		return nil, &OptionError{"Deadline", o.Deadline, "must not be negative"}
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Policy == nil {
		auctionOptions := Preset("none")
		auctionOptions.Clock = o.Clock
		auction, err := NewAuction(auctionOptions, nil)
		if err != nil {
			return nil, err
		}
		o.Policy = auction
	}
	return &Cluster{policy: o.Policy, clock: o.Clock, deadline: o.Deadline, seed: o.Seed,
		epoch: o.Clock(), jobs: make(map[string]*clusterJob), machine: newMachine()}, nil
}

// Submit puts a job into the queue, behind those of its priority. The error is a [*JobError]. A job
// that no node of today could run is not refused: nodes may come. Decide says Never of it as long
// as none does.
func (c *Cluster) Submit(spec JobSpec) error {
	job, err := newClusterJob(&spec)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.unused(spec.ID); err != nil {
		return err
	}
	if err := c.machine.knows(job); err != nil {
		return err
	}
	if err := c.knowGPUShares(job.id, spec.mostGPUShare()); err != nil {
		return err
	}
	if err := c.number(job, &spec); err != nil {
		return err
	}
	c.serial++
	job.serial, job.job.Since = c.serial, c.second()
	c.machine.name(job)
	c.jobs[job.id] = job
	at, _ := slices.BinarySearchFunc(c.queue, job, byQueue)
	c.queue = slices.Insert(c.queue, at, job)
	return nil
}

// Cancel takes a waiting job out of the queue. The error is a [*JobError]: one that is
// ErrUnknownJob, or one of a job that runs. Stop that, and call Ended.
func (c *Cluster) Cancel(id string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	job, ok := c.jobs[id]
	switch {
	case !ok:
		return unknownJob(id)
	case job.run:
		return jobFault(id, "id", id, "the job runs: stop it, and say that it has ended", nil)
	}
	at, _ := slices.BinarySearchFunc(c.queue, job, byQueue)
	c.queue = slices.Delete(c.queue, at, at+1)
	delete(c.jobs, id)
	return nil
}

// Ended gives back what a running job holds. Nothing is remembered of it: its id may be used again.
// The error is a [*JobError]: one that is ErrUnknownJob, or one of a job that waits.
func (c *Cluster) Ended(id string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	job, err := c.runningJob(id)
	if err != nil {
		return err
	}
	c.giveBack(job)
	c.quotas.count(job.counts, -1)
	delete(c.jobs, id)
	return nil
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

// Adopt tells of a job that runs already, as after a restart of the caller: s is what Decide once
// returned. Its nodes must be there, though they may be down. The error is a [*JobError] or
// [*NodeError].
func (c *Cluster) Adopt(s Start) error {
	if err := checkID(s.Job); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.unused(s.Job); err != nil {
		return err
	}
	if s.Price > 0 && len(s.Components) > 0 {
		return jobFault(s.Job, "price", s.Price, "it has components, which would go on", nil)
	}
	if f := priceFault(s.Price, s.Class); f != nil {
		return &JobError{Job: -1, ID: s.Job, Fault: f}
	}
	if f := takesFault("uses", &bids.Request{}, s.Takes); f != nil {
		return &JobError{Job: -1, ID: s.Job, Fault: f}
	}
	if err := c.checkAdoptedShare(&s); err != nil {
		return err
	}
	uses, err := c.machine.numbered(s.Job, "uses", s.Takes, s.GPUShare)
	if err != nil {
		return err
	}
	counts, err := c.quotas.adopted(s.Job, s.Counts)
	if err != nil {
		return err
	}
	held, err := c.hold(s.Nodes, uses, uint8(s.SharedGPU))
	if err != nil {
		return err
	}
	job := &clusterJob{id: s.Job, run: true, held: held, uses: uses, counts: counts, end: c.secondOf(s.End),
		price: s.Price, class: s.Class}
	c.running = append(c.running, job)
	if err := c.adoptComponents(job, s.Components); err != nil {
		return err
	}
	c.quotas.count(counts, 1)
	c.jobs[job.id] = job
	return nil
}

// byQueue orders jobs as the queue does: by falling priority, equals as they came.
func byQueue(a, b *clusterJob) int {
	return cmp.Or(cmp.Compare(b.job.Priority, a.job.Priority), cmp.Compare(a.serial, b.serial))
}

// unused reports a job that waits or runs by that id.
func (c *Cluster) unused(id string) error {
	if _, used := c.jobs[id]; used {
		return jobFault(id, "id", id, "there are two jobs of this id", ErrDuplicateJob)
	}
	return nil
}

// second is the second that it is, which never goes back. The caller holds mu.
func (c *Cluster) second() int64 {
	c.now = max(c.now, int64(c.clock().Sub(c.epoch)/time.Second))
	return c.now
}

// secondOf is the second by which it is t.
func (c *Cluster) secondOf(t time.Time) int64 { return max(0, seconds(t.Sub(c.epoch))) }

// timeOf is when a second begins.
func (c *Cluster) timeOf(second int64) time.Time {
	return c.epoch.Add(time.Duration(second) * time.Second)
}

// seconds are the whole seconds in which d is over.
func seconds(d time.Duration) int64 {
	s := int64(d / time.Second)
	if d%time.Second > 0 {
		s++
	}
	return s
}
