// SPDX-License-Identifier: BSD-3-Clause

package core_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/nodeset"
)

// auctionBy is an auction with default settings, by a clock.
func auctionBy(t testing.TB, clock func() time.Time) *core.Auction {
	t.Helper()
	o := core.Preset("none")
	o.Clock = clock
	a, err := core.NewAuction(o, nil)
	require.NoError(t, err)
	return a
}

func uniform(t testing.TB, nodes, cores int) *nodeset.Table {
	t.Helper()
	table, err := nodeset.NewUniform(nodes, nodeset.Capacity{Cores: uint16(cores)})
	require.NoError(t, err)
	return table
}

// A queue that is none is refused, by the name of the job and the field, and nothing starts.
func TestDecideRefusesQueuesThatAreNone(t *testing.T) {
	for want, spoil := range map[string]func(q []*core.Job) []*core.Job{
		"jobs[1] (J1): priority: 11: is above 9, that of the job before it": func(q []*core.Job) []*core.Job {
			q[0].Priority = 9
			q[1].Priority = 11
			return q

		},
		"jobs[2] (J2): priority: 0: must be 1 to 1099511627776": func(q []*core.Job) []*core.Job {
			q[2].Priority = 0
			return q

		},
		"jobs[2] (J2): priority: -5: must be 1 to 1099511627776": func(q []*core.Job) []*core.Job {
			q[2].Priority = -5
			return q

		},
		"jobs[0] (J0): priority: 2199023255552: must be 1 to 1099511627776": func(q []*core.Job) []*core.Job {
			q[0].Priority = 1 << 41
			return q

		},
		"jobs[1] (J1): time_limit_s: 0: must be 1 to": func(q []*core.Job) []*core.Job {
			q[1].TimeLimit = 0
			return q

		},
		"jobs[1] (J1): time_limit_s: -60: must be 1 to": func(q []*core.Job) []*core.Job {
			q[1].TimeLimit = -60
			return q

		},
		"jobs[1] (J1): time_limit_s: 3600000000000: must be 1 to 1125899906842624 seconds, not a time.Duration": func(q []*core.Job) []*core.Job {
			q[1].TimeLimit = int64(time.Hour)
			return q
		},
		"jobs[1] (J1): time_limit_s: 1125899906842625: must be 1 to": func(q []*core.Job) []*core.Job {
			q[1].TimeLimit = 1<<50 + 1
			return q

		},
		"jobs[2] (J0): id: J0: there are two jobs of this id": func(q []*core.Job) []*core.Job { q[2].ID = "J0"; return q },
		"jobs[3] (J1): id: J1: there are two jobs of this id": func(q []*core.Job) []*core.Job { return append(q, q[1]) },
		"jobs[3] (): job: <nil>: must not be nil":             func(q []*core.Job) []*core.Job { return append(q, nil) },
	} {
		t.Run(want, func(t *testing.T) {
			var q []*core.Job
			for i := range 3 {
				q = append(q, &core.Job{ID: fmt.Sprint("J", i), Request: bids.Request{Cores: 1}, Priority: 10, TimeLimit: 60})
			}
			s := &core.Snapshot{Nodes: uniform(t, 2, 4), Pending: q}
			var p core.Plan
			a := auctionBy(t, nil)
			require.NoError(t, a.Decide(context.Background(), s, core.Limits{}, &p))
			require.Len(t, p.Decisions, 3)
			s.Pending = spoil(q)
			err := a.Decide(context.Background(), s, core.Limits{}, &p)
			require.ErrorContains(t, err, want)
			var fault *core.Error
			require.ErrorAs(t, err, &fault)
			var field *bids.FieldError
			require.ErrorAs(t, err, &field)
			require.Empty(t, p.Decisions)
			require.Equal(t, err, s.Validate())
		})
	}
}

func TestDecideRefusesCallsThatAreNone(t *testing.T) {
	var p core.Plan
	a, s := auctionBy(t, nil), &core.Snapshot{Nodes: uniform(t, 1, 1)}
	require.ErrorContains(t, a.Decide(context.Background(), nil, core.Limits{}, &p), "no Snapshot")
	require.ErrorContains(t, a.Decide(context.Background(), s, core.Limits{}, nil), "no Plan")
	require.ErrorContains(t, a.Decide(context.Background(), &core.Snapshot{}, core.Limits{}, &p), "Nodes is nil")
	require.ErrorContains(t, new(core.Auction).Decide(context.Background(), s, core.Limits{}, &p), "NewAuction")
}

