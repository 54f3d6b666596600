// SPDX-License-Identifier: BSD-3-Clause

package policies

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/older"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/nodeset"
)

func newIPSched(t require.TestingT, change func(*older.Options)) *IPSched {
	o := older.DefaultOptions()
	o.Work = 300_000
	if change != nil {
		change(&o)
	}
	a, err := NewIPSched(o)
	require.NoError(t, err)
	return a
}

// Table I of ipsched, and others of its kind: the first job gets what the others
// leave of their nodes.
func TestIPSchedTableI(t *testing.T) {
	for _, c := range []struct{ nodes, cores, gpus, flexible, cores2, cores3 int }{
		{1024, 8, 2, 4096, 2048, 2048}, {1024, 8, 2, 2192, 3000, 3000}, {1000, 12, 3, 5000, 4000, 3000},
		{96, 64, 4, 2000, 2000, 2100}, {10, 8, 1, 30, 21, 29},
	} {
		nodes, err := nodeset.NewUniform(c.nodes, nodeset.Capacity{Cores: uint16(c.cores), GPUs: uint8(c.gpus)})
		require.NoError(t, err)
		h := c.nodes / 2
		s := &core.Snapshot{Nodes: nodes, Pending: queue(1000,
			bids.Request{Cores: c.flexible},
			bids.Request{Cores: c.cores2, MinNodes: h, MaxNodes: h, MinGPUs: c.gpus},
			bids.Request{Cores: c.cores3, MinNodes: h, MaxNodes: h, MinGPUs: c.gpus},
		)}
		var p core.Plan
		require.NoError(t, newIPSched(t, nil).Decide(context.Background(), s, core.Limits{}, &p))
		require.NoError(t, core.Verify(s, &p))
		require.Equal(t, 3, started(&p), c)
	}
}

// ipschedWorth is the paper's first objective, added up from a plan.
func ipschedWorth(s *core.Snapshot, p *core.Plan) (sum float64) {
	for _, d := range p.Decisions {
		if d.Start {
			sum += float64(s.Pending[d.Job].Priority) * (1 - float64(nodeset.Nodes(d.Segs))/float64(2*s.Nodes.Len()))
		}
	}
	return sum
}

// Plans are valid and worth what they say, every job that waits is told why, and what another
// policy starts is worth no more than the bound.
func TestIPSchedPlans(t *testing.T) {
	starts, waits := 0, map[core.Why]int{}
	rapid.Check(t, func(t *rapid.T) {
		s := drawSnapshot(t)
		var p, other core.Plan
		require.NoError(t, newIPSched(t, nil).Decide(context.Background(), s, core.Limits{Seed: 1}, &p))
		require.NoError(t, core.Verify(s, &p))
		require.InEpsilon(t, 1+ipschedWorth(s, &p), 1+p.Objective, 1e-9)
		require.LessOrEqual(t, p.Objective, p.Bound)
		require.Len(t, p.Decisions, len(s.Pending))
		known := *s
		known.Pending = nil
		for _, d := range p.Decisions {
			job := s.Pending[d.Job]
			require.Equal(t, d.Start, d.Reason == "")
			if starts++; !d.Start {
				starts--
				waits[d.Why]++
			}
			if d.Why == core.Unmodelled {
				require.True(t, job.Contiguous)
			} else {
				known.Pending = append(known.Pending, job)
			}
		}
		o := core.Preset("none")
		o.Reservations, o.Work = 0, 100_000
		a, err := core.NewAuction(o, nil)
		require.NoError(t, err)
		require.NoError(t, a.Decide(context.Background(), &known, core.Limits{}, &other))
		if p.Bound > 0 { // something is free
			// Auctions may give jobs of type 3 more nodes than the fewest, which is worth less.
			require.LessOrEqual(t, ipschedWorth(&known, &other), p.Bound*(1+1e-12))
		}
	})
	require.Positive(t, starts)
	for _, why := range []core.Why{core.NoFit, core.Lost, core.Never, core.Unmodelled} {
		require.Positive(t, waits[why], "reason %d", why)
	}
	require.Len(t, waits, 4)
}

func TestIPSchedObjectiveBySize(t *testing.T) {
	nodes, err := nodeset.NewUniform(4, nodeset.Capacity{Cores: 8})
	require.NoError(t, err)
	s := &core.Snapshot{Nodes: nodes, Pending: queue(10, bids.Request{Cores: 1}, bids.Request{Cores: 2}, bids.Request{Cores: 32})}
	for objective, want := range map[core.Objective][]bool{core.ByPriority: {true, true, false}, core.BySize: {false, false, true}} {
		for _, high := range []int64{0, core.MaxPriority - 1<<33} { // beyond what stays exact
			for _, job := range s.Pending {
				job.Priority += high
			}
			a := newIPSched(t, func(o *older.Options) { o.Objective = objective })
			var p core.Plan
			require.NoError(t, a.Decide(context.Background(), s, core.Limits{}, &p))
			for i, d := range p.Decisions {
				require.Equal(t, want[i], d.Start)
			}
			require.LessOrEqual(t, p.Objective, p.Bound)
		}
		for _, job := range s.Pending {
			job.Priority -= core.MaxPriority - 1<<33
		}
	}
}

