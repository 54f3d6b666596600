// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/internal/test/requests"
	"github.com/aucsched/aucsched/ipmodel/native"
	"github.com/aucsched/aucsched/nodeset"
)

// partOf is what a job holds on one node.
func partOf(n int32, cores uint16) []nodeset.Segment {
	return []nodeset.Segment{{First: n, Last: n, Cores: cores}}
}

// running adds jobs that run to a machine of nodes of 8 cores.
func running(t require.TestingT, nodes int, jobs ...Running) *Snapshot {
	table, err := nodeset.NewUniform(nodes, nodeset.Capacity{Cores: 8})
	require.NoError(t, err)
	for i := range jobs {
		require.NoError(t, table.Allocate(jobs[i].Segs))
		jobs[i].ID = fmt.Sprint("R", i)
		if jobs[i].End == 0 {
			jobs[i].End = 1000
		}
	}
	return &Snapshot{Nodes: table, Running: jobs}
}

// waiting is a job for one node, which has to give so many cores.
func waiting(id string, priority int64, cores int, preempts uint64) *Job {
	return &Job{ID: id, Priority: priority, TimeLimit: 100, Preempts: preempts,
		Request: bids.Request{MinNodes: 1, MaxNodes: 1, Cores: cores}}
}

func TestPreemption(t *testing.T) {
	for _, c := range []struct {
		name      string
		s         *Snapshot
		pending   []*Job
		preempted []Preemption
		starts    []int
	}{
		{"the cheaper one goes",
			running(t, 2, Running{Segs: partOf(0, 8), Price: 20}, Running{Segs: partOf(1, 8), Price: 10}),
			[]*Job{waiting("a", 1000, 8, 1)}, []Preemption{{1, []int{0}}}, []int{0}},
		{"whoever is worth more stays",
			running(t, 2, Running{Segs: partOf(0, 8), Price: 20}, Running{Segs: partOf(1, 8), Price: 10}),
			[]*Job{waiting("a", 9, 8, 1)}, nil, nil},
		{"whoever has no price stays",
			running(t, 1, Running{Segs: partOf(0, 8)}), []*Job{waiting("a", 9, 8, 1)}, nil, nil},
		{"whoever may not preempt does not",
			running(t, 2, Running{Segs: partOf(0, 8), Price: 1, Class: 3}, Running{Segs: partOf(1, 8), Price: 10, Class: 2}),
			[]*Job{waiting("a", 1000, 8, 1<<2)}, []Preemption{{1, []int{0}}}, []int{0}},
		{"nobody goes where there is room",
			running(t, 2, Running{Segs: partOf(0, 8), Price: 1}), []*Job{waiting("a", 1000, 8, 1)}, nil, []int{0}},
		{"all or none: one job on two nodes is dearer than two on one each",
			running(t, 4, Running{Segs: []nodeset.Segment{{First: 0, Last: 1, Cores: 8}}, Price: 15},
				Running{Segs: partOf(2, 8), Price: 10}, Running{Segs: partOf(3, 8), Price: 11}),
			[]*Job{waiting("a", 1000, 8, 1)}, []Preemption{{1, []int{0}}}, []int{0}},
		{"what is over where somebody went is for the next who may preempt",
			running(t, 4, Running{Segs: []nodeset.Segment{{First: 0, Last: 1, Cores: 8}}, Price: 9},
				Running{Segs: partOf(2, 8), Price: 10}, Running{Segs: partOf(3, 8), Price: 10}),
			[]*Job{waiting("a", 1000, 8, 1), waiting("b", 999, 8, 1)}, []Preemption{{0, []int{0, 1}}}, []int{0, 1}},
		{"many that hold little, or one that is cheaper than they are together",
			running(t, 2, Running{Segs: partOf(0, 8), Price: 25}, Running{Segs: partOf(1, 4), Price: 10}, Running{Segs: partOf(1, 4), Price: 20}),
			[]*Job{waiting("a", 1000, 8, 1)}, []Preemption{{0, []int{0}}}, []int{0}},
		{"what is over where somebody went is nobody's who may not preempt",
			running(t, 1, Running{Segs: partOf(0, 8), Price: 1}),
			[]*Job{waiting("a", 1000, 4, 1), waiting("b", 999, 4, 0)}, []Preemption{{0, []int{0}}}, []int{0}},
		{"who may preempt takes what is free, before those behind it who may not",
			running(t, 2, Running{Segs: partOf(0, 8), Price: 1}),
			[]*Job{waiting("a", 1000, 8, 1), waiting("b", 999, 8, 0)}, nil, []int{0}},
		{"what starts behind goes first, then the cheapest",
			running(t, 3, Running{Segs: partOf(0, 8), Price: 3}, Running{Segs: partOf(1, 8), Price: 2}),
			[]*Job{{ID: "a", Priority: 1000, TimeLimit: 100, Preempts: 1, Request: bids.Request{MinNodes: 2, MaxNodes: 2, TasksPerNode: 8}},
				waiting("b", 900, 8, 0)}, []Preemption{{1, []int{0}}}, []int{0}},
		{"nobody goes before his time", running(t, 1, Running{Segs: partOf(0, 8), Price: 3, Exempt: 1}),
			[]*Job{waiting("a", 1000, 8, 1)}, nil, nil},
		{"several that are cheap together, not a dear one",
			running(t, 2, Running{Segs: partOf(0, 8), Price: 100},
				Running{Segs: partOf(1, 4), Price: 20}, Running{Segs: partOf(1, 4), Price: 30}),
			[]*Job{waiting("a", 1000, 8, 1)}, []Preemption{{1, []int{0}}, {2, []int{0}}}, []int{0}},
	} {
		for reservations := range 2 {
			t.Run(fmt.Sprint(c.name, reservations), func(t *testing.T) {
				o := Preset("none")
				o.Reservations = reservations
				a, err := NewAuction(o, nil)
				require.NoError(t, err)
				c.s.Pending = c.pending
				var p Plan
				require.NoError(t, a.Decide(context.Background(), c.s, Limits{Seed: 1}, &p))
				require.NoError(t, Verify(c.s, &p))
				var starts []int
				for _, d := range p.Decisions {
					if d.Start {
						starts = append(starts, d.Job)
					}
				}
				require.Equal(t, c.starts, starts)
				require.Equal(t, len(c.preempted), len(p.Preempted))
				for i, x := range c.preempted {
					require.Equal(t, x, p.Preempted[i])
				}
			})
		}
	}
}

