// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/nodeset"
)

// halfTaken is a machine of 8 nodes, 6 of them held until second 100, and a queue.
func halfTaken(t require.TestingT, jobs ...*Job) *Snapshot {
	nodes, err := nodeset.NewUniform(8, nodeset.Capacity{Cores: 4, GPUs: 2})
	require.NoError(t, err)
	busy := []nodeset.Segment{{First: 2, Last: 7, Cores: 4, GPUs: 2}}
	require.NoError(t, nodes.Allocate(busy))
	return &Snapshot{Nodes: nodes, Pending: jobs, Running: []Running{{ID: "R", End: 100, Segs: busy}}}
}

func TestExplainBounds(t *testing.T) {
	s := halfTaken(t, queue(600, bids.Request{MinNodes: 8, TasksPerNode: 4}, bids.Request{Cores: 2})...)
	auction := func() *Auction {
		a, err := NewAuction(Preset("none"), nil)
		require.NoError(t, err)
		return a
	}
	whole := explain(t, explainer(t, auction(), s), 0, ExplainOptions{Trials: 200})
	require.Len(t, whole.Suggestions, 1)
	require.Equal(t, []Change{{"nodes", "8", "2"}}, whole.Suggestions[0].Changes)
	require.True(t, whole.Suggestions[0].Smallest)
	for trials := range whole.Trials {
		x := explain(t, explainer(t, auction(), s), 0, ExplainOptions{Trials: trials})
		require.LessOrEqual(t, x.Trials, trials)
		if trials > 0 {
			require.Equal(t, fmt.Sprintf("the search for changes ended after %d trials", trials), x.Cut)
		}
		for _, c := range x.Suggestions {
			require.NotNil(t, startsIf(t, Preset("none"), s, 0, &c.Job))
			require.False(t, c.Smallest)
		}
	}
	now := time.Unix(1000, 0)
	stands := auctionOf(t, func(o *AuctionOptions) { o.Clock = func() time.Time { return now } })
	e, err := NewExplainer(context.Background(), stands, s, Limits{Seed: 5})
	require.NoError(t, err)
	x := explain(t, e, 0, ExplainOptions{Trials: 9, Deadline: now})
	require.Equal(t, "the search for changes ran out of time", x.Cut)
	require.Zero(t, x.Trials)

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = e.Explain(ctx, 0, ExplainOptions{Trials: 200})
	require.ErrorIs(t, err, context.Canceled)
	for _, job := range []int{-1, 2} {
		_, err = e.Explain(context.Background(), job, ExplainOptions{})
		require.ErrorContains(t, err, fmt.Sprintf("there is no job %d in a queue of 2", job))
	}
}

