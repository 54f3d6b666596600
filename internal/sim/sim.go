// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"time"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// Speedup of a job by further GPUs or nodes: see [Config.Serial].
const (
	LinearSpeedup = 0
	MaxSerial     = 1000 // further GPUs shorten nothing
)

// Config says how to simulate. Begin with [NewConfig].
type Config struct {
	// Nodes is the machine, in node order.
	Nodes []nodeset.Capacity
	// Resources are what else the nodes have. Jobs' Uses number them in this order.
	Resources []Resource
	// Interval is the scheduling interval in seconds, at least 1: the policy
	// decides at multiples of it, if jobs have come or gone since the last time.
	Interval int64
	// Priorities, if set, rank the pending jobs again before each cycle, in place of the priorities
	// that the jobs come with. A changed order alone does not bring about a cycle.
	Priorities Priorities
	// PriorityPeriod is how many seconds Priorities hold, once a job has come, to the next multiple
	// of it: Slurm's PriorityCalcPeriod. 0: they are asked for in every cycle.
	PriorityPeriod int64
	// Seed starts the random choices of the policy's cycles.
	Seed uint64
	// Verify has every plan checked by [core.Verify].
	Verify bool
	// KillAtLimit ends jobs at their time limit. Without it a job that
	// outlives its limit goes on, as under Slurm's OverTimeLimit=UNLIMITED.
	KillAtLimit bool
	// Serial is how many thousandths of a job's duration further GPUs of a range do not shorten,
	// nor further nodes of a malleable job, LinearSpeedup to MaxSerial.
	Serial int
	// Crews makes malleable jobs take nodes and give them back; nil where there are none.
	Crews func(*Config) Crews
	// ShrinkLimits shortens a job's time limit, too, when it gets more GPUs of a range: limits are
	// for the fewest.
	ShrinkLimits bool
	// Release is how many seconds after the end of a job its nodes are free again, 0 to 3600: Slurm
	// has each of them clean up first. Until then the job is one that runs and should have ended.
	Release int64
	// Topology, if not nil, is where the nodes stand: the result has below how many leaves jobs
	// were. Blind keeps it from the policy.
	Topology *nodeset.Topology
	Blind    bool
	// Files, if set, makes what the input files of jobs cost on so many nodes.
	Files func(nodes int) (Files, error)
	// OnCycle, if set, is called after every cycle.
	OnCycle func(Progress)
	// OnEnd, if set, is called for every job as it ends, in that order.
	OnEnd func(Record)
	// Clock measures the cycles; nil means time.Now.
	Clock func() time.Time
}

// Files is what the input files of jobs ([workload.Input]) cost in one simulation. Loading one is part
// of a job's time, and so of its time limit.
type Files interface {
	// Begin has a job that starts on segs at a second load its file, and returns after how many
	// seconds the last node has it.
	Begin(j *workload.Job, segs []nodeset.Segment, now int64) (wait int64)
	// End counts a job that starts now and runs for so many nominal seconds without files: flow is
	// from its submission to its end.
	End(j *workload.Job, nominal, flow int64)
	// Cycle has the running jobs of a snapshot go on reading, and may say what the pending ones Prefer.
	Cycle(s *core.Snapshot, running, pending []*workload.Job)
	// Use is what all of it cost.
	Use() *FileUse
}

// Resource is a further resource of a machine: its name, and what each node has of it. With Shares
// it is what each GPU of the node has: see [nodeset.Table.AddShares]. One resource of a machine at
// most is of that kind. Amounts are 0 to nodeset.MaxAmount.
type Resource struct {
	Name   string
	Total  []int64
	Shares bool
}

// Progress is how far a simulation has come.
type Progress struct {
	Now                              int64 // simulated second
	Submitted, Pending, Running, End int   // jobs; End counts those that have ended
	Total                            int   // jobs of the workload
}

// job is a job in the simulator's hands.
type job struct {
	*workload.Job
	nominal int64 // seconds it runs with the fewest GPUs, whichever of its requests is met

	came *workload.Job // a malleable job as it came, Job being its lead; nil: it is rigid
	asks int           // nodes that it asks for there
}

type running struct {
	number int32 // of the job
	start  int64
	class  bids.Class

	alternative int
	loading     int64 // seconds until its nodes have its file
}

type simulator struct {
	cfg     Config
	policy  core.Policy
	jobs    []job
	order   []int32 // jobs by submission
	next    int     // of order, to be submitted
	leavers []int32 // jobs that leave, by when
	after   after
	lowest  int64 // priority of those that have come
	left    int   // how many of them have left, or had ended
	now     int64
	nodes   *nodeset.Table
	pending queue
	spare   []*core.Job    // of the queue's own copies of jobs, those that are not pending
	ranking *ranking       // nil if jobs keep their priorities
	running []running      // parallel to snapshot's
	slot    []int32        // of each job in running
	due     []int64        // when each running job ends, as far as is known
	ends    endings        // of the running jobs
	held    []core.Running // what the policy sees
	ended   int
	total   int // jobs of the workload: the first of jobs
	plan    core.Plan
	meter   Meter
	latency []time.Duration // of the cycles
	files   Files           // nil if they are not looked at
	crews   Crews           // nil if all jobs are rigid
	result  Result
}

// after is which jobs are submitted when others have ended: their numbers, by the number of the one
// that they wait for.
type after map[int32][]int32

// endAt has a running job end, and its nodes be free, at a time; what was said before is forgotten.
func (s *simulator) endAt(i int32, at int64) {
	s.due[i] = at
	s.ends.add(ending{at, i})
}

// ranking keeps a queue in the order of priorities that change.
type ranking struct {
	priorities Priorities
	queue      *queue
	jobs       []job
	place      []int32 // of each job in the order of submission
	period     int64   // see Config.PriorityPeriod
	next       int64   // when they are ranked again
}

// Priorities rank the pending jobs again before each cycle, or every Config.PriorityPeriod.
type Priorities interface {
	// Priority is that of a pending job at the second now, from 1 to
	// core.MaxPriority. It depends on its arguments only.
	Priority(j *workload.Job, now int64) int64
}

// Crews are the malleable jobs of a simulation, which take nodes and give them back while they run.
// A lead is the job on its fewest nodes. Companions are jobs of one node that it asks for, with
// numbers behind those of the workload. The laboratory has them.
type Crews interface {
	// Admit returns the lead of a malleable job, and how many nodes the job asks for as it is. The job
	// would run on these for so many seconds.
	Admit(number int32, j *workload.Job, alone int64) (lead *workload.Job, nodes int, err error)
	// Begin is told of the numbers of all jobs, and returns how many companions there may be.
	Begin(h Hand, order []int32) (companions int, err error)
	// Lift says how the policy sees a job of the workload, beside companions.
	Lift(j *core.Job)
	// Next is when the next companion is submitted, and Ask submits those that are due.
	Next() (at int64, ok bool)
	Ask() error
	// Price sets the prices of running jobs before a cycle, and Stop has one leave that is preempted.
	Price(pending []*core.Job, running []core.Running)
	Stop(number int32) error
	// Start has a lead or companion run, and returns until when as far as is known. At that time End
	// says whether it is over.
	Start(number int32) (until int64, err error)
	End(number int32, at int64) (over bool, err error)
	// Count counts a job that has ended.
	Count(number int32, ran *Record)
	Result() (*CrewUse, error)
}

// Hand is what [Crews] may do in a simulation.
type Hand struct{ s *simulator }