// Worths that are too great for 64 bits are rounded, and the bound still holds.
func TestIPSchedRoundsGreatWorths(t *testing.T) {
	nodes, err := nodeset.NewUniform(3000, nodeset.Capacity{Cores: 64})
	require.NoError(t, err)
	s := &core.Snapshot{Nodes: nodes}
	s.Pending = queue(10, slices.Repeat([]bids.Request{{Cores: 60_000}}, 5)...)
	for i, job := range s.Pending {
		job.Priority = core.MaxPriority - int64(i)
	}
	a := newIPSched(t, func(o *older.Options) { o.Objective = core.BySize })
	var p core.Plan
	require.NoError(t, a.Decide(context.Background(), s, core.Limits{}, &p))
	require.NoError(t, core.Verify(s, &p))
	require.Positive(t, a.shift)
	require.Equal(t, 3, started(&p))
	require.True(t, p.Decisions[0].Start && p.Decisions[1].Start && p.Decisions[2].Start)
	require.InEpsilon(t, 60_000*ipschedWorth(s, &p), p.Objective, 1e-9)
	require.InEpsilon(t, p.Objective, p.Bound, 1e-6)
	require.LessOrEqual(t, p.Objective, p.Bound)
}

// Without constraint 5 a job need not have the nodes that it asks for, and its plan meets the
// request that is left.
func TestIPSchedWithoutNodeLimits(t *testing.T) {
	nodes, err := nodeset.NewUniform(4, nodeset.Capacity{Cores: 8})
	require.NoError(t, err)
	s := &core.Snapshot{Nodes: nodes, Pending: queue(10, bids.Request{Cores: 16, MinNodes: 4, MaxNodes: 4},
		bids.Request{MinNodes: 2, TasksPerNode: 3})}
	for limits, want := range map[bool][]int{true: {4, 2}, false: {2, 2}} {
		a := newIPSched(t, func(o *older.Options) { o.NodeLimits = limits })
		var p core.Plan
		require.NoError(t, a.Decide(context.Background(), s, core.Limits{}, &p))
		judged := *s
		judged.Pending = nil
		for i, job := range s.Pending {
			j := *job
			if require.Equal(t, want[i], nodeset.Nodes(p.Decisions[i].Segs), "job %d, limits %t", i, limits); !limits {
				j.Request = older.WithoutNodeLimits(j.Request)
			}
			judged.Pending = append(judged.Pending, &j)
		}
		require.NoError(t, core.Verify(&judged, &p))
	}
}

// After a time-out none starts and the window is halved; with every search in time it doubles.
func TestIPSchedHalvesItsWindow(t *testing.T) {
	nodes, err := nodeset.NewUniform(40, nodeset.Capacity{Cores: 8, GPUs: 2})
	require.NoError(t, err)
	s := &core.Snapshot{Nodes: nodes}
	var reqs []bids.Request
	for i := range 16 {
		reqs = append(reqs, bids.Request{Cores: 100 + 7*i, MinGPUs: i % 3})
	}
	s.Pending = queue(10, reqs...)
	now := time.Unix(0, 0)
	clock := func() time.Time { now = now.Add(time.Millisecond); return now }
	for _, rule := range []older.Timeout{older.Halve, older.Incumbent} {
		a := newIPSched(t, func(o *older.Options) { o.Window, o.OnTimeout, o.Work, o.Clock = 8, rule, 20_000, clock })
		var p core.Plan
		for _, step := range []struct {
			limit time.Duration
			jobs  int
		}{{time.Hour, 8}, {time.Millisecond, 8}, {time.Millisecond, 4}, {time.Hour, 2}, {time.Hour, 4}, {time.Hour, 8}, {time.Hour, 8}} {
			require.NoError(t, a.Decide(context.Background(), s, core.Limits{Deadline: now.Add(step.limit)}, &p))
			require.NoError(t, core.Verify(s, &p))
			late := step.limit < time.Hour
			require.Equal(t, late, p.Stats.Late)
			if rule == older.Incumbent {
				require.Len(t, p.Decisions, 8)
				require.Positive(t, started(&p))
				continue
			}
			require.Len(t, p.Decisions, step.jobs)
			require.Equal(t, late, started(&p) == 0)
			require.Equal(t, late, p.Decisions[0].Why == core.TimedOut)
		}
	}
}

