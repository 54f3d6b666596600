// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/nodeset"
)

func TestObjectives(t *testing.T) {
	o := Preset("none")
	o.Objective = 7
	require.EqualError(t, o.validate(), "objective 7: must be priority, size or rate")
}

// A large job against small ones of higher priority each, in and behind the window.
func TestObjectiveDecidesBetweenSizes(t *testing.T) {
	nodes, err := nodeset.NewUniform(2, nodeset.Capacity{Cores: 8})
	require.NoError(t, err)
	s := &Snapshot{Nodes: nodes, Pending: queue(60, bids.Request{Cores: 1}, bids.Request{Cores: 2}, bids.Request{Cores: 16})}
	o := Preset("none")
	o.Reservations = 0
	p := decide(t, o, s)
	require.Equal(t, []bool{true, true, false}, []bool{p.Decisions[0].Start, p.Decisions[1].Start, p.Decisions[2].Start})
	o.Objective = BySize
	p = decide(t, o, s)
	require.Equal(t, []bool{false, false, true}, []bool{p.Decisions[0].Start, p.Decisions[1].Start, p.Decisions[2].Start})
	require.GreaterOrEqual(t, p.Objective, 16*float64(s.Pending[2].Priority))
	o.Window = 2 // the large job is behind it and gets nothing
	p = decide(t, o, s)
	require.GreaterOrEqual(t, p.Objective, 3*float64(s.Pending[1].Priority))
	require.LessOrEqual(t, p.Objective, p.Bound)
	o.Window = 1 // what is behind the window counts for the objective by its size as well
	one, both := decide(t, o, &Snapshot{Nodes: nodes, Pending: s.Pending[:1]}),
		decide(t, o, &Snapshot{Nodes: nodes, Pending: s.Pending[:2]})
	require.InDelta(t, 2*float64(s.Pending[1].Priority), both.Objective-one.Objective, float64(s.Pending[1].Priority))
}

// The queue's head is served by priority under either objective.
func TestReservationsAreByPriority(t *testing.T) {
	nodes, err := nodeset.NewUniform(2, nodeset.Capacity{Cores: 8})
	require.NoError(t, err)
	s := &Snapshot{Nodes: nodes, Pending: queue(60, bids.Request{Cores: 1}, bids.Request{Cores: 16})}
	o := Preset("none")
	o.Objective = BySize
	p := decide(t, o, s)
	require.True(t, p.Decisions[0].Start, "it must start, whatever the other is worth")
	require.Equal(t, Reserved, p.Decisions[1].Why)
}

// Weights are P_j R_j exactly while their sum has 59 bits, and beyond that these divided
// by a power of two, rounded down, in falling or equal order as the products.
func TestWeightsAreExact(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
		priorityBits, coreBits := rapid.IntRange(1, 40).Draw(r, "bits of priorities"), rapid.IntRange(1, 31).Draw(r, "bits of cores")
		w := window{opts: &AuctionOptions{Objective: BySize}}
		sum := new(big.Int)
		var products []*big.Int
		for range rapid.IntRange(1, 200).Draw(r, "jobs") {
			job := &Job{Priority: rng.Int64N(1<<priorityBits) + 1, Request: bids.Request{Cores: int(rng.Int64N(1<<coreBits-1) + 1)}}
			w.jobs, w.variants = append(w.jobs, job), append(w.variants, market.Variant{Job: int32(len(w.jobs))})
			product := new(big.Int).Mul(big.NewInt(job.Priority), big.NewInt(int64(job.Cores)))
			products = append(products, product)
			sum.Add(sum, product)
		}
		w.weigh()
		require.Equal(r, max(0, sum.BitLen()-59), w.shift)
		for j := range products {
			want := products[j].Rsh(products[j], uint(w.shift)).Int64()
			require.Equal(r, max(want, 1), w.variants[j].Priority)
		}
	})
}

