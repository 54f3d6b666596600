// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

// Cluster keeps a cluster scheduled: it owns the table of nodes, the queue, the running jobs and
// all names, and decides on them with a [Policy]. All methods may be called by any number of
// goroutines. None of them waits for a cycle: [Cluster.Decide] works on a copy.
//
// A Cluster launches nothing and stops nothing. The caller does what Decide says, and reports back.
type Cluster struct {
	policy   Policy
	clock    func() time.Time
	deadline time.Duration
	seed     uint64
	strict   bool
	listen   func(Event)
	cycle    sync.Mutex // held for a whole cycle; never locked while mu is
	scratch  scratch    // of the cycle
	pace     Pace       // of the last plan

	mu       sync.Mutex // guards all below
	epoch    time.Time  // second 0 of the policy's time
	now      int64      // the latest second that the clock told
	serial   uint64     // of the job submitted last
	jobs     map[string]*clusterJob
	queue    []*clusterJob // in queue order
	pending  []*Job        // those of the queue
	coreless bool          // a job has come that may start without a core
	running  []*clusterJob // in the order of their starts
	claims   []clusterClaim
	booked   []Reservation
	machine  machine
	quotas   clusterQuotas
}

// ClusterOptions are the settings of a Cluster. The zero value means an Auction with the preset
// default and AuctionOptions.Estimates, and cycles without a deadline.
type ClusterOptions struct {
	// Policy decides; nil means an Auction with the preset default and Clock. A Policy belongs to
	// one Cluster, and uses the same clock.
	Policy Policy
	// Clock tells the time; nil means time.Now.
	Clock func() time.Time
	// Deadline is how long a cycle may take; 0: no limit.
	Deadline time.Duration
	// Seed starts the random choices of each cycle.
	Seed uint64
	// StrictPreemption is Snapshot.StrictPreemption. A window that is read may set it too.
	StrictPreemption bool
	// Continues, if not nil, is the Cluster that this one replaces, for a caller who tells the whole state
	// before each cycle. The new one takes over its policy, its pace, and the claims of jobs that are
	// submitted again; no node, job or quota. The old one must not be used any more.
	Continues *Cluster
	// Listen, if not nil, is called after each change and each cycle, on the caller's goroutine,
	// which waits for it. Events of concurrent callers come in any order.
	Listen func(Event)
}

// Event is a change or a cycle of a Cluster, for logs and counters.
type Event struct {
	At time.Time
	// Kind is submit, update, cancel, adopt, requeue or end, with a Job. Or it is node or remove,
	// with a Node; quota, with a Quota; topology; reservation; or cycle, with a Cycle. The Cycle
	// belongs to the caller of Decide: only read it.
	Kind                          string
	Job, Node, Quota, Reservation string
	Cycle                         *Cycle
}

// Cycle is what one cycle decided. It belongs to the caller.
type Cycle struct {
	// At is the time of the state on which the cycle decided.
	At time.Time
	// Starts are the jobs to launch now, in queue order. The Cluster counts them as running.
	Starts []Start
	// Preempted are running jobs to stop, and the jobs that wait for that. Stop them, call Ended
	// for each, then Decide: the others start then. Until then these are in Waiting, and each cycle
	// repeats the request. Their places are kept for up to ten minutes.
	Preempted []Preempted
	// Waiting are the other jobs that the cycle has looked at, in queue order, without those in
	// Dropped. See Cluster.Waiting for jobs further down.
	Waiting []Waiting
	// Dropped has, by job, an *Error for each start that was no longer valid at the end of the
	// cycle, as the cluster had changed meanwhile. Such a job stays in the queue, unless it was
	// cancelled.
	Dropped map[string]error
	// Stats are the policy's figures. If TimedOut is not 0, call Decide again even if nothing
	// changes.
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
	// GPUShare is how many shares of one GPU of its node it gets; 0: none. SharedGPU is the number
	// of that GPU, 1 to twice the node's GPUs. Jobs with the same number share a GPU; a new number
	// stands for any free GPU.
	GPUShare  int64
	SharedGPU int
	// Exclusive says that no other job is on these nodes: see JobSpec.
	Exclusive bool
	// Components are what its components get, in their order, each as Nodes, Takes and Exclusive; Nodes is then
	// what its own request gets. They may share nodes.
	Components []Start
	// Counts is how much it counts against quotas until it ends, by name; nil: nothing.
	Counts map[string]int64
	// Begin is when it started, and End the time by which its limit is over.
	Begin, End time.Time
	// Price and Class are those of its JobSpec. Before Exempt it is not stopped.
	Price  int64
	Class  int
	Exempt time.Time
}