// A job that runs into a reservation has somebody stopped for it even where there is room now, and
// somebody who may not preempt does not get what a reservation leaves only because a job goes.
func TestPreemptionBesideReservations(t *testing.T) {
	s := running(t, 1, Running{Segs: partOf(0, 2), End: 100}, Running{Segs: partOf(0, 2), End: 1000, Price: 10})
	wide := waiting("wide", 5000, 6, 0)
	long := waiting("long", 1000, 4, 1)
	long.TimeLimit = 500
	for _, preempts := range []uint64{0, 1} {
		long.Preempts = preempts
		s.Pending = []*Job{wide, long}
		a, err := NewAuction(Preset("none"), nil)
		require.NoError(t, err)
		var p Plan
		require.NoError(t, a.Decide(context.Background(), s, Limits{Seed: 1}, &p))
		require.NoError(t, Verify(s, &p))
		require.True(t, p.Decisions[0].Kept)
		require.EqualValues(t, 100, p.Decisions[0].Expected)
		require.False(t, p.Decisions[1].Start, "the reservation leaves 2 cores and what the other has")
		require.Empty(t, p.Preempted)
	}
	long.Request.Cores = 2
	s.Nodes.SetUp(0, true)
	for _, preempts := range []uint64{0, 1} {
		long.Preempts = preempts
		wide.Request.Cores = 6
		a, err := NewAuction(Preset("none"), nil)
		require.NoError(t, err)
		var p Plan
		require.NoError(t, a.Decide(context.Background(), s, Limits{Seed: 1}, &p))
		require.NoError(t, Verify(s, &p))
		require.Equal(t, preempts == 1, p.Decisions[1].Start)
		require.Equal(t, preempts == 1, len(p.Preempted) == 1)
	}
}

