// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/settings"
	"github.com/aucsched/aucsched/ipmodel/native"
	"github.com/aucsched/aucsched/nodeset"
)

// shareJob asks for a share of a GPU, or for whole GPUs of one node.
func shareJob(id string, cores int, share int64, gpus int, priority, limit int64) *Job {
	r := bids.Request{Cores: cores, MinNodes: 1, MaxNodes: 1, MinGPUs: gpus, MaxGPUs: gpus}
	if share > 0 {
		r.Uses = nodeset.Uses{{PerNode: share}}
	}
	return &Job{ID: id, Request: r, Priority: priority, TimeLimit: limit}
}

// drawShared draws a machine on which running jobs have shares and whole GPUs, and a queue of both.
func drawShared(t *rapid.T, nodes, jobs int) *Snapshot {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 47))
	caps, size := make([]nodeset.Capacity, nodes), make([]int64, nodes)
	for n := range caps {
		caps[n] = nodeset.Capacity{Cores: uint16(max(0, rng.IntN(30)-4)), GPUs: uint8(rng.IntN(4))}
		size[n] = []int64{0, 10, 10, 8}[rng.IntN(4)]
	}
	table, err := nodeset.New(caps)
	require.NoError(t, err)
	_, err = table.AddShares("share", size)
	require.NoError(t, err)
	s := &Snapshot{Nodes: table}
	for i := range rng.IntN(3 * nodes) {
		n := int32(rng.IntN(nodes))
		segs := []nodeset.Segment{{First: n, Last: n, Cores: 1}}
		var uses nodeset.Uses
		if share := 1 + rng.Int64N(8); rng.IntN(3) > 0 {
			uses = nodeset.Uses{{PerNode: share}}
			if segs[0].Bin = table.ChooseBin(int(n), share, nil); segs[0].Bin == 0 {
				continue
			}
		} else {
			segs[0].GPUs = 1
		}
		if table.Allocate(segs, uses...) == nil {
			s.Running = append(s.Running, Running{ID: "r" + string(rune('a'+i)), End: 20 + 20*rng.Int64N(5), Segs: segs, Uses: uses})
		}
	}
	for i := range 1 + rng.IntN(jobs) {
		share, gpus := 1+rng.Int64N(10), 0
		if rng.IntN(3) == 0 {
			share, gpus = 0, rng.IntN(3)
		}
		cores := rng.IntN(5)
		if share == 0 && gpus == 0 {
			cores++
		}
		s.Pending = append(s.Pending, shareJob("j"+string(rune('a'+i)), cores, share, gpus,
			10*(1+rng.Int64N(5)), 10+10*rng.Int64N(12)))
	}
	s.Pending[0].Priority = 10 // preferences are worth less than the least priority (equation 10)
	sortQueue(s.Pending)
	return s
}

// Jobs that each want one node, on a few nodes: the auction's choice is the best of all choices of
// nodes and GPUs.
func TestSharesBruteForce(t *testing.T) {
	bound := 0
	checkUntil(t, func() bool { return bound > 60 }, func(t *rapid.T) {
		s := drawShared(t, 1+rapid.IntRange(0, 1).Draw(t, "nodes"), 6)
		o := Preset("none")
		o.Reservations = 0
		o.MaxBidsPerJob = 40
		a, err := NewAuction(o, nil)
		require.NoError(t, err)
		var p Plan
		require.NoError(t, a.Decide(context.Background(), s, Limits{Seed: 1}, &p))
		require.NoError(t, Verify(s, &p))
		got, all := int64(0), int64(0)
		for _, d := range p.Decisions {
			if d.Start {
				got += s.Pending[d.Job].Priority
			}
			all += s.Pending[d.Job].Priority
		}
		best := bestOfShares(s)
		require.Equal(t, best, got)
		if best > 0 && best < all {
			bound++
		}
	})
}

