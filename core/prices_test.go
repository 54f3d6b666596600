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
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/nodeset"
)

// keeping is the auction that keeps holes.
func keeping(change func(*AuctionOptions)) *Auction {
	o := Preset("none")
	o.KeepHoles, o.Work = true, 300_000
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
		recent  []Asked
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
			recent: []Asked{{GPUs: 4, Nodes: 5}}, job: one(4, 1), limit: 100, want: 2,
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
			nodes: []nodeset.Capacity{large, {Cores: 64}}, recent: []Asked{{GPUs: 8, Cores: 60, Nodes: 1}},
			job: one(8, 0), limit: 100, want: 1,
		},
	} {
		table, err := nodeset.New(c.nodes)
		require.NoError(t, err)
		s := &Snapshot{Nodes: table, Running: c.running, Recent: c.recent}
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

// withRecent also draws what has been asked for, and has more jobs ask for one node.
func withRecent(t *rapid.T, s *Snapshot) {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "recent"), 29))
	for g := range rng.IntN(5) {
		s.Recent = append(s.Recent, Asked{g, 8 * rng.Float64(), rng.Float64() + 0.1})
	}
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
		withRecent(t, s)
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

// The first job of the queue starts with prices if and only if it does without.
func TestPricesDoNotHoldUpTheFirstJob(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSnapshot(t)
		withRecent(t, s)
		if len(s.Pending) == 0 {
			return
		}
		off := keeping(func(o *AuctionOptions) { o.KeepHoles = false })
		require.Equal(t, planOf(t, off, s)[0].Start, planOf(t, keeping(nil), s)[0].Start)
	})
}

// Which jobs run, and what has been asked for, is the same in any order.
func TestPricesDoNotDependOnTheOrderOfWhatIsTold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSnapshot(t)
		withRecent(t, s)
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

// Without GPUs, or without the option, plans are what they were, whatever has been asked for.
func TestNoPricesNoDifference(t *testing.T) {
	race.Slow(t)
	rapid.Check(t, func(t *rapid.T) {
		s := drawSnapshot(t)
		withRecent(t, s)
		off := func(o *AuctionOptions) { o.KeepHoles = false }
		with := planOf(t, keeping(off), s)
		a := keeping(nil)
		if s.Nodes.MaxGPUs() == 0 {
			require.Equal(t, with, planOf(t, a, s))
			require.Nil(t, a.bidding.prices)
		}
		s.Recent = nil
		require.Equal(t, with, planOf(t, keeping(off), s))
	})
}

// Of blocked jobs beyond Reservations only those have places that ask for more than half of a
// node's GPUs: the others behind the first do not hold anybody up.
func TestKeepingHolesKeepsNoPlacesForSmallJobs(t *testing.T) {
	table, err := nodeset.New(slices.Repeat([]nodeset.Capacity{{Cores: 64, GPUs: 8}}, 6))
	require.NoError(t, err)
	s := &Snapshot{Nodes: table}
	for n := range int32(6) {
		r := Running{ID: fmt.Sprint("R", n), End: 100, Segs: []nodeset.Segment{{First: n, Last: n, Cores: 8, GPUs: 6}}}
		require.NoError(t, table.Allocate(r.Segs))
		s.Running = append(s.Running, r)
	}
	gpus := []int{3, 4, 8, 4, 5, 3, 8, 8, 2} // the last can start
	for i, g := range gpus {
		s.Pending = append(s.Pending, &Job{ID: fmt.Sprint("J", i), Request: one(8, g), Priority: 1, TimeLimit: 1000})
	}
	var kept []int
	for _, d := range planOf(t, keeping(nil), s) {
		if d.Kept {
			kept = append(kept, gpus[d.Job])
		}
	}
	require.Equal(t, []int{3, 8, 5, 8}, kept, "the first, and three large ones")
}

// Small jobs of a long limit do not take the nodes of any of the first four large ones, while
// those that end in time start beside them.
func TestKeepingHolesKeepsPlacesForSeveralJobs(t *testing.T) {
	const large = 5
	for name, c := range map[string]struct {
		change func(*AuctionOptions)
		kept   int
	}{
		"holes":                {nil, 4},
		"more of them":         {func(o *AuctionOptions) { o.Reservations = 2 }, large},
		"no holes":             {func(o *AuctionOptions) { o.KeepHoles = false }, 1},
		"holes, but no places": {func(o *AuctionOptions) { o.Reservations = 0 }, 0},
		"by size":              {func(o *AuctionOptions) { o.Patience = 3600 }, 4},
	} {
		table, err := nodeset.New(slices.Repeat([]nodeset.Capacity{{Cores: 64, GPUs: 8}}, large))
		require.NoError(t, err)
		s := &Snapshot{Nodes: table}
		for n := range int32(large) {
			r := Running{ID: fmt.Sprint("R", n), End: 100, Segs: []nodeset.Segment{{First: n, Last: n, Cores: 8, GPUs: 4}}}
			require.NoError(t, table.Allocate(r.Segs))
			s.Running = append(s.Running, r)
		}
		for i := range 2 * large {
			job := &Job{ID: fmt.Sprint("J", i), Request: one(8, 8), Priority: 1, TimeLimit: 1000}
			if i >= large {
				job.Request = one(4, 4)
			}
			s.Pending = append(s.Pending, job)
		}
		s.Pending = append(s.Pending, &Job{ID: "short", Request: one(4, 4), Priority: 1, TimeLimit: 50})
		kept, started := 0, 0
		for _, d := range planOf(t, keeping(c.change), s) {
			if d.Kept {
				kept++
			}
			if d.Start {
				started++
			}
		}
		require.Equal(t, c.kept, kept, name)
		if kept > 1 { // the short one, and one on each node that is not reserved
			require.Equal(t, large-kept+1, started, name)
		}
	}
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
		o.KeepHoles = true
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
		o.KeepHoles, o.Reservations = true, 0
		a, err := NewAuction(o, nil)
		require.NoError(t, err)
		require.ErrorContains(t, a.Decide(context.Background(), s, Limits{}, new(Plan)), "running job R: ", name)
	}
}