// A place that is kept for a job behind is no hindrance to a stop; one that is kept for a job in front is.
func TestStopsAndKeptPlaces(t *testing.T) {
	for name, c := range map[string]struct {
		ends   [2]int64 // node 0 has who may be stopped
		behind bool
	}{"for a job behind": {[2]int64{100, 50}, true}, "for a job in front": {[2]int64{50, 100}, false}} {
		t.Run(name, func(t *testing.T) {
			s := running(t, 2, Running{Segs: partOf(0, 8), End: c.ends[0], Price: 10}, Running{Segs: partOf(1, 8), End: c.ends[1]})
			high, other := waiting("high", 1000, 8, 1), waiting("other", 2000, 8, 0)
			high.TimeLimit, other.TimeLimit = 1000, 1000
			s.Pending = []*Job{other, high}
			if c.behind {
				other.Priority = 900
				s.Pending = []*Job{high, other}
			}
			o := Preset("none")
			o.Reservations = 2
			a, err := NewAuction(o, nil)
			require.NoError(t, err)
			var p Plan
			require.NoError(t, a.Decide(context.Background(), s, Limits{Seed: 1}, &p))
			require.NoError(t, Verify(s, &p))
			if !c.behind {
				require.Empty(t, p.Preempted)
				require.True(t, p.Decisions[0].Kept)
				require.EqualValues(t, 50, p.Decisions[0].Expected)
				return
			}
			require.Equal(t, partOf(0, 8), p.Decisions[0].Segs)
			require.Equal(t, []Preemption{{0, []int{0}}}, p.Preempted)
			require.False(t, p.Decisions[1].Kept, "its place is another's now")
		})
	}
}

// drawPreemptable draws a machine with running jobs, some of which may be preempted, and a queue.
func drawPreemptable(t *rapid.T) *Snapshot {
	s := drawSnapshot(t)
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "prices"), 29))
	classes := 1 + rng.IntN(4)
	most := int64(1)
	for _, job := range s.Pending {
		most = max(most, job.Priority)
		if rng.IntN(3) > 0 {
			job.Preempts = rng.Uint64N(1 << classes)
		}
	}
	memory := make([]int64, s.Nodes.Len())
	for n := range memory {
		memory[n] = 64
	}
	more := rng.IntN(2) == 0
	if more {
		_, err := s.Nodes.AddResource("memory", memory)
		require.NoError(t, err)
	}
	for i := range s.Running {
		if r := &s.Running[i]; rng.IntN(4) > 0 {
			r.Price, r.Class = 1+rng.Int64N(most), rng.IntN(classes)
		}
	}
	// more of them, so that machines are full
	for i := range rng.IntN(10) {
		r := randomRequest(rng, s.Nodes.Len(), int(s.Nodes.Total(0).Cores), s.Nodes.MaxGPUs())
		segs, ok := requests.Place(s.Nodes, r, r.MinGPUs)
		if !ok {
			continue
		}
		x := Running{ID: fmt.Sprint("S", i), End: s.Now + rng.Int64N(700), Segs: segs, Price: 1 + rng.Int64N(most),
			Class: rng.IntN(classes)}
		if more {
			x.Uses = nodeset.Uses{{Row: 0, PerNode: rng.Int64N(40)}}
		}
		if s.Nodes.Allocate(x.Segs, x.Uses...) == nil {
			s.Running = append(s.Running, x)
		}
	}
	for _, job := range s.Pending {
		if more && rng.IntN(2) == 0 {
			job.Uses = nodeset.Uses{{Row: 0, PerNode: rng.Int64N(64), PerCore: rng.Int64N(3)}}
		}
	}
	return s
}

