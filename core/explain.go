// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"context"
	"time"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// Explainer decides a window once and then explains its jobs one by one. It works with any Policy;
// only for an Auction it knows the places of reservations. It uses the policy and the snapshot as
// long as it is used, and is not safe for concurrent use.
type Explainer struct {
	policy  Policy
	auction *Auction // the policy, if it is one
	s       *Snapshot
	after   *Snapshot // s when those are gone whom the plan preempts
	limits  Limits
	clock   func() time.Time
	each    time.Duration // what a decision may take; 0: as long as it needs

	plan     Plan
	byJob    []int // by job of the queue: index in plan.Decisions, or -1
	started  []int // jobs that start
	reserved []claim
	kept     []Rival         // reservations of which only the job and the time is known
	waiting  map[int][]Rival // by job that starts: whose rival it is; nil: not known yet
	trial    Plan
	pending  []*Job // scratch: the queue with one job changed
	space    claims
	normal   normal
	limit    int64    // of the job that was read last
	scarce   scarcity // in the window, of which the auction forgets with every trial
	placer   place.Placer
	limited  place.Limited // scratch
	answers  place.Cache
}

// ExplainOptions bound the search for changes of the request. The zero value means no search.
type ExplainOptions struct {
	// Trials is the most decisions on a changed window. 200 are enough for nearly every job.
	Trials int
	// Deadline is when the last trial may begin, by the policy's clock; zero: none.
	Deadline time.Time
}

// Explanation is why one job starts or waits. It owns its memory.
type Explanation struct {
	// Decision is the policy's; Decision.Job is the job's index in the queue.
	Decision Decision
	// Looked says whether the policy made a decision on the job.
	Looked bool
	// Worth is the objective value of the job's start without preferences; the priority if the
	// policy has no objective.
	Worth float64
	// Planned says that a plan over time (see [Goal]) has the first jobs start in its order, also
	// before jobs of more Worth.
	Planned bool
	// Why is why the job waits. Never: see NeverWhy. NoFit: nothing that is free suits it even
	// alone. Lost: jobs that start now take its place. Reserved: only reservations are in its way.
	// OverQuota: too little of a quota is left, also after the jobs that start now. 0: it starts,
	// or the policy did not use the room for it.
	Why Why
	// NeverWhy says in words what the machine lacks.
	NeverWhy string
	// Lacks is what is short, if Why is NoFit or OverQuota, for the first of the job's requests
	// that this machine could meet. Given all of that, the job has a place.
	Lacks []Lack
	// Place is where the job would be without all of Rivals; nil if that does not help or only
	// their names are known. From a Cluster, Nodes has it by name.
	Place []nodeset.Segment
	Nodes []Share
	// Rivals is a minimal set of jobs in the way: without all of them the job would have room. If
	// the job starts, Rivals are the waiting jobs that it blocks, alone or with others.
	Rivals []Rival
	// Stops are the running jobs that have to be preempted before the job starts.
	Stops []Rival
	// Foreseen says that the job will have room at second Expected, by time limits and
	// reservations, if nothing else starts before. Kept says that the policy reserves that place
	// for it.
	Foreseen bool
	Expected int64
	Kept     bool
	// Suggestions are changes of the request, the smallest first. With any one of them the job
	// would have started now. A job with Components has no suggestions.
	Suggestions []Suggestion
	// Trials is the number of decisions on changed windows.
	Trials int
	// Cut is what ended the search for changes early, in words; "" if nothing did.
	Cut string
	// Late says that the deadline cut some decisions short: they are not repeatable.
	Late bool
}

// The roles of rivals, in the order of blame.
const (
	roleRuns   = "running"
	roleStarts = "starting"
	roleKept   = "reserved"
	roleWaits  = "waiting"
)

var roles = [...]string{roleRuns, roleStarts, roleKept, roleWaits}

