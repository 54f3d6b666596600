// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

// queue gives jobs Slurm's basic priorities and names J1, J2, ...
func queue(limit int64, reqs ...bids.Request) []*Job {
	var jobs []*Job
	for i, r := range reqs {
		jobs = append(jobs, &Job{ID: fmt.Sprintf("J%d", i+1), Request: r, Priority: 4294901759 - int64(i), TimeLimit: limit})
	}
	return jobs
}

func decide(t require.TestingT, o AuctionOptions, s *Snapshot) *Plan {
	a, err := NewAuction(o, nil)
	require.NoError(t, err)
	var p Plan
	require.NoError(t, a.Decide(context.Background(), s, Limits{Seed: 1}, &p))
	require.NoError(t, Verify(s, &p))
	return &p
}

func started(p *Plan) int {
	n := 0
	for _, d := range p.Decisions {
		if d.Start {
			n++
		}
	}
	return n
}

// Table I of ipsched.txt: three jobs that fit together only if the first takes half
// of the cores of every node. The rule that finds it must not depend on the
// numbers.
func TestCollectiveAllocationOfTableI(t *testing.T) {
	for _, c := range []struct {
		name                     string
		nodes, cores, gpus       int
		flexible, cores2, cores3 int
	}{
		{"as printed", 1024, 8, 2, 4096, 2048, 2048},
		{"uneven cores", 1024, 8, 2, 2192, 3000, 3000},
		{"uneven pair", 1000, 12, 3, 5000, 4000, 3000},
		{"four GPUs", 96, 64, 4, 2000, 2000, 2100},
		{"small", 10, 8, 1, 30, 21, 29},
	} {
		t.Run(c.name, func(t *testing.T) {
			nodes, err := nodeset.NewUniform(c.nodes, nodeset.Capacity{Cores: uint16(c.cores), GPUs: uint8(c.gpus)})
			require.NoError(t, err)
			h := c.nodes / 2
			s := &Snapshot{Nodes: nodes, Pending: queue(1000,
				bids.Request{Cores: c.flexible},
				bids.Request{Cores: c.cores2, MinNodes: h, MaxNodes: h, MinGPUs: c.gpus},
				bids.Request{Cores: c.cores3, MinNodes: h, MaxNodes: h, MinGPUs: c.gpus},
			)}
			for _, k := range []int{0, 1, 3} {
				o := Preset("none")
				o.Reservations = k
				p := decide(t, o, s)
				require.Equal(t, 3, started(p), "reservations %d", k)
				require.Equal(t, "optimal", p.Stats.Status)
			}
			// The papers' own bids can't do it: "as few nodes as possible".
			require.Less(t, started(decide(t, Preset("paper"), s)), 3)
		})
	}
}

// Figure 3 of aucsched1: nodes 1-64 and 81-144 are free, and four jobs fill them to
// the last core. Section 5: J1 and J4 on {1-64, 81-144}, J2 on {1-64}, J3 on {81-144}.
func TestFigure3(t *testing.T) {
	nodes, err := nodeset.NewUniform(144, nodeset.Capacity{Cores: 8, GPUs: 2})
	require.NoError(t, err)
	busy := []nodeset.Segment{{First: 64, Last: 79, Cores: 8, GPUs: 2}}
	require.NoError(t, nodes.Allocate(busy))
	s := &Snapshot{
		Nodes: nodes, Running: []Running{{ID: "R", End: 500, Segs: busy}},
		Pending: queue(600,
			bids.Request{Cores: 512},
			bids.Request{MinNodes: 64, MaxNodes: 64, TasksPerNode: 2, MinGPUs: 1},
			bids.Request{MinNodes: 64, MaxNodes: 64, TasksPerNode: 4, MinGPUs: 2},
			bids.Request{MinNodes: 128, MaxNodes: 128, TasksPerNode: 1},
		),
	}
	p := decide(t, Preset("none"), s)
	require.Equal(t, 4, started(p))
	require.Equal(t, []nodeset.Segment{{First: 0, Last: 63, Cores: 5}, {First: 80, Last: 143, Cores: 3}}, p.Decisions[0].Segs)
	require.Equal(t, []nodeset.Segment{{First: 0, Last: 63, Cores: 2, GPUs: 1}}, p.Decisions[1].Segs)
	require.Equal(t, []nodeset.Segment{{First: 80, Last: 143, Cores: 4, GPUs: 2}}, p.Decisions[2].Segs)
	require.Equal(t, []nodeset.Segment{{First: 0, Last: 63, Cores: 1}, {First: 80, Last: 143, Cores: 1}}, p.Decisions[3].Segs)
}

// With ContiguousOnly no job starts on two blocks, not by a draft, a reservation's walk
// or left-overs either.
func TestContiguousOnly(t *testing.T) {
	for _, k := range []int{0, 1} {
		nodes, err := nodeset.NewUniform(4, nodeset.Capacity{Cores: 4})
		require.NoError(t, err)
		busy := []nodeset.Segment{{First: 1, Last: 1, Cores: 4}}
		require.NoError(t, nodes.Allocate(busy))
		s := &Snapshot{Nodes: nodes, Running: []Running{{ID: "R", End: 50, Segs: busy}},
			Pending: queue(60, bids.Request{Cores: 9}, bids.Request{Cores: 1})}
		o := Preset("none")
		o.Reservations = k
		require.True(t, decide(t, o, s).Decisions[0].Start, "it fits on two blocks")
		o.ContiguousOnly = true
		p := decide(t, o, s)
		require.False(t, p.Decisions[0].Start)
		require.False(t, s.Pending[0].Contiguous, "the caller's job is left alone")
		if k == 1 {
			require.EqualValues(t, 50, p.Decisions[0].Expected)
		}
	}
}