// bestOfShares is the most that any assignment of the jobs to nodes and GPUs is worth. It counts
// what is free of each GPU in shared use, and of those that are not.
func bestOfShares(s *Snapshot) (best int64) {
	type gpu struct {
		node int
		free int64
	}
	n := s.Nodes.Len()
	cores, whole := make([]int, n), make([]int, n)
	var gpus []gpu
	size := s.Nodes.TotalOf(0)
	for i := range n {
		cores[i], whole[i] = int(s.Nodes.Free(i).Cores), int(s.Nodes.Free(i).GPUs)
		for b := 1; b <= len(s.Nodes.BinsLeft(i)); b++ {
			if free, inUse := s.Nodes.BinFree(i, uint8(b)); inUse {
				gpus = append(gpus, gpu{i, free})
			}
		}
	}
	var try func(j int, worth int64)
	try = func(j int, worth int64) {
		best = max(best, worth)
		if j == len(s.Pending) {
			return
		}
		try(j+1, worth)
		r := &s.Pending[j].Request
		worth += s.Pending[j].Priority
		if len(r.Uses) == 0 {
			for i := range n {
				if cores[i] >= r.Cores && whole[i] >= r.MinGPUs {
					cores[i], whole[i] = cores[i]-r.Cores, whole[i]-r.MinGPUs
					try(j+1, worth)
					cores[i], whole[i] = cores[i]+r.Cores, whole[i]+r.MinGPUs
				}
			}
			return
		}
		share := r.Uses[0].PerNode
		for b := range gpus {
			if i := gpus[b].node; cores[i] >= r.Cores && gpus[b].free >= share {
				cores[i], gpus[b].free = cores[i]-r.Cores, gpus[b].free-share
				try(j+1, worth)
				cores[i], gpus[b].free = cores[i]+r.Cores, gpus[b].free+share
			}
		}
		for i := range n {
			if cores[i] >= r.Cores && whole[i] > 0 && size[i] >= share {
				cores[i], whole[i] = cores[i]-r.Cores, whole[i]-1
				gpus = append(gpus, gpu{i, size[i] - share})
				try(j+1, worth)
				gpus = gpus[:len(gpus)-1]
				cores[i], whole[i] = cores[i]+r.Cores, whole[i]+1
			}
		}
	}
	try(0, 0)
	return best
}

// With reservations too, no GPU gives more than it has, now and when what is reserved begins.
func TestSharesNeverPass(t *testing.T) {
	started, kept := 0, 0
	checkUntil(t, func() bool { return started > 300 && kept > 40 }, func(t *rapid.T) {
		s := drawShared(t, 1+rapid.IntRange(0, 4).Draw(t, "nodes"), 14)
		o := Preset("none")
		o.Reservations = rapid.IntRange(1, 4).Draw(t, "reservations")
		o.Window = rapid.IntRange(3, 20).Draw(t, "window")
		o.Goal = rapid.SampledFrom([]settings.Goal{settings.NoGoal, settings.Fair, settings.Short, settings.Most}).Draw(t, "goal")
		a, err := NewAuction(o, nil)
		require.NoError(t, err)
		var p Plan
		require.NoError(t, a.Decide(context.Background(), s, Limits{Seed: 1}, &p))
		require.NoError(t, Verify(s, &p))
		for _, d := range p.Decisions {
			if d.Start && len(d.Uses) > 0 {
				started++
			} else if d.Kept && len(s.Pending[d.Job].Uses) > 0 {
				kept++
			}
		}
		agree := require.New(t)
		for _, r := range a.reservations.claims.reserved {
			if len(r.Segs) == 0 { // its place was given up: see reservations.release
				continue
			}
			agree.NoError(place.CheckSegments(&s.Pending[a.window.index[r.Job]].Request, r.Segs, s.Nodes.Len()))
		}
		_, err = p.Apply(s.Nodes)
		agree.NoError(err)
	})
}

