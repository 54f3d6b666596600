// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/internal/test/requests"
	"github.com/aucsched/aucsched/nodeset"
)

// drawWays draws a snapshot whose jobs have alternatives and ranges of GPUs that may be mixed.
func drawWays(t *rapid.T) *Snapshot {
	s := drawSnapshot(t)
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed of alternatives"), 29))
	for _, job := range s.Pending {
		job.MixedGPUs = rng.IntN(2) == 0
		for range rng.IntN(6) - 2 {
			r := randomRequest(rng, s.Nodes.Len()+1, 12, 3)
			r.MixedGPUs = rng.IntN(2) == 0
			job.Alternatives = append(job.Alternatives, *r) // some have nodes of their own
		}
	}
	return s
}

// canRun says of each request of a job, with the nodes of the first where it has none, whether the
// machine can ever meet it.
func canRun(s *Snapshot, job *Job) (can []bool) {
	for _, r := range append([]bids.Request{job.Request}, job.Alternatives...) {
		if r.Eligible == nil {
			r.Eligible = job.Eligible
		}
		can = append(can, place.CanEverRun(s.Nodes, &r) == nil)
	}
	return can
}

// isMixed reports whether nodes of an allocation give different numbers of GPUs.
func isMixed(segs []nodeset.Segment) bool {
	return slices.ContainsFunc(segs, func(s nodeset.Segment) bool { return s.GPUs != segs[0].GPUs })
}

// Plans of jobs with alternatives and mixed ranges never over-allocate, meet the request that they
// name, and leave nobody behind whom any of his requests would do.
func TestPlansOfManyWays(t *testing.T) {
	race.Slow(t)
	further, mixed := 0, 0
	checkUntil(t, func() bool { return further > 20 && mixed > 5 }, func(t *rapid.T) {
		s, a := drawWays(t), drawAuction(t)
		p := decideOn(t, a, s)
		require.NoError(t, Verify(s, p))
		require.LessOrEqual(t, p.Objective, p.Bound)
		for _, d := range p.Decisions {
			job := s.Pending[d.Job]
			can := canRun(s, job)
			require.Equal(t, !slices.Contains(can, true), d.Why == Never, "%v: %s", can, d.Reason)
			if !d.Start {
				require.Zero(t, d.Alternative)
				continue
			}
			require.True(t, can[d.Alternative])
			if d.Alternative > 0 {
				further++
			}
			if isMixed(d.Segs) {
				mixed++
			}
		}
		looksInto := !a.opts.Compact && a.opts.Drafts > 0 && len(p.Decisions) == len(s.Pending) && a.opts.Reservations == 0
		if !looksInto {
			return
		}
		left := new(nodeset.Table)
		left.CopyFrom(s.Nodes)
		for _, d := range p.Decisions {
			require.NoError(t, left.Allocate(d.Segs))
		}
		requireNoRoom(t, s, p, left)
	})
}

// requireNoRoom requires that no job is left behind for which there is room in what is left, by
// any of its requests.
func requireNoRoom(t require.TestingT, s *Snapshot, p *Plan, left *nodeset.Table) {
	for _, d := range p.Decisions {
		if d.Start || d.Why == Unmodelled {
			continue
		}
		for k := range 1 + len(s.Pending[d.Job].Alternatives) {
			r, _ := s.Pending[d.Job].Way(k)
			_, ok := requests.Place(left, &r, r.MinGPUs)
			require.False(t, ok, "job %d has room by request %d: %s", d.Job, k, d.Reason)
		}
	}
}

