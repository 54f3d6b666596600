// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/settings"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/nodeset"
)

// A cycle on a machine and queue of the size of the last one allocates nothing, with
// reservations and jobs that lose.
func TestCycleAllocatesNothingInSteadyState(t *testing.T) {
	race.Allocates(t)
	nodes, err := nodeset.NewUniform(300, nodeset.Capacity{Cores: 8, GPUs: 2})
	require.NoError(t, err)
	s := &Snapshot{Nodes: nodes}
	for n := int32(0); n < 300; n += 10 {
		segs := []nodeset.Segment{{First: n, Last: n + 5, Cores: 8, GPUs: 1}}
		require.NoError(t, nodes.Allocate(segs))
		s.Running = append(s.Running, Running{End: int64(100 + n), Segs: segs})
	}
	var reqs []bids.Request
	for i := range 60 {
		reqs = append(reqs, bids.Request{Cores: 8 + 7*i},
			bids.Request{Cores: 16 + 8*i, MinNodes: 2 + i, MaxNodes: 2 + i, MinGPUs: 1, MaxGPUs: 2})
	}
	s.Pending = queue(600, append([]bids.Request{{Cores: 2000}}, reqs...)...)
	o := Preset("none")
	o.Work = 300_000
	allocatesNothing(t, o, s)
	o.Determiner = layouts
	allocatesNothing(t, o, s)
	o = Preset("none")
	o.Work = 300_000
	for i, job := range s.Pending[60:] { // some of one node
		if i%2 == 0 {
			job.Request = bids.Request{Cores: 1 + i%8, MinNodes: 1, MaxNodes: 1, MinGPUs: i % 3, MaxGPUs: i % 3}
		}
	}
	allocatesNothing(t, o, s)
	o = Preset("packed")
	o.Work = 300_000
	allocatesNothing(t, o, s)
	for _, name := range settings.Planned() {
		o = Preset(name)
		o.Work, o.Reservations = 300_000, 4 // or nothing starts
		allocatesNothing(t, o, s)
	}
	o = Preset("none")
	o.Work = 300_000
	for i, job := range s.Pending {
		job.Prefer = maskOf(300, 5+i%7*30, 6+i%7*30)
	}
	allocatesNothing(t, o, s)
	for _, job := range s.Pending {
		job.Prefer = nil
	}
	for n := range 300 {
		s.Tiers = append(s.Tiers, uint8(n%11))
	}
	allocatesNothing(t, o, s)
}

func allocatesNothing(t *testing.T, o AuctionOptions, s *Snapshot) {
	named(s.Pending)
	a, err := NewAuction(o, nil)
	require.NoError(t, err)
	var p Plan
	ctx := context.Background()
	for range 20 { // the solver's buffers grow for a few rounds
		require.NoError(t, a.Decide(ctx, s, Limits{Seed: 1}, &p))
	}
	require.True(t, slices.ContainsFunc(p.Decisions, func(d Decision) bool { return d.Kept }), "a job is blocked and gets a reservation")
	require.Positive(t, started(&p))
	allocs := testing.AllocsPerRun(10, func() {
		if a.Decide(ctx, s, Limits{Seed: 1}, &p) != nil {
			t.Fatal("no decision")
		}
	})
	require.LessOrEqual(t, int(allocs), 2*len(p.Claims), "claims have memory of their own")
}

// So does one on a machine whose GPUs jobs share, with places reserved on them.
func TestCycleWithSharesAllocatesNothing(t *testing.T) {
	race.Allocates(t)
	nodes, err := nodeset.NewUniform(40, nodeset.Capacity{Cores: 16, GPUs: 4})
	require.NoError(t, err)
	_, err = nodes.AddShares("share", slices.Repeat([]int64{100}, 40))
	require.NoError(t, err)
	s := &Snapshot{Nodes: nodes}
	for n := range int32(40) {
		for i := range 5 {
			r := Running{End: int64(100 + n), Segs: []nodeset.Segment{{First: n, Last: n, Cores: 2}},
				Uses: nodeset.Uses{{PerNode: int64(20 + 13*(int(n)+i)%60)}}}
			if i == 0 && n%2 == 0 {
				r.Segs[0].GPUs, r.Uses = 2, nil
			}
			if place.ChooseBins(nodes, r.Segs, r.Uses, nil) && nodes.Allocate(r.Segs, r.Uses...) == nil {
				s.Running = append(s.Running, r)
			}
		}
	}
	var reqs []bids.Request
	for i := range 100 {
		r := bids.Request{Cores: 1 + i%4, MinNodes: 1, MaxNodes: 1}
		if r.Uses = (nodeset.Uses{{PerNode: int64(10 + i*7%80)}}); i%5 == 0 {
			r.Uses, r.MinGPUs, r.MaxGPUs = nil, 1+i%3, 1+i%3
		}
		reqs = append(reqs, r)
	}
	s.Pending = queue(600, append([]bids.Request{{Cores: 600}}, reqs...)...)
	o := Preset("none")
	o.Work = 300_000
	allocatesNothing(t, o, s)
	o.Reservations = 3
	allocatesNothing(t, o, s)
}