func TestReasons(t *testing.T) {
	nodes, err := nodeset.NewUniform(3, nodeset.Capacity{Cores: 4})
	require.NoError(t, err)
	require.NoError(t, nodes.SetFree(0, nodeset.Capacity{}))
	s := &Snapshot{Nodes: nodes, Pending: queue(60,
		bids.Request{Cores: 9}, bids.Request{Cores: 13}, bids.Request{Cores: 8}, bids.Request{Cores: 8}, bids.Request{Cores: 2})}
	o := Preset("none")
	o.Reservations = 0
	p := decide(t, o, s)
	require.Equal(t, reasonNoNodes, p.Decisions[0].Reason, "nothing ahead of it is to blame")
	require.Contains(t, p.Decisions[1].Reason, "can never run: needs 13 cores")
	require.Equal(t, reasonLost, p.Decisions[3].Reason)
	require.NotEqual(t, p.Decisions[2].Start, p.Decisions[4].Start)
	lost := p.Decisions[2]
	if lost.Start {
		lost = p.Decisions[4]
	}
	require.Equal(t, reasonLost, lost.Reason)
}

// Behind a window of one blocked job, jobs take what is left over, save what the blocked
// job's reservation needs.
func TestJobsBehindTheWindow(t *testing.T) {
	nodes, err := nodeset.NewUniform(4, nodeset.Capacity{Cores: 4})
	require.NoError(t, err)
	busy := []nodeset.Segment{{First: 0, Last: 2, Cores: 4}}
	require.NoError(t, nodes.Allocate(busy))
	s := &Snapshot{Nodes: nodes, Running: []Running{{ID: "R", End: 50, Segs: busy}}, Pending: queue(40,
		bids.Request{Cores: 16}, bids.Request{Cores: 2}, bids.Request{Cores: 3}, bids.Request{Cores: 1}, bids.Request{Cores: 17})}
	s.Pending[1].TimeLimit = 60 // runs into the reservation
	o := Preset("none")
	o.Window, o.Estimates = 1, true
	p := decide(t, o, s)
	require.EqualValues(t, 50, p.Decisions[0].Expected)
	require.Equal(t, reasonLost, p.Decisions[1].Reason, "a place is kept for the first")
	require.True(t, p.Decisions[2].Start)
	require.True(t, p.Decisions[3].Start)
	require.Len(t, p.Decisions, 4, "nothing is left for the last")
	o.Depth = 2
	p = decide(t, o, s)
	require.Len(t, p.Decisions, 4, "of a job behind that depth it is said that it starts, and no more")
	require.True(t, p.Decisions[3].Start)
	o.Depth = 0
	require.Len(t, decide(t, o, s).Decisions, 1)
}

func TestRunningJobsThatHoldNothing(t *testing.T) {
	nodes, err := nodeset.NewUniform(2, nodeset.Capacity{Cores: 4})
	require.NoError(t, err)
	s := &Snapshot{Nodes: nodes, Pending: queue(60, bids.Request{Cores: 3}),
		Running: []Running{{ID: "R7", End: 50, Segs: []nodeset.Segment{{First: 0, Last: 0, Cores: 1}}}}}
	a, err := NewAuction(Preset("none"), nil)
	require.NoError(t, err)
	var p Plan
	require.ErrorContains(t, a.Decide(context.Background(), s, Limits{}, &p), "running job R7: node 0 would have 5 of 4 cores")
}

// TestSettled: where the jobs that have to start take the last cores, others do not bid; but one that
// takes none does.
func TestSettled(t *testing.T) {
	nodes, err := nodeset.NewUniform(3, nodeset.Capacity{Cores: 4, GPUs: 1})
	require.NoError(t, err)
	busy := []nodeset.Segment{{First: 0, Last: 1, Cores: 4}, {First: 2, Last: 2, Cores: 3}}
	require.NoError(t, nodes.Allocate(busy))
	one, gpu := bids.Request{Cores: 1}, bids.Request{MinNodes: 1, MaxNodes: 1, MinGPUs: 1}
	for _, c := range []struct {
		more bids.Request
		bids int
	}{{one, 1}, {bids.Request{Cores: 2}, 1}, {gpu, 5}} {
		s := &Snapshot{Nodes: nodes, Running: []Running{{ID: "R", End: 50, Segs: busy}}, Pending: queue(40, one, one, c.more)}
		p := decide(t, Preset("default"), s)
		require.Equal(t, []nodeset.Segment{{First: 2, Last: 2, Cores: 1}}, p.Decisions[0].Segs)
		require.False(t, p.Decisions[1].Start)
		require.Equal(t, c.more.MinGPUs > 0, p.Decisions[2].Start)
		require.Equal(t, c.bids, p.Stats.Bids)
	}
	require.NoError(t, nodes.Release([]nodeset.Segment{{First: 0, Last: 0, Cores: 1}}))
	busy = []nodeset.Segment{{First: 0, Last: 0, Cores: 3}, {First: 1, Last: 1, Cores: 4}, {First: 2, Last: 2, Cores: 3}}
	s := &Snapshot{Nodes: nodes, Running: []Running{{ID: "R", End: 50, Segs: busy}}, Pending: queue(40, one, one, one, one, one)}
	p := decide(t, Preset("default"), s)
	require.True(t, p.Decisions[0].Start && p.Decisions[1].Start)
	require.Equal(t, 4, p.Stats.Bids, "two jobs on two nodes")
}
