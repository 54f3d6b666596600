// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/nodeset"
)

// smallPreemptable makes a window that all choices can be tried on: jobs name their nodes' number
// and what each of them gives.
func smallPreemptable(rng *rand.Rand, classes int) *Snapshot {
	n, cores := 1+rng.IntN(4), 1+rng.IntN(4)
	nodes, err := nodeset.NewUniform(n, nodeset.Capacity{Cores: uint16(cores), GPUs: 1})
	if err != nil {
		panic(err)
	}
	s := &Snapshot{Nodes: nodes}
	for i := range 1 + rng.IntN(5) {
		width := 1 + rng.IntN(n)
		first := rng.IntN(n - width + 1)
		segs := []nodeset.Segment{{First: int32(first), Last: int32(first + width - 1),
			Cores: uint16(1 + rng.IntN(cores)), GPUs: uint8(rng.IntN(2))}}
		if nodes.Allocate(segs) != nil {
			continue
		}
		r := Running{ID: fmt.Sprint("R", i), End: 1 + rng.Int64N(100), Segs: segs}
		if rng.IntN(4) > 0 {
			r.Price, r.Class = 1+rng.Int64N(12), rng.IntN(classes)
		}
		s.Running = append(s.Running, r)
	}
	for i := range 1 + rng.IntN(4) {
		y := 1 + rng.IntN(n)
		gpus := rng.IntN(2)
		job := &Job{ID: fmt.Sprint("J", i), Priority: 1 + rng.Int64N(12), TimeLimit: 1 + rng.Int64N(100),
			Request: bids.Request{MinNodes: y, MaxNodes: y, TasksPerNode: 1 + rng.IntN(cores), MinGPUs: gpus, MaxGPUs: gpus}}
		if rng.IntN(4) > 0 {
			job.Preempts = rng.Uint64N(1 << classes)
		}
		s.Pending = append(s.Pending, job)
	}
	sortQueue(s.Pending)
	return s
}

// everyChoice tries all choices of starts, nodes and preempted jobs, and
// returns the greatest worth.
type everyChoice struct {
	s    *Snapshot
	gone int   // the running jobs that are preempted, as bits
	at   []int // by job: the nodes that it is on, as bits; 0 if it does not start
	most int64
}

func (x *everyChoice) best() int64 {
	for x.gone = range 1 << len(x.s.Running) {
		cost := int64(0)
		for i := range x.s.Running {
			if x.gone>>i&1 == 1 {
				if x.s.Running[i].Price == 0 {
					cost = 1 << 40
				}
				cost += x.s.Running[i].Price
			}
		}
		if cost < 1<<40 {
			x.at = make([]int, len(x.s.Pending))
			x.try(0, -cost)
		}
	}
	return x.most
}

func (x *everyChoice) try(j int, worth int64) {
	if j == len(x.s.Pending) {
		if worth > x.most && x.feasible() {
			x.most = worth
		}
		return
	}
	job := x.s.Pending[j]
	for at := range 1 << x.s.Nodes.Len() {
		x.at[j] = at
		switch bits.OnesCount(uint(at)) {
		case 0:
			x.try(j+1, worth)
		case job.MinNodes:
			x.try(j+1, worth+job.Priority)
		}
	}
	x.at[j] = 0
}

// feasible reports whether each start can have, of each node, units that are free or of jobs that
// it may preempt: it deals them out one by one, by augmenting paths.
func (x *everyChoice) feasible() bool {
	for n := range x.s.Nodes.Len() {
		for r := range 2 {
			var owners []uint64 // of units: the class's bit, 0 if it is free
			free := int(x.s.Nodes.Free(n).Cores)
			if r == 1 {
				free = int(x.s.Nodes.Free(n).GPUs)
			}
			for range free {
				owners = append(owners, 0)
			}
			for i, run := range x.s.Running {
				for _, seg := range run.Segs {
					if x.gone>>i&1 == 1 && int(seg.First) <= n && n <= int(seg.Last) {
						for range []int{int(seg.Cores), int(seg.GPUs)}[r] {
							owners = append(owners, 1<<run.Class)
						}
					}
				}
			}
			var wants []uint64
			for j, at := range x.at {
				if job := x.s.Pending[j]; at>>n&1 == 1 {
					for range []int{job.TasksPerNode, job.MinGPUs}[r] {
						wants = append(wants, job.Preempts)
					}
				}
			}
			if !matches(wants, owners) {
				return false
			}
		}
	}
	return true
}

func matches(wants, owners []uint64) bool {
	of := make([]int, len(owners)) // one more than the want that has it
	for w := range wants {
		seen := make([]bool, len(owners))
		var augment func(w int) bool
		augment = func(w int) bool {
			for o, class := range owners {
				if seen[o] || class&^wants[w] != 0 {
					continue
				}
				seen[o] = true
				if of[o] == 0 || augment(of[o]-1) {
					of[o] = w + 1
					return true
				}
			}
			return false
		}
		if !augment(w) {
			return false
		}
	}
	return true
}

// worthOf is what starts are worth less what is preempted.
func worthOf(s *Snapshot, p *Plan) (worth int64) {
	for _, d := range p.Decisions {
		if d.Start {
			worth += s.Pending[d.Job].Priority
		}
	}
	for _, x := range p.Preempted {
		worth -= s.Running[x.Running].Price
	}
	return worth
}

// The auction chooses as one who tries everything, and never more.
func TestPreemptionIsWorthAsMuchAsCanBe(t *testing.T) {
	race.Slow(t)
	o := Preset("none")
	o.Reservations = 0
	a, err := NewAuction(o, nil)
	require.NoError(t, err)
	const rounds = 3000
	less, preempted := 0, 0
	for seed := range uint64(rounds) {
		s := smallPreemptable(rand.New(rand.NewPCG(seed, 5)), 1+int(seed%3))
		var p Plan
		require.NoError(t, a.Decide(context.Background(), s, Limits{Seed: 1}, &p))
		require.NoError(t, Verify(s, &p), "seed %d", seed)
		want := (&everyChoice{s: s}).best()
		got := worthOf(s, &p)
		require.LessOrEqual(t, got, want, "seed %d", seed)
		require.GreaterOrEqual(t, got, int64(0), "seed %d: nothing is better", seed)
		require.GreaterOrEqual(t, p.Stats.GlobalBound, p.Objective, "seed %d", seed)
		require.GreaterOrEqual(t, p.Bound, p.Objective, "seed %d", seed)
		require.InDelta(t, got, p.Objective, 12, "seed %d: less than one job's preferences", seed)
		if got < want {
			less++
			t.Logf("seed %d: %d of %d", seed, got, want)
		}
		preempted += len(p.Preempted)
	}
	t.Logf("%d of %d windows worth less than the best; %d jobs preempted", less, rounds, preempted)
	require.Positive(t, preempted)
	require.LessOrEqual(t, less, rounds/300)
}
