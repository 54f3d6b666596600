// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/nodeset"
)

func maskOf(nodes int, of ...int) nodeset.Mask {
	m := nodeset.NewMask(nodes)
	for _, n := range of {
		m.Set(n)
	}
	return m
}

// uniformNodes is an idle machine.
func uniformNodes(t require.TestingT, n int, c nodeset.Capacity) *nodeset.Table {
	total := make([]nodeset.Capacity, n)
	for i := range total {
		total[i] = c
	}
	nodes, err := nodeset.New(total)
	require.NoError(t, err)
	return nodes
}

func auctionOf(t require.TestingT, change func(o *AuctionOptions)) *Auction {
	o := Preset("none")
	change(&o)
	a, err := NewAuction(o, nil)
	require.NoError(t, err)
	return a
}

// policiesThatPrefer are auctions by different ways to a start: the window, the left-overs behind
// it, reservations or none, and programs that lay jobs out.
var policiesThatPrefer = map[string]func(o *AuctionOptions){
	"window":  func(*AuctionOptions) {},
	"papers":  func(o *AuctionOptions) { *o = Preset("paper") },
	"compact": func(o *AuctionOptions) { *o = Preset("packed") },
	"layouts": func(o *AuctionOptions) { o.Determiner = layouts },
}

// On an idle machine each job gets the nodes that it prefers, wherever they are.
func TestPreferredNodesWin(t *testing.T) {
	const nodes = 70
	for name, options := range policiesThatPrefer {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(10) {
				rng := rand.New(rand.NewPCG(seed, 1))
				at := rng.Perm(nodes)[:5]
				s := &Snapshot{Nodes: uniformNodes(t, nodes, nodeset.Capacity{Cores: 8, GPUs: 2})}
				for i, n := range at[:4] {
					job := &Job{ID: fmt.Sprint(i), Request: bids.Request{Cores: 8}, Priority: 10, TimeLimit: 60, Prefer: maskOf(nodes, n)}
					if i == 1 {
						job.MinGPUs = 1
					}
					if i == 2 {
						job.Eligible = maskOf(nodes, n, at[4])
					}
					s.Pending = append(s.Pending, job)
				}
				p := decideOn(t, auctionOf(t, options), s)
				require.NoError(t, Verify(s, p))
				for i, d := range p.Decisions {
					require.True(t, d.Start)
					require.Equal(t, at[i], int(d.Segs[0].First), "job %d prefers node %d", i, at[i])
				}
			}
		})
	}
}

func TestPreferredNodesWinBehindTheWindow(t *testing.T) {
	s := &Snapshot{Nodes: uniformNodes(t, 8, nodeset.Capacity{Cores: 4})}
	for i := range 3 {
		s.Pending = append(s.Pending, &Job{ID: fmt.Sprint(i), Request: bids.Request{Cores: 4}, Priority: 10, TimeLimit: 60})
	}
	s.Pending[1].Prefer, s.Pending[2].Prefer = maskOf(8, 6), maskOf(8, 3)
	p := decideOn(t, auctionOf(t, func(o *AuctionOptions) { o.Window = 1 }), s)
	require.Len(t, p.Decisions, 3)
	require.Equal(t, []nodeset.Segment{{First: 6, Last: 6, Cores: 4}}, p.Decisions[1].Segs)
	require.Equal(t, []nodeset.Segment{{First: 3, Last: 3, Cores: 4}}, p.Decisions[2].Segs)
}

// What the job likes best comes before where it would like to be.
func TestAlternativesComeBeforePreferredNodes(t *testing.T) {
	s := &Snapshot{Nodes: uniformNodes(t, 4, nodeset.Capacity{Cores: 4, GPUs: 1})}
	require.NoError(t, s.Nodes.Allocate([]nodeset.Segment{{First: 3, Last: 3, Cores: 2}}))
	job := &Job{ID: "a", Request: bids.Request{Cores: 4, MinNodes: 1, MaxNodes: 1}, Priority: 1, TimeLimit: 9, Prefer: maskOf(4, 3),
		Alternatives: []bids.Request{{Cores: 2}}}
	s.Pending = []*Job{job}
	d := decideOn(t, auctionOf(t, policiesThatPrefer["window"]), s).Decisions[0]
	require.Equal(t, 0, d.Alternative, "the preferred node has no room for its first request")
	require.NotEqual(t, 3, int(d.Segs[0].First))

	require.NoError(t, s.Nodes.Allocate([]nodeset.Segment{{First: 0, Last: 2, Cores: 1}}))
	d = decideOn(t, auctionOf(t, policiesThatPrefer["window"]), s).Decisions[0]
	require.Equal(t, 1, d.Alternative)
	require.Equal(t, 3, int(d.Segs[0].First))
}

