package core

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

// ticking is a clock that moves on by a tick whenever it is looked at.
func ticking(tick time.Duration) (clock func() time.Time, start time.Time) {
	start = time.Unix(1000, 0)
	now := start
	return func() time.Time { now = now.Add(tick); return now }, start
}

// jumping is a clock that stands still save that it moves on by jump when it is looked at for the at-th time.
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
	a, err := NewAuction(o, nil)
	require.NoError(t, err)
	var p Plan
	l := Limits{Now: clock, Deadline: deadline, Seed: 1}
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
	o := DefaultAuctionOptions()
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
	o := DefaultAuctionOptions()
	o.Reservations = 2
	p := lateCycle(t, o, s, 100)
	require.True(t, p.Stats.Late)
	require.Zero(t, p.Decisions[1].Expected, "some 200 moments would have to be tried")
	require.Less(t, p.Stats.Elapsed, 130*time.Millisecond)
	require.Positive(t, lateCycle(t, o, s, 0).Decisions[1].Expected)
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
			"ticking": lateCycle(t, DefaultAuctionOptions(), s, look),
			"jumping": cycleBy(t, DefaultAuctionOptions(), s, clock, start.Add(time.Second)),
		} {
			for _, d := range p.Decisions {
				require.False(t, d.Start, "job %d starts, %s clock, %d looks at it", d.Job, kind, look)
			}
		}
	}
	o := DefaultAuctionOptions()
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
	o := DefaultAuctionOptions()
	o.Window = 40
	s := &Snapshot{Nodes: nodes, Pending: queue(2000, reqs...)}
	require.Len(t, lateCycle(t, o, s, 0).Decisions, len(reqs), "with time")
	require.LessOrEqual(t, len(lateCycle(t, o, s, 1).Decisions), o.Window+1)
}