// Preempted is a running job to stop, with all its components.
type Preempted struct {
	// Job is its id. For are the ids of the jobs that wait for its end, in queue order.
	Job string
	For []string
}

// Waiting is a job that stays in the queue.
type Waiting struct {
	// Job is its id.
	Job string
	// Why is the kind of the Reason; 0 if the cycle has not looked at the job, or the policy gives
	// words only.
	Why Why
	// Reason says in words why the job does not start.
	Reason string
	// Expected is from when a place is kept for the job; Expected.IsZero() if none is.
	Expected time.Time
}

// Node is a node of a Cluster.
type Node struct {
	Name string
	// Capacity is what it has in all.
	nodeset.Capacity
	// Down says that no job starts there, as on a node that is drained. What jobs hold there stays
	// held.
	Down bool
	// Tier says how early the node is to be used: jobs get nodes of lower tiers where they can.
	Tier uint8
	// Leaf is the switch above the node, one of those of SetTopology; "": none.
	Leaf string
	// Resources are further ones that it has in all, by name: memory, GPUs of one type, whatever a
	// site counts, in units of its own. 0 makes a name known, so that jobs may wait for nodes with
	// more.
	Resources map[string]int64
	// GPUShares is how many shares each GPU has, in the caller's units, such as per cent or GB; 0:
	// GPUs are given whole only. All of a job's share (JobSpec.GPUShare) is on one GPU. A GPU is
	// given whole or shared, and is whole again when its last share is freed. All GPUs of a node
	// are alike: set 0 for nodes with several types, if jobs ask for types. Shares count as one
	// further resource.
	GPUShares int64
}

// JobSpec is a job as it is submitted to a Cluster.
type JobSpec struct {
	// ID names the job, in text that can be printed. No other job that waits or runs may have it.
	ID string
	// Request is what the job asks for, its most preferred request. Its Eligible, Uses, Charges and
	// Components must be nil.
	bids.Request
	// Components are its further parts: see [bids.Request.Components].
	Components []Way
	// On names the nodes that the job may use; nil means all, those added later too.
	On []string
	// Takes is what the job takes of further resources on each of its nodes, by name.
	Takes map[string]nodeset.Use
	// GPUShare is how many shares of one GPU the job takes on its one node, 0 for none. The job can
	// have no other GPU. See Node.GPUShares.
	GPUShare int64
	// Counts is what the job counts against quotas while it runs, by name.
	Counts map[string]nodeset.Use
	// Exclusive keeps all other jobs and components off the job's nodes, as sbatch --exclusive
	// does. It uses all of an internal further resource of which all other jobs use a little.
	Exclusive bool
	// Alternatives are further requests, the most preferred first. See Job.Alternatives.
	Alternatives []Way
	// Prefer names nodes that the job prefers. See Job.Prefer.
	Prefer []string
	// Priority is 1 to MaxPriority; a higher one comes first.
	Priority int64
	// TimeLimit is how long the job may run, more than 0, rounded up to seconds. NoTimeLimit *
	// time.Second means no limit.
	TimeLimit time.Duration
	// Since is from when on it could have started. Zero means now, or for Update no change.
	Since time.Time
	// Reservation is the name of the job's reservation, "" for none. See SetReservation.
	Reservation string
	// Preempts are the classes of running jobs that the job may preempt. See Job.Preempts.
	Preempts uint64
	// Price and Class say which jobs may preempt this one once it runs, with all its components.
	// For Exempt after its start it is not preempted. See Running.Price.
	Price  int64
	Class  int
	Exempt time.Duration
}