// Whatever may be preempted, no plan takes more than is free and given back, of those alone who may
// be stopped for it; and a second cycle on the same decides the same.
func TestPreemptionNeverOverAllocates(t *testing.T) {
	race.Slow(t)
	preempted, beside := 0, 0
	checkUntil(t, func() bool { return preempted > 100 && beside > 20 }, func(t *rapid.T) {
		s, a := drawPreemptable(t), drawAuction(t)
		before := new(nodeset.Table)
		before.CopyFrom(s.Nodes)
		var p, again Plan
		require.NoError(t, a.Decide(context.Background(), s, Limits{Seed: 3}, &p))
		require.NoError(t, Verify(s, &p))
		require.Equal(t, before.FreeCores(), s.Nodes.FreeCores())
		require.LessOrEqual(t, p.Objective, p.Bound*(1+1e-9)+1e-9, "%v", p.Stats)
		require.NoError(t, a.Decide(context.Background(), s, Limits{Seed: 3}, &again))
		require.Equal(t, p.Preempted, again.Preempted)
		require.Equal(t, worthOf(s, &p), worthOf(s, &again))
		if preempted += len(p.Preempted); len(p.Preempted) > 0 {
			for _, d := range p.Decisions {
				if d.Kept {
					beside++
				}
			}
			applyPreempting(t, s, &p)
		}
	})
}

// applyPreempting does what a caller does: it starts what need not wait, then stops whom it has to,
// and starts the others.
func applyPreempting(t require.TestingT, s *Snapshot, p *Plan) {
	nodes := new(nodeset.Table)
	nodes.CopyFrom(s.Nodes)
	waits := make(map[int]bool)
	for _, x := range p.Preempted {
		for _, j := range x.For {
			waits[j] = true
		}
	}
	for _, late := range []bool{false, true} {
		for _, d := range p.Decisions {
			if d.Start && waits[d.Job] == late {
				require.NoError(t, nodes.Allocate(d.Segs, d.Uses...))
			}
		}
		for _, x := range p.Preempted {
			if r := &s.Running[x.Running]; !late {
				require.NoError(t, nodes.Release(r.Segs, r.Uses...))
			}
		}
	}
}

// Nobody is preempted for a start that has room elsewhere.
func TestNobodyIsPreemptedNeedlessly(t *testing.T) {
	race.Slow(t)
	seen := 0
	o := Preset("none")
	o.Reservations, o.Work = 0, trialWork
	a, err := NewAuction(o, nil)
	require.NoError(t, err)
	checkUntil(t, func() bool { return seen > 50 }, func(t *rapid.T) {
		s := drawPreemptable(t)
		var p Plan
		require.NoError(t, a.Decide(context.Background(), s, Limits{Seed: 3}, &p))
		waits := make(map[int]bool)
		for _, x := range p.Preempted {
			for _, j := range x.For {
				waits[j] = true
			}
		}
		if len(waits) != 1 {
			return
		}
		seen++
		left := new(nodeset.Table)
		left.CopyFrom(s.Nodes)
		var it *Decision
		for i := range p.Decisions {
			if d := &p.Decisions[i]; d.Start && waits[d.Job] {
				it = d
			} else if d.Start {
				require.NoError(t, left.Allocate(d.Segs, d.Uses...))
			}
		}
		spec, err := place.SpecOf(&s.Pending[it.Job].Request)
		require.NoError(t, err)
		var placer place.Placer
		var limited place.Limited
		_, ok := placer.Place(nil, limited.Of(left, &spec), &spec, spec.GPUs.PerNode.Min)
		require.False(t, ok)
	})
}

// One who costs more than all that waits is worth is as one without a price.
// The bids of a window with running jobs in it are others, so now and then a job more or less
// starts.
func TestTooDearIsNotPreemptable(t *testing.T) {
	race.Slow(t)
	draws, others := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawPreemptable(t)
		total := int64(0)
		for _, job := range s.Pending {
			total += job.Priority
		}
		for i := range s.Running {
			s.Running[i].Price = min(total+1, MaxPriority)
		}
		a, err := NewAuction(Preset("none"), nil)
		require.NoError(t, err)
		var p, plain Plan
		require.NoError(t, a.Decide(context.Background(), s, Limits{Seed: 3}, &p))
		require.Empty(t, p.Preempted)
		for i := range s.Running {
			s.Running[i].Price = 0
		}
		require.NoError(t, a.Decide(context.Background(), s, Limits{Seed: 3}, &plain))
		draws++
		if started(&plain) != started(&p) {
			others++
		}
	})
	require.LessOrEqual(t, 50*others, draws)
}