// The check allocates nothing, with ids in any order, once it has seen a queue of that length.
func TestTheCheckAllocatesNothing(t *testing.T) {
	race.Allocates(t)
	s := &core.Snapshot{Nodes: uniform(t, 1, 1)}
	for _, i := range rand.New(rand.NewPCG(1, 1)).Perm(5000) {
		s.Pending = append(s.Pending, &core.Job{ID: fmt.Sprint(i), Request: bids.Request{Cores: 9}, Priority: 1, TimeLimit: 1})
	}
	o := core.Preset("none")
	o.Window = 1 << 20 // all can never run
	a, err := core.NewAuction(o, nil)
	require.NoError(t, err)
	var p core.Plan
	decide := func() { require.NoError(t, a.Decide(context.Background(), s, core.Limits{}, &p)) }
	decide()
	require.Zero(t, testing.AllocsPerRun(5, decide))
}

// A stream of short jobs that would fill the machine for ever, and a job at the head that needs all
// of it. A time limit of 0, as of a caller who has forgotten it, had the stream pass for jobs that
// end at once, and the head never start. Of jobs without a limit nobody knows when they end: a head
// that needs their nodes has no place, and stops nobody behind it.
func TestAStreamDoesNotStarveTheHead(t *testing.T) {
	at, err := headStarts(t, 10)
	require.NoError(t, err)
	require.LessOrEqual(t, at, int64(15))
	at, err = headStarts(t, core.NoTimeLimit)
	require.NoError(t, err)
	require.EqualValues(t, 300, at, "never")
	_, err = headStarts(t, 0)
	var fault *core.Error
	require.ErrorAs(t, err, &fault)
	require.Equal(t, "time_limit_s", fault.Fault.Field)
}

// headStarts is when a job of the whole machine, which comes at second 5, starts beside jobs of a
// node that come each second and run for 10 seconds.
func headStarts(t *testing.T, limit int64) (int64, error) {
	t.Helper()
	a, err := core.NewAuction(core.Preset("none"), nil)
	require.NoError(t, err)
	nodes := uniform(t, 4, 8)
	var running []core.Running
	var pending []*core.Job
	ends := map[string]int64{}
	for now := int64(0); now < 300; now++ {
		if now == 5 {
			pending = append(pending, &core.Job{ID: "head", Request: bids.Request{Cores: 32}, Priority: 1000, TimeLimit: 60})
		}
		pending = append(pending, &core.Job{ID: fmt.Sprint(now), Request: bids.Request{Cores: 8}, Priority: 1, TimeLimit: limit})
		core.SortQueue(pending)
		var still []core.Running
		for _, r := range running {
			if ends[r.ID] > now {
				still = append(still, r)
				continue
			}
			require.NoError(t, nodes.Release(r.Segs))
		}
		running = still
		s := &core.Snapshot{Now: now, Nodes: nodes, Pending: pending, Running: running}
		var p core.Plan
		if err := a.Decide(context.Background(), s, core.Limits{}, &p); err != nil {
			return now, err
		}
		var waiting []*core.Job
		decided := map[int]*core.Decision{}
		for i := range p.Decisions {
			decided[p.Decisions[i].Job] = &p.Decisions[i]
		}
		for i, job := range pending {
			d := decided[i]
			if d == nil || !d.Start {
				waiting = append(waiting, job)
				continue
			}
			if job.ID == "head" {
				return now, nil
			}
			require.NoError(t, nodes.Allocate(d.Segs))
			running = append(running, core.Running{ID: job.ID, End: now + job.TimeLimit, Segs: d.Segs})
			ends[job.ID] = now + 10
		}
		pending = waiting
	}
	return 300, nil
}

// blocking is a clock that holds up who reads it, once.
type blocking struct {
	once    sync.Once
	in, out chan struct{}
}

func (b *blocking) now() time.Time {
	b.once.Do(func() {
		b.in <- struct{}{}
		<-b.out
	})
	return time.Unix(0, 0)
}

