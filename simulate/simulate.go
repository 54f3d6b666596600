// SPDX-License-Identifier: BSD-3-Clause

// Package simulate runs a policy over a workload in simulated time, and measures waits, slowdowns and
// use: what "aucsched simulate" does, for policies written in Go.
//
// A policy is a [core.Policy]: the auction ([core.NewAuction]), one of [Backfill] and [EASY], or your
// own. [core.Verify] checks each of its plans. The same jobs, options and policy give the same
// schedule, bit for bit.
package simulate

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// Job is a job of a workload.
type Job struct {
	// Job is what is asked for. Jobs of one ID are an error, as is one without a TimeLimit. Since is
	// Submit. If no job has a Priority, they are served in the order of submission.
	core.Job
	// Submit is the second of submission, and Duration for how many seconds the job runs, at most
	// its TimeLimit. With a range of GPUs both are for the fewest.
	Submit, Duration int64
	// User may be empty.
	User string
}

// Options say on what, and how, jobs run.
type Options struct {
	// Nodes is the machine, in node order.
	Nodes []nodeset.Capacity
	// Interval is the time between cycles in seconds; 0 is 3. There is none where nothing has happened.
	Interval int64
	// Seed is that of the policy's random choices.
	Seed uint64
	// ShrinkLimits has the limit of a job with more GPUs than the fewest of its range shrink as its
	// run time does. It goes with core.AuctionOptions.ShrinkLimits.
	ShrinkLimits bool
}

// Metrics are the figures of a run: Runtime, WaitMean, Waits.P95, BoundedSlowdown, CPUUtilization and
// others. Marshalled they are a line of "aucsched simulate --json", which docs/schemas/simulate.json
// describes. Unrun lists the jobs that did not run, and why.
type Metrics = sim.Result

// Ran is what became of a job: from when to when it ran, in seconds, on which nodes, and by which of
// its requests (see core.Decision). Start is -1 of one that did not run.
type Ran struct {
	Start, End  int64
	Segs        []nodeset.Segment
	Alternative int
}

// Run simulates the jobs, in any order, under the policy, which is for one run. What became of them
// is in the order of jobs. The error is that of wrong jobs or options, of the policy, of a plan that
// is not valid, or of ctx.
func Run(ctx context.Context, jobs []Job, policy core.Policy, o Options) (*Metrics, []Ran, error) {
	order := make([]int, len(jobs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(jobs[a].Submit, jobs[b].Submit) })
	list, at, ran := make([]workload.Job, len(jobs)), make(map[string]int, len(jobs)), make([]Ran, len(jobs))
	ranked := false
	for k, i := range order {
		j := &jobs[i]
		if _, twice := at[j.ID]; twice {
			return nil, nil, fmt.Errorf("job %s: the ID is there twice", j.ID)
		}
		list[k] = workload.Job{Job: j.Job, Submit: j.Submit, Duration: j.Duration, User: j.User}
		at[j.ID], ran[i].Start = i, -1
		ranked = ranked || j.Priority != 0
	}
	if !ranked {
		workload.AssignBasicPriorities(list)
	}
	cfg := sim.NewConfig(o.Nodes)
	cfg.Interval, cfg.Seed, cfg.ShrinkLimits = cmp.Or(o.Interval, cfg.Interval), o.Seed, o.ShrinkLimits
	cfg.OnEnd = func(r sim.Record) { ran[at[r.Job.ID]] = Ran{r.Start, r.End, slices.Clone(r.Segs), r.Alternative} }
	m, err := sim.Run(ctx, cfg, policy, list)
	return m, ran, err
}

// Backfill is Slurm's main scheduler and its sched/backfill, with the usual settings.
func Backfill() core.Policy {
	b, err := sim.NewBackfill(sim.DefaultBackfill())
	if err != nil {
		panic(err) // these are valid
	}
	return b
}

// EASY starts jobs in queue order up to the first that cannot, keeps that one's earliest start free,
// and tries those behind it in an order: "queue", "sjf", "saf", "f1" or "wfp3", as --policy easy-sjf.
func EASY(order string) (core.Policy, error) {
	for _, known := range sim.Orders() {
		if known.String() == order {
			o := sim.DefaultList()
			o.Behind = known
			return sim.NewList(o)
		}
	}
	return nil, fmt.Errorf("easy: order %q is unknown; known are %v", order, sim.Orders())
}
