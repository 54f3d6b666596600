// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"context"
	"fmt"
	"math/bits"
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

// gpusAndDisk is a machine of nodes of 4 cores, so many GPUs and so much disk each.
func gpusAndDisk(t require.TestingT, nodes int, gpus uint8, disk int64) *nodeset.Table {
	table, err := nodeset.NewUniform(nodes, nodeset.Capacity{Cores: 4, GPUs: gpus})
	require.NoError(t, err)
	amounts := make([]int64, nodes)
	for n := range amounts {
		amounts[n] = disk
	}
	_, err = table.AddResource("disk", amounts)
	require.NoError(t, err)
	return table
}

// A job that takes no core starts on nodes that have none free, and leaves the cores of others to
// those who want them. One that asks for nothing never runs.
func TestJobsWithoutCoresStartOnFullNodes(t *testing.T) {
	table := gpusAndDisk(t, 3, 1, 10)
	busy := []nodeset.Segment{{First: 0, Last: 1, Cores: 4}}
	require.NoError(t, table.Allocate(busy))
	s := &Snapshot{Nodes: table, Running: []Running{{ID: "r", End: 50, Segs: busy}}, Pending: []*Job{
		{ID: "gpus", Priority: 9, TimeLimit: 100, Request: bids.Request{MinNodes: 2, MinGPUs: 1, Contiguous: true}},
		{ID: "cores", Priority: 8, TimeLimit: 100, Request: bids.Request{MinNodes: 1, TasksPerNode: 4}},
		{ID: "disk", Priority: 7, TimeLimit: 100, Request: bids.Request{MinNodes: 3, Uses: nodeset.Uses{{PerNode: 6, PerCore: 9}}}},
		{ID: "more", Priority: 6, TimeLimit: 100, Request: bids.Request{Uses: nodeset.Uses{{PerNode: 5}}}},
		{ID: "nothing", Priority: 5, TimeLimit: 100, Request: bids.Request{MaxGPUs: 1, Uses: nodeset.Uses{{PerCore: 1, PerGPU: 1}}}},
	}}
	say := says(t, Preset("none"), s)
	require.Equal(t, []nodeset.Segment{{First: 0, Last: 1, GPUs: 1}}, say["gpus"].Segs)
	require.Equal(t, []nodeset.Segment{{First: 2, Last: 2, Cores: 4}}, say["cores"].Segs)
	require.Equal(t, []nodeset.Segment{{First: 0, Last: 2}}, say["disk"].Segs)
	require.False(t, say["more"].Start, "4 of the disk are left")
	require.EqualValues(t, 100, say["more"].Expected)
	require.Contains(t, say["nothing"].Reason, "cores: 0: the job asks for nothing")

	require.NoError(t, table.Allocate([]nodeset.Segment{{First: 2, Last: 2, Cores: 4}}))
	s.Pending[1].Cores, s.Pending[1].TasksPerNode = 1, 0 // which is behind the window, as "disk" is
	o := Preset("none")
	o.Window, o.Reservations = 1, 0
	say = says(t, o, s)
	require.True(t, say["gpus"].Start, "no core is free")
	require.Equal(t, NoFit, say["cores"].Why)
	require.True(t, say["disk"].Start)
}

// A job without cores is worth its priority by any objective but ByRate, and bids for nodes that it
// prefers where others that would do are full.
func TestJobsWithoutCoresAreWorthSomething(t *testing.T) {
	table := gpusAndDisk(t, 3, 1, 10)
	require.NoError(t, table.SetFree(0, nodeset.Capacity{GPUs: 1}))
	require.NoError(t, table.SetFree(1, nodeset.Capacity{GPUs: 1}))
	s := &Snapshot{Nodes: table, Pending: []*Job{
		{ID: "a", Priority: 50, TimeLimit: 9, Prefer: maskOf(3, 2), Request: bids.Request{MinGPUs: 1}}}}
	for _, objective := range []Objective{ByPriority, BySize} {
		o := Preset("none")
		o.Objective = objective
		p := decide(t, o, s)
		require.Equal(t, []nodeset.Segment{{First: 2, Last: 2, GPUs: 1}}, p.Decisions[0].Segs)
		require.Greater(t, p.Objective, 50.0)
		require.LessOrEqual(t, p.Objective, p.Bound)
		o.Depth, o.Drafts, o.Reservations = 1, 0, 0
		s.Pending = append(s.Pending[:0:0], &Job{ID: "0", Priority: 51, TimeLimit: 9, Request: bids.Request{Cores: 5}}, s.Pending[0])
		o.Window = 1 // it is behind the window, and has what is left over
		p = decide(t, o, s)
		require.True(t, p.Decisions[1].Start)
		require.Greater(t, p.Objective, 50.0)
		s.Pending = s.Pending[1:]
	}
}

