// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/test/requests"
	"github.com/aucsched/aucsched/nodeset"
)

// ticking is a clock that moves on by a tick whenever it is looked at.
func ticking(tick time.Duration) (clock func() time.Time, start time.Time) {
	start = time.Unix(1000, 0)
	now := start
	return func() time.Time { now = now.Add(tick); return now }, start
}

// jumping is a clock that stands still save that it moves on by jump when it is looked
// at for the at-th time.
func jumping(at int, jump time.Duration) (clock func() time.Time, start time.Time) {
	start = time.Unix(1000, 0)
	now, looks := start, 0
	return func() time.Time {
		if looks++; looks == at {
			now = now.Add(jump)
		}
		return now
	}, start
}

func lateCycle(t *testing.T, o AuctionOptions, s *Snapshot, ticks int) *Plan {
	t.Helper()
	clock, start := ticking(time.Millisecond)
	var deadline time.Time
	if ticks > 0 {
		deadline = start.Add(time.Duration(ticks) * time.Millisecond)
	}
	return cycleBy(t, o, s, clock, deadline)
}

// cycleBy is a cycle with a clock of the test's.
func cycleBy(t *testing.T, o AuctionOptions, s *Snapshot, clock func() time.Time, deadline time.Time) *Plan {
	t.Helper()
	o.Clock = clock
	a, err := NewAuction(o, nil)
	require.NoError(t, err)
	var p Plan
	l := Limits{Deadline: deadline, Seed: 1}
	require.NoError(t, a.Decide(context.Background(), s, l, &p))
	require.NoError(t, Verify(s, &p))
	return &p
}

// However little time there is, a cycle ends with a valid plan, looks at no job that it
// has no time for, and says that it was cut short. With enough it does not.
func TestTimeRunsOut(t *testing.T) {
	nodes, err := nodeset.NewUniform(40, nodeset.Capacity{Cores: 8})
	require.NoError(t, err)
	busy := []nodeset.Segment{{First: 0, Last: 9, Cores: 8}}
	require.NoError(t, nodes.Allocate(busy))
	var reqs []bids.Request
	for i := range 60 {
		reqs = append(reqs, bids.Request{Cores: 9 + i})
	}
	s := &Snapshot{Nodes: nodes, Pending: queue(50, reqs...), Running: []Running{{ID: "R", End: 70, Segs: busy}}}
	o := Preset("none")
	o.Window, o.Reservations = 40, 3
	for _, ticks := range []int{1, 2, 5, 10, 30, 100, 300} {
		p := lateCycle(t, o, s, ticks)
		require.True(t, p.Stats.Late, "%d looks at the clock", ticks)
		require.LessOrEqual(t, p.Stats.Elapsed, time.Duration(ticks+60)*time.Millisecond, "no stage goes on for long without looking")
		if ticks < 30 {
			require.Less(t, p.Stats.Jobs, 10, "the window is as long as an eighth of the time")
		}
	}
	require.False(t, lateCycle(t, o, s, 0).Stats.Late)
	require.False(t, lateCycle(t, o, s, 1_000_000).Stats.Late)
}

// A search for the place of a reservation that takes too long is given up.
func TestReservationsGiveUpInTime(t *testing.T) {
	nodes, err := nodeset.NewUniform(200, nodeset.Capacity{Cores: 1})
	require.NoError(t, err)
	s := &Snapshot{Nodes: nodes}
	for n := range int32(199) {
		segs := []nodeset.Segment{{First: n, Last: n, Cores: 1}}
		require.NoError(t, nodes.Allocate(segs))
		s.Running = append(s.Running, Running{ID: "R", End: int64(100 + n), Segs: segs})
	}
	s.Pending = queue(50, bids.Request{Cores: 199}, bids.Request{Cores: 198}, bids.Request{Cores: 1})
	o := Preset("none")
	o.Reservations = 2
	p := lateCycle(t, o, s, 100)
	require.True(t, p.Stats.Late)
	require.False(t, p.Decisions[1].Kept, "some 200 moments would have to be tried")
	require.Less(t, p.Stats.Elapsed, 130*time.Millisecond)
	require.True(t, lateCycle(t, o, s, 0).Decisions[1].Kept)
}

