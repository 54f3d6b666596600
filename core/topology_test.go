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
	"github.com/aucsched/aucsched/internal/test/draw"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/nodeset"
)

// leaves is a topology of leaves of so many nodes each, which are runs, below one root.
func leaves(t require.TestingT, sizes ...int) *nodeset.Topology {
	n := 0
	for _, size := range sizes {
		n += size
	}
	var switches []draw.Switch
	first := 0
	for i, size := range sizes {
		s := draw.Switch{Name: fmt.Sprint("leaf", i), Parent: len(sizes), Nodes: nodeset.NewMask(n)}
		for k := range size {
			s.Nodes.Set(first + k)
		}
		switches, first = append(switches, s), first+size
	}
	tree, err := draw.Topology(n, append(switches, draw.Switch{Name: "root", Parent: -1}))
	require.NoError(t, err)
	return tree
}

// onLeaves is a machine of nodes of 8 cores below such leaves, with jobs that want whole nodes.
func onLeaves(t require.TestingT, jobs []*Job, sizes ...int) *Snapshot {
	tree := leaves(t, sizes...)
	nodes, err := nodeset.NewUniform(tree.Len(), nodeset.Capacity{Cores: 8})
	require.NoError(t, err)
	return &Snapshot{Nodes: nodes, Topology: tree, Pending: jobs}
}

func wholeNodes(id string, priority int64, nodes int) *Job {
	return &Job{ID: id, Priority: priority, TimeLimit: 60, Request: bids.Request{MinNodes: nodes, TasksPerNode: 8}}
}

// leavesOf is below how many leaves a job's nodes are.
func leavesOf(tree *nodeset.Topology, nodes []int) int {
	seen := map[int32]bool{}
	for _, n := range nodes {
		seen[tree.SwitchOf(1)[n]] = true
	}
	return len(seen)
}

// With two of four nodes of the first leaf taken, a job of three nodes is below the other leaf; one
// of five is below two leaves of three, and one that nothing else holds below as many as it takes.
func TestJobsBelowFewLeaves(t *testing.T) {
	for name, options := range policiesThatPrefer {
		t.Run(name, func(t *testing.T) {
			s := onLeaves(t, []*Job{wholeNodes("a", 9, 3)}, 4, 4)
			require.NoError(t, s.Nodes.Allocate([]nodeset.Segment{{First: 0, Last: 1, Cores: 8}}))
			require.Equal(t, []int{4, 5, 6}, nodesOf(decideOn(t, auctionOf(t, options), s))[0])

			s = onLeaves(t, []*Job{wholeNodes("a", 9, 5)}, 2, 4, 3)
			on := nodesOf(decideOn(t, auctionOf(t, options), s))[0]
			require.Equal(t, 2, leavesOf(s.Topology, on))

			s = onLeaves(t, []*Job{wholeNodes("a", 9, 9), wholeNodes("b", 8, 3)}, 4, 4, 4)
			on2 := nodesOf(decideOn(t, auctionOf(t, options), s))
			require.Len(t, on2, 2, "no start is given up")
			require.Equal(t, 1, leavesOf(s.Topology, on2[1]))
		})
	}
}

// Two jobs that fill a leaf each, and could be laid across both, lie below one each.
func TestWindowKeepsLeavesWhole(t *testing.T) {
	s := onLeaves(t, []*Job{wholeNodes("a", 9, 2), wholeNodes("b", 8, 4), wholeNodes("c", 7, 2)}, 4, 4)
	on := nodesOf(decideOn(t, auctionOf(t, func(*AuctionOptions) {}), s))
	require.Len(t, on, 3)
	for job := range 3 {
		require.Equal(t, 1, leavesOf(s.Topology, on[job]), "job %d", job)
	}
}