// Way is one alternative request of a job, or one component of it.
type Way struct {
	// Request is complete by itself. Its Eligible, Uses, Charges and Components must be nil.
	bids.Request
	// Components are the further parts of an alternative.
	Components []Way
	// On names the nodes that may be used; nil means those of the job, for a component all.
	On []string
	// Takes is what is taken of further resources; nil means nothing.
	Takes map[string]nodeset.Use
	// GPUShare is a share of a GPU, as in JobSpec; 0, for a component always: none.
	GPUShare int64
	// Counts is what is counted against quotas; nil means nothing.
	Counts map[string]nodeset.Use
	// Exclusive is as in JobSpec, of this way or component alone.
	Exclusive bool
}

// clusterJob is a job that waits or runs.
type clusterJob struct {
	id     string
	spec   JobSpec // the Cluster's own; without an ID of a job that was adopted
	serial uint64
	job    *Job        // of a waiting job; replaced, never changed, since a cycle may read it
	on     []*nodeList // of the spec's ways, in their order
	prefer *nodeList
	told   Waiting // what a cycle said last

	run    bool
	begin  int64 // of a running job, and its end
	end    int64
	met    int               // which of its requests
	held   []nodeset.Segment // by a running job; replaced, never changed
	uses   nodeset.Uses      // by a running job on these; never changed
	price  int64             // once it runs; 0: nobody may have it stopped
	class  int
	exempt int64         // the second before which it is not stopped
	counts nodeset.Uses  // of a running job, each as an amount; never changed
	beside []*clusterJob // of a running job: its components, which run as jobs do
	leader *clusterJob   // of such a component: the job
}

// ofJob is the job that a running component is of, or the job itself.
func (j *clusterJob) ofJob() *clusterJob {
	if j.leader != nil {
		return j.leader
	}
	return j
}

// Reservation is a time in which only jobs of its name may use its nodes: see
// Cluster.SetReservation.
type Reservation struct {
	Name string
	// Nodes are its nodes; nil: all, those added later too.
	Nodes []string
	// Start is when it begins, and End when it is over; zero Start: now.
	Start, End time.Time
}

// clusterClaim is a claim, of the nodes of that time.
type clusterClaim struct {
	Claim
	names []string
}

// machine are the nodes of a cluster.
type machine struct {
	names     []string // only appended to, or replaced: cycles read it
	total     []nodeset.Capacity
	up        []bool
	index     map[string]int // name -> node
	numbering uint64         // how often nodes were renumbered
	tier      []uint8        // see Snapshot.Tiers
	leaf      []string       // by name, "" for none
	switches  []nodeset.Switch
	tree      *nodeset.Topology // of these; nil: not made yet, or there are none
	more      []further         // by number
	table     *nodeset.Table
	stale     bool                 // table is not what the rest says
	unnamed   bool                 // masks are not what jobs name
	lists     map[string]*nodeList // by the names in them
	byFirst   map[*string]*nodeList
}

// further is a further resource: what each node has in all.
type further struct {
	name  string
	total []int64
}

// nodeList are nodes that jobs name. Equal ones are one, by which policies see that jobs are alike.
type nodeList struct {
	names []string
	mask  nodeset.Mask // of those that are there; a cycle may read it
}

// clusterQuotas are those of a Cluster, which have the same number for ever.
type clusterQuotas struct {
	number map[string]int
	all    []clusterQuota
}

