// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/workload"
)

// startsOf are the starts of all jobs on four nodes of one core, decided every second.
func startsOf(t *testing.T, p core.Policy, change func(*Config), jobs ...workload.Job) (starts, ends map[string]int64) {
	cfg := NewConfig(nodesOf([3]int{4, 1, 0}))
	cfg.Interval = 1
	if change != nil {
		change(&cfg)
	}
	starts, ends = make(map[string]int64), make(map[string]int64)
	all, _ := recordsWith(t, cfg, p, jobs)
	for id, r := range all {
		starts[id], ends[id] = r.Start, r.End
	}
	return starts, ends
}

// A pass that takes a second for a job gives the locks away after each two jobs: the fifth of its
// queue is looked at 5 s after its beginning. If a job has come or gone by then it is over, and
// what it has not looked at waits for the next.
func TestBackfillTakesTime(t *testing.T) {
	queue := []workload.Job{
		// the first pass, in second 0, has nothing to do
		jobOf(1, bids.Request{Cores: 3}, 0, 300, 300),
		jobOf(2, bids.Request{Cores: 4}, 6, 100, 100), // has to wait for all nodes
		jobOf(3, bids.Request{Cores: 2}, 6, 100, 100),
		jobOf(4, bids.Request{Cores: 2}, 6, 100, 100),
		jobOf(5, bids.Request{Cores: 2}, 6, 100, 100),
		jobOf(6, bids.Request{Cores: 1}, 6, 60, 60), // fits beside the first
	}
	late := func(at int64) workload.Job { return jobOf(7, bids.Request{Cores: 2}, at, 100, 100) }
	slow := func(o *BackfillOptions) { o.Interval, o.Test = 30, time.Second }
	for name, c := range map[string]struct {
		change func(*BackfillOptions)
		jobs   []workload.Job
		want   int64
	}{
		"no time":                             {func(o *BackfillOptions) { o.Interval = 30 }, queue, 30},
		"two jobs, twice, and the last":       {slow, queue, 35},
		"a job comes between two looks":       {slow, append(queue[:6:6], late(31)), 63 + 5},
		"a job comes while it looks":          {slow, append(queue[:6:6], late(34)), 65 + 5},
		"a job comes with it":                 {slow, append(queue[:6:6], late(30)), 35},
		"a job comes after it":                {slow, append(queue[:6:6], late(36)), 35},
		"no more than bf_max_job_test":        {func(o *BackfillOptions) { slow(o); o.MaxJobTest = 4 }, queue, 500},
		"no longer than from pass to pass":    {func(o *BackfillOptions) { o.Interval, o.Test = 4, time.Second }, queue, 500},
		"and then it goes on from the front":  {func(o *BackfillOptions) { o.Interval, o.Test = 6, time.Second }, queue, 6 + 5},
		"one job that takes longer than that": {func(o *BackfillOptions) { o.Interval, o.Test = 30, time.Minute }, queue, 500},
	} {
		t.Run(name, func(t *testing.T) {
			starts, _ := startsOf(t, backfill(t, c.change), nil, c.jobs...)
			require.Equal(t, c.want, min(starts["J6"], 500))
			require.Equal(t, int64(300), starts["J2"], "the head of the queue waits for nothing but its nodes")
		})
	}
}

// What a slice starts leaves the queue that the next one goes on with.
func TestBackfillGoesOnBehindItsStarts(t *testing.T) {
	jobs := []workload.Job{
		jobOf(1, bids.Request{Cores: 2}, 0, 300, 300),
		jobOf(2, bids.Request{Cores: 4}, 6, 100, 100),
		jobOf(3, bids.Request{Cores: 1}, 6, 50, 50), // the second that is looked at
		jobOf(4, bids.Request{Cores: 1}, 6, 50, 50), // the third
	}
	starts, _ := startsOf(t, backfill(t, func(o *BackfillOptions) { o.Interval, o.Test = 30, time.Second }), nil, jobs...)
	require.Equal(t, []int64{30, 33}, []int64{starts["J3"], starts["J4"]})
}

