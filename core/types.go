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
	// Request is what the job asks for, in the way that it likes best.
	bids.Request
	// Alternatives are further ways to meet the job, the one liked best first, at most
	// MaxAlternatives (aucsched1 and aucsched2, future work). Each is complete by itself,
	// save that the nodes which the job may use are those of Request where its Eligible is
	// nil. At most one of all ways wins.
	Alternatives []bids.Request
	// Prefer are the nodes on which the job would rather be, because they hold its input, say;
	// nil: none in particular. It gets as many of these as it can, and others for what they lack:
	// no start is given up for one, and nobody waits for a preferred node. It is not modified, and
	// must not be while the job is in use.
	Prefer nodeset.Mask
	// Priority is 1 to MaxPriority; a higher one comes first (P_j of the papers).
	Priority int64
	// TimeLimit is the walltime limit in seconds, 1 to 2^50, NoTimeLimit without one. There is no
	// default, lest a job without a limit pass for one that ends at once and is let into what is
	// reserved for others.
	TimeLimit int64
	// Since is the second from which on the job could have started, on the scale of Snapshot.Now:
	// its submission, mostly. Only differences count. AuctionOptions.Patience looks at it.
	Since int64
	// Offer is an allocation for which the job bids besides its own bids, or nil: what
	// another selection would give it. It stays the caller's. One that is not free, or not
	// what the job asks for, is not bid.
	Offer []nodeset.Segment
	// Reservation names that which the job is of: it starts on nodes of that, while that lasts. "": none.
	Reservation string
	// Preempts are the classes of running jobs that may be stopped to make room for the job: bit c
	// stands for Running.Class c. Auction stops nobody for a job that could start on what jobs behind
	// it would get, and of those who will do the cheapest; see Snapshot.StrictPreemption.
	Preempts uint64
}

// Running is one job that holds nodes.
type Running struct {
	ID string
	// End is the second by which the job will have ended, from its time limit.
	End int64
	// Segs is what the job holds, and Uses what it takes of further resources there. A job of
	// several parts is there once for each, by the same ID, with Charges and Price once.
	Segs []nodeset.Segment
	Uses nodeset.Uses
	// Charges are what the job counts against quotas until it ends: what is left of them does not
	// have it. Without them nothing is expected to come back.
	Charges nodeset.Uses
	// Price, if not 0, lets a job that preempts the Class have this one stopped, all of it, where its
	// priority is above the prices of all whom that stops together: it is what is lost then, in units
	// of priority, 1 to MaxPriority. Of a job that is being stopped it may be 1.
	Price int64
	// Exempt is the second before which the job is not stopped, whatever its Price.
	Exempt int64
	// Class is 0 to MaxClass. By Slurm's preempt/partition_prio it is the tier of the job's
	// partition, and a job preempts all lower ones; by preempt/qos it stands for the QOS.
	Class int
}

// Snapshot is the state that one cycle decides on. Policies read it and never
// change it, save that they may allocate and release on Nodes as long as they
// restore it before they return.
type Snapshot struct {
	// Now is the time in seconds, on the same scale as Running.End.
	Now int64
	// Nodes is the machine with what the running jobs hold taken off.
	Nodes *nodeset.Table
	// Tiers, if not nil, says of each node how early it is to be used, as Slurm's node weights do: a
	// job gets nodes of the lowest tier, and of the next one what these lack. Of a tier, jobs
	// without GPUs get nodes without first. No start is given up for that, nor a job's own Prefer.
	Tiers []uint8
	// Quotas bound what jobs of Pending take together, by their Charges.
	Quotas []Quota
	// Topology, if not nil, is where the nodes stand: jobs get nodes below as few switches as can
	// be, of the lowest level that has room, or as their requests demand. No start is given up
	// for what no request demands. It does not change, and one that stays the same should be the
	// same from cycle to cycle.
	Topology *nodeset.Topology
	// Pending is the queue, highest priority first; jobs of equal priority are
	// in the order in which they are to be served. See Snapshot.Validate.
	Pending []*Job
	// Running are the jobs that hold nodes, in any order; what they hold is not
	// free in Nodes.
	Running []Running
	// Claims are those of the last Plan, places for jobs for which running ones are stopped, and
	// reservations, at most 63.
	Claims []Claim
	// StrictPreemption has a job with the right stop any number of running jobs, whatever their prices
	// are together, those of the lowest Class first, as Slurm and Kubernetes do. Without it all prices
	// together are less than its priority.
	StrictPreemption bool
	// Pace is that of the last Plan.
	Pace Pace

	sound bool // a Cluster has checked all
}

// Quota bounds what jobs take together, wherever they are: the cores of an account, the GPUs of a
// user, licences, power. What a job counts is up to its request's Charges.
type Quota struct {
	// Name is what users are told: "AssocGrpCpuLimit of account x".
	Name string
	// Left is how much jobs that start now may count together, up to bids.MaxRate, in any unit. It is
	// less than 0 if running jobs count more than is allowed.
	// What a job counts is rounded up to 2^-24 of it.
	Left int64
}