// What no leaves can hold waits, and is told why; what they can hold one day has a place kept.
func TestDemandsOfSwitches(t *testing.T) {
	busy := func(n int32, cores uint16) []nodeset.Segment {
		return []nodeset.Segment{{First: n, Last: n, Cores: cores}}
	}
	demand := func(nodes int, change func(*Job)) *Job {
		job := wholeNodes("a", 9, nodes)
		change(job)
		return job
	}
	for name, x := range map[string]struct {
		job  *Job
		busy []nodeset.Segment
		on   []int
		why  string
	}{
		"one leaf":      {demand(4, func(j *Job) { j.Switches = 1 }), busy(2, 8), []int{4, 5, 6, 7}, ""},
		"no leaf free":  {demand(4, func(j *Job) { j.Switches = 1 }), append(busy(3, 8), busy(4, 8)...), nil, reasonNoNodes},
		"within a leaf": {demand(3, func(j *Job) { j.Within = 1 }), append(busy(0, 8), busy(1, 8)...), []int{4, 5, 6}, ""},
		"segments":      {demand(4, func(j *Job) { j.Segment = 2 }), append(busy(0, 8), busy(7, 1)...), []int{1, 2, 4, 5}, ""},
		"never": {demand(5, func(j *Job) { j.Switches = 1 }), nil, nil,
			never + "needs 5 nodes below one leaf switch, there are 4 at most"},
		"never within": {demand(5, func(j *Job) { j.Within = 1 }), nil, nil,
			never + "needs 5 nodes below one switch of level 1, there are 4 at most"},
		"never segments": {demand(6, func(j *Job) { j.Segment = 3 }), nil, []int{0, 1, 2, 4, 5, 6}, ""},
		"too long": {demand(5, func(j *Job) { j.Segment = 5 }), nil, nil,
			never + "needs 5 nodes in segments of 5, there are 0 at most"},
		"odd segment": {demand(5, func(j *Job) { j.Segment = 2 }), nil, nil,
			"segment: 2: the job has to name its number of nodes, a multiple of it"},
	} {
		t.Run(name, func(t *testing.T) {
			s := onLeaves(t, []*Job{x.job}, 4, 4)
			if x.busy != nil {
				require.NoError(t, s.Nodes.Allocate(x.busy))
				s.Running = []Running{{ID: "r", End: 100, Segs: x.busy}}
			}
			p := decideOn(t, auctionOf(t, func(*AuctionOptions) {}), s)
			require.NoError(t, Verify(s, p))
			require.Equal(t, x.on, nodesOf(p)[0])
			require.Equal(t, x.why, p.Decisions[0].Reason)
		})
	}
}

// The Explainer names the switches, and the job that has to end.
func TestExplainSwitches(t *testing.T) {
	job := wholeNodes("a", 9, 4)
	job.Switches = 1
	s := onLeaves(t, []*Job{job}, 4, 4)
	for i, segs := range [][]nodeset.Segment{{{First: 1, Last: 1, Cores: 8}}, {{First: 4, Last: 4, Cores: 8}}} {
		require.NoError(t, s.Nodes.Allocate(segs))
		s.Running = append(s.Running, Running{ID: fmt.Sprint("r", i), End: 100 + int64(i), Segs: segs})
	}
	e, err := NewExplainer(context.Background(), auctionOf(t, func(*AuctionOptions) {}), s, Limits{})
	require.NoError(t, err)
	x, err := e.Explain(context.Background(), 0, ExplainOptions{})
	require.NoError(t, err)
	require.Equal(t, NoFit, x.Why)
	require.Len(t, x.Lacks, 1)
	require.Equal(t, "switches", x.Lacks[0].Row)
	require.Equal(t, int64(4), x.Lacks[0].Needs)
	require.Equal(t, int64(3), x.Lacks[0].Has)
	require.Len(t, x.Rivals, 1)
	require.Equal(t, 0, x.Rivals[0].Job)

	s.Pending[0].Switches, s.Pending[0].MinNodes = 1, 5
	e, err = NewExplainer(context.Background(), auctionOf(t, func(*AuctionOptions) {}), s, Limits{})
	require.NoError(t, err)
	x, err = e.Explain(context.Background(), 0, ExplainOptions{})
	require.NoError(t, err)
	require.Equal(t, Never, x.Why)
	require.Equal(t, never+"needs 5 nodes below one leaf switch, there are 4 at most", x.NeverWhy)
}

