// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

// Job is one job of the queue.
type Job struct {
	// ID names the job to the user; it is unique in the queue of a snapshot.
	ID string
	// Priority is 1 to MaxPriority; a higher one comes first (P_j of the papers).
	Priority int64
	// TimeLimit is the walltime limit in seconds, not a time.Duration: 1 to 2^50, NoTimeLimit without
	// one. Required: a zero limit would let the job backfill into any reservation.
	TimeLimit int64
	// Request is what the job asks for, its most preferred request.
	bids.Request
	// Alternatives are further requests, the most preferred first, at most MaxAlternatives
	// (aucsched1 and aucsched2, future work). Each is complete, except that a nil Eligible means
	// that of Request. At most one of all is met.
	Alternatives []bids.Request
	// Prefer are nodes that the job prefers, for example because they hold its input; nil: none. It
	// gets as many of these as it can. No start is given up for a preferred node, and no job waits
	// for one. Do not modify it while the job is in use.
	Prefer nodeset.Mask
	// Since is the second from which on the job could have started, mostly its submission, on the
	// scale of Snapshot.Now. Only differences count.
	Since int64
	// Offer is an allocation, or nil, for which the job bids beside its own bids: what another
	// selection would give it. The caller owns it. It is ignored if it is not free or does not meet
	// the request.
	Offer []nodeset.Segment
	// Reservation is the name of the job's reservation, "" for none. The job starts on its nodes,
	// while it lasts.
	Reservation string
	// Preempts are the classes of running jobs that the job may preempt: bit c stands for
	// Running.Class c. An Auction preempts nobody for a job that could start on what jobs behind it
	// would get, and chooses the cheapest victims; see Snapshot.StrictPreemption.
	Preempts uint64
}

// Running is one job that holds nodes.
type Running struct {
	ID string
	// End is the second by which the job will have ended, from its time limit.
	End int64
	// Segs is what the job holds, Uses what it takes of further resources there. A job of several
	// parts has an element for each, with the same ID; one of them has Charges and Price.
	Segs []nodeset.Segment
	Uses nodeset.Uses
	// Eligible are the nodes that it could have used, nil for any: what is usual is told by it.
	Eligible nodeset.Mask
	// Charges are what the job counts against quotas until it ends. Quota.Left is without it.
	// Without Charges nothing is expected to come back.
	Charges nodeset.Uses
	// Price > 0 lets a job that preempts the Class stop this job, if that job's priority exceeds
	// the sum of its victims' prices. It is what a stop loses, in units of priority, 1 to
	// MaxPriority; 1 for a job that is being stopped already.
	Price int64
	// Exempt is the second before which the job is not preempted.
	Exempt int64
	// Class is 0 to MaxClass. By Slurm's preempt/partition_prio it is the tier of the job's
	// partition, and a job preempts all lower ones; by preempt/qos it stands for the QOS.
	Class int
}

// Snapshot is the state that one cycle decides on. Policies never change it, except that they may
// allocate and release on Nodes if they restore it before they return.
type Snapshot struct {
	// Now is the time in seconds, on the same scale as Running.End.
	Now int64
	// Nodes is the machine with what the running jobs hold taken off.
	Nodes *nodeset.Table
	// Tiers, if not nil, orders nodes as Slurm's weights do: a job gets nodes of the lowest tier
	// first. Within a tier a job without GPUs gets nodes without GPUs first. No start and no job's
	// Prefer is given up for that.
	Tiers []uint8
	// Quotas bound what jobs of Pending take together, by their Charges.
	Quotas []Quota
	// Topology, if not nil, has the switches: jobs get nodes below as few switches as possible, of
	// the lowest level that has room, or as their requests demand. No start is given up for what no
	// request demands. Pass the same pointer from cycle to cycle.
	Topology *nodeset.Topology
	// Pending is the queue, highest priority first; jobs of equal priority are
	// in the order in which they are to be served. See Snapshot.Validate.
	Pending []*Job
	// Running are the jobs that hold nodes, in any order; what they hold is not
	// free in Nodes.
	Running []Running
	// Claims are those of the last Plan, and at most 63 reservations.
	Claims []Claim
	// StrictPreemption lets a job preempt any number of running jobs, the lowest Class first, as
	// Slurm and Kubernetes do. Without it the sum of their prices is less than its priority.
	StrictPreemption bool
	// Pace is that of the last Plan.
	Pace Pace

	sound bool // a Cluster has checked all
	cores bool // and each job takes a core
}