// A job never waits for nodes that it prefers, nor does any other job.
func TestPreferencesCostNoStart(t *testing.T) {
	for name, options := range policiesThatPrefer {
		t.Run(name, func(t *testing.T) {
			s := &Snapshot{Nodes: uniformNodes(t, 3, nodeset.Capacity{Cores: 4})}
			held := []nodeset.Segment{{First: 2, Last: 2, Cores: 4}}
			require.NoError(t, s.Nodes.Allocate(held))
			s.Running = []Running{{ID: "r", End: 1, Segs: held}}
			request := func(eligible nodeset.Mask) bids.Request { return bids.Request{Cores: 4, Eligible: eligible} }
			s.Pending = []*Job{
				// the second can be on node 0 alone, where the first would rather be
				{ID: "a", Request: request(nil), Priority: 2, TimeLimit: 9, Prefer: maskOf(3, 0, 2)},
				{ID: "b", Request: request(maskOf(3, 0)), Priority: 1, TimeLimit: 9},
			}
			p := decideOn(t, auctionOf(t, options), s)
			require.True(t, p.Decisions[0].Start)
			require.True(t, p.Decisions[1].Start)
			require.Equal(t, 1, int(p.Decisions[0].Segs[0].First))
		})
	}
}

// drawPreferences has most jobs of a snapshot prefer nodes; several have the same mask.
func drawPreferences(t *rapid.T, s *Snapshot) {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed of preferences"), 31))
	var masks []nodeset.Mask
	for range 4 {
		m := nodeset.NewMask(s.Nodes.Len())
		for n := range s.Nodes.Len() {
			if rng.IntN(4) == 0 {
				m.Set(n)
			}
		}
		masks = append(masks, m)
	}
	masks = append(masks, nil, nodeset.Mask{})
	for _, job := range s.Pending {
		job.Prefer = masks[rng.IntN(len(masks))]
	}
}

// Plans of jobs with preferences hold together as others do.
func TestPlansOfPreferences(t *testing.T) {
	race.Slow(t)
	preferred := 0
	checkUntil(t, func() bool { return preferred > 20 }, func(t *rapid.T) {
		s, a := drawWays(t), drawAuction(t)
		drawPreferences(t, s)
		p := decideOn(t, a, s)
		require.NoError(t, Verify(s, p))
		require.LessOrEqual(t, p.Objective, p.Bound)
		left := new(nodeset.Table)
		left.CopyFrom(s.Nodes)
		for _, d := range p.Decisions {
			require.Equal(t, !slices.Contains(canRun(s, s.Pending[d.Job]), true), d.Why == Never)
			require.NoError(t, left.Allocate(d.Segs))
			if s.Pending[d.Job].Prefer != nil && d.Start && s.Pending[d.Job].Prefer.Has(int(d.Segs[0].First)) {
				preferred++
			}
		}
		if a.opts.Compact || a.opts.Drafts == 0 || len(p.Decisions) < len(s.Pending) || a.opts.Reservations > 0 {
			return
		}
		requireNoRoom(t, s, p, left) // on preferred nodes or others
	})
}

// Preferring all nodes, none, or such as have nothing free says nothing, and
// changes nothing at all.
func TestEmptyPreferencesChangeNothing(t *testing.T) {
	race.Slow(t)
	rapid.Check(t, func(t *rapid.T) {
		s, a := drawSnapshot(t), drawAuction(t)
		want := decideOn(t, a, s)
		decisions, objective, bound, stats := fmt.Sprint(want.Decisions), want.Objective, want.Bound, want.Stats
		all, none := nodeset.NewMask(s.Nodes.Len()), nodeset.NewMask(s.Nodes.Len())
		for n := range s.Nodes.Len() {
			all.Set(n)
			if !s.Nodes.Up(n) || s.Nodes.Free(n) == (nodeset.Capacity{}) {
				none.Set(n)
			}
		}
		masks := []nodeset.Mask{all, {}, none}
		if a.opts.Reservations > 0 {
			masks = masks[:2] // nodes may come free for those that have places kept
		}
		says := rapid.SampledFrom(masks).Draw(t, "prefer")
		for _, job := range s.Pending {
			job.Prefer = says
		}
		got := decideOn(t, a, s)
		require.Equal(t, decisions, fmt.Sprint(got.Decisions))
		require.Equal(t, []float64{objective, bound}, []float64{got.Objective, got.Bound})
		stats.Elapsed, got.Stats.Elapsed = 0, 0
		require.Equal(t, stats, got.Stats)
	})
}