// Pace is what jobs have run and what they were allowed to, in seconds of the whole machine. Plans
// are made by time limits; by the ratio of the two the waits that are planned come sooner. Of the
// zero Pace nothing is known: jobs are taken to run to their limits.
type Pace struct{ Ran, Limits float64 }

func (p Pace) valid() bool {
	return p.Ran >= 0 && p.Ran <= NoTimeLimit && p.Limits >= 0 && p.Limits <= NoTimeLimit
}

// ratio is how much of their limits jobs run: above 0, at most 1.
func (p Pace) ratio() float64 {
	const before = 3600 // taken to have run exactly to their limits
	return min((p.Ran+before)/(p.Limits+before), 1)
}

// Claim is a place kept for a pending job for which running jobs are being stopped: no other job
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
	// Deadline is when the answer is due, by the policy's clock; zero means that there is none.
	Deadline time.Time
	// Seed starts the random choices of this cycle.
	Seed uint64
}

// Decision is what a cycle says of one pending job.
type Decision struct {
	// Job is the job's index in Snapshot.Pending.
	Job int
	// Start says whether the job starts now, on Segs.
	Start bool
	// Segs is the allocation, ascending: how much of each node, not which of its cores and GPUs; it
	// belongs to the Plan and is valid until the Plan is used again. That of a request with
	// Components has one part after the other, each of which ascends: Segment.Part is 0 for the
	// request itself and k for Components[k-1]. Parts may share nodes.
	Segs []nodeset.Segment
	// Uses is what the job takes of further resources there, as its request says. It stays the
	// job's. It is nil of one with Components: PartUses, the Plan's, has it by part; see Part.
	Uses     nodeset.Uses
	PartUses []nodeset.Uses
	// Alternative is which of the job's requests is met: 0 is Request itself, k is
	// Alternatives[k-1].
	Alternative int
	// Class is the class of the winning bid.
	Class bids.Class
	// Kept says that the policy keeps a place for the job, and Expected from which second on: then
	// it is expected to start. Expected says nothing where Kept is false.
	Kept     bool
	Expected int64
	// Reason says in words why a job does not start; empty if it does.
	Reason string
	// Why is the kind of the Reason, as far as the policy tells.
	Why Why
	// Quota is which of Snapshot.Quotas has too little left, where Why is OverQuota.
	Quota int
}

// Why is the kind of reason for which a job does not start.
type Why uint8

// The zero Why is that of jobs that start, and of policies that give words only.
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

// Plan is the outcome of one cycle. A Plan may be used again for the next
// cycle, which then reuses its memory.
type Plan struct {
	// Decisions has an element for each job that the cycle looked at, in queue
	// order. Jobs beyond the window have none.
	Decisions []Decision
	// Preempted are the running jobs that have to be stopped first. The other starts of the plan
	// need not wait for them.
	Preempted []Preemption
	// Claims are the places of jobs that wait for that, for the next Snapshot: without them others can
	// start where somebody was stopped. Their memory is their own.
	Claims []Claim
	// Pace, for the next Snapshot, is what was learnt of how much of their limits jobs run.
	Pace Pace
	// Objective is the worth of the jobs that start less that of those that are preempted, and
	// Bound an upper bound on what any choice among the same bids could be worth; 0 for policies
	// without an objective.
	Objective, Bound float64
	// Stats says what the cycle did.
	Stats Stats

	segs  []nodeset.Segment // the decisions' memory
	waits []int             // that of Preempted
	uses  []nodeset.Uses
}

// Preemption is a running job that has to be stopped, on all of its nodes. The caller stops it, and
// starts the jobs that wait for it when it has ended and given back all that it holds; or it
// decides anew then. Until that moment their places are not free, and nothing else may be started
// on what of them is.
type Preemption struct {
	// Running is its index in Snapshot.Running, of several parts that with the Price.
	Running int
	// For are the jobs that wait for it, ascending by index in Snapshot.Pending: that for which it is
	// stopped, and others that may preempt it and have what is over. It belongs to the Plan.
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
	// TimedOut is how many decisions say TimedOut. If there are any Decide has to be called again
	// though nothing changes.
	TimedOut int
}

// Policy decides on snapshots. A Policy may keep memory (never state that changes
// a decision) between calls, and must not be used by two goroutines at once: those of this
// package return [ErrBusy] to the second, and refuse what [Snapshot.Validate] does. Baselines that
// stand for other schedulers meet a job's first request, as these do, and see no Prefer or tiers.
type Policy interface {
	// Name is how the command line calls the policy.
	Name() string
	// Decide fills p for snapshot s by l.Deadline, with the best that it knows by then. It never
	// over-allocates. An error means that there is no decision, and nothing is started. It is that
	// of ctx if ctx ends meanwhile: nobody wants the plan any more. With ErrBusy p is left as it
	// was, and says nothing of s.
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

// resize gives s the length n and keeps the memory of elements beyond a former length.
func resize[T any](s []T, n int) []T {
	for cap(s) < n {
		var zero T
		s = append(s[:cap(s)], zero)
	}
	return s[:n]
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

// Share is what a job has of one node.
type Share struct {
	Node        string
	Cores, GPUs int
}
