// SPDX-License-Identifier: BSD-3-Clause

package ipsched

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/nodeset"
)

// queueOf is a window of jobs of many sizes on a machine that is in use.
func queueOf(seed uint64, nodes, jobs int) *Problem {
	rng := rand.New(rand.NewPCG(seed, 3))
	p := &Problem{}
	for range nodes {
		p.Free = append(p.Free, nodeset.Capacity{Cores: uint16(rng.IntN(9)), GPUs: uint8(rng.IntN(3))})
	}
	for i := range jobs {
		j := Job{Worth: 4294901759 - int64(i), Cores: 1 + rng.IntN(nodes)}
		if rng.IntN(2) == 0 {
			j.GPUs = 1 + rng.IntN(2)
		}
		if rng.IntN(2) == 0 {
			j.MinNodes = 1 + j.Cores/(1+rng.IntN(8))
			j.MaxNodes = j.MinNodes
		}
		p.Jobs = append(p.Jobs, j)
	}
	return p
}

// The same work and seed give the same answer, whatever was solved before.
func TestAnswersRepeat(t *testing.T) {
	used := New()
	var a, b Result
	for seed := range uint64(4) {
		p := queueOf(seed, 100, 60)
		solve(t, used, p, 300_000, &a)
		solve(t, New(), p, 300_000, &b)
		require.Equal(t, a.Worth, b.Worth)
		require.Equal(t, a.Bound, b.Bound)
		for j := range p.Jobs {
			require.Equal(t, b.Segments(j), a.Segments(j))
		}
	}
}

func TestDeadlineEndsTheSearch(t *testing.T) {
	var r Result
	now := time.Unix(0, 0)
	clock := func() time.Time { now = now.Add(time.Millisecond); return now }
	p := queueOf(1, 100, 60)
	require.NoError(t, New().Solve(context.Background(), p, ipmodel.Options{Deadline: now.Add(300 * time.Millisecond), Now: clock}, &r))
	require.True(t, r.Late)
	require.Positive(t, r.Worth)
	_, err := p.Check(r.Segments)
	require.NoError(t, err)
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	race.Allocates(t)
	s, p := New(), queueOf(2, 200, 80)
	var r Result
	ctx := context.Background()
	o := ipmodel.Options{Work: 300_000}
	for range 10 {
		require.NoError(t, s.Solve(ctx, p, o, &r))
	}
	require.Zero(t, testing.AllocsPerRun(10, func() { _ = s.Solve(ctx, p, o, &r) }))
}

// Of nodes that are alike, a job gets the shortest run that is enough; and nodes that are all
// apart are given as well.
func TestRunsOfNodes(t *testing.T) {
	for _, c := range []struct {
		free  string // cores of each node
		cores int
		first int
	}{{"8884888848888848", 32, 4}, {"8884888848888848", 40, 9}, {"888488848484848484", 72, 0}} {
		p := &Problem{Jobs: []Job{{Worth: 1, Cores: c.cores}}}
		for _, digit := range c.free {
			p.Free = append(p.Free, nodeset.Capacity{Cores: uint16(digit - '0')})
		}
		var r Result
		solve(t, New(), p, 1000, &r)
		require.Equal(t, c.first, int(r.Segments(0)[0].First), c.free)
		require.Equal(t, c.cores/8, nodeset.Nodes(r.Segments(0)))
	}
	p := &Problem{Free: uniform(400, 8, 0), Jobs: []Job{{Worth: 1, Cores: 1600}}}
	for n := 0; n < 400; n += 2 {
		p.Free[n].Cores = 1
	}
	var r Result
	solve(t, New(), p, 1000, &r)
	require.Len(t, r.Segments(0), 200)
}

// What the bound knows of: in each of these windows, one job less starts than total cores and GPUs
// would allow, and that is proven.
func TestBoundKnowsWhy(t *testing.T) {
	first := nodeset.NewMask(3)
	first.Set(0)
	node := func(cores, gpus int) nodeset.Capacity {
		return nodeset.Capacity{Cores: uint16(cores), GPUs: uint8(gpus)}
	}
	for name, p := range map[string]*Problem{
		"cores": {Free: []nodeset.Capacity{node(9, 0), node(9, 0)}, Jobs: []Job{{Cores: 10}, {Cores: 9}}},
		"whole GPUs": {Free: []nodeset.Capacity{node(8, 3), node(8, 3)},
			Jobs: []Job{{Cores: 1, GPUs: 2}, {Cores: 1, GPUs: 2}, {Cores: 1, GPUs: 2}}},
		"cores with GPUs": {Free: []nodeset.Capacity{node(8, 2), node(8, 0)}, Jobs: []Job{{Cores: 5, GPUs: 1}, {Cores: 5, GPUs: 1}}},
		"GPUs":            {Free: []nodeset.Capacity{node(8, 3)}, Jobs: []Job{{Cores: 1, GPUs: 3}, {Cores: 1, GPUs: 1}}},
		"a core each": {Free: []nodeset.Capacity{node(1, 2), node(1, 2), node(9, 2)},
			Jobs: []Job{{Cores: 3, GPUs: 1, MinNodes: 3}, {Cores: 3, GPUs: 1, MinNodes: 3}}},
		"cores in lots": {Free: []nodeset.Capacity{node(12, 0), node(12, 0)},
			Jobs: []Job{{Cores: 7, MinCores: 7, MaxCores: 7}, {Cores: 7, MinCores: 7, MaxCores: 7},
				{Cores: 7, MinCores: 7, MaxCores: 7}}},
		"masks": {Free: []nodeset.Capacity{node(8, 0), node(8, 0), node(8, 0)},
			Jobs: []Job{{Cores: 5, Eligible: first}, {Cores: 5, Eligible: first}}},
		"large nodes": {Free: []nodeset.Capacity{node(12, 0), node(12, 0), node(4, 0),
			node(4, 0), node(4, 0), node(4, 0), node(4, 0)},
			Jobs: []Job{{Cores: 20, MaxNodes: 2}, {Cores: 20, MaxNodes: 2}}},
	} {
		for j := range p.Jobs {
			p.Jobs[j].Worth = 10
		}
		var r Result
		solve(t, New(), p, 100_000, &r)
		require.Equal(t, ipmodel.Optimal, r.Status, name)
		starts := 0
		for j := range p.Jobs {
			starts += min(1, len(r.Segments(j)))
		}
		require.Equal(t, len(p.Jobs)-1, starts, name)
	}
}

// Windows of 200 jobs on machines in use: docs/explanation/decisions.md has the figures.
func TestLargeWindows(t *testing.T) {
	race.Slow(t)
	s, r := New(), Result{}
	for _, nodes := range []int{64, 256, 1024} {
		var worth, bound float64
		begin, starts := time.Now(), 0
		for seed := range uint64(3) {
			p := queueOf(seed, nodes, 200)
			solve(t, s, p, 10_000_000, &r)
			worth, bound = worth+float64(r.Worth), bound+float64(r.Bound)
			for j := range p.Jobs {
				starts += min(1, len(r.Segments(j)))
			}
		}
		m, n := len(r.start), nodes
		variables, constraints := paperSize(m, n)
		t.Logf("%d jobs on %d nodes: tables II and III have %d variables and %d constraints; %d "+
			"jobs start in the mean, bounds %.2f%% above the answers, %v each",
			m, n, variables, constraints, starts/3, 100*(bound/worth-1), (time.Since(begin) / 3).Round(time.Millisecond))
		require.Less(t, bound/worth, 1.03)
	}
}
