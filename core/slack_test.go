// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/nodeset"
)

// busyHost is a solver that ends as late as one does who shares the processor, and its clock.
type busyHost struct {
	now    time.Time
	rng    *rand.Rand
	always time.Duration // how late it ends; at random if 0
	over   time.Duration // so much later than at random
}

func (h *busyHost) Name() string { return "busy host" }

// late is what a cycle of 50 ms takes beyond what is due with a rival on each core: mostly next to
// nothing, and up to three time slices of 3 ms or so.
func (h *busyHost) late() time.Duration {
	late := 300 * time.Microsecond
	for _, one := range []int{8, 20, 40} {
		if h.rng.IntN(one) == 0 {
			late += time.Duration(2000+h.rng.IntN(2000)) * time.Microsecond
		}
	}
	return late
}

// clock costs 5 µs a look.
func (h *busyHost) clock() time.Time {
	h.now = h.now.Add(5 * time.Microsecond)
	return h.now
}

func (h *busyHost) Solve(_ context.Context, _ *ipmodel.Model, o ipmodel.Options, r *ipmodel.Result) error {
	h.now = o.Deadline.Add(h.always)
	if h.always == 0 {
		h.now = o.Deadline.Add(h.over + h.late())
	}
	*r = ipmodel.Result{Chosen: r.Chosen[:0], Bound: ipmodel.MaxTotalValue, Status: ipmodel.Feasible}
	return nil
}

// Of 10,000 cycles on a host with rivals not even one of a thousand comes late, and what the
// caller does afterwards is counted in. Most of the time remains for the work.
func TestCyclesEndInTimeOnABusyHost(t *testing.T) {
	const span, cycles = 50 * time.Millisecond, 10_000
	nodes, err := nodeset.NewUniform(2, nodeset.Capacity{Cores: 4})
	require.NoError(t, err)
	s := &Snapshot{Nodes: nodes, Pending: queue(50, bids.Request{Cores: 3})}
	for _, after := range []time.Duration{0, 5 * time.Millisecond} {
		h := &busyHost{now: time.Unix(1000, 0), rng: rand.New(rand.NewPCG(1, 2)), over: span / solverLeaves * 9 / 10}
		o := Preset("none")
		o.Clock = func() time.Time { return h.now }
		a, err := NewAuction(o, h)
		require.NoError(t, err)
		var p Plan
		late, worked := 0, time.Duration(0)
		for range cycles {
			begin := h.now
			l := Limits{Deadline: begin.Add(span)}
			require.NoError(t, a.Decide(context.Background(), s, l, &p))
			worked += l.Deadline.Add(-a.slack.Left()).Sub(begin)
			if h.now = h.now.Add(after); after > 0 {
				a.Ended(h.now)
			}
			if h.now.Sub(begin) > span {
				late++
			}
		}
		require.Positive(t, late, "the host is busy enough to tell")
		require.LessOrEqual(t, late, cycles/1000)
		require.Greater(t, worked/cycles, span*2/3-time.Millisecond)
	}
}

// A solver that works to the end leaves time for the jobs behind the window; one that ends somewhat
// late does not cost them their place.
func TestTheSolverLeavesTimeForLeftOvers(t *testing.T) {
	const span, behind = 50 * time.Millisecond, 600
	nodes, err := nodeset.NewUniform(behind+1, nodeset.Capacity{Cores: 1})
	require.NoError(t, err)
	s := &Snapshot{Nodes: nodes, Pending: queue(50, make([]bids.Request, behind+1)...)}
	for _, job := range s.Pending {
		job.Cores = 1
	}
	o := Preset("none")
	o.Window, o.Depth = 1, behind
	for _, late := range []time.Duration{time.Nanosecond, time.Millisecond} {
		h := &busyHost{now: time.Unix(1000, 0), rng: rand.New(rand.NewPCG(1, 2)), always: late}
		o.Clock = h.clock
		a, err := NewAuction(o, h)
		require.NoError(t, err)
		cycle := func() int {
			var p Plan
			begin := h.now
			l := Limits{Deadline: begin.Add(span)}
			require.NoError(t, a.Decide(context.Background(), s, l, &p))
			require.NoError(t, Verify(s, &p))
			require.LessOrEqual(t, h.now.Sub(begin), span)
			require.True(t, p.Stats.Late, "the solver has proven nothing")
			return started(&p)
		}
		require.Equal(t, behind+1, cycle())
	}
}