// Quota bounds what jobs take together on all nodes: the cores of an account, the GPUs of a user,
// licences, power. A job counts its request's Charges.
type Quota struct {
	// Name is what users are told: "AssocGrpCpuLimit of account x".
	Name string
	// Left is how much the jobs that start now may count together, at most bids.MaxRate, in any
	// unit; negative if running jobs count more than the limit. What a job counts is rounded up to
	// a multiple of Left/2^24.
	Left int64
}

// Pace is how long jobs have run and how long they were allowed to, in seconds of the whole
// machine. Planned waits are shortened by the ratio of the two. The zero Pace means that jobs run
// to their limits.
type Pace struct{ Ran, Limits float64 }

func (p Pace) valid() bool {
	return p.Ran >= 0 && p.Ran <= NoTimeLimit && p.Limits >= 0 && p.Limits <= NoTimeLimit
}

// ratio is how much of their limits jobs run: above 0, at most 1.
func (p Pace) ratio() float64 {
	const before = 3600 // taken to have run exactly to their limits
	return min((p.Ran+before)/(p.Limits+before), 1)
}

// Claim is a place kept for a pending job for which running jobs are being stopped. No other job
// starts there, and the job starts before all others, there or elsewhere. Or it is a reservation.
type Claim struct {
	// For is the ID of the pending job. A claim of a job that is not pending is ignored.
	For string
	// Reservation, if not "", is the name of a reservation of whole nodes from second From on. Only
	// jobs of that name start there if they would still run then, and they start nowhere else.
	Reservation string
	// Segs is the place, as in a Decision, or the nodes of a reservation. A place that does not
	// meet the job's request is ignored.
	Segs []nodeset.Segment
	// Alternative is which of the job's requests is met there, as in a Decision.
	Alternative int
	// From is when a reservation begins, and Until the second until which the claim holds.
	From, Until int64
}

// Limits bound one cycle. At the deadline the policy answers with the best that it has; when its
// context ends, nobody wants the answer any more.
type Limits struct {
	// Deadline is when the answer is due, by the policy's clock; zero means no deadline.
	Deadline time.Time
	// Seed starts the random choices of this cycle.
	Seed uint64
}

// Decision is the outcome of a cycle for one pending job.
type Decision struct {
	// Job is the job's index in Snapshot.Pending.
	Job int
	// Start says whether the job starts now, on Segs.
	Start bool
	// Segs is the allocation, ascending: how many cores and GPUs of each node, not which. It
	// belongs to the Plan and is valid until the Plan is used again. With Components it has one
	// part after the other, each ascending: Segment.Part is 0 for the request itself and k for
	// Components[k-1]. Parts may share nodes.
	Segs []nodeset.Segment
	// Uses is what the job takes of further resources there. It is the request's; do not change it.
	// With Components it is nil, and PartUses, which the Plan owns, has it by part.
	Uses     nodeset.Uses
	PartUses []nodeset.Uses
	// Alternative is which of the job's requests is met: 0 is Request itself, k is
	// Alternatives[k-1].
	Alternative int
	// Class is the class of the winning bid.
	Class bids.Class
	// Kept says that the job has a reservation, and Expected from which second on: then it is
	// expected to start. Expected is only valid if Kept is true.
	Kept     bool
	Expected int64
	// Reason is the pending reason in words; empty if the job starts.
	Reason string
	// Why is the kind of the Reason, if the policy gives one.
	Why Why
	// Quota is which of Snapshot.Quotas has too little left, where Why is OverQuota.
	Quota int
}

// Why is the kind of reason for which a job does not start.
type Why uint8

// The zero Why is for jobs that start, and for policies that give words only.
const (
	NoFit      Why = iota + 1 // nothing that is free suits it
	Lost                      // it could start, but others come first or are worth more
	Reserved                  // it is blocked, and a place is kept for it from Expected on
	Never                     // this machine can never run it
	Unmodelled                // the policy's model does not know what it asks for
	TimedOut                  // the time was over before the policy had decided on it: call again
	// a quota has too little left for it, or too little beside jobs that start
	OverQuota
	// it waits for running jobs that are being stopped for it: of a [Cluster], where plans have it start
	Preempting
)