// Cores that nobody took do not make room for GPUs: a place is kept from when these come free.
func TestJobsWithoutCoresWaitForTheirGPUs(t *testing.T) {
	table := gpusAndDisk(t, 2, 2, 10)
	holds := []nodeset.Segment{{First: 0, Last: 1, GPUs: 1}}
	require.NoError(t, table.Allocate(holds))
	gpus := func(id string, nodes, each int, priority, limit int64) *Job {
		return &Job{ID: id, Priority: priority, TimeLimit: limit, Request: bids.Request{MinNodes: nodes, MinGPUs: each}}
	}
	s := &Snapshot{Nodes: table, Running: []Running{{ID: "r", End: 50, Segs: holds}}, Pending: []*Job{
		gpus("both", 2, 2, 9, 100), gpus("long", 1, 1, 8, 60), gpus("short", 1, 1, 7, 50),
		{ID: "cores", Priority: 6, TimeLimit: 200, Request: bids.Request{Cores: 8}},
	}}
	say := says(t, Preset("none"), s)
	require.True(t, say["both"].Kept)
	require.EqualValues(t, 50, say["both"].Expected)
	require.False(t, say["long"].Start, "its GPU is needed from 50 on")
	require.True(t, say["short"].Start)
	require.True(t, say["cores"].Start, "the kept place has no core")
}

// Verify counts jobs without cores as others: by what they asked for.
func TestVerifyKnowsJobsWithoutCores(t *testing.T) {
	s := &Snapshot{Nodes: gpusAndDisk(t, 3, 1, 10), Pending: []*Job{
		{ID: "a", Priority: 2, TimeLimit: 1, Request: bids.Request{MinNodes: 2, MinGPUs: 1, Uses: nodeset.Uses{{PerNode: 6}}}},
		{ID: "b", Priority: 1, TimeLimit: 1, Request: bids.Request{Cores: 2, MinNodes: 2}}}}
	require.NoError(t, s.Nodes.SetFree(1, nodeset.Capacity{GPUs: 1}))
	plan := func(job int, segs ...nodeset.Segment) *Plan {
		return &Plan{Decisions: []Decision{{Job: job, Start: true, Segs: segs, Uses: s.Pending[job].Uses}}}
	}
	require.NoError(t, Verify(s, plan(0, nodeset.Segment{First: 0, Last: 1, GPUs: 1})))
	require.NoError(t, Verify(s, plan(1, nodeset.Segment{First: 0, Last: 0, Cores: 1}, nodeset.Segment{First: 2, Last: 2, Cores: 1})))
	for want, p := range map[string]*Plan{
		"gives 1 cores, and the job takes none": plan(0, nodeset.Segment{First: 0, Last: 0, GPUs: 1},
			nodeset.Segment{First: 2, Last: 2, Cores: 1, GPUs: 1}),
		"0 GPUs a node instead of 1": plan(0, nodeset.Segment{First: 0, Last: 1}),
		"3 nodes instead of 2":       plan(0, nodeset.Segment{First: 0, Last: 2, GPUs: 1}),
		"node 1 gives no core":       plan(1, nodeset.Segment{First: 0, Last: 0, Cores: 2}, nodeset.Segment{First: 1, Last: 1}),
		"taken":                      plan(1, nodeset.Segment{First: 0, Last: 1, Cores: 1}),
	} {
		require.ErrorContains(t, Verify(s, p), want)
	}
	twice := plan(0, nodeset.Segment{First: 0, Last: 1, GPUs: 1})
	s.Pending[1].Request = bids.Request{Uses: nodeset.Uses{{PerNode: 5}}}
	twice.Decisions = append(twice.Decisions, plan(1, nodeset.Segment{First: 1, Last: 1}).Decisions...)
	require.ErrorContains(t, Verify(s, twice), "node 1: 11 disk taken, 10 free")
	s.Nodes.SetUp(2, false)
	require.ErrorContains(t, Verify(s, plan(1, nodeset.Segment{First: 2, Last: 2})), "node 2 is down")
}