// Verify refuses what demands forbid.
func TestVerifySwitches(t *testing.T) {
	for want, change := range map[string]func(*Job){
		"below 2 leaf switches, not 1 at most": func(j *Job) { j.Switches = 1 },
		"below 2 switches of level 1, not one": func(j *Job) { j.Within = 1 },
		"are below leaf leaf":                  func(j *Job) { j.Segment = 2 },
		"no multiple of 4":                     func(j *Job) { j.Segment = 4 },
		"":                                     func(j *Job) { j.Switches, j.Within = 2, 2 },
	} {
		job := wholeNodes("a", 9, 4)
		change(job)
		s := onLeaves(t, []*Job{job}, 4, 4)
		p := &Plan{Decisions: []Decision{{Start: true, Segs: []nodeset.Segment{{First: 1, Last: 4, Cores: 8}}}}}
		if err := Verify(s, p); want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, want)
		}
		s.Topology = nil
		require.NoError(t, Verify(s, p), "a machine without a topology has nothing to demand of")
	}
	s := onLeaves(t, nil, 4, 4)
	s.Topology = leaves(t, 4, 3)
	require.EqualError(t, s.Validate(), "topology: it has 7 nodes, the machine 8")
}

// drawBelow draws a snapshot on leaves of which some are no runs; jobs of it demand something.
func drawBelow(t *rapid.T) *Snapshot {
	s := drawSnapshot(t)
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "tree seed"), 5))
	n := s.Nodes.Len()
	k := 1 + rng.IntN(6)
	switches := make([]draw.Switch, k)
	for i := range switches {
		switches[i] = draw.Switch{Name: fmt.Sprint(i), Parent: k + i%2, Nodes: nodeset.NewMask(n)}
	}
	for node := range n {
		leaf := node * k / n
		if rng.IntN(8) == 0 {
			leaf = rng.IntN(k)
		}
		switches[leaf].Nodes.Set(node)
	}
	switches = append(switches, draw.Switch{Parent: k + 2}, draw.Switch{Parent: k + 2}, draw.Switch{Parent: -1})
	var err error
	s.Topology, err = draw.Topology(n, switches)
	require.NoError(t, err)
	for _, job := range s.Pending {
		switch rng.IntN(6) {
		case 0:
			job.Switches = 1 + rng.IntN(3)
		case 1:
			job.Within = 1 + rng.IntN(3)
		case 2:
			if job.MinNodes > 0 && job.MaxNodes == job.MinNodes || job.Cores == 0 {
				if k := 1 + rng.IntN(3); job.MinNodes%k == 0 {
					job.Segment = k
				}
			}
		}
	}
	return s
}

// Plans keep to what is demanded, and jobs that demand nothing start as without a topology.
func TestTopologyPlansHoldTogether(t *testing.T) {
	race.Slow(t)
	demanding := 0
	rapid.Check(t, func(t *rapid.T) {
		s, a := drawBelow(t), drawAuction(t)
		p := decideOn(t, a, s)
		require.NoError(t, Verify(s, p))
		require.LessOrEqual(t, p.Objective, p.Bound)
		for _, d := range p.Decisions {
			if job := s.Pending[d.Job]; d.Start && job.Switches+job.Within+job.Segment > 0 {
				demanding++
			}
		}
	})
	require.Greater(t, demanding, 20)
}