// What its caller does with the plan is counted in, as soon as it was told of.
func TestIPSchedLeavesTimeForItsCaller(t *testing.T) {
	const span, after = 50 * time.Millisecond, 10 * time.Millisecond
	nodes, err := nodeset.NewUniform(40, nodeset.Capacity{Cores: 8, GPUs: 2})
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(1, 2))
	var reqs []bids.Request
	for range 120 {
		n := 1 + rng.IntN(13)
		reqs = append(reqs, bids.Request{Cores: n * (1 + rng.IntN(8)), MinNodes: n, MaxNodes: n, MinGPUs: rng.IntN(3)})
	}
	s := &core.Snapshot{Nodes: nodes, Pending: queue(1000, reqs...)}
	for _, tells := range []bool{false, true} {
		now := time.Unix(1000, 0)
		clock := func() time.Time { now = now.Add(time.Millisecond); return now }
		a := newIPSched(t, func(o *older.Options) { o.Work, o.Clock = 0, clock })
		for i := range 6 {
			var p core.Plan
			begin := now
			require.NoError(t, a.Decide(context.Background(), s, core.Limits{Deadline: begin.Add(span)}, &p))
			require.NoError(t, core.Verify(s, &p))
			require.True(t, p.Stats.Late, "more time would be used")
			if now = now.Add(after); tells {
				a.Ended(now)
			}
			if i >= 2 { // one end tells only so much
				require.Equal(t, tells, now.Sub(begin) <= span, "cycle %d, %v", i, now.Sub(begin))
			}
		}
	}
}

func TestIPSchedAllocatesNothingInSteadyState(t *testing.T) {
	race.Allocates(t)
	nodes, err := nodeset.NewUniform(300, nodeset.Capacity{Cores: 8, GPUs: 2})
	require.NoError(t, err)
	s := &core.Snapshot{Nodes: nodes}
	var reqs []bids.Request
	for i := range 60 {
		reqs = append(reqs, bids.Request{Cores: 8 + 7*i}, bids.Request{Cores: 16 + 8*i, MinNodes: 2 + i, MaxNodes: 2 + i, MinGPUs: 1})
	}
	s.Pending = queue(600, append(reqs, bids.Request{Cores: 20, Contiguous: true})...)
	a := newIPSched(t, nil)
	var p core.Plan
	for range 10 {
		require.NoError(t, a.Decide(context.Background(), s, core.Limits{}, &p))
	}
	require.Positive(t, started(&p))
	require.Zero(t, testing.AllocsPerRun(10, func() { _ = a.Decide(context.Background(), s, core.Limits{}, &p) }))
}

func TestIPSchedOptionsAreChecked(t *testing.T) {
	for want, change := range map[string]func(*older.Options){
		"objective 9":     func(o *older.Options) { o.Objective = 9 },
		"window 0":        func(o *older.Options) { o.Window = 0 },
		"time-out rule 7": func(o *older.Options) { o.OnTimeout = 7 },
		"work -1":         func(o *older.Options) { o.Work = -1 },
	} {
		o := older.DefaultOptions()
		change(&o)
		_, err := NewIPSched(o)
		require.ErrorContains(t, err, want)
		require.ErrorAs(t, err, new(*core.OptionError))
	}
}

// Calls that are none are refused, and a second goroutine in Decide; a context that ends ends it.
func TestIPSchedRefusesCalls(t *testing.T) {
	nodes, err := nodeset.NewUniform(60, nodeset.Capacity{Cores: 8})
	require.NoError(t, err)
	s, p := &core.Snapshot{Nodes: nodes, Pending: queue(100, bids.Request{Cores: 8})}, core.Plan{}
	a := newIPSched(t, nil)
	require.ErrorContains(t, a.Decide(context.Background(), nil, core.Limits{}, &p), "no Snapshot")
	require.ErrorContains(t, a.Decide(context.Background(), s, core.Limits{}, nil), "no Plan")
	require.ErrorContains(t, new(IPSched).Decide(context.Background(), s, core.Limits{}, &p), "NewIPSched")
	ctx, cancel := context.WithCancel(context.Background())
	busy := newIPSched(t, func(o *older.Options) {
		o.Clock = func() time.Time {
			var second core.Plan
			require.ErrorIs(t, a.Decide(context.Background(), s, core.Limits{}, &second), core.ErrBusy)
			cancel()
			return time.Unix(0, 0)
		}
	})
	a = busy
	require.ErrorIs(t, busy.Decide(ctx, s, core.Limits{}, &p), context.Canceled)
	require.Empty(t, p.Decisions)
	s.Pending = append(s.Pending, s.Pending[0])
	require.ErrorAs(t, newIPSched(t, nil).Decide(context.Background(), s, core.Limits{}, &p), new(*core.Error))
}