// The second goroutine in Decide is told so, and the first goes on.
func TestDecideIsBusy(t *testing.T) {
	s := &core.Snapshot{Nodes: uniform(t, 4, 8),
		Pending: []*core.Job{{ID: "J", Request: bids.Request{Cores: 8}, Priority: 1, TimeLimit: 1}}}
	clock := &blocking{in: make(chan struct{}), out: make(chan struct{})}
	policy := auctionBy(t, clock.now)
	var first, second core.Plan
	done := make(chan error)
	go func() { done <- policy.Decide(context.Background(), s, core.Limits{}, &first) }()
	<-clock.in
	require.ErrorIs(t, policy.Decide(context.Background(), s, core.Limits{}, &second), core.ErrBusy)
	require.ErrorIs(t, policy.Decide(context.Background(), s, core.Limits{}, &first), core.ErrBusy, "which leaves the plan alone")
	close(clock.out)
	require.NoError(t, <-done)
	require.True(t, first.Decisions[0].Start)
	require.NoError(t, policy.Decide(context.Background(), s, core.Limits{}, &second), "it is free again")
}

// counting is a context that is cancelled when it is asked for the n-th time.
type counting struct {
	context.Context
	asked     atomic.Int64 // solvers ask side by side
	cancelled int
}

func (c *counting) Err() error {
	if c.asked.Add(1) >= int64(c.cancelled) {
		return context.Canceled
	}
	return nil
}

func (c *counting) Done() <-chan struct{} { return make(chan struct{}) }

// Whenever the context ends, Decide says so and starts nothing; and it sees to it soon.
func TestDecideEndsWithTheContext(t *testing.T) {
	nodes := uniform(t, 60, 8)
	require.NoError(t, nodes.Allocate([]nodeset.Segment{{First: 0, Last: 19, Cores: 8}}))
	s := &core.Snapshot{Nodes: nodes, Running: []core.Running{{ID: "R", End: 100, Segs: []nodeset.Segment{{First: 0, Last: 19, Cores: 8}}}}}
	for i := range 100 {
		s.Pending = append(s.Pending, &core.Job{ID: fmt.Sprint(i), Request: bids.Request{Cores: 30 + 4*i}, Priority: 1, TimeLimit: 100})
	}
	policy := auctionBy(t, nil)
	ended := 0
	for n := 1; n < 4000; n += 1 + n/8 {
		ctx := &counting{Context: context.Background(), cancelled: n}
		p := core.Plan{Decisions: make([]core.Decision, 3)}
		err := policy.Decide(ctx, s, core.Limits{Seed: 1}, &p)
		if err == nil {
			require.NoError(t, core.Verify(s, &p))
			require.NotEmpty(t, p.Decisions)
			continue
		}
		ended++
		require.ErrorIs(t, err, context.Canceled)
		require.Empty(t, p.Decisions)
		require.LessOrEqual(t, ctx.asked.Load(), int64(n+20), "it goes on although it has seen that nobody waits")
	}
	require.Greater(t, ended, 1)
	ctx, cancel := context.WithTimeout(context.Background(), time.Nanosecond)
	defer cancel()
	<-ctx.Done()
	var p core.Plan
	require.ErrorIs(t, policy.Decide(ctx, s, core.Limits{}, &p), context.DeadlineExceeded)
}

// Whatever the preset, and whether anybody waits for a place.
func TestNobodyHoldsWhatIsFree(t *testing.T) {
	nodes, err := nodeset.New([]nodeset.Capacity{{Cores: 8}, {Cores: 8}})
	require.NoError(t, err)
	memory, err := nodes.AddResource("memory", []int64{100, 100})
	require.NoError(t, err)
	on := []nodeset.Segment{{Cores: 4}}
	require.NoError(t, nodes.Allocate(on))
	uses := nodeset.Uses{{Row: memory, PerNode: 50}} // of which the machine knows nothing
	s := core.Snapshot{Nodes: nodes, Running: []core.Running{{ID: "r", End: 100, Segs: on, Uses: uses}}}
	for _, preset := range []string{"none", "default", "paper"} {
		for wide := 1; wide <= 2; wide++ {
			r := bids.Request{MinNodes: wide, MaxNodes: wide, TasksPerNode: 4}
			s.Pending = []*core.Job{{ID: "a", Request: r, Priority: 1, TimeLimit: 50}}
			policy, err := core.NewAuction(core.Preset(preset), nil)
			require.NoError(t, err)
			var p core.Plan
			err = policy.Decide(context.Background(), &s, core.Limits{}, &p)
			require.EqualError(t, err, "running job r: node 0 would have 150 of 100 memory free", preset)
		}
	}
}