// An alternative that says what the request says changes nothing at all.
func TestEqualAlternativesChangeNothing(t *testing.T) {
	race.Slow(t)
	rapid.Check(t, func(t *rapid.T) {
		s, a := drawSnapshot(t), drawAuction(t)
		want := decideOn(t, a, s)
		decisions, objective, bound, stats := fmt.Sprint(want.Decisions), want.Objective, want.Bound, want.Stats
		for _, job := range s.Pending {
			job.Alternatives = []bids.Request{job.Request, job.Request}
		}
		got := decideOn(t, a, s)
		require.Equal(t, decisions, strings.ReplaceAll(fmt.Sprint(got.Decisions), "; nor can any of its alternatives", ""))
		require.Equal(t, []float64{objective, bound}, []float64{got.Objective, got.Bound})
		stats.Elapsed, got.Stats.Elapsed = 0, 0
		require.Equal(t, stats, got.Stats)
	})
}

// An auction that has seen other jobs decides as a fresh one.
func TestWaysLeaveNoTrace(t *testing.T) {
	race.Slow(t)
	used, err := NewAuction(Preset("none"), nil)
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		s := drawWays(t)
		fresh, err := NewAuction(Preset("none"), nil)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint(decideOn(t, fresh, s).Decisions), fmt.Sprint(decideOn(t, used, s).Decisions))
	})
}

// wayCase is a window of which the decisions on the jobs are known.
type wayCase struct {
	name    string
	free    []nodeset.Capacity
	running []Running
	jobs    []*Job
	change  func(*AuctionOptions)
	want    []string // by job: what start prints
}

// start is a decision in short: which request, and the nodes with their GPUs, or why it waits.
func start(d *Decision) string {
	if !d.Start {
		return fmt.Sprintf("waits to %d: %s", d.Expected, d.Reason)
	}
	out := fmt.Sprint("alternative ", d.Alternative, " on")
	for _, s := range d.Segs {
		out += fmt.Sprintf(" %d-%d:%dc%dg", s.First, s.Last, s.Cores, s.GPUs)
	}
	return out
}

func job(limit int64, ways ...bids.Request) *Job {
	return &Job{Priority: 10, TimeLimit: limit, Request: ways[0], Alternatives: ways[1:]}
}

