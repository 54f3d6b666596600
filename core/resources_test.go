// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/nodeset"
)

// drawUses draws what a request takes of resources of which a node has up to most.
func drawUses(rng *rand.Rand, r *bids.Request, resources int, most int64) (uses nodeset.Uses) {
	for k := range resources {
		u := nodeset.Use{Row: k}
		switch rng.IntN(5) {
		case 0:
			u.PerNode = rng.Int64N(most)
		case 1:
			u.PerCore = rng.Int64N(most/4 + 1)
		case 2:
			u.PerGPU = rng.Int64N(most/2 + 1)
		case 3:
			u.PerNode, u.PerCore = rng.Int64N(most/4+1), rng.Int64N(most/8+1)
			if r.MinGPUs == r.MaxGPUs {
				u.PerGPU = rng.Int64N(most/8 + 1)
			}
		default:
			continue
		}
		uses = append(uses, u)
	}
	return uses
}

// drawMore draws a snapshot of a machine with further resources, of which running jobs hold some.
func drawMore(t *rapid.T) *Snapshot {
	s := drawSnapshot(t)
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "resources"), 31))
	resources, most := 1+rng.IntN(3), 1+rng.Int64N(200)
	for _, name := range []string{"memory", "a100", "shard"}[:resources] {
		total := make([]int64, s.Nodes.Len())
		for n := range total {
			total[n] = most
			if rng.IntN(3) == 0 {
				total[n] = rng.Int64N(most + 1)
			}
		}
		_, err := s.Nodes.AddResource(name, total)
		require.NoError(t, err)
	}
	for i := range s.Running {
		r := &s.Running[i]
		uses := drawUses(rng, &bids.Request{}, resources, most/3+1)
		require.NoError(t, s.Nodes.Release(r.Segs))
		if s.Nodes.FitsWith(r.Segs, uses) {
			r.Uses = uses
		}
		up := s.Nodes.Allocate(r.Segs, r.Uses...)
		if up != nil { // a node is down: what is held there stays held
			for _, seg := range r.Segs {
				for n := seg.First; n <= seg.Last; n++ {
					c := s.Nodes.Free(int(n))
					c.Cores, c.GPUs = c.Cores-seg.Cores, c.GPUs-seg.GPUs
					require.NoError(t, s.Nodes.SetFree(int(n), c))
				}
			}
			r.Uses = nil
		}
	}
	for _, job := range s.Pending {
		if rng.IntN(5) > 0 {
			job.Uses = drawUses(rng, &job.Request, resources, most)
		}
	}
	return s
}

// Whatever further resources there are, no node gives more than it has free, now and in what is
// reserved, and what is kept for a job suits it.
func TestFurtherResourcesNeverPass(t *testing.T) {
	started, waiting := 0, 0
	checkUntil(t, func() bool { return started > 200 && waiting > 100 }, func(t *rapid.T) {
		s := drawMore(t)
		a := drawAuction(t)
		var p Plan
		require.NoError(t, a.Decide(context.Background(), s, Limits{Seed: 3}, &p))
		require.NoError(t, Verify(s, &p))
		for _, d := range p.Decisions {
			if d.Start && len(d.Uses) > 0 {
				started++
			} else if !d.Start && len(s.Pending[d.Job].Uses) > 0 {
				waiting++
			}
		}
		_, err := p.Apply(s.Nodes)
		require.NoError(t, err)
	})
}

