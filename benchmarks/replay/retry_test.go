// SPDX-License-Identifier: BSD-3-Clause

package replay

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// However short a cycle is, all jobs run that can: what a cycle had no time for
// is decided on later.
func TestNoCycleLimitLeavesJobsUnrun(t *testing.T) {
	paper, none := core.Preset("paper"), core.Preset("none")
	none.Reservations = 0
	var all []core.Policy
	for _, o := range []core.AuctionOptions{core.Preset("none"), none, paper, core.Preset("packed")} {
		a, err := core.NewAuction(o, nil)
		require.NoError(t, err)
		all = append(all, a)
	}
	for _, policy := range all {
		for _, limit := range []time.Duration{time.Nanosecond, 20 * time.Microsecond} {
			var jobs []workload.Job
			for i := range 40 {
				jobs = append(jobs,
					workload.Job{Job: core.Job{ID: fmt.Sprint(i), Request: bids.Request{Cores: 1 + i},
						TimeLimit: 100}, Submit: int64(i / 20 * 50), Duration: 50})
			}
			workload.AssignBasicPriorities(jobs)
			c := sim.NewConfig(make([]nodeset.Capacity, 16))
			for n := range c.Nodes {
				c.Nodes[n].Cores = 4
			}
			r, err := sim.Run(context.Background(), c, Limited(policy, limit, &c), jobs)
			require.NoError(t, err)
			require.Empty(t, r.Unrun, "%s, %v", policy.Name(), limit)
		}
	}
}

// patient is a policy that needs so much time to start anything.
type patient struct {
	now    time.Time // the clock, which stands still
	needs  time.Duration
	given  []time.Duration
	cycles []int64
}

func (p *patient) Name() string { return "patient" }

func (p *patient) Decide(_ context.Context, s *core.Snapshot, l core.Limits, plan *core.Plan) error {
	given := l.Deadline.Sub(p.now)
	p.given, p.cycles = append(p.given, given), append(p.cycles, s.Now)
	*plan = core.Plan{Decisions: []core.Decision{{Why: core.TimedOut}}, Stats: core.Stats{TimedOut: 1}}
	if given >= p.needs {
		*plan = core.Plan{Decisions: []core.Decision{{Start: true, Segs: []nodeset.Segment{{Cores: 1}}}}}
	}
	return nil
}

// An idle machine gives a cycle ever more time, later and later; a policy that is never done is
// asked often, not for ever.
func TestRetriesHaveMoreTime(t *testing.T) {
	job := workload.Job{Job: core.Job{ID: "J", Request: bids.Request{Cores: 1}, Priority: 1, TimeLimit: 9}, Duration: 9}
	c := sim.NewConfig([]nodeset.Capacity{{Cores: 1}})
	for needs, unrun := range map[time.Duration]int{30 * time.Second: 0, 1 << 62: 1} {
		p := &patient{now: time.Unix(1e9, 0), needs: needs}
		c.Clock = func() time.Time { return p.now }
		r, err := sim.Run(context.Background(), c, Limited(p, time.Second, &c), []workload.Job{job})
		require.NoError(t, err)
		require.Len(t, r.Unrun, unrun)
		for i := range min(len(p.given)-1, 6) {
			require.Equal(t, time.Second<<i, p.given[i])
			require.Equal(t, int64(3)<<(i+1), p.cycles[i+1]-p.cycles[i])
		}
		require.LessOrEqual(t, p.given[len(p.given)-1], longestCycle)
		require.Less(t, len(p.given), maxVain+2*16)
	}
}

// What cycles of a busy machine had no time for gives the first one of an idle machine neither
// an hour nor a pause.
func TestBusyCyclesDoNotCountOnAnIdleMachine(t *testing.T) {
	c := sim.NewConfig(make([]nodeset.Capacity, 1))
	const limit = 50 * time.Millisecond
	var r retry
	for range 2 * maxVain {
		r.learn(c.Interval, 1000, true, 0, false)
		require.Equal(t, limit, r.limit(limit, false))
	}
	require.Zero(t, r.at, "not before a job comes or goes")
	require.Equal(t, limit, r.limit(limit, true))
	for i := range 3 {
		r.learn(c.Interval, 1000, true, 0, true)
		require.Equal(t, limit<<(i+1), r.limit(limit, true))
		require.Equal(t, 1000+c.Interval<<(i+1), r.at)
	}
	r.learn(c.Interval, 1000, true, 1, true)
	require.Equal(t, limit, r.limit(limit, true), "it has started one")
	require.Equal(t, 1000+c.Interval, r.at)
}