// Rival is a job that blocks another one, or is blocked by it.
type Rival struct {
	// Role is running, starting (it starts now), reserved (a place is kept for it) or waiting (for
	// what the job took).
	Role string
	// Job is the job's index in Snapshot.Pending, or in Snapshot.Running if it runs; -1 of a
	// reservation.
	Job int
	// ID is the job's, and Nodes has Segs by name, from a Cluster; the name of a reservation.
	ID    string
	Nodes []Share
	// Segs is what it has on nodes of Explanation.Place; for a waiting job, what it would take of
	// the other's nodes. Uses is the same of further resources.
	Segs []nodeset.Segment
	Uses nodeset.Uses
	// Worth is as in Explanation; for a running job, what is lost if it is stopped, 0 if the
	// explained job may not preempt it. Preemptable says whether it may. Preempted says that a job
	// does now.
	Worth                  float64
	Preemptable, Preempted bool
	// At is the second by which it ends (running, starting) or from which its place is
	// reserved (reserved).
	At int64
}

// Suggestion is a changed request with which the job would have started now. The policy has
// verified that by deciding the window with this one change.
type Suggestion struct {
	// Job is the job as it would be submitted.
	Job Job
	// Changes are what differs.
	Changes []Change
	// Size is the sum of the changes, each relative to what was asked for: 0.25 for
	// 6 nodes instead of 8. Giving up contiguity, or a demand of switches, counts 0.5.
	Size float64
	// Smallest says that each change by one less, with the rest as suggested, was tried or ruled
	// out. A smaller change may still exist, as starts are not monotone.
	Smallest bool
	// Segs is where the job would have started, Class the class of the winning bid, and
	// Alternative the request that it meets. Changes are of the first; the job keeps its
	// alternatives as they are.
	Segs        []nodeset.Segment
	Class       bids.Class
	Alternative int
}

// Change is one field of a request, named and written as in a window file.
type Change struct {
	Field string `json:"field"`
	From  string `json:"from"`
	To    string `json:"to"`
}

// Lack is something of which a job needs more than is left for it.
type Lack struct {
	// Row is named as in a window file: "nodes" (up and eligible), "gpus_per_node", "cores_per_node",
	// "cores", a further resource, a quota, or a demand: "contiguous", "switches" (or within, segment),
	// "apart", "all_within".
	Row string `json:"row"`
	// In is what Needs and Has count: "nodes" that suit the job, "cores" of these, "shares" of one GPU,
	// or a "quota" in its own unit.
	In    string `json:"in"`
	Needs int64  `json:"needs"`
	Has   int64  `json:"has"`
	// Each is the least that each node has to give, by row. Among is how many nodes would suit if
	// there were enough of Row.
	Each  map[string]int64 `json:"each,omitempty"`
	Among int              `json:"among,omitempty"`
	// Parts are, of a job with Components, the part that lacks it (0: the request itself, k:
	// Components[k-1]) and those that have their places before.
	Parts []int `json:"parts,omitempty"`
}

// Plan returns the plan of the window. The Explainer owns it.
func (e *Explainer) Plan() *Plan { return &e.plan }

func (e *Explainer) decide(ctx context.Context, s *Snapshot, p *Plan) error {
	l := e.limits
	if e.each > 0 {
		l.Deadline = e.clock().Add(e.each)
	}
	return e.policy.Decide(ctx, s, l, p)
}

// asked is the job as the policy understands it, but that a range of GPUs stays one.
func (e *Explainer) asked(job *Job) *Job {
	if e.auction != nil && e.auction.opts.ContiguousOnly {
		return contiguous(job)
	}
	return job
}

// worthOf is what the start of a job of the queue is worth.
func (e *Explainer) worthOf(job int) float64 {
	if e.auction == nil {
		return float64(max(e.s.Pending[job].Priority, 1))
	}
	return e.auction.window.weight(e.auction.window.asks(e.s.Pending[job], false))
}

// decisionOf is the decision on a job, nil if there is none.
func (e *Explainer) decisionOf(job int) *Decision {
	if i := e.byJob[job]; i >= 0 {
		return &e.plan.Decisions[i]
	}
	return nil
}

// inquiry is about one job: what is in its way, and what it could do without.
type inquiry struct {
	*Explainer
	x   *Explanation
	job *Job // it, or a changed one
}