// A pass that was broken off long ago keeps nobody waiting.
func TestBackfillAfterABreak(t *testing.T) {
	jobs := []workload.Job{
		// ends while the pass of second 30 gives the locks away, and with it the queue
		jobOf(1, bids.Request{Cores: 3}, 0, 31, 31),
		jobOf(2, bids.Request{Cores: 2}, 6, 30, 30),
		jobOf(3, bids.Request{Cores: 1}, 6, 10, 300),
		jobOf(4, bids.Request{Cores: 1}, 6, 10, 300),
		jobOf(5, bids.Request{Cores: 3}, 1000, 100, 100),
		jobOf(6, bids.Request{Cores: 2}, 1000, 100, 100),
		jobOf(7, bids.Request{Cores: 1}, 1000, 10, 10),
	}
	starts, _ := startsOf(t, backfill(t, func(o *BackfillOptions) { o.Interval, o.Test = 30, 2*time.Second }), nil, jobs...)
	require.Equal(t, []int64{31, 1000, 1003}, []int64{starts["J2"], starts["J5"], starts["J7"]})
}

// While jobs wait passes follow each other by bf_interval, whatever comes; a queue that was empty
// has its pass when one comes.
func TestPassesKeepTheirTime(t *testing.T) {
	holds := jobOf(1, bids.Request{Cores: 3}, 0, 300, 300)
	for name, c := range map[string]struct {
		head, comes, want int64
	}{
		"between passes":             {6, 70, 90},
		"with a pass":                {6, 60, 60},
		"long after":                 {6, 205, 210},
		"nothing has waited":         {100, 100, 100},
		"and then one waits":         {100, 101, 130},
		"before the first pass ends": {6, 7, 30},
	} {
		t.Run(name, func(t *testing.T) {
			starts, _ := startsOf(t, backfill(t, func(o *BackfillOptions) { o.Interval = 30 }), nil, holds,
				jobOf(2, bids.Request{Cores: 4}, c.head, 100, 100), jobOf(3, bids.Request{Cores: 1}, c.comes, 50, 60))
			require.Equal(t, []int64{c.want, 300}, []int64{starts["J3"], starts["J2"]})
		})
	}
}

// endsSeen is backfill that notes when the first running job is to end.
type endsSeen struct {
	*Backfill
	at map[int64]int64 // by the cycle's second
}

func (p *endsSeen) Decide(ctx context.Context, s *core.Snapshot, l core.Limits, plan *core.Plan) error {
	if len(s.Running) > 0 {
		p.at[s.Now] = s.Running[0].End
	}
	return p.Backfill.Decide(ctx, s, l, plan)
}

// Nodes come free some seconds after the end of their job, which is over meanwhile.
func TestRelease(t *testing.T) {
	jobs := []workload.Job{
		jobOf(1, bids.Request{Cores: 4}, 0, 100, 200),
		jobOf(2, bids.Request{Cores: 4}, 0, 100, 100),
		jobOf(3, bids.Request{Cores: 1}, 99, 1, 10),
		jobOf(4, bids.Request{Cores: 1}, 101, 1, 10),
	}
	p := &endsSeen{backfill(t, nil), make(map[int64]int64)}
	starts, ends := startsOf(t, p, func(c *Config) { c.Release = 3 }, jobs...)
	require.Equal(t, []int64{0, 103, 206}, []int64{starts["J1"], starts["J2"], starts["J3"]})
	require.Equal(t, []int64{100, 203, 207}, []int64{ends["J1"], ends["J2"], ends["J3"]})
	require.Equal(t, []int64{200, 100}, []int64{p.at[99], p.at[101]}, "expected by its time limit, then over")

	cfg := NewConfig(nodesOf([3]int{4, 1, 0}))
	for _, bad := range []int64{-1, 3601} {
		cfg.Release = bad
		_, err := Run(context.Background(), cfg, backfill(t, nil), jobs)
		require.ErrorContains(t, err, "release")
	}
}