// However late it is, the machine is not given away to others than the job that it is kept for.
func TestDrainedMachineIsKeptHoweverLate(t *testing.T) {
	nodes, err := nodeset.NewUniform(40, nodeset.Capacity{Cores: 8})
	require.NoError(t, err)
	busy := []nodeset.Segment{{First: 0, Last: 0, Cores: 8}}
	require.NoError(t, nodes.Allocate(busy))
	reqs := []bids.Request{{Cores: 320}}
	for range 20 {
		reqs = append(reqs, bids.Request{Cores: 8})
	}
	s := &Snapshot{Nodes: nodes, Pending: queue(50, reqs...), Running: []Running{{ID: "R", End: 70, Segs: busy}}}
	for _, job := range s.Pending[1:] {
		job.TimeLimit = 1000 // beyond the wide job's start
	}
	for look := 1; look <= 200; look++ {
		clock, start := jumping(look, 600*time.Millisecond)
		for kind, p := range map[string]*Plan{
			"ticking": lateCycle(t, Preset("none"), s, look),
			"jumping": cycleBy(t, Preset("none"), s, clock, start.Add(time.Second)),
		} {
			for _, d := range p.Decisions {
				require.False(t, d.Start, "job %d starts, %s clock, %d looks at it", d.Job, kind, look)
			}
		}
	}
	o := Preset("none")
	o.Reservations = 0
	require.True(t, lateCycle(t, o, s, 200).Decisions[1].Start, "without a reservation there is time for it")
}

// Nor are jobs that can never run gone through for ever when there is no time.
func TestLateCycleDoesNotGoThroughWhatCanNeverRun(t *testing.T) {
	nodes, err := nodeset.NewUniform(4, nodeset.Capacity{Cores: 8})
	require.NoError(t, err)
	var reqs []bids.Request
	for i := range 1000 {
		reqs = append(reqs, bids.Request{Cores: 33 + i})
	}
	o := Preset("none")
	o.Window = 40
	s := &Snapshot{Nodes: nodes, Pending: queue(2000, reqs...)}
	require.Len(t, lateCycle(t, o, s, 0).Decisions, len(reqs), "with time")
	late := lateCycle(t, o, s, 1)
	require.LessOrEqual(t, len(late.Decisions)-late.Stats.TimedOut, o.Window+maxGrace)
}

// waiters is a machine partly in use and a queue of which some jobs have room, some none, and
// the last can never run.
func waiters(t *testing.T) *Snapshot {
	t.Helper()
	nodes, err := nodeset.NewUniform(40, nodeset.Capacity{Cores: 8})
	require.NoError(t, err)
	busy := []nodeset.Segment{{First: 0, Last: 9, Cores: 8}}
	require.NoError(t, nodes.Allocate(busy))
	var reqs []bids.Request
	for i := range 60 {
		reqs = append(reqs, bids.Request{Cores: 9 + i%20}, bids.Request{Cores: 241 + i})
	}
	s := &Snapshot{Nodes: nodes, Pending: queue(50, append(reqs, bids.Request{Cores: 500})...),
		Running: []Running{{ID: "R", End: 70, Segs: busy}}}
	return s
}

// A job that the cycle had no time for says so, and not that it lost or has no room; who calls
// again, as a cycle with such a job tells, has decided on all of them in the end.
func TestLateCyclesSayWhatTheyDidNotDecide(t *testing.T) {
	for _, change := range []func(*AuctionOptions){
		func(*AuctionOptions) {},
		func(o *AuctionOptions) { o.Reservations = 0 },
		func(o *AuctionOptions) { o.Reservations, o.Window, o.Depth = 0, 40, 30 },
		func(o *AuctionOptions) { o.Reservations, o.Drafts, o.Depth = 0, 0, 0 },
	} {
		s := waiters(t)
		o := Preset("none")
		change(&o)
		all := lateCycle(t, o, s, 0)
		require.Zero(t, all.Stats.TimedOut)
		seen := 0
		for ticks := 1; ticks < 3000; ticks += 1 + ticks/4 {
			p := lateCycle(t, o, s, ticks)
			seen += p.Stats.TimedOut
			require.True(t, p.Stats.TimedOut > 0 || len(p.Decisions) >= len(all.Decisions), "%d looks at the clock", ticks)
			count := 0
			for i := range p.Decisions {
				d := &p.Decisions[i]
				job := s.Pending[d.Job]
				_, fits := requests.Place(s.Nodes, &job.Request, 0)
				switch d.Why {
				case NoFit:
					require.False(t, fits, "job %d of %d cores has room", d.Job, job.Cores)
				case TimedOut:
					count++
					require.Equal(t, reasonTimedOut, d.Reason)
				case Lost:
					require.Positive(t, started(p))
				}
			}
			require.Equal(t, count, p.Stats.TimedOut)
			require.True(t, count == 0 || p.Stats.Late)
		}
		require.Positive(t, seen)
	}
}