// Numbers of nodes, and the order of equal jobs, are names: what starts is worth the same.
func TestSharesRelabelled(t *testing.T) {
	checkUntil(t, func() bool { return true }, func(t *rapid.T) {
		s := drawShared(t, 2, 5)
		s.Running = nil // the nodes as they are free say it all
		worth := func(s *Snapshot) float64 {
			o := Preset("none")
			o.Reservations, o.MaxBidsPerJob = 0, 40
			a, err := NewAuction(o, nil)
			require.NoError(t, err)
			var p Plan
			require.NoError(t, a.Decide(context.Background(), s, Limits{Seed: 1}, &p))
			sum := 0.0
			for _, d := range p.Decisions {
				if d.Start {
					sum += float64(s.Pending[d.Job].Priority)
				}
			}
			return sum
		}
		turned, err := nodeset.New([]nodeset.Capacity{s.Nodes.Total(1), s.Nodes.Total(0)})
		require.NoError(t, err)
		size := s.Nodes.TotalOf(0)
		_, err = turned.AddShares("share", []int64{size[1], size[0]})
		require.NoError(t, err)
		for n := range 2 {
			from := 1 - n
			for b := 1; b <= len(s.Nodes.BinsLeft(from)); b++ {
				if free, inUse := s.Nodes.BinFree(from, uint8(b)); inUse {
					require.NoError(t, turned.SetBin(n, uint8(len(s.Nodes.BinsLeft(from))+1-b), free))
				}
			}
			require.NoError(t, turned.SetFree(n, s.Nodes.Free(from)))
		}
		other := &Snapshot{Nodes: turned, Pending: slices.Clone(s.Pending)}
		slices.Reverse(other.Pending)
		sortQueue(other.Pending)
		require.Equal(t, worth(s), worth(other))
	})
}

// A share goes where it fits tightest, and GPUs stay whole.
func TestSharesFitTightest(t *testing.T) {
	table, err := nodeset.NewUniform(3, nodeset.Capacity{Cores: 8, GPUs: 2})
	require.NoError(t, err)
	_, err = table.AddShares("share", []int64{10, 10, 10})
	require.NoError(t, err)
	require.NoError(t, table.SetBin(1, 2, 7))
	require.NoError(t, table.SetBin(2, 1, 4))
	s := &Snapshot{Nodes: table, Pending: []*Job{shareJob("a", 1, 3, 0, 9, 60), shareJob("b", 1, 6, 0, 8, 60),
		shareJob("whole", 1, 0, 2, 7, 60), shareJob("large", 1, 11, 0, 6, 60)}}
	say := says(t, Preset("none"), s)
	require.Equal(t, []nodeset.Segment{{First: 2, Last: 2, Cores: 1, Bin: 1}}, say["a"].Segs)
	require.Equal(t, []nodeset.Segment{{First: 1, Last: 1, Cores: 1, Bin: 2}}, say["b"].Segs)
	require.Equal(t, []nodeset.Segment{{First: 0, Last: 0, Cores: 1, GPUs: 2}}, say["whole"].Segs)
	require.Equal(t, Never, say["large"].Why)
	require.Contains(t, say["large"].Reason, "needs 11 share on a node, most has 10")
}

// A share that waits for GPUs alone has a place kept on one, and nobody gets in its way.
func TestShareIsReserved(t *testing.T) {
	table, err := nodeset.NewUniform(1, nodeset.Capacity{Cores: 8, GPUs: 1})
	require.NoError(t, err)
	_, err = table.AddShares("share", []int64{10})
	require.NoError(t, err)
	holds := Running{ID: "holds", End: 100, Segs: []nodeset.Segment{{Cores: 1, Bin: 1}}, Uses: nodeset.Uses{{PerNode: 6}}}
	require.NoError(t, table.Allocate(holds.Segs, holds.Uses...))
	s := &Snapshot{Nodes: table, Running: []Running{holds}, Pending: []*Job{shareJob("head", 1, 8, 0, 9, 60),
		shareJob("long", 1, 3, 0, 5, 500), shareJob("short", 1, 2, 0, 4, 90), shareJob("small", 1, 2, 0, 3, 500)}}
	say := says(t, Preset("none"), s)
	require.True(t, say["head"].Kept)
	require.Equal(t, int64(100), say["head"].Expected)
	require.False(t, say["long"].Start, "its share is needed from 100 on")
	require.True(t, say["short"].Start)
	require.True(t, say["small"].Start, "beside the reserved job there is room for 2")
}