// What a job without cores lacks is told in its own terms, and what it could do without.
func TestJobsWithoutCoresAreExplained(t *testing.T) {
	table := gpusAndDisk(t, 3, 2, 10)
	require.NoError(t, table.SetFree(0, nodeset.Capacity{GPUs: 2}))
	require.NoError(t, table.SetFree(1, nodeset.Capacity{Cores: 4, GPUs: 1}))
	require.NoError(t, table.SetFreeOf(0, 2, 3))
	ask := func(r bids.Request) *Explanation {
		s := &Snapshot{Nodes: table, Pending: []*Job{{ID: "a", Priority: 1, TimeLimit: 9, Request: r}}}
		a, err := NewAuction(Preset("none"), nil)
		require.NoError(t, err)
		e, err := NewExplainer(context.Background(), a, s, Limits{Seed: 1})
		require.NoError(t, err)
		x, err := e.Explain(context.Background(), 0, ExplainOptions{Trials: 20})
		require.NoError(t, err)
		return x
	}
	x := ask(bids.Request{MinNodes: 3, MinGPUs: 2})
	require.Equal(t, []Lack{{Row: "gpus_per_node", In: "nodes", Needs: 3, Has: 2, Each: map[string]int64{"gpus": 2}, Among: 3}}, x.Lacks)
	require.NotEmpty(t, x.Suggestions)
	for _, s := range x.Suggestions {
		require.Zero(t, nodeset.Cores(s.Segs))
	}
	x = ask(bids.Request{MinNodes: 2, MinGPUs: 1, Contiguous: true, Uses: nodeset.Uses{{PerNode: 4, PerCore: 7}}})
	require.Nil(t, x.Lacks, "it starts")
	x = ask(bids.Request{MinNodes: 3, Uses: nodeset.Uses{{PerNode: 4, PerCore: 7}}})
	require.Equal(t, []Lack{{Row: "disk", In: "nodes", Needs: 3, Has: 2, Each: map[string]int64{"disk": 4}, Among: 3}}, x.Lacks)
}

// On small machines whatever starts is worth as much as the best of all choices of nodes, or a
// little less where no bid has come upon them; with jobs of one node it is the best.
func TestJobsWithoutCoresBruteForce(t *testing.T) {
	best, got, windows, misses, bound := int64(0), int64(0), 0, 0, 0
	checkUntil(t, func() bool { return bound > 60 }, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 53))
		table := gpusAndDisk(t, 1+rng.IntN(4), uint8(rng.IntN(4)), 8)
		for n := range table.Len() {
			c := table.Total(n)
			cores, gpus := max(0, rng.IntN(7)-2), rng.IntN(int(c.GPUs)+1)
			require.NoError(t, table.SetFree(n, nodeset.Capacity{Cores: uint16(cores), GPUs: uint8(gpus)}))
			require.NoError(t, table.SetFreeOf(0, n, rng.Int64N(9)))
		}
		most := 1 + rng.IntN(2)*rng.IntN(3)
		s := &Snapshot{Nodes: table}
		for i := range 1 + rng.IntN(5) {
			r := bids.Request{MinNodes: 1 + rng.IntN(most), MinGPUs: rng.IntN(3), TasksPerNode: max(0, rng.IntN(6)-3)}
			r.Uses = nodeset.Uses{{PerNode: rng.Int64N(5), PerCore: rng.Int64N(2), PerGPU: rng.Int64N(2)}}
			if place.Validate(&r) != nil { // it asks for nothing
				r.TasksPerNode = 1
			}
			s.Pending = append(s.Pending, &Job{ID: fmt.Sprint(i), Request: r, Priority: 10 * (1 + rng.Int64N(5)), TimeLimit: 60})
		}
		// preferences are worth less than the least priority (equation 10)
		s.Pending[0].Priority = 10
		sortQueue(s.Pending)
		o := Preset("none")
		o.Reservations = 0
		a, err := NewAuction(o, nil)
		require.NoError(t, err)
		p := decideOn(t, a, s)
		worth, all := int64(0), int64(0)
		for _, d := range p.Decisions {
			if d.Start {
				worth += s.Pending[d.Job].Priority
			}
			all += s.Pending[d.Job].Priority
		}
		top := bestOnNodes(s, 0)
		if most == 1 {
			require.Equal(t, top, worth)
		}
		require.LessOrEqual(t, worth, top)
		windows++
		if best, got = best+top, got+worth; worth < top {
			misses++
		}
		if top > 0 && top < all {
			bound++
		}
	})
	t.Logf("%d of %d in %d windows, %d of them missed", got, best, windows, misses)
	require.GreaterOrEqual(t, float64(got), 0.97*float64(best))
}