func TestWays(t *testing.T) {
	gpus := func(n ...uint8) (c []nodeset.Capacity) {
		for _, g := range n {
			c = append(c, nodeset.Capacity{Cores: 4, GPUs: g})
		}
		return c
	}
	wide := bids.Request{MinNodes: 3, TasksPerNode: 4}
	withGPU := bids.Request{MinNodes: 1, TasksPerNode: 2, MinGPUs: 1}
	impossible := bids.Request{Cores: 1000}
	for _, c := range []wayCase{
		{name: "the request itself is liked best", free: gpus(1, 0, 0), jobs: []*Job{job(9, wide, withGPU)},
			want: []string{"alternative 0 on 0-2:4c0g"}},
		{name: "the first alternative comes before the second", free: gpus(1, 0),
			jobs: []*Job{job(9, wide, withGPU, bids.Request{Cores: 1})},
			want: []string{"alternative 1 on 0-0:2c1g"}},
		{name: "alternatives of a job that starts", free: gpus(1, 0, 0),
			running: []Running{{ID: "R", End: 50, Segs: []nodeset.Segment{{First: 2, Last: 2, Cores: 4}}}},
			jobs:    []*Job{job(9, wide, withGPU, bids.Request{Cores: 1})}, want: []string{"alternative 1 on 0-0:2c1g"}},
		{name: "one that can never be met is none", free: gpus(1, 0), jobs: []*Job{job(9, impossible, withGPU)},
			want: []string{"alternative 1 on 0-0:2c1g"}},
		{name: "none can ever be met", free: gpus(1, 0), jobs: []*Job{job(9, impossible, bids.Request{Cores: 9, MinGPUs: 2})},
			want: []string{"waits to 0: can never run: needs 1000 cores, its nodes have at most 8; nor can any of its alternatives"}},
		{name: "the earliest place of any", free: gpus(1, 0, 0),
			running: []Running{
				{ID: "R", End: 50, Segs: []nodeset.Segment{{First: 0, Last: 0, Cores: 4, GPUs: 1}}},
				{ID: "S", End: 90, Segs: []nodeset.Segment{{First: 1, Last: 2, Cores: 4}}}},
			jobs: []*Job{job(9, wide, withGPU)}, change: func(o *AuctionOptions) { o.Estimates = true },
			want: []string{"waits to 50: " + reasonReserved}},
		{name: "two jobs share by different requests", free: gpus(2, 0),
			jobs: []*Job{job(9, bids.Request{Cores: 4, MinNodes: 1, MaxNodes: 1, MinGPUs: 2}),
				job(9, bids.Request{Cores: 4, MinNodes: 1, MaxNodes: 1, MinGPUs: 2}, bids.Request{Cores: 4})},
			want: []string{"alternative 0 on 0-0:4c2g", "alternative 1 on 1-1:4c0g"}},
		{name: "what is left over goes to any of them", free: gpus(0, 0), change: func(o *AuctionOptions) { o.Window = 1 },
			jobs: []*Job{job(9, bids.Request{Cores: 6}), job(9, bids.Request{Cores: 8}, bids.Request{Cores: 7}, bids.Request{Cores: 2})},
			want: []string{"alternative 0 on 0-0:4c0g 1-1:2c0g", "alternative 2 on 1-1:2c0g"}},
		{name: "mixed GPUs", free: gpus(1, 3, 2),
			jobs: []*Job{job(9, bids.Request{Cores: 6, MinNodes: 3, MaxNodes: 3,
				MinGPUs: 1, MaxGPUs: 3, MixedGPUs: true})},
			want: []string{"alternative 0 on 0-0:2c1g 1-1:2c3g 2-2:2c2g"}},
		{name: "uniform GPUs", free: gpus(1, 3, 2),
			jobs: []*Job{job(9, bids.Request{Cores: 6, MinNodes: 3, MaxNodes: 3, MinGPUs: 1, MaxGPUs: 3})},
			want: []string{"alternative 0 on 0-2:2c1g"}},
		{name: "mixed GPUs leave others theirs", free: gpus(2, 1),
			jobs: []*Job{job(9, bids.Request{Cores: 2, MinNodes: 2, MaxNodes: 2, MinGPUs: 1, MaxGPUs: 2, MixedGPUs: true}),
				job(9, bids.Request{Cores: 1, MinGPUs: 1})},
			want: []string{"alternative 0 on 0-1:1c1g", "alternative 0 on 0-0:1c1g"}},
	} {
		for _, free := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/layouts=%t", c.name, free), func(t *testing.T) {
				nodes, err := nodeset.New(c.free)
				require.NoError(t, err)
				for _, r := range c.running {
					require.NoError(t, nodes.Allocate(r.Segs))
				}
				o := Preset("none")
				if free {
					o.Determiner = layouts
				}
				if c.change != nil {
					c.change(&o)
				}
				a, err := NewAuction(o, nil)
				require.NoError(t, err)
				s := &Snapshot{Nodes: nodes, Pending: c.jobs, Running: c.running}
				p := decideOn(t, a, s)
				require.NoError(t, Verify(s, p))
				var got []string
				for i := range p.Decisions {
					got = append(got, start(&p.Decisions[i]))
				}
				require.Equal(t, c.want, got)
			})
		}
	}
}