// A machine that has plenty of further resources is one without any.
func TestPlentyChangesNothing(t *testing.T) {
	checkUntil(t, func() bool { return true }, func(t *rapid.T) {
		s := drawSnapshot(t)
		a := drawAuction(t)
		if a.Name() != "auction2" { // which layouts it chooses differs
			return
		}
		var plain, rich Plan
		require.NoError(t, a.Decide(context.Background(), s, Limits{Seed: 3}, &plain))
		total := make([]int64, s.Nodes.Len())
		for n := range total {
			total[n] = nodeset.MaxAmount
		}
		_, err := s.Nodes.AddResource("memory", total)
		require.NoError(t, err)
		for _, job := range s.Pending {
			job.Uses = nodeset.Uses{{PerNode: 7, PerCore: 3}}
		}
		require.NoError(t, a.Decide(context.Background(), s, Limits{Seed: 3}, &rich))
		require.Equal(t, plain.Objective, rich.Objective)
		segs := map[int][]nodeset.Segment{} // a full machine without other rows has no more to say
		for _, d := range plain.Decisions {
			segs[d.Job] = d.Segs
		}
		for _, d := range rich.Decisions {
			require.Equal(t, segs[d.Job], d.Segs)
		}
	})
}

// Jobs that each want one node, on a few nodes: the auction's choice is the best of all.
func TestFurtherResourcesBruteForce(t *testing.T) {
	bound := 0
	checkUntil(t, func() bool { return bound > 30 }, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 37))
		nodes, resources := 1+rng.IntN(3), 1+rng.IntN(2)
		table, err := nodeset.NewUniform(nodes, nodeset.Capacity{Cores: uint16(rng.IntN(9)), GPUs: uint8(rng.IntN(4))})
		require.NoError(t, err)
		for _, name := range []string{"memory", "a100"}[:resources] {
			total := make([]int64, nodes)
			for n := range total {
				total[n] = rng.Int64N(60)
			}
			_, err := table.AddResource(name, total)
			require.NoError(t, err)
		}
		s := &Snapshot{Nodes: table}
		for i := range 1 + rng.IntN(6) {
			r := bids.Request{MinNodes: 1, MaxNodes: 1, Cores: max(0, rng.IntN(9)-2), MinGPUs: rng.IntN(2)}
			r.MaxGPUs = r.MinGPUs
			r.Uses = drawUses(rng, &r, resources, 40)
			if place.Validate(&r) != nil { // it asks for nothing
				r.Cores = 1
			}
			s.Pending = append(s.Pending, &Job{ID: string(rune('a' + i)), Request: r, Priority: 10 * (1 + rng.Int64N(5)), TimeLimit: 60})
		}
		// preferences are worth less than the least priority (equation 10)
		s.Pending[0].Priority = 10
		sortQueue(s.Pending)
		o := Preset("none")
		o.Reservations = 0
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
		best := bestOnSingleNodes(s)
		require.Equal(t, best, got)
		if best > 0 && best < all {
			bound++
		}
	})
}

// bestOnSingleNodes is the most that any assignment of the jobs to nodes is worth.
func bestOnSingleNodes(s *Snapshot) (best int64) {
	n := s.Nodes.Len()
	cores, gpus := make([]int, n), make([]int, n)
	more := make([][]int64, n)
	for i := range n {
		more[i] = make([]int64, s.Nodes.Resources())
	}
	var try func(j int, worth int64)
	try = func(j int, worth int64) {
		best = max(best, worth)
		if j == len(s.Pending) {
			return
		}
		try(j+1, worth)
		r := &s.Pending[j].Request
		for i := range n {
			fits := cores[i]+r.Cores <= int(s.Nodes.Free(i).Cores) && gpus[i]+r.MinGPUs <= int(s.Nodes.Free(i).GPUs)
			takes := make([]int64, s.Nodes.Resources())
			for _, u := range r.Uses {
				takes[u.Row] = u.PerNode + u.PerCore*int64(r.Cores) + u.PerGPU*int64(r.MinGPUs)
				fits = fits && more[i][u.Row]+takes[u.Row] <= s.Nodes.FreeOf(u.Row)[i]
			}
			if !fits {
				continue
			}
			cores[i], gpus[i] = cores[i]+r.Cores, gpus[i]+r.MinGPUs
			for k := range takes {
				more[i][k] += takes[k]
			}
			try(j+1, worth+s.Pending[j].Priority)
			cores[i], gpus[i] = cores[i]-r.Cores, gpus[i]-r.MinGPUs
			for k := range takes {
				more[i][k] -= takes[k]
			}
		}
	}
	try(0, 0)
	return best
}