// Plan is the outcome of one cycle. Pass it to the next cycle to reuse its memory.
type Plan struct {
	// Decisions has an element for each job that the cycle looked at, in queue order.
	Decisions []Decision
	// Preempted are the running jobs to stop. Only the jobs that they name wait for that; other
	// starts do not.
	Preempted []Preemption
	// Claims are the places of jobs that wait for that. Copy them into the next Snapshot, or other
	// jobs can start there. The caller owns them.
	Claims []Claim
	// Pace is for the next Snapshot.
	Pace Pace
	// Objective is the value of the jobs that start less that of the preempted ones. Bound is an
	// upper bound on the value of any choice among the same bids. Both are 0 for policies without
	// an objective.
	Objective, Bound float64
	// Stats says what the cycle did.
	Stats Stats

	segs  []nodeset.Segment // the decisions' memory
	waits []int             // that of Preempted
	uses  []nodeset.Uses
}

// Preemption is a running job that the caller has to stop, on all of its nodes. When it has ended,
// the caller decides again, or starts the jobs that wait for it. Until then nothing else may start
// on their places.
type Preemption struct {
	// Running is its index in Snapshot.Running, of the part with the Price if it has several.
	Running int
	// For are the jobs that wait for it: ascending indices in Snapshot.Pending. Beside the job for
	// which it is stopped these are others that may preempt it. The Plan owns it.
	For []int
}

// Stats are the figures of one cycle.
type Stats struct {
	Jobs, Bids, BidClasses int // in the window
	Rows, Entries          int // of the model
	Status                 string
	Work                   int64
	Elapsed                time.Duration
	// Late says that the deadline cut the cycle short.
	Late bool
	// TimedOut is how many decisions have Why TimedOut. If it is not 0, call Decide again even if
	// nothing changes.
	TimedOut int
}

// Policy decides on snapshots. A Policy may keep memory between calls, but no state that changes a
// decision. It is not safe for concurrent use: those of this package return ErrBusy to the second
// caller, and reject what Snapshot.Validate rejects. Baselines that stand for other schedulers meet
// a job's first request only, and ignore Prefer and tiers.
type Policy interface {
	// Name is how the command line calls the policy.
	Name() string
	// Decide fills p with the best plan for s that it knows by l.Deadline. It never over-allocates.
	// On an error nothing starts. If ctx ends, the error is that of ctx. With ErrBusy p is not
	// changed.
	Decide(ctx context.Context, s *Snapshot, l Limits, p *Plan) error
}

// Limits of the numbers in a Job.
const (
	// MaxPriority keeps sums of priorities in range.
	MaxPriority = 1 << 40
	// NoTimeLimit stands for a job without a limit: a hundred years.
	NoTimeLimit = 100 * 365 * 24 * 3600
	// MaxClass is the greatest Running.Class.
	MaxClass = 63
	// MaxAlternatives is how many alternatives a job may have.
	MaxAlternatives = 8
)

// together are the entries of a job in Running, of which one is given.
func (s *Snapshot) together(running int) iter.Seq[int] {
	return func(yield func(int) bool) {
		id := s.Running[running].ID
		for k := range s.Running {
			if (k == running || id != "" && s.Running[k].ID == id) && !yield(k) {
				return
			}
		}
	}
}

// ErrInvalidPlan is returned for a plan that [Verify] rejects, or that cannot be applied.
var ErrInvalidPlan = errors.New("the plan is not valid")

func must(err error) {
	if err != nil {
		panic("core: " + err.Error())
	}
}

func mustHold(ok bool) {
	if !ok {
		panic("core: what a job gets is not what others gave")
	}
}

var whyNames = [...]string{
	"other", NoFit: "no_fit", Lost: "lost", Reserved: "reserved", Never: "never",
	Unmodelled: "unmodelled", TimedOut: "timed_out", OverQuota: "over_quota", Preempting: "preempting",
}

// String is the name in windows' explanations; "other" for 0.
func (w Why) String() string {
	if int(w) < len(whyNames) {
		return whyNames[w]
	}
	return fmt.Sprintf("Why(%d)", uint8(w))
}

// Share is a job's cores and GPUs on one node.
type Share struct {
	Node        string
	Cores, GPUs int
}
