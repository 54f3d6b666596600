// SPDX-License-Identifier: BSD-3-Clause

// Package simulate runs a workload under a policy in simulated time, and measures waits, slowdowns
// and use, as "aucsched simulate" does.
//
// A policy is a core.Policy: the auction (core.NewAuction), Backfill, EASY, or your own.
// core.Verify checks each plan. The same jobs, options and policy give the same schedule, bit for
// bit.
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
	// Job is the request. Its ID must be unique, and its TimeLimit more than 0. Since is set to
	// Submit. If no job has a Priority, jobs are served in the order of submission.
	core.Job
	// Submit is the second of submission. Duration is how many seconds the job runs, at most its
	// TimeLimit. With a range of GPUs Duration and TimeLimit are for the fewest.
	Submit, Duration int64
	// User may be empty.
	User string
}

// Options are the machine and the settings of a simulation.
type Options struct {
	// Nodes is the machine, in node order.
	Nodes []nodeset.Capacity
	// Interval is the time between cycles in seconds; 0 means 3. Cycles without a change are
	// skipped.
	Interval int64
	// Seed is that of the policy's random choices.
	Seed uint64
	// ShrinkLimits shortens the limit of a job with more GPUs than the fewest of its range as its
	// run time. Set core.AuctionOptions.ShrinkLimits likewise.
	ShrinkLimits bool
}

// Metrics are the figures of a run, over the jobs that ran. Times are in seconds.
type Metrics struct {
	// Jobs is how many jobs ran. Unrun says by ID why others did not.
	Jobs  int
	Unrun map[string]string
	// Runtime is from the first submission to the last end.
	Runtime int64
	// CPUUtilization is duration x cores asked for, over all cores x Runtime. GPUUtilization is the
	// GPU time allocated, over all GPUs x Runtime. The Loaded ones are until the last submission.
	CPUUtilization, GPUUtilization, CPUUtilizationLoaded, GPUUtilizationLoaded float64
	// Waits are from submission to start. WaitP95 is the shortest that 95% of the jobs do not
	// exceed. WaitAreaWeighted weighs by width x run time; the width is the share of the machine's
	// cores or GPUs, whichever is more. WaitWidest10 is the mean of the widest tenth.
	WaitMean, WaitMedian, WaitP95, WaitMax, WaitAreaWeighted, WaitWidest10 float64
	// UserWaitWorst is the greatest of the users' mean waits; 0 if no job names its user.
	UserWaitWorst float64
	// A slowdown is (wait + run time) / run time; bounded, max(1, (wait + run time) / max(run time,
	// 10 s)).
	SlowdownMean, BoundedSlowdownMean float64
	// Fragmentation is the number of blocks of consecutive nodes of a job, and Spread (last node -
	// first node + 1) / nodes.
	FragmentationMean, SpreadMean float64
	// Cycles is how often the policy decided, and PendingMax the longest queue.
	Cycles     int64
	PendingMax int
}

func metricsOf(r *sim.Result) *Metrics {
	m := &Metrics{r.Jobs, make(map[string]string), r.Runtime,
		r.CPUUtilization, r.GPUUtilization, r.CPUUtilizationLoaded, r.GPUUtilizationLoaded,
		r.WaitMean, r.Median, r.P95, r.Max, r.AreaWeighted, r.Widest10, r.UserWorst,
		r.SlowdownMean, r.BoundedSlowdown, r.FragmentationMean, r.SpreadMean, r.Cycles, r.PendingMax}
	for _, u := range r.Unrun {
		m.Unrun[u.ID] = u.Reason
	}
	return m
}

// Ran is the outcome of a job: its start and end in seconds, its allocation, and which of its
// requests was met (see core.Decision). Start is -1 if the job did not run.
type Ran struct {
	Start, End  int64
	Segs        []nodeset.Segment
	Alternative int
}

// Run simulates the jobs, which may be in any order, and returns a Ran for each, in the order of
// jobs. A policy is for one run. It returns an error if jobs or options are invalid, if the policy
// fails or makes an invalid plan, and if ctx ends.
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
	r, err := sim.Run(ctx, cfg, policy, list)
	if err != nil {
		return nil, nil, err
	}
	return metricsOf(r), ran, nil
}

// Backfill returns a model of Slurm's main scheduler and sched/backfill, with the usual settings.
func Backfill() core.Policy {
	b, err := sim.NewBackfill(sim.DefaultBackfill())
	if err != nil {
		panic(err) // these are valid
	}
	return b
}

// EASY returns the EASY policy. Jobs start in queue order up to the first that cannot, which gets a
// reservation. The others are backfilled in an order: "queue", "sjf", "saf", "f1" or "wfp3". It
// returns an error for any other order.
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