// A job that waits for memory alone has a place kept from when that comes free, and
// none gets in its way.
func TestMemoryIsReserved(t *testing.T) {
	table, err := nodeset.NewUniform(2, nodeset.Capacity{Cores: 8})
	require.NoError(t, err)
	_, err = table.AddResource("memory", []int64{64, 64})
	require.NoError(t, err)
	holds := Running{ID: "holds", End: 100, Segs: []nodeset.Segment{{First: 0, Last: 1, Cores: 1}},
		Uses: nodeset.Uses{{PerNode: 40}}}
	require.NoError(t, table.Allocate(holds.Segs, holds.Uses...))
	one := func(id string, memory, limit, priority int64) *Job {
		return &Job{ID: id, Priority: priority, TimeLimit: limit,
			Request: bids.Request{Cores: 1, MinNodes: 1, MaxNodes: 1, Uses: nodeset.Uses{{PerNode: memory}}}}
	}
	both := one("both", 60, 60, 9)
	both.Cores, both.MinNodes, both.MaxNodes = 2, 2, 2
	s := &Snapshot{Nodes: table, Running: []Running{holds}, Pending: []*Job{
		both, one("long", 20, 500, 5), one("short", 20, 90, 4), one("small", 4, 500, 3), one("never", 65, 10, 2)}}
	say := says(t, Preset("none"), s)
	require.True(t, say["both"].Kept)
	require.Equal(t, int64(100), say["both"].Expected)
	require.False(t, say["long"].Start, "its memory is needed from 100 on")
	require.True(t, say["short"].Start)
	require.True(t, say["small"].Start, "beside the reserved job there is room for 4")
	require.Equal(t, Never, say["never"].Why)
	require.Contains(t, say["never"].Reason, "needs 65 memory on a node, most has 64")
}

// The steady state of a cycle with further resources allocates nothing.
func TestFurtherResourcesAllocateNothing(t *testing.T) {
	race.Allocates(t)
	s := windowOfMemory(t, 128, 60, 6)
	o := Preset("none")
	o.Clock = func() time.Time { return time.Time{} }
	a, err := NewAuction(o, nil)
	require.NoError(t, err)
	var p Plan
	decide := func() {
		if err := a.Decide(context.Background(), s, Limits{Seed: 5}, &p); err != nil {
			t.Fatal(err)
		}
	}
	decide()
	require.Less(t, testing.AllocsPerRun(20, decide), 1.0)
}

// windowOfMemory is a window on a machine with so many further resources, of which memory binds.
func windowOfMemory(t testing.TB, nodes, jobs, resources int) *Snapshot {
	rng := rand.New(rand.NewPCG(7, uint64(nodes)))
	table, err := nodeset.NewUniform(nodes, nodeset.Capacity{Cores: 32, GPUs: 4})
	require.NoError(t, err)
	for k := range resources {
		total := make([]int64, nodes)
		for n := range total {
			total[n] = 256
		}
		_, err := table.AddResource(string(rune('a'+k)), total)
		require.NoError(t, err)
	}
	s := &Snapshot{Nodes: table}
	for i := range jobs {
		r := bids.Request{MinNodes: 1 + rng.IntN(8), TasksPerNode: 1 + rng.IntN(16), MinGPUs: rng.IntN(3)}
		r.MaxNodes, r.MaxGPUs = r.MinNodes, r.MinGPUs
		for k := range resources {
			r.Uses = append(r.Uses, nodeset.Use{Row: k, PerNode: 10 + 10*rng.Int64N(12), PerCore: rng.Int64N(3)})
		}
		s.Pending = append(s.Pending, &Job{ID: "j" + string(rune('0'+i/10)) + string(rune('0'+i%10)), Request: r,
			Priority: int64(1000 - i), TimeLimit: 600})
	}
	return s
}