// Whether the classes are there makes no difference as long as nobody may be preempted.
func TestWithoutAPriceNothingChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawPreemptable(t)
		for i := range s.Running {
			s.Running[i].Price = 0
		}
		a := drawAuction(t)
		var p, plain Plan
		require.NoError(t, a.Decide(context.Background(), s, Limits{Seed: 3}, &p))
		for i := range s.Running {
			s.Running[i].Class = 0
		}
		for _, job := range s.Pending {
			job.Preempts = 0
		}
		require.NoError(t, a.Decide(context.Background(), s, Limits{Seed: 3}, &plain))
		require.Equal(t, plain.Decisions, p.Decisions)
	})
}

// Of many that may be preempted the cheapest go, wherever they are.
func TestTheCheapestOfManyGo(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var jobs []Running
	for n, price := range rng.Perm(200) {
		jobs = append(jobs, Running{Segs: partOf(int32(n), 8), Price: int64(10 + price)})
	}
	s := running(t, 200, jobs...)
	for i := range 3 {
		job := waiting(fmt.Sprint("J", i), 5000, 8, 1)
		job.Request = bids.Request{Cores: 16, MinNodes: 2, MaxNodes: 2}
		s.Pending = append(s.Pending, job)
	}
	a, err := NewAuction(Preset("none"), nil)
	require.NoError(t, err)
	var p Plan
	require.NoError(t, a.Decide(context.Background(), s, Limits{Seed: 1}, &p))
	require.NoError(t, Verify(s, &p))
	require.EqualValues(t, 3*5000-(10+11+12+13+14+15), worthOf(s, &p))
}

// A cycle in which jobs are preempted allocates nothing in its steady state but claims.
func TestPreemptionAllocatesNothing(t *testing.T) {
	race.Allocates(t)
	s := running(t, 200)
	for n := range int32(200) {
		segs := partOf(n, uint16(4+n%5))
		require.NoError(t, s.Nodes.Allocate(segs))
		r := Running{ID: fmt.Sprint("R", n), Segs: segs, End: int64(100 + n), Price: int64(10 + n%7), Class: int(n % 3)}
		if n%5 == 0 {
			r.Price = 0
		}
		s.Running = append(s.Running, r)
	}
	s.Pending = []*Job{{ID: "wide", Priority: 1 << 30, TimeLimit: 1000, Request: bids.Request{Cores: 1600, MinNodes: 200, MaxNodes: 200}}}
	for i := range 60 {
		job := waiting(fmt.Sprint("J", i), int64(1000-i), 1+i%8, uint64(i%8))
		job.TimeLimit = int64(50 * (1 + i%5))
		s.Pending = append(s.Pending, job)
	}
	o := Preset("none")
	o.Work = 300_000
	allocatesNothing(t, o, s)
}

// Parts of a job that preempts may share a node, and of what only some may preempt: its rows, and
// those of whoever sees less, have each node once.
func TestPartsThatPreemptShareANode(t *testing.T) {
	s := running(t, 2, Running{Segs: partOf(0, 3), Price: 5}, Running{Segs: partOf(0, 3), Price: 5, Class: 1},
		Running{Segs: partOf(1, 3), Price: 5}, Running{Segs: partOf(1, 3), Price: 5, Class: 1})
	parts := waiting("parts", 1000, 2, 1)
	parts.Components = []bids.Request{{Cores: 2, MinNodes: 1, MaxNodes: 1}, {Cores: 2, MinNodes: 2, MaxNodes: 2}}
	s.Pending = []*Job{parts, waiting("small", 900, 2, 2), waiting("other", 800, 2, 0), waiting("last", 700, 2, 3)}
	for seed := range uint64(20) {
		a, err := NewAuction(Preset("none"), validating{native.New()})
		require.NoError(t, err)
		var p Plan
		require.NoError(t, a.Decide(context.Background(), s, Limits{Seed: seed}, &p))
		require.NoError(t, Verify(s, &p))
	}
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