type clusterQuota struct {
	name        string
	limit, used int64
}

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
	claims    []Claim // of now, when the plan is there
}

// NewCluster returns a cluster without nodes and jobs.
func NewCluster(o ClusterOptions) (*Cluster, error) {
	if o.Deadline < 0 {
		return nil, &OptionError{"Deadline", o.Deadline, "must not be negative"}
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Policy == nil && o.Continues == nil {
		auctionOptions := Preset("")
		auctionOptions.Clock, auctionOptions.Estimates = o.Clock, true
		auction, err := NewAuction(auctionOptions, nil)
		if err != nil {
			return nil, err
		}
		o.Policy = auction
	}
	c := &Cluster{policy: o.Policy, clock: o.Clock, deadline: o.Deadline, seed: o.Seed, strict: o.StrictPreemption, listen: o.Listen,
		epoch: o.Clock(), jobs: make(map[string]*clusterJob), machine: newMachine()}
	if was := o.Continues; was != nil {
		c.policy, c.epoch, c.now, c.claims, c.pace = was.policy, was.epoch, was.now, was.claims, was.pace
	}
	return c, nil
}

func newMachine() machine {
	return machine{index: make(map[string]int), lists: make(map[string]*nodeList), byFirst: make(map[*string]*nodeList)}
}

var errNotNewCluster = errors.New("the cluster was not made by NewCluster")

// change makes a change, and tells of it.
func (c *Cluster) change(e Event, make func() error) error {
	if c.policy == nil {
		return errNotNewCluster
	}
	err := func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		e.At = c.timeOf(c.second())
		return make()
	}()
	if err == nil && c.listen != nil {
		c.listen(e)
	}
	return err
}

// second is the second that it is, which never goes back. The caller holds mu.
func (c *Cluster) second() int64 {
	c.now = max(c.now, int64(c.clock().Sub(c.epoch)/time.Second))
	return c.now
}

// secondOf is the second by which it is t.
func (c *Cluster) secondOf(t time.Time) int64 { return seconds(t.Sub(c.epoch)) }

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

// eachWay calls see for each way to meet a job and each of its components, with the job's request
// that it is, and the prefix of its fields. It ends at the first error.
func (s *JobSpec) eachWay(job *Job, see func(prefix string, part int, w *Way, r *bids.Request) error) error {
	own := Way{s.Request, s.Components, s.On, s.Takes, s.GPUShare, s.Counts, s.Exclusive}
	err := own.each("", &job.Request, see)
	for k := 0; k < len(s.Alternatives) && err == nil; k++ {
		err = s.Alternatives[k].each(fmt.Sprintf("alternatives[%d].", k), &job.Alternatives[k], see)
	}
	return err
}

func (w *Way) each(prefix string, r *bids.Request, see func(prefix string, part int, w *Way, r *bids.Request) error) error {
	err := see(prefix, 0, w, r)
	for k := 0; k < len(w.Components) && err == nil; k++ {
		err = see(fmt.Sprintf("%scomponents[%d].", prefix, k), k+1, &w.Components[k], &r.Components[k])
	}
	return err
}

// request is what a way asks for, without what it names.
func (w *Way) request() bids.Request {
	r := openEnds(w.Request)
	r.Components = nil
	for k := range w.Components {
		r.Components = append(r.Components, w.Components[k].request())
	}
	return r
}

// openEnds is a valid request whose ranges have both ends, as in a window file, and which asks for
// the same.
func openEnds(r bids.Request) bids.Request {
	switch {
	case r.MinNodes == 0 || r.MaxNodes != 0:
	case r.Cores == 0: // for the fewest
		r.MaxNodes = r.MinNodes
	default: // a node gives a core at least
		r.MaxNodes = max(r.MinNodes, min(r.Cores, nodeset.MaxNodes))
	}
	if r.MaxGPUs == 0 {
		r.MaxGPUs = r.MinGPUs
	}
	return r
}
