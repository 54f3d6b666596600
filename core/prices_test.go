// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// keeping is an auction; change nil: without a preset.
func keeping(change func(*AuctionOptions)) *Auction {
	o := Preset("none")
	o.Work = 300_000
	if change != nil {
		change(&o)
	}
	a, err := NewAuction(o, nil)
	must(err)
	return a
}

func planOf(t require.TestingT, a *Auction, s *Snapshot) []Decision {
	var p Plan
	require.NoError(t, a.Decide(context.Background(), s, Limits{Seed: 1}, &p))
	require.NoError(t, Verify(s, &p))
	return p.Decisions
}

func one(cores, gpus int) bids.Request {
	return bids.Request{Cores: cores, MinNodes: 1, MaxNodes: 1, MinGPUs: gpus, MaxGPUs: gpus}
}

func TestStartsWhereLeastIsMadeUseless(t *testing.T) {
	large, small := nodeset.Capacity{Cores: 64, GPUs: 8}, nodeset.Capacity{Cores: 64, GPUs: 2}
	for name, c := range map[string]struct {
		nodes   []nodeset.Capacity
		running []Running // on a node each
		job     bids.Request
		limit   int64
		want    int32
	}{
		"not on a node that is whole": {
			nodes: []nodeset.Capacity{large, small}, job: one(4, 1), limit: 100, want: 1,
		},
		"as many GPUs as are left": {
			nodes: []nodeset.Capacity{large, large, large},
			running: []Running{
				{End: 500, Segs: []nodeset.Segment{{First: 1, Last: 1, Cores: 8, GPUs: 4}}},
				{End: 500, Segs: []nodeset.Segment{{First: 2, Last: 2, Cores: 8, GPUs: 7}}},
			},
			job: one(4, 1), limit: 100, want: 2,
		},
		"beside a job that ends later": {
			nodes: []nodeset.Capacity{large, large},
			running: []Running{
				{End: 50, Segs: []nodeset.Segment{{First: 0, Last: 0, Cores: 8, GPUs: 5}}},
				{End: 500, Segs: []nodeset.Segment{{First: 1, Last: 1, Cores: 8, GPUs: 5}}},
			},
			job: one(4, 1), limit: 400, want: 1,
		},
		"beside one that ends soon, if it ends sooner": {
			nodes: []nodeset.Capacity{large, large},
			running: []Running{
				{End: 50, Segs: []nodeset.Segment{{First: 0, Last: 0, Cores: 8, GPUs: 5}}},
				{End: 500, Segs: []nodeset.Segment{{First: 1, Last: 1, Cores: 8, GPUs: 5}}},
			},
			job: one(4, 1), limit: 40, want: 0,
		},
		"cores that GPUs need are kept": {
			nodes: []nodeset.Capacity{large, {Cores: 64}},
			job:   one(8, 0), limit: 100, want: 1,
		},
	} {
		table, err := nodeset.New(c.nodes)
		require.NoError(t, err)
		s := &Snapshot{Nodes: table, Running: c.running}
		for i := range c.running {
			c.running[i].ID = fmt.Sprint("R", i)
			require.NoError(t, table.Allocate(c.running[i].Segs))
		}
		s.Pending = []*Job{{ID: "J", Request: c.job, Priority: 1, TimeLimit: c.limit}}
		d := planOf(t, keeping(nil), s)
		require.True(t, d[0].Start, name)
		require.Equal(t, c.want, d[0].Segs[0].First, name)
	}
}

// withSingles has more jobs ask for one node.
func withSingles(t *rapid.T, s *Snapshot) {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "singles"), 29))
	for _, job := range s.Pending {
		if rng.IntN(2) == 0 {
			job.Request = one(1+rng.IntN(6), rng.IntN(s.Nodes.MaxGPUs()+1))
		}
	}
}