// The referee judges by the request that a decision names.
func TestVerifyKnowsTheAlternative(t *testing.T) {
	nodes, err := nodeset.NewUniform(2, nodeset.Capacity{Cores: 4, GPUs: 2})
	require.NoError(t, err)
	s := &Snapshot{Nodes: nodes, Pending: []*Job{job(9, bids.Request{Cores: 8, MinGPUs: 1},
		bids.Request{Cores: 2, MinNodes: 2, MinGPUs: 1, MaxGPUs: 2})}}
	s.Pending[0].Eligible = nodeset.NewMask(2)
	s.Pending[0].Eligible.Set(0)
	s.Pending[0].Eligible.Set(1)
	on := func(alternative int, segs ...nodeset.Segment) error {
		return Verify(s, &Plan{Decisions: []Decision{{Start: true, Alternative: alternative, Segs: segs}}})
	}
	both := nodeset.Segment{First: 0, Last: 1, Cores: 1, GPUs: 1}
	require.NoError(t, on(1, both))
	require.ErrorContains(t, on(0, both), "2 cores instead of 8")
	require.ErrorContains(t, on(2, both), "alternative 2 of 1")
	require.ErrorContains(t, on(-1, both), "alternative -1 of 1")
	uneven := []nodeset.Segment{{First: 0, Last: 0, Cores: 1, GPUs: 1}, {First: 1, Last: 1, Cores: 1, GPUs: 2}}
	require.ErrorContains(t, on(1, uneven...), "node 1 gives 2 GPUs, others 1")
	s.Pending[0].Alternatives[0].MixedGPUs = true
	require.NoError(t, on(1, uneven...))
	uneven[0].GPUs = 0
	require.ErrorContains(t, on(1, uneven...), "0 GPUs a node instead of 1 to 2")
	s.Pending[0].Eligible.Clear(1)
	require.ErrorContains(t, on(1, both), "node 1 is not eligible", "the job's nodes are those of the alternative")
}

func TestJobValidate(t *testing.T) {
	good := bids.Request{Cores: 1}
	for want, j := range map[string]*Job{
		"cores: -1: must not be negative": {TimeLimit: 1,
			Request: bids.Request{Cores: -1}},
		"alternatives[1].gpus_per_node: 3-1: the range is empty": {TimeLimit: 1,
			Request: good, Alternatives: []bids.Request{good, {Cores: 1, MinGPUs: 3, MaxGPUs: 1}}},
		"alternatives[0].tasks_per_node: 70000: must be at most 65535": {TimeLimit: 1,
			Request: good, Alternatives: []bids.Request{{TasksPerNode: 70000}}},
		"alternatives: 9: must be at most 8": {TimeLimit: 1,
			Request: good, Alternatives: slices.Repeat([]bids.Request{good}, 9)},
		"time_limit_s: 0: must be 1 to 1125899906842624 seconds, not a time.Duration; " +
			"NoTimeLimit stands for none": {Request: good},
		"time_limit_s: -1: must be 1 to 1125899906842624 seconds, not a time.Duration; " +
			"NoTimeLimit stands for none": {TimeLimit: -1, Request: good},
		"time_limit_s: 1125899906842625: must be 1 to 1125899906842624 seconds, not a time.Duration; " +
			"NoTimeLimit stands for none": {
			TimeLimit: maxTimeLimit + 1, Request: good},
	} {
		err := j.Validate()
		require.EqualError(t, err, want)
		var field *bids.FieldError
		require.ErrorAs(t, err, &field)
	}
	require.NoError(t, (&Job{TimeLimit: NoTimeLimit, Request: good, Alternatives: slices.Repeat([]bids.Request{good}, 8)}).Validate())
	nodes, err := nodeset.NewUniform(2, nodeset.Capacity{Cores: 4})
	require.NoError(t, err)
	a, err := NewAuction(Preset("none"), nil)
	require.NoError(t, err)
	p := decideOn(t, a, &Snapshot{Nodes: nodes,
		Pending: []*Job{{Priority: 1, TimeLimit: 1, Request: good,
			Alternatives: slices.Repeat([]bids.Request{good}, 9)}}})
	require.Equal(t, "can never run: alternatives: 9: must be at most 8", p.Decisions[0].Reason)
}

// A window holds so many jobs, however many requests they have.
func TestWindowsCountJobs(t *testing.T) {
	nodes, err := nodeset.NewUniform(4, nodeset.Capacity{Cores: 4})
	require.NoError(t, err)
	s := &Snapshot{Nodes: nodes}
	for i := range 5 {
		s.Pending = append(s.Pending, job(9, bids.Request{Cores: 1 + i}, bids.Request{Cores: 10 + i}, bids.Request{Cores: 16 - i}))
	}
	o := Preset("none")
	o.Window = 3
	a, err := NewAuction(o, nil)
	require.NoError(t, err)
	p := decideOn(t, a, s)
	require.Equal(t, 3, p.Stats.Jobs)
	require.Equal(t, 3, a.model.Groups())
	require.Equal(t, 9, a.bidding.book.Jobs())
}