// A request for shares that none can have says what is wrong with it.
func TestShareFaults(t *testing.T) {
	table, err := nodeset.NewUniform(2, nodeset.Capacity{Cores: 8, GPUs: 1})
	require.NoError(t, err)
	_, err = table.AddShares("share", []int64{10, 10})
	require.NoError(t, err)
	two, gpus, each := shareJob("two", 2, 3, 0, 9, 60), shareJob("gpus", 1, 3, 1, 8, 60), shareJob("each", 1, 3, 0, 7, 60)
	two.MaxNodes, each.Uses = 2, nodeset.Uses{{PerCore: 1}}
	say := says(t, Preset("none"), &Snapshot{Nodes: table, Pending: []*Job{two, gpus, each}})
	require.Contains(t, say["two"].Reason, "share: a share of a GPU is on one node")
	require.Contains(t, say["gpus"].Reason, "share: a job with a share of a GPU asks for no GPUs beside")
	require.Contains(t, say["each"].Reason, "not by core or by GPU")
}

// Verify counts GPUs by itself.
func TestVerifyKnowsShares(t *testing.T) {
	table, err := nodeset.NewUniform(1, nodeset.Capacity{Cores: 8, GPUs: 2})
	require.NoError(t, err)
	_, err = table.AddShares("share", []int64{10})
	require.NoError(t, err)
	require.NoError(t, table.SetBin(0, 1, 4))
	s := &Snapshot{Nodes: table, Pending: []*Job{shareJob("a", 1, 3, 0, 9, 60), shareJob("b", 1, 3, 0, 8, 60),
		shareJob("w", 1, 0, 1, 7, 60)}}
	plan := func(bins ...uint8) *Plan {
		p := &Plan{}
		for i, b := range bins {
			seg := nodeset.Segment{Cores: 1, Bin: b}
			if i == 2 {
				seg = nodeset.Segment{Cores: 1, GPUs: 1, Bin: b}
			}
			p.Decisions = append(p.Decisions, Decision{Job: i, Start: true, Segs: []nodeset.Segment{seg}, Uses: s.Pending[i].Uses})
		}
		return p
	}
	require.NoError(t, Verify(s, plan(1, 2)))
	require.NoError(t, Verify(s, plan(2, 2)))
	require.ErrorContains(t, Verify(s, plan(1, 1)), "shared GPU 1: 6 share taken, 4 free")
	require.ErrorContains(t, Verify(s, plan(2, 2, 0)), "2 GPUs taken")
	require.ErrorContains(t, Verify(s, plan(1, 2, 0)), "2 GPUs taken")
	require.ErrorContains(t, Verify(s, plan(0)), "a share is on GPU 0")
	require.ErrorContains(t, Verify(s, plan(2, 5)), "a share is on GPU 5")
	require.ErrorContains(t, Verify(s, plan(1, 1, 2)), "asks for no share")
}

// Parts of a job may have whole GPUs of the same node, beside GPUs that others share.
func TestPartsBesideShares(t *testing.T) {
	nodes, err := nodeset.NewUniform(1, nodeset.Capacity{Cores: 9, GPUs: 4})
	require.NoError(t, err)
	_, err = nodes.AddShares("share", []int64{10})
	require.NoError(t, err)
	parts := &Job{ID: "parts", Priority: 9, TimeLimit: 50, Request: bids.Request{Cores: 1, MinGPUs: 1,
		Components: []bids.Request{{Cores: 1, MinGPUs: 2}}}}
	for _, c := range []struct {
		shares int64
		starts []int
	}{{8, []int{0, 1}}, {5, []int{0, 1, 2}}} {
		s := &Snapshot{Nodes: nodes, Pending: []*Job{parts, shareJob("a", 1, c.shares, 0, 8, 50), shareJob("b", 1, c.shares, 0, 7, 50)}}
		a, err := NewAuction(Preset("paper"), validating{native.New()})
		require.NoError(t, err)
		p := decideOn(t, a, s)
		require.NoError(t, Verify(s, p))
		var starts []int
		for _, d := range p.Decisions {
			if d.Start {
				starts = append(starts, d.Job)
			}
		}
		require.Equal(t, c.starts, starts)
	}
}
