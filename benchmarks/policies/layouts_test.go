// SPDX-License-Identifier: BSD-3-Clause

package policies

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/benchmarks/replay"
	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/nodeset"
)

// decide is what an auction with these options makes of a window, verified.
func decide(t require.TestingT, o core.AuctionOptions, s *core.Snapshot) *core.Plan {
	a, err := core.NewAuction(o, nil)
	require.NoError(t, err)
	p := new(core.Plan)
	require.NoError(t, a.Decide(context.Background(), s, core.Limits{Seed: 1}, p))
	require.NoError(t, core.Verify(s, p))
	return p
}

// A job that names two nodes takes as much of the one as of the other in AUCSCHED2. In AUCSCHED1
// the program gives it one core of the one and three of the other, if that lets another
// in (aucsched1, equations 4 and 7).
func TestLayoutsMakeRoom(t *testing.T) {
	nodes, err := nodeset.NewUniform(2, nodeset.Capacity{Cores: 4})
	require.NoError(t, err)
	s := &core.Snapshot{Nodes: nodes, Pending: queue(100,
		bids.Request{Cores: 4, MinNodes: 2, MaxNodes: 2},
		bids.Request{Cores: 3, MinNodes: 1, MaxNodes: 1},
		bids.Request{MinNodes: 1, TasksPerNode: 1},
	)}
	o := core.Preset("paper")
	require.Equal(t, 2, started(decide(t, o, s)), "J2 finds two cores on each node")
	o.Determiner = Layouts
	p := decide(t, o, s)
	require.Equal(t, 3, started(p))
	require.Equal(t, "optimal", p.Stats.Status)
	require.ElementsMatch(t, []uint16{1, 3}, []uint16{p.Decisions[0].Segs[0].Cores, p.Decisions[0].Segs[1].Cores})
	a, err := core.NewAuction(o, nil)
	require.NoError(t, err)
	require.Equal(t, "auction1", a.Name())
}

// With the same bids and the same work AUCSCHED1's answer is worth at least AUCSCHED2's, optimal or
// not, and on some windows more.
func TestLayoutsAreWorthAtLeastFixedOnes(t *testing.T) {
	race.Slow(t)
	more := 0
	for range 20 { // what comes up is left to chance
		rapid.Check(t, func(t *rapid.T) {
			s, o := drawSnapshot(t), core.Preset("paper")
			o.Work = rapid.SampledFrom([]int64{1, 100, 1000, 10_000_000}).Draw(t, "work")
			fixed := decide(t, o, s)
			o.Determiner = Layouts
			free := decide(t, o, s)
			require.GreaterOrEqual(t, free.Objective, fixed.Objective)
			require.GreaterOrEqual(t, free.Bound, free.Objective)
			require.Equal(t, fixed.Stats.Bids, free.Stats.Bids)
			if math.Floor(free.Objective) > math.Floor(fixed.Objective) {
				more++
			}
		})
		if more > 0 {
			break
		}
	}
	require.Positive(t, more)
}

// taker starts every job on its offer.
type taker struct{}

func (taker) Name() string { return "taker" }

func (taker) Decide(_ context.Context, s *core.Snapshot, _ core.Limits, p *core.Plan) error {
	p.Decisions = p.Decisions[:0]
	for i, j := range s.Pending {
		p.Decisions = append(p.Decisions, core.Decision{Job: i, Start: j.Offer != nil, Segs: j.Offer})
	}
	return nil
}

// With offers the plan is worth at least what Slurm would start in queue order.
func TestLayoutsAreWorthTheirOffers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, o := drawSnapshot(t), core.Preset("paper")
		o.Determiner, o.MaxBidsPerJob, o.Work = Layouts, 1, rapid.Int64Range(1, 5000).Draw(t, "work")
		a, err := core.NewAuction(o, nil)
		require.NoError(t, err)
		var p core.Plan
		offers := 0.0
		require.NoError(t, replay.NewOffers(taker{}, o.Window).Decide(context.Background(), s, core.Limits{}, &p))
		for _, d := range p.Decisions {
			if d.Start {
				offers += float64(s.Pending[d.Job].Priority)
			}
		}
		require.NoError(t, replay.NewOffers(a, o.Window).Decide(context.Background(), s, core.Limits{}, &p))
		require.NoError(t, core.Verify(s, &p))
		require.GreaterOrEqual(t, p.Objective, offers)
		require.GreaterOrEqual(t, p.Bound, p.Objective)
	})
}

// Whenever the deadline strikes, the plan holds.
func TestLayoutsDeadlineStrikesAtAnyMoment(t *testing.T) {
	nodes, err := nodeset.NewUniform(40, nodeset.Capacity{Cores: 8, GPUs: 2})
	require.NoError(t, err)
	var reqs []bids.Request
	for i := range 60 {
		reqs = append(reqs, bids.Request{Cores: 8 + 3*i, MinGPUs: i % 3, MaxGPUs: i % 3})
	}
	s, most := &core.Snapshot{Nodes: nodes, Pending: queue(100, reqs...)}, 0
	for k := range 32 {
		begin, asked := time.Unix(1000, 0), 0
		o := core.Preset("none")
		o.Determiner = Layouts
		o.Clock = func() time.Time { asked++; return begin.Add(time.Duration(asked) * time.Millisecond) }
		a, err := core.NewAuction(o, nil)
		require.NoError(t, err)
		var p core.Plan
		deadline := begin.Add(time.Duration(k*k) * time.Millisecond)
		require.NoError(t, a.Decide(context.Background(), s, core.Limits{Deadline: deadline}, &p))
		require.NoError(t, core.Verify(s, &p))
		require.LessOrEqual(t, p.Objective, p.Bound)
		most = max(most, started(&p))
	}
	require.Positive(t, most)
}

func TestLayoutsAllocateNothingInSteadyState(t *testing.T) {
	race.Allocates(t)
	nodes, err := nodeset.NewUniform(300, nodeset.Capacity{Cores: 8, GPUs: 2})
	require.NoError(t, err)
	s := &core.Snapshot{Nodes: nodes, Quotas: []core.Quota{{Name: "q", Left: 4000}}}
	var reqs []bids.Request
	for i := range 60 {
		reqs = append(reqs, bids.Request{Cores: 8 + 7*i, Charges: nodeset.Uses{{PerCore: 1}}},
			bids.Request{Cores: 16 + 8*i, MinNodes: 2 + i, MaxNodes: 2 + i, MinGPUs: 1, MaxGPUs: 2, MixedGPUs: i%2 == 0})
	}
	s.Pending = queue(600, reqs...)
	o := core.Preset("none")
	o.Determiner, o.Work = Layouts, 300_000
	o.Clock = func() time.Time { return time.Time{} }
	a, err := core.NewAuction(o, nil)
	require.NoError(t, err)
	var p core.Plan
	decide := func() { require.NoError(t, a.Decide(context.Background(), s, core.Limits{Seed: 5}, &p)) }
	for range 20 {
		decide()
	}
	require.Positive(t, started(&p))
	require.Zero(t, testing.AllocsPerRun(20, decide))
}