// One change of each kind that is the only one to help, or the smallest.
func TestSuggestionOfEachKind(t *testing.T) {
	whole := bids.Request{MinNodes: 8, MaxNodes: 8, TasksPerNode: 4} // waits for R
	for _, c := range []struct {
		name     string
		pending  []*Job
		job      int
		contents []Change
		size     float64
	}{
		{"nodes", queue(60, whole), 0, []Change{{"nodes", "8", "2"}}, 0.75},
		{"range of nodes", queue(60, bids.Request{MinNodes: 5, MaxNodes: 8, TasksPerNode: 4}), 0, []Change{{"nodes", "5-8", "2-8"}}, 0.6},
		{"nodes by tasks", queue(60, bids.Request{Cores: 12, TasksPerNode: 4}), 0, []Change{{"cores", "12", "8"}}, 1.0 / 3},
		{"nodes with their cores", queue(60, bids.Request{Cores: 9, MinNodes: 3, MaxNodes: 3}),
			0, []Change{{"nodes", "3", "2"}, {"cores", "9", "6"}}, 2.0 / 3},
		{"GPUs, and as few nodes as hold the cores", queue(60, bids.Request{Cores: 7, MinNodes: 5, MaxNodes: 5, MinGPUs: 3}), 0,
			[]Change{{"gpus_per_node", "3", "2"}, {"nodes", "5", "2"}}, 1.0/3 + 0.6},
		{"more nodes", queue(60, bids.Request{Cores: 5, MinNodes: 1, MaxNodes: 1}), 0, []Change{{"cores", "5", "4"}}, 0.2},
		{"tasks", queue(60, bids.Request{MinNodes: 2, MaxNodes: 2, TasksPerNode: 5}), 0, []Change{{"tasks_per_node", "5", "4"}}, 0.2},
		{"GPUs", queue(60, bids.Request{MinNodes: 2, MaxNodes: 2, TasksPerNode: 1, MinGPUs: 3}),
			0, []Change{{"gpus_per_node", "3", "2"}}, 1.0 / 3},
		{"range of GPUs", queue(60, bids.Request{Cores: 2, MinNodes: 2, MaxNodes: 2, MinGPUs: 3, MaxGPUs: 4}),
			0, []Change{{"gpus_per_node", "3-4", "2-4"}}, 1.0 / 3},
		{"time limit", append(queue(60, whole), &Job{ID: "J", Priority: 1, TimeLimit: 500,
			Request: bids.Request{MinNodes: 2, MaxNodes: 2, TasksPerNode: 4}}), 1,
			[]Change{{"time_limit_s", "500", "100"}}, 0.8},
		{"two at once", queue(60, bids.Request{MinNodes: 3, MaxNodes: 3, TasksPerNode: 4, MinGPUs: 3}), 0,
			[]Change{{"gpus_per_node", "3", "2"}, {"nodes", "3", "2"}}, 2.0 / 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := halfTaken(t, c.pending...)
			a, err := NewAuction(Preset("none"), nil)
			require.NoError(t, err)
			x := explain(t, explainer(t, a, s), c.job, ExplainOptions{Trials: 200})
			require.NotEmpty(t, x.Suggestions)
			require.Equal(t, c.contents, x.Suggestions[0].Changes)
			require.InDelta(t, c.size, x.Suggestions[0].Size, 1e-9)
			require.True(t, x.Suggestions[0].Smallest)
			require.NotNil(t, startsIf(t, Preset("none"), s, c.job, &x.Suggestions[0].Job))
		})
	}
}

// Contiguity and a range of more nodes help where nodes are free with a gap between them.
func TestSuggestionAcrossAGap(t *testing.T) {
	nodes, err := nodeset.NewUniform(5, nodeset.Capacity{Cores: 4})
	require.NoError(t, err)
	busy := []nodeset.Segment{{First: 1, Last: 1, Cores: 4}}
	require.NoError(t, nodes.Allocate(busy))
	s := &Snapshot{Nodes: nodes, Running: []Running{{ID: "R", End: 70, Segs: busy}}, Pending: queue(60,
		bids.Request{MinNodes: 4, MaxNodes: 4, TasksPerNode: 4, Contiguous: true})}
	o := Preset("none")
	o.Estimates = true
	a, err := NewAuction(o, nil)
	require.NoError(t, err)
	x := explain(t, explainer(t, a, s), 0, ExplainOptions{Trials: 200})
	require.Equal(t, []Lack{{Row: "contiguous", In: "nodes", Needs: 4, Has: 3, Each: map[string]int64{"cores": 4}, Among: 4}}, x.Lacks)
	require.Equal(t, []Rival{{Role: roleRuns, Segs: busy, At: 70}}, x.Rivals)
	require.EqualValues(t, 70, x.Expected)
	require.True(t, x.Kept)
	require.Equal(t, []Change{{"nodes", "4", "3"}}, x.Suggestions[0].Changes)
	require.Equal(t, []Change{{"contiguous", "true", "false"}}, x.Suggestions[1].Changes)

	s.Pending = queue(60, bids.Request{Cores: 13, MinNodes: 1, MaxNodes: 3})
	x = explain(t, explainer(t, a, s), 0, ExplainOptions{Trials: 200})
	require.Equal(t, []Change{{"cores", "13", "12"}}, x.Suggestions[0].Changes)
	require.Equal(t, []Change{{"nodes", "1-3", "1-4"}}, x.Suggestions[1].Changes)

	o.ContiguousOnly = true
	a, err = NewAuction(o, nil)
	require.NoError(t, err)
	s.Pending[0].MaxNodes = 4
	x = explain(t, explainer(t, a, s), 0, ExplainOptions{Trials: 200})
	require.Equal(t, []Lack{{Row: "contiguous", In: "cores", Needs: 13, Has: 12, Each: map[string]int64{"cores": 1}, Among: 4}}, x.Lacks)
	require.Len(t, x.Suggestions, 1, "its nodes have to be contiguous whether it says so or not")
	require.Equal(t, []Change{{"cores", "13", "12"}}, x.Suggestions[0].Changes)
}