// Under BySize a job is worth the same whichever of its requests is met.
func TestWaysAreWorthTheSame(t *testing.T) {
	nodes, err := nodeset.NewUniform(4, nodeset.Capacity{Cores: 4})
	require.NoError(t, err)
	require.NoError(t, nodes.Allocate([]nodeset.Segment{{First: 0, Last: 0, Cores: 4}}))
	s := &Snapshot{Nodes: nodes, Pending: []*Job{job(9, bids.Request{Cores: 16}, bids.Request{Cores: 2})}}
	o := Preset("none")
	o.Objective = BySize
	a, err := NewAuction(o, nil)
	require.NoError(t, err)
	p := decideOn(t, a, s)
	require.Equal(t, 1, p.Decisions[0].Alternative)
	require.GreaterOrEqual(t, p.Objective, 160.0)
}

// A change is one of the first request; the job keeps its alternatives, and what it says is
// tried with them.
func TestExplainKeepsAlternatives(t *testing.T) {
	nodes, err := nodeset.NewUniform(4, nodeset.Capacity{Cores: 4, GPUs: 1})
	require.NoError(t, err)
	taken := []nodeset.Segment{{First: 0, Last: 0, Cores: 4, GPUs: 1}}
	require.NoError(t, nodes.Allocate(taken))
	alternative := bids.Request{MinNodes: 4, TasksPerNode: 2, MinGPUs: 1}
	s := &Snapshot{Nodes: nodes, Pending: []*Job{job(9, bids.Request{MinNodes: 4, MaxNodes: 4, TasksPerNode: 4}, alternative)},
		Running: []Running{{ID: "R", End: 50, Segs: taken}}}
	a, err := NewAuction(Preset("none"), nil)
	require.NoError(t, err)
	e, err := NewExplainer(context.Background(), a, s, Limits{})
	require.NoError(t, err)
	x, err := e.Explain(context.Background(), 0, ExplainOptions{Trials: 200})
	require.NoError(t, err)
	require.Equal(t, NoFit, x.Why)
	require.Len(t, x.Suggestions, 1)
	require.Equal(t, []Change{{"nodes", "4", "3"}}, x.Suggestions[0].Changes)
	require.Equal(t, []bids.Request{alternative}, x.Suggestions[0].Job.Alternatives)
	require.Zero(t, x.Suggestions[0].Alternative)
}

// A cycle with alternatives and mixed GPUs allocates nothing either.
func TestWaysAllocateNothingInSteadyState(t *testing.T) {
	race.Allocates(t)
	nodes, err := nodeset.NewUniform(200, nodeset.Capacity{Cores: 8, GPUs: 2})
	require.NoError(t, err)
	s := &Snapshot{Nodes: nodes}
	for n := int32(0); n < 200; n += 10 {
		segs := []nodeset.Segment{{First: n, Last: n + 5, Cores: 8, GPUs: 1}}
		require.NoError(t, nodes.Allocate(segs))
		s.Running = append(s.Running, Running{End: int64(100 + n), Segs: segs})
	}
	s.Pending = queue(600, bids.Request{Cores: 1200})
	for i := range 40 {
		s.Pending = append(s.Pending,
			job(600, bids.Request{Cores: 16 + 8*i, MinNodes: 2 + i, MaxNodes: 2 + i,
				MinGPUs: 1, MaxGPUs: 2, MixedGPUs: i%2 == 0},
				bids.Request{Cores: 16 + 8*i}, bids.Request{Cores: 16 + 8*i, MinNodes: 1 + i, MinGPUs: 2}))
	}
	o := Preset("none")
	o.Work, o.Window = 300_000, 30 // some are behind it
	allocatesNothing(t, o, s)
	o.Determiner = layouts
	allocatesNothing(t, o, s)
}