// Over-allocation is planOf's to find. What waits, unless a place is kept for it, fits nowhere.
func TestKeepingHolesRefusesNoJobThatFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSnapshot(t)
		withSingles(t, s)
		a := keeping(func(o *AuctionOptions) { o.Reservations = rapid.IntRange(0, 1).Draw(t, "reservations") })
		ds := planOf(t, a, s)
		var rest nodeset.Table
		rest.CopyFrom(s.Nodes)
		for _, d := range ds {
			if d.Start {
				require.NoError(t, rest.Allocate(d.Segs))
			}
		}
		for _, d := range ds {
			if d.Start || a.opts.Reservations > 0 {
				continue
			}
			spec, err := place.SpecOf(&s.Pending[d.Job].Request)
			if err != nil {
				continue
			}
			_, fits := a.awards.left.placer.Place(nil, &rest, &spec, spec.GPUs.PerNode.Min)
			require.False(t, fits, "job %s waits beside what it asks for: %s", s.Pending[d.Job].ID, d.Reason)
		}
	})
}

// Which jobs run, and what has been asked for, is the same in any order.
func TestPricesDoNotDependOnTheOrderOfWhatIsTold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSnapshot(t)
		withSingles(t, s)
		for i, job := range s.Pending {
			job.Priority = 1000 - int64(i)
		}
		want := planOf(t, keeping(nil), s)
		o := *s
		o.Running, o.Pending = slices.Clone(s.Running), slices.Clone(s.Pending)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 31))
		rng.Shuffle(len(o.Running), func(i, j int) { o.Running[i], o.Running[j] = o.Running[j], o.Running[i] })
		rng.Shuffle(len(o.Pending), func(i, j int) { o.Pending[i], o.Pending[j] = o.Pending[j], o.Pending[i] })
		sortQueue(o.Pending)
		require.Equal(t, want, planOf(t, keeping(nil), &o))
	})
}

// A share of a GPU comes with no GPU by number: what the job takes by GPU is nothing, however
// little of it the node has.
func TestPricesOfAShareBesideUsesByGPU(t *testing.T) {
	for _, perGPU := range []int64{1, 4, 18, nodeset.MaxAmount} {
		nodes, err := nodeset.NewUniform(2, nodeset.Capacity{Cores: 8, GPUs: 3})
		require.NoError(t, err)
		shares, err := nodes.AddShares("share", []int64{100, 100})
		require.NoError(t, err)
		memory, err := nodes.AddResource("memory", []int64{10, 0})
		require.NoError(t, err)
		job := &Job{ID: "J", Priority: 1, TimeLimit: 10, Request: bids.Request{Cores: 1, MinNodes: 1, MaxNodes: 1,
			Uses: nodeset.Uses{{Row: shares, PerNode: 1}, {Row: memory, PerGPU: perGPU}}}}
		whole := &Job{ID: "W", Priority: 1, TimeLimit: 10, Request: bids.Request{Cores: 1, MinNodes: 1, MaxNodes: 1, MinGPUs: 3,
			Uses: nodeset.Uses{{Row: memory, PerGPU: perGPU}}}}
		s := &Snapshot{Nodes: nodes, Pending: []*Job{job, whole}}
		o := Preset("none")
		p := decideOn(t, auctionOf(t, func(to *AuctionOptions) { *to = o }), s)
		require.NoError(t, Verify(s, p))
		require.True(t, p.Decisions[0].Start)
		require.Equal(t, perGPU == 1, p.Decisions[1].Start, "which does take %d by GPU", perGPU)
	}
}

// Of running jobs that hold what the machine does not have Decide says so, with prices too.
func TestPricesOfWhatNobodyCanHold(t *testing.T) {
	for name, seg := range map[string]nodeset.Segment{"node": {First: 7, Last: 7, Cores: 1}, "GPUs": {GPUs: 200}, "free": {Cores: 1}} {
		nodes, err := nodeset.NewUniform(1, nodeset.Capacity{Cores: 8, GPUs: 3})
		require.NoError(t, err)
		s := &Snapshot{Nodes: nodes, Running: []Running{{ID: "R", End: 5, Segs: []nodeset.Segment{seg}}},
			Pending: []*Job{{ID: "J", Priority: 1, TimeLimit: 10, Request: bids.Request{Cores: 1, MinGPUs: 1}}}}
		o := Preset("none")
		o.Reservations = 0
		a, err := NewAuction(o, nil)
		require.NoError(t, err)
		require.ErrorContains(t, a.Decide(context.Background(), s, Limits{}, new(Plan)), "running job R: ", name)
	}
}