// Who starts and who waits for it name each other, with what is at stake.
func TestRivalsNameEachOther(t *testing.T) {
	s := halfTaken(t, queue(60, bids.Request{Cores: 6}, bids.Request{Cores: 1},
		bids.Request{Cores: 4}, bids.Request{MinNodes: 9, TasksPerNode: 1})...)
	for i, p := range []int64{50, 40, 30, 20} {
		s.Pending[i].Priority = p
	}
	a, err := NewAuction(Preset("none"), nil)
	require.NoError(t, err)
	e := explainer(t, a, s)
	x := explain(t, e, 2, ExplainOptions{})
	require.Equal(t, Lost, x.Why)
	require.Equal(t, 30.0, x.Worth)
	require.Len(t, x.Rivals, 1)
	require.Equal(t, []any{roleStarts, 0, 50.0, int64(60)}, []any{x.Rivals[0].Role, x.Rivals[0].Job, x.Rivals[0].Worth, x.Rivals[0].At})
	first := explain(t, e, 0, ExplainOptions{})
	require.True(t, first.Decision.Start)
	require.Equal(t, []Rival{{Role: roleWaits, Job: 2, Segs: x.Rivals[0].Segs, Worth: 30}}, first.Rivals)
	require.Empty(t, explain(t, e, 1, ExplainOptions{}).Rivals)
	never := explain(t, e, 3, ExplainOptions{})
	require.Equal(t, Never, never.Why)
	require.Contains(t, never.NeverWhy, "can never run: needs 9 nodes")
	require.False(t, never.Foreseen)

	o := Preset("none")
	o.Objective, o.Window, o.Depth = BySize, 2, 0
	a, err = NewAuction(o, nil)
	require.NoError(t, err)
	e = explainer(t, a, s)
	require.Equal(t, 300.0, explain(t, e, 0, ExplainOptions{}).Worth, "priority times cores")
	far := explain(t, e, 2, ExplainOptions{Trials: 200})
	require.False(t, far.Looked)
	require.Zero(t, far.Trials, "no change of the request brings it into the window")
}

// Whenever deadlines strike, there is an explanation.
func TestExplainedWindowsCutShort(t *testing.T) {
	race.Slow(t)
	late := 0
	for k := range 24 {
		begin, asked := time.Unix(1000, 0), 0
		clock := func() time.Time {
			asked++
			return begin.Add(time.Duration(asked) * time.Millisecond)
		}
		a := auctionOf(t, func(o *AuctionOptions) { o.Clock = clock })
		s := halfTaken(t, manyEquals(3).Pending...)
		e, err := NewExplainer(context.Background(), a, s, Limits{Deadline: begin.Add(time.Duration(k*k) * time.Millisecond)})
		require.NoError(t, err)
		for i := range s.Pending {
			x := explain(t, e, i, ExplainOptions{Trials: 3})
			if x.Late {
				late++
			}
			if !x.Looked {
				require.Zero(t, x.Trials)
			}
		}
	}
	require.Positive(t, late)
}

// Of two ways to make room, the one that is worth less is in the way.
func TestTheCheaperRivals(t *testing.T) {
	mask := func(nodes ...int) nodeset.Mask {
		m := nodeset.NewMask(8)
		for _, n := range nodes {
			m.Set(n)
		}
		return m
	}
	for _, c := range []struct {
		priority int64 // of a job that starts on the node that is not reserved
		why      Why
		rival    int
	}{{20, Lost, 1}, {95, Reserved, 0}} {
		s := halfTaken(t,
			&Job{ID: "wide", Priority: 90, TimeLimit: 60,
				Request: bids.Request{MinNodes: 7, TasksPerNode: 4, Eligible: mask(1, 2, 3, 4, 5, 6, 7)}},
			&Job{ID: "short", Priority: c.priority, TimeLimit: 60, Request: bids.Request{Cores: 4, Eligible: mask(0)}},
			&Job{ID: "long", Priority: 10, TimeLimit: 500, Request: bids.Request{Cores: 4, MaxNodes: 1}})
		wide := s.Pending[0]
		sortQueue(s.Pending)
		a, err := NewAuction(Preset("none"), nil)
		require.NoError(t, err)
		x := explain(t, explainer(t, a, s), 2, ExplainOptions{})
		require.Equal(t, c.why, x.Why)
		require.Len(t, x.Rivals, 1)
		require.Equal(t, c.rival == 0, s.Pending[x.Rivals[0].Job] == wide)
	}
	o := Preset("none")
	o.Objective = BySize // the second job is worth more than the first
	s := halfTaken(t, queue(60, bids.Request{Cores: 1}, bids.Request{Cores: 4, MaxNodes: 1}, bids.Request{Cores: 4, MaxNodes: 1})...)
	for i, p := range []int64{9, 8, 1} {
		s.Pending[i].Priority = p
	}
	a, err := NewAuction(o, nil)
	require.NoError(t, err)
	x := explain(t, explainer(t, a, s), 2, ExplainOptions{})
	require.Len(t, x.Rivals, 1)
	require.Equal(t, []any{0, 9.0}, []any{x.Rivals[0].Job, x.Rivals[0].Worth})
}

