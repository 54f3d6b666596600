// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/nodeset"
)

// tiersOf is a machine on which jobs of a lower tier run, one core each, on these nodes, the
// last of which came last.
func tiersOf(t require.TestingT, machine []nodeset.Capacity, on ...int32) *core.Snapshot {
	table, err := nodeset.New(machine)
	require.NoError(t, err)
	s := &core.Snapshot{Now: 100, Nodes: table}
	for i, n := range on {
		segs := []nodeset.Segment{{First: n, Last: n, Cores: 1}}
		require.NoError(t, table.Allocate(segs))
		s.Running = append(s.Running, core.Running{ID: fmt.Sprint("low", i), End: 1000 + int64(i), Segs: segs, Price: 5})
	}
	return s
}

// ask has a job wait that may have them stopped.
func ask(s *core.Snapshot, r bids.Request, limit int64, preempts uint64) {
	s.Pending = append(s.Pending, &core.Job{ID: fmt.Sprint("job", len(s.Pending)), Request: r,
		Priority: 1000 - int64(len(s.Pending)), TimeLimit: limit, Preempts: preempts})
}

// decide is backfill's plan, which leaves the snapshot as it is.
func decide(t require.TestingT, s *core.Snapshot) *core.Plan {
	o := DefaultBackfill()
	o.Estimates = true
	b, err := NewBackfill(o)
	require.NoError(t, err)
	var p core.Plan
	before := new(nodeset.Table)
	before.CopyFrom(s.Nodes)
	require.NoError(t, b.Decide(context.Background(), s, core.Limits{}, &p))
	for n := range s.Nodes.Len() {
		require.Equal(t, before.Free(n), s.Nodes.Free(n), "node %d", n)
	}
	return &p
}

// What is free is used first, then those go that came last, and no more than are needed.
func TestBackfillPreemptsTheNewest(t *testing.T) {
	s := tiersOf(t, nodesOf([3]int{4, 1, 0}), 2, 0, 1)
	ask(s, bids.Request{Cores: 2}, 10, 1)
	p := decide(t, s)
	require.NoError(t, core.Verify(s, p))
	require.True(t, p.Decisions[0].Start)
	require.Equal(t, []core.Preemption{{Running: 2, For: []int{0}}}, p.Preempted)
	require.Equal(t, []nodeset.Segment{{First: 1, Last: 1, Cores: 1}, {First: 3, Last: 3, Cores: 1}}, p.Decisions[0].Segs)

	s.Running[0].Price = 1 // it is being stopped
	require.Equal(t, []core.Preemption{{Running: 0, For: []int{0}}}, decide(t, s).Preempted)

	s.Pending[0].Preempts = 0
	p = decide(t, s)
	require.Empty(t, p.Preempted)
	require.False(t, p.Decisions[0].Start)
}

// What is over where somebody goes is for those who may have them stopped, and they wait for it.
func TestWhatIsOverWhereSomebodyGoes(t *testing.T) {
	table, err := nodeset.New(nodesOf([3]int{1, 3, 0}))
	require.NoError(t, err)
	segs := []nodeset.Segment{{Cores: 2}}
	require.NoError(t, table.Allocate(segs))
	s := &core.Snapshot{Now: 100, Nodes: table, Running: []core.Running{{ID: "low", End: 1000, Segs: segs, Price: 5}}}
	ask(s, bids.Request{Cores: 2}, 10, 1)
	ask(s, bids.Request{Cores: 1}, 10, 0)
	p := decide(t, s)
	require.Equal(t, []core.Preemption{{Running: 0, For: []int{0}}}, p.Preempted)
	require.False(t, p.Decisions[1].Start)
	s.Pending[1].Preempts = 1
	p = decide(t, s)
	require.Equal(t, []core.Preemption{{Running: 0, For: []int{0, 1}}}, p.Preempted)
	require.NoError(t, core.Verify(s, p))
}

// A place that is kept does not wait for those who can be stopped, but for others; and they are not
// stopped for it.
func TestNobodyGoesForAReservation(t *testing.T) {
	s := tiersOf(t, nodesOf([3]int{2, 1, 0}), 1)
	firm := []nodeset.Segment{{Cores: 1}}
	require.NoError(t, s.Nodes.Allocate(firm))
	s.Running = append(s.Running, core.Running{ID: "firm", End: 200, Segs: firm})
	ask(s, bids.Request{Cores: 2}, 10, 1)
	p := decide(t, s)
	require.Empty(t, p.Preempted)
	require.True(t, p.Decisions[0].Kept)
	require.Equal(t, int64(200), p.Decisions[0].Expected)
}

// The head of the queue starts just when it would if nobody of the lower tier were there, and all
// starts together fit once those have gone who go.
func TestLowerTiersHoldNobodyBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		machine := nodesOf([3]int{rapid.IntRange(1, 5).Draw(t, "nodes"), rapid.IntRange(1, 3).Draw(t, "cores"), 0})
		var on []int32
		for n := range machine {
			for range rapid.IntRange(0, int(machine[n].Cores)).Draw(t, "low") {
				on = append(on, int32(n))
			}
		}
		s, bare := tiersOf(t, machine, on...), tiersOf(t, machine)
		for i := range s.Running { // some are of the jobs' own tier
			if rapid.IntRange(0, 3).Draw(t, "firm") == 0 {
				s.Running[i].Price = 0
				require.NoError(t, bare.Nodes.Allocate(s.Running[i].Segs))
				bare.Running = append(bare.Running, s.Running[i])
			}
		}
		for range rapid.IntRange(1, 5).Draw(t, "jobs") {
			r := bids.Request{Cores: rapid.IntRange(1, 6).Draw(t, "asks")}
			limit, right := rapid.Int64Range(1, 2000).Draw(t, "limit"), uint64(rapid.IntRange(0, 1).Draw(t, "right"))
			if len(s.Pending) == 0 {
				right = 1
			}
			ask(s, r, limit, right)
			ask(bare, r, limit, 0)
		}
		p, q := decide(t, s), decide(t, bare)
		require.Equal(t, q.Decisions[0].Start, p.Decisions[0].Start)
		after := new(nodeset.Table)
		after.CopyFrom(s.Nodes)
		goes := map[int]bool{}
		for _, x := range p.Preempted {
			require.NotEmpty(t, x.For)
			require.Positive(t, s.Running[x.Running].Price)
			require.NoError(t, after.Release(s.Running[x.Running].Segs))
			for _, j := range x.For {
				goes[j] = true
			}
		}
		for _, d := range p.Decisions {
			if d.Start && !goes[d.Job] {
				require.NoError(t, s.Nodes.Allocate(d.Segs), "it waits for nobody")
			}
			if d.Start {
				require.NoError(t, after.Allocate(d.Segs))
				require.True(t, !goes[d.Job] || s.Pending[d.Job].Preempts != 0)
			}
		}
	})
}