// startAll calls a policy again and again, whose cycles begin late or run out of time at some
// look at the clock, until a cycle starts no job. It returns the jobs that are left, and checks
// what is said of them.
func startAll(t *testing.T, o AuctionOptions, s *Snapshot, at int) (left []*Job) {
	t.Helper()
	for some := true; some && len(s.Pending) > 0; s.Pending = left {
		clock, start := jumping(at, 2*time.Hour)
		p := cycleBy(t, o, s, clock, start.Add(time.Hour))
		some, left = started(p) > 0, nil
		late := 0
		for i := range p.Decisions {
			switch d := &p.Decisions[i]; {
			case d.Start:
				require.NoError(t, s.Nodes.Allocate(d.Segs))
				continue
			case d.Why == TimedOut:
				late++
			}
			left = append(left, s.Pending[p.Decisions[i].Job])
		}
		require.Equal(t, late, p.Stats.TimedOut)
	}
	return left
}

// A cycle starts a job if it can, even if its time was over before it began, and
// whichever job has no place.
func TestEachCycleStartsSomething(t *testing.T) {
	// has no place where every second node is busy
	spread := bids.Request{Cores: 16, Contiguous: true}
	small := bids.Request{Cores: 8}
	for name, c := range map[string]struct {
		busy, reservations int  // which nodes are busy: every so many
		down               bool // node 20
		queue              []bids.Request
		ways               []bids.Request // of the first job
		left               int
	}{
		"idle":                     {0, 0, false, slices.Repeat([]bids.Request{{Cores: 20}}, 12), nil, 0},
		"idle, with a reservation": {0, 1, false, slices.Repeat([]bids.Request{{Cores: 20}}, 12), nil, 0},
		"the first has no place":   {2, 0, false, []bids.Request{spread, small, small}, nil, 1},
		"none of its ways has any": {2, 0, false, []bids.Request{spread, small, small},
			[]bids.Request{{Cores: 24, Contiguous: true}, {Cores: 32, Contiguous: true}}, 1},
		"only a later way has one": {2, 0, false, []bids.Request{spread}, []bids.Request{{Cores: 24, Contiguous: true}, small}, 0},
		"many alike have no place": {2, 0, false,
			append(slices.Repeat([]bids.Request{spread}, 2*maxGrace), small), nil, 2 * maxGrace},
		"the first has no place in sight": {0, 1, true, []bids.Request{{Cores: 320}, small, small}, nil, 1},
		"some that differ have none":      {2, 0, false, append(unalike(maxGrace-1), small), nil, maxGrace - 1},
	} {
		for at := 1; at < 60; at += 1 + at/8 {
			nodes, err := nodeset.NewUniform(40, nodeset.Capacity{Cores: 8})
			require.NoError(t, err)
			for n := int32(0); c.busy > 0 && n < 40; n += int32(c.busy) {
				require.NoError(t, nodes.Allocate([]nodeset.Segment{{First: n, Last: n, Cores: 8}}))
			}
			nodes.SetUp(20, !c.down)
			o := Preset("none")
			o.Reservations = c.reservations
			s := &Snapshot{Nodes: nodes, Pending: queue(50, c.queue...)}
			s.Pending[0].Alternatives = c.ways
			require.Len(t, startAll(t, o, s, at), c.left, "%s, late at look %d", name, at)
		}
	}
}

// unalike are n requests for neighbouring nodes that differ, of which none has a
// place beside a busy node.
func unalike(n int) (list []bids.Request) {
	for i := range n {
		list = append(list, bids.Request{Cores: 9 + i, Contiguous: true})
	}
	return list
}