// A job that is alone starts with a topology if it does without, below one leaf
// if it could be there.
func TestTopologyCostsNoStart(t *testing.T) {
	below := 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawBelow(t)
		if len(s.Pending) == 0 {
			return
		}
		job := s.Pending[0]
		job.Switches, job.Within, job.Segment = 0, 0, 0
		s.Pending = s.Pending[:1]
		a := auctionOf(t, func(*AuctionOptions) {})
		tree := s.Topology
		on, ok := nodesOf(decideOn(t, a, s))[0]
		s.Topology = nil
		_, without := nodesOf(decideOn(t, a, s))[0]
		require.Equal(t, without, ok)
		leaf := map[int32]nodeset.Mask{}
		for n, k := range tree.SwitchOf(1) {
			if leaf[k] == nil {
				leaf[k] = nodeset.NewMask(tree.Len())
			}
			if job.Eligible.Has(n) {
				leaf[k].Set(n)
			}
		}
		high := job.MaxGPUs > job.MinGPUs // more GPUs come before fewer leaves
		for _, mask := range leaf {
			for n := range tree.Len() {
				if job.MinGPUs == 0 && s.Nodes.Total(n).GPUs > 0 {
					mask.Clear(n) // nodes without GPUs come before fewer leaves
				}
			}
			one := *job
			one.Eligible = mask
			s.Pending = []*Job{&one}
			if started(decideOn(t, a, s)) == 1 && !high {
				require.Equal(t, 1, leavesOf(tree, on))
				below++
			}
		}
	})
	require.Greater(t, below, 5)
}

// On a machine whose leaves change places, a job of whole nodes starts as before, below as many
// leaves. Of several nearly all do: bids are some of all places, and which goes by their order.
func TestLeavesChangePlaces(t *testing.T) {
	starts, differ := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 9))
		k, size := 2+rng.IntN(5), 2+rng.IntN(6)
		sizes := slices.Repeat([]int{size}, k)
		var jobs []*Job
		for i := range 1 + rng.IntN(2)*rng.IntN(8) {
			job := wholeNodes(fmt.Sprint(i), int64(100-i), 1+rng.IntN(2*size))
			if rng.IntN(3) == 0 {
				job.Switches = 1
			}
			jobs = append(jobs, job)
		}
		one, two := onLeaves(t, jobs, sizes...), onLeaves(t, jobs, sizes...)
		to := rng.Perm(k)
		for n := range k * size {
			if rng.IntN(3) == 0 {
				one.Nodes.SetUp(n, false)
				two.Nodes.SetUp(to[n/size]*size+n%size, false)
			}
		}
		a := auctionOf(t, func(*AuctionOptions) {})
		before := nodesOf(decideOn(t, a, one))
		after := nodesOf(decideOn(t, a, two))
		if len(jobs) == 1 {
			require.Len(t, after, len(before))
			require.Equal(t, leavesOf(one.Topology, before[0]), leavesOf(two.Topology, after[0]))
			return
		}
		for job := range jobs {
			starts += min(len(before[job]), 1)
			if len(before[job]) != len(after[job]) {
				differ++
			}
		}
	})
	require.LessOrEqual(t, differ, starts/10)
}

func TestTopologyAllocatesNothing(t *testing.T) {
	race.Allocates(t)
	var sizes []int
	for range 12 {
		sizes = append(sizes, 25)
	}
	s := onLeaves(t, nil, sizes...)
	for n := int32(0); n < 300; n += 10 {
		segs := []nodeset.Segment{{First: n, Last: n + 5, Cores: 8}}
		require.NoError(t, s.Nodes.Allocate(segs))
		s.Running = append(s.Running, Running{End: int64(100 + n), Segs: segs})
	}
	var reqs []bids.Request
	for i := range 40 {
		reqs = append(reqs, bids.Request{Cores: 8 + 7*i}, bids.Request{MinNodes: 1 + i%9, TasksPerNode: 8, Switches: i % 3},
			bids.Request{MinNodes: 2 * (1 + i%5), TasksPerNode: 1 + i%8, Segment: 2 * (i % 2), Contiguous: i%7 == 0})
	}
	s.Pending = queue(600, append([]bids.Request{{Cores: 2000}}, reqs...)...)
	o := Preset("none")
	o.Work = 300_000
	allocatesNothing(t, o, s)
}