// Of running jobs, those that end last are let off if others do.
func TestRunningJobsThatEndLastAreLetOff(t *testing.T) {
	nodes, err := nodeset.NewUniform(3, nodeset.Capacity{Cores: 4})
	require.NoError(t, err)
	s := &Snapshot{Nodes: nodes, Pending: queue(60, bids.Request{MinNodes: 2, MaxNodes: 2, TasksPerNode: 4, Contiguous: true})}
	for n, end := range []int64{60, 70, 50} {
		segs := []nodeset.Segment{{First: int32(n), Last: int32(n), Cores: 4}}
		require.NoError(t, nodes.Allocate(segs))
		s.Running = append(s.Running, Running{End: end, Segs: segs})
	}
	a, err := NewAuction(Preset("none"), nil)
	require.NoError(t, err)
	x := explain(t, explainer(t, a, s), 0, ExplainOptions{})
	require.Len(t, x.Rivals, 2)
	require.Equal(t, []int{1, 2}, []int{x.Rivals[0].Job, x.Rivals[1].Job})
	require.Equal(t, []nodeset.Segment{{First: 1, Last: 2, Cores: 4}}, x.Place)
	require.EqualValues(t, 70, x.Expected)
}

// Reservations of a cycle are not taken for those of a later one that made none.
func TestExplainAfterAnotherWindow(t *testing.T) {
	a, err := NewAuction(Preset("none"), nil)
	require.NoError(t, err)
	s := halfTaken(t, queue(600, bids.Request{MinNodes: 8, TasksPerNode: 4}, bids.Request{Cores: 2})...)
	require.Equal(t, Reserved, explain(t, explainer(t, a, s), 1, ExplainOptions{}).Why)
	full := halfTaken(t, queue(600, bids.Request{MinNodes: 8, TasksPerNode: 4})...)
	rest := []nodeset.Segment{{First: 0, Last: 1, Cores: 4}}
	require.NoError(t, full.Nodes.Allocate(rest))
	full.Running = append(full.Running, Running{End: 40, Segs: rest})
	e := explainer(t, a, full)
	require.Empty(t, e.reserved)
	require.Empty(t, e.kept)
	require.EqualValues(t, 100, explain(t, e, 0, ExplainOptions{}).Expected)
}

// Two jobs have a range of GPUs, and the window looks at the first. Trials in which that has none
// do not change what is said of the second.
func TestTrialsLeaveRanges(t *testing.T) {
	ranged := bids.Request{MinNodes: 1, TasksPerNode: 1, MinGPUs: 1, MaxGPUs: 2}
	s := halfTaken(t, queue(600, ranged, ranged)...)
	all := []nodeset.Segment{{First: 0, Last: 1, GPUs: 2}}
	require.NoError(t, s.Nodes.Allocate(all))
	s.Running = append(s.Running, Running{ID: "G", End: 100, Segs: all})
	o := Preset("default")
	o.Window = 1
	a, err := NewAuction(o, nil)
	require.NoError(t, err)
	e := explainer(t, a, s)
	before := explain(t, e, 1, ExplainOptions{})
	require.Equal(t, map[string]int64{"cores": 1, "gpus": 1}, before.Lacks[0].Each, "the least of its range")
	require.Equal(t, 1, explain(t, e, 0, ExplainOptions{Trials: 1}).Trials) // no GPUs
	require.Equal(t, before, explain(t, e, 1, ExplainOptions{}))
}