// bestOnNodes is the most that jobs from the given one on are worth, whatever sets of nodes they
// have: what is left is counted on the table itself, one number after the other.
func bestOnNodes(s *Snapshot, job int) int64 {
	if job == len(s.Pending) {
		return 0
	}
	best, r, t := bestOnNodes(s, job+1), &s.Pending[job].Request, s.Nodes
	change := func(set uint, sign int) (ok bool) {
		ok = true
		for n := range t.Len() {
			if set>>n&1 == 0 {
				continue
			}
			c, d := t.Free(n), t.FreeOf(0)[n]
			u := r.Uses[0]
			cores, gpus := int(c.Cores)-sign*r.TasksPerNode, int(c.GPUs)-sign*r.MinGPUs
			d -= int64(sign) * (u.PerNode + u.PerCore*int64(r.TasksPerNode) + u.PerGPU*int64(r.MinGPUs))
			if ok = ok && cores >= 0 && gpus >= 0 && d >= 0; ok && sign != 0 {
				must(t.SetFree(n, nodeset.Capacity{Cores: uint16(cores), GPUs: uint8(gpus)}))
				must(t.SetFreeOf(0, n, d))
			}
		}
		return ok
	}
	for set := uint(1); set < 1<<t.Len(); set++ {
		if bits.OnesCount(set) != max(r.MinNodes, 1) {
			continue
		}
		var before nodeset.Table
		before.CopyFrom(t)
		if change(set, 1) {
			best = max(best, s.Pending[job].Priority+bestOnNodes(s, job+1))
		}
		t.CopyFrom(&before)
	}
	return best
}

// Without cores a cycle allocates nothing in steady state either.
func TestJobsWithoutCoresAllocateNothing(t *testing.T) {
	race.Allocates(t)
	s := windowOfMemory(t, 128, 60, 2)
	for i, job := range s.Pending {
		if i%2 == 0 {
			job.TasksPerNode, job.MinGPUs = 0, 1+i%3
			job.MaxGPUs = job.MinGPUs
		}
		if i%3 == 0 && job.TasksPerNode == 0 {
			job.Uses = nil
		}
	}
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

// Parts without cores have places on full nodes too, below one switch if they are to be.
func TestPartsWithoutCores(t *testing.T) {
	table := gpusAndDisk(t, 4, 1, 10)
	require.NoError(t, table.Allocate([]nodeset.Segment{{First: 0, Last: 1, Cores: 4}, {First: 2, Last: 2, GPUs: 1}}))
	disk := bids.Request{MinNodes: 2, Uses: nodeset.Uses{{PerNode: 6}}}
	s := &Snapshot{Nodes: table, Topology: leaves(t, 2, 2), Pending: []*Job{{ID: "a", Priority: 1, TimeLimit: 9,
		Request: bids.Request{MinNodes: 2, MinGPUs: 1, Components: []bids.Request{disk}, AllWithin: 1}}}}
	job := s.Pending[0]
	var n normal
	n.reset(s)
	n.read(job)
	require.Zero(t, n.specs[0].LeastCores())
	d := decide(t, Preset("none"), s).Decisions[0]
	require.Equal(t, []nodeset.Segment{{First: 0, Last: 1, GPUs: 1}, {First: 0, Last: 1, Part: 1}}, d.Segs)
	job.Components[0].Apart = true
	require.Equal(t, Never, decide(t, Preset("none"), s).Decisions[0].Why)
	job.AllWithin = 0
	d = decide(t, Preset("none"), s).Decisions[0]
	require.Equal(t, []nodeset.Segment{{First: 0, Last: 1, GPUs: 1}, {First: 2, Last: 3, Part: 1}}, d.Segs)
}