// The greatest priorities and sizes stay in the solver's range, and the
// objective is in its own unit.
func TestGreatestWeights(t *testing.T) {
	nodes, err := nodeset.NewUniform(1<<15, nodeset.Capacity{Cores: 1<<16 - 1})
	require.NoError(t, err)
	s := &Snapshot{Nodes: nodes}
	for i := range 4 {
		s.Pending = append(s.Pending, &Job{ID: string(rune('a' + i)), Priority: MaxPriority,
			TimeLimit: 9, Request: bids.Request{Cores: 1<<29 - 1}})
	}
	o := Preset("none")
	o.Objective = BySize
	for _, window := range []int{1, 2, 4} { // the others are behind it
		o.Window = window
		p := decide(t, o, s)
		require.Equal(t, 3, started(p))
		want := 3 * math.Ldexp(1<<29-1, 40)
		require.InEpsilon(t, want, p.Objective, 2) // preferences add up to as much
		require.GreaterOrEqual(t, p.Objective, want*(1-1e-9))
		require.LessOrEqual(t, p.Objective, p.Bound)
	}
}

// Every job that does not start says why, in a code that goes with the words.
func TestWhyGoesWithReason(t *testing.T) {
	kinds := map[string]Why{reasonNoNodes: NoFit, reasonLost: Lost, reasonReserved: Reserved}
	seen := map[Why]int{}
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 2))
		nodes, err := nodeset.NewUniform(rng.IntN(20)+1, nodeset.Capacity{Cores: 8, GPUs: 1})
		require.NoError(t, err)
		s := &Snapshot{Nodes: nodes}
		if rng.IntN(3) > 0 {
			segs := []nodeset.Segment{{First: 0, Last: int32(rng.IntN(nodes.Len())), Cores: 7}}
			require.NoError(t, nodes.Allocate(segs))
			s.Running = []Running{{ID: "R", End: 30, Segs: segs}}
		}
		var reqs []bids.Request
		for range rng.IntN(20) {
			reqs = append(reqs, bids.Request{Cores: rng.IntN(200) + 1, MinGPUs: rng.IntN(3) / 2})
		}
		s.Pending = queue(60, reqs...)
		o := Preset("none")
		o.Window, o.Reservations = rng.IntN(20)+1, rng.IntN(3)
		for _, d := range decide(t, o, s).Decisions {
			seen[d.Why]++
			if d.Start {
				require.Zero(t, d.Why)
				continue
			}
			want, ok := kinds[d.Reason]
			if !ok {
				require.Contains(t, d.Reason, "can never run")
				want = Never
			}
			require.Equal(t, want, d.Why, d.Reason)
			require.Equal(t, d.Why == Reserved, d.Kept)
		}
	}
	require.Len(t, seen, 5, "all occur: %v", seen)
}

// A start is worth P S / T: half of the cores, a quarter of the GPUs, for ten seconds.
func TestRateIsShareByTime(t *testing.T) {
	nodes, err := nodeset.NewUniform(4, nodeset.Capacity{Cores: 4, GPUs: 2})
	require.NoError(t, err)
	s := &Snapshot{Nodes: nodes, Pending: []*Job{
		{ID: "a", Priority: 40, TimeLimit: 10, Request: bids.Request{Cores: 8, MinNodes: 2, MaxNodes: 2, MinGPUs: 1}},
	}}
	o := Preset("none")
	o.Objective = ByRate
	p := decide(t, o, s)
	require.True(t, p.Decisions[0].Start)
	want := 40 * (0.5 + 0.25) / 10
	require.GreaterOrEqual(t, p.Objective, want*(1-1e-9))
	require.LessOrEqual(t, p.Objective, want*1.5, "and the preference, alpha being half of it with one bid")

	for i, limit := range []int64{1000, 10} { // of two jobs as large, the shorter one
		job := &Job{ID: string(rune('b' + i)), Priority: 30, TimeLimit: limit, Request: bids.Request{Cores: 16}}
		s.Pending = append(s.Pending, job)
	}
	s.Pending = s.Pending[1:]
	o.Reservations = 0
	p = decide(t, o, s)
	require.Equal(t, []bool{false, true}, []bool{p.Decisions[0].Start, p.Decisions[1].Start})
}
