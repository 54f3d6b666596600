// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/workload"
)

// aging is the priority of ipsched on one node of 4 cores: a minute in the queue is worth 1, to an
// hour, a core 7.5, and the node 30.
type aging struct{}

func (aging) Priority(j *workload.Job, now int64) int64 {
	return min(max(now-j.Submit, 0)/60, 60) + 30 + int64(j.Cores)*15/2
}

// A small job that has come first stays in front of a large one until it is so old
// that it gains no more by waiting.
func TestOrderChangesWithAge(t *testing.T) {
	var order []string
	p := scripted(func(s *core.Snapshot, p *core.Plan) error {
		order = append(order, fmt.Sprintf("%d %s %d", s.Now, s.Pending[0].ID, s.Pending[0].Priority))
		return nil
	})
	cfg := NewConfig(nodesOf([3]int{1, 4, 0}))
	cfg.Priorities = aging{}
	event := func(n int, at int64) workload.Job { // brings about a cycle, and is never in front
		return jobOf(n, bids.Request{Cores: 1}, at, 1, 1)
	}
	small, large := jobOf(1, bids.Request{Cores: 2}, 0, 1, 1), jobOf(2, bids.Request{Cores: 4}, 3000, 1, 1)
	_, err := Run(context.Background(), cfg, p, []workload.Job{small, large, event(3, 600), event(4, 5700), event(5, 5760)})
	require.NoError(t, err)
	require.Equal(t, []string{"0 J1 45", "600 J1 55", "3000 J1 95", "5700 J1 105", "5760 J2 106"}, first(order, 5))
}

// Priorities hold for a period, but those of jobs that come.
func TestPrioritiesHoldForAPeriod(t *testing.T) {
	var order []string
	p := scripted(func(s *core.Snapshot, p *core.Plan) error {
		order = append(order, fmt.Sprintf("%d %s %d", s.Now, s.Pending[0].ID, s.Pending[0].Priority))
		return nil
	})
	cfg := NewConfig(nodesOf([3]int{1, 4, 0}))
	cfg.Priorities, cfg.PriorityPeriod = aging{}, 600
	jobs := []workload.Job{jobOf(1, bids.Request{Cores: 2}, 0, 1, 1), jobOf(2, bids.Request{Cores: 4}, 3000, 1, 1)}
	for i, at := range []int64{660, 1140, 1200, 5700, 5760, 6000} { // as in TestOrderChangesWithAge
		jobs = append(jobs, jobOf(3+i, bids.Request{Cores: 1}, at, 1, 1))
	}
	_, err := Run(context.Background(), cfg, p, jobs)
	require.NoError(t, err)
	require.Equal(t, []string{"0 J1 45", "660 J1 56", "1140 J1 56", "1200 J1 65", "3000 J1 95", "5700 J1 105", "5760 J1 105",
		"6000 J2 110"}, first(order, 8))

	for _, bad := range []int64{-1, maxTime + 1} {
		cfg.PriorityPeriod = bad
		_, err = Run(context.Background(), cfg, p, jobs)
		require.ErrorContains(t, err, "priority period")
	}
}

func first(s []string, n int) []string { return s[:min(n, len(s))] }

// The queue that policies see is the one that sorting all pending jobs anew gives.
func TestPrioritiesRankTheQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes, jobs := drawWorkload(t)
		before := slices.Clone(jobs)
		bySubmit := slices.Clone(jobs)
		sort.SliceStable(bySubmit, func(i, k int) bool { return bySubmit[i].Submit < bySubmit[k].Submit })
		inner, cycles := backfill(t, nil), 0
		p := scripted(nil)
		p = func(s *core.Snapshot, p *core.Plan) error {
			pending := map[string]int64{}
			for _, j := range s.Pending {
				pending[j.ID] = j.Priority
			}
			var want, got []string
			for i := range bySubmit {
				if pr, ok := pending[bySubmit[i].ID]; ok {
					require.Equal(t, aging{}.Priority(&bySubmit[i], s.Now), pr)
					want = append(want, bySubmit[i].ID)
				}
			}
			sort.SliceStable(want, func(i, k int) bool { return pending[want[i]] > pending[want[k]] })
			for _, j := range s.Pending {
				got = append(got, j.ID)
			}
			require.Equal(t, want, got)
			cycles++
			return inner.Decide(context.Background(), s, core.Limits{}, p)
		}
		cfg := NewConfig(nodes)
		cfg.Priorities = aging{}
		res, err := Run(context.Background(), cfg, p, jobs)
		require.NoError(t, err)
		require.Equal(t, int64(cycles), res.Cycles)
		require.Equal(t, before, jobs, "the caller's jobs stay as they are")
		require.Len(t, jobs, res.Jobs+len(res.Unrun))
	})
}

// own ranks jobs as they come.
type own struct{}

func (own) Priority(j *workload.Job, _ int64) int64 { return j.Priority }

// Ranking jobs by the priorities that they come with changes nothing, bit for bit.
func TestOwnPrioritiesChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes, jobs := drawWorkload(t)
		measure := func(p Priorities, policy core.Policy) *Result {
			cfg := NewConfig(nodes)
			cfg.Priorities = p
			res, err := Run(context.Background(), cfg, policy, jobs)
			require.NoError(t, err)
			res.CycleMsP50, res.CycleMsP99, res.CycleMsMax = 0, 0, 0
			return res
		}
		for _, policy := range []func() core.Policy{
			func() core.Policy { return backfill(t, nil) },
			func() core.Policy { return auction(t) },
		} {
			require.Equal(t, measure(nil, policy()), measure(own{}, policy()))
		}
	})
}

func auction(t require.TestingT) core.Policy {
	o := core.Preset("none")
	o.Work = 2000
	a, err := core.NewAuction(o, nil)
	require.NoError(t, err)
	return a
}

// Both policies run every job under priorities that change, and the large
// job that came last is served before the small ones.
func TestAgingServesLargeJobsFirst(t *testing.T) {
	nodes := nodesOf([3]int{4, 4, 0})
	jobs := []workload.Job{jobOf(0, bids.Request{Cores: 16}, 0, 100, 100)}
	for i := range 8 {
		jobs = append(jobs, jobOf(1+i, bids.Request{Cores: 4}, 1, 100, 100))
	}
	jobs = append(jobs, jobOf(9, bids.Request{Cores: 16}, 2, 100, 100))
	for _, policy := range []core.Policy{backfill(t, nil), auction(t)} {
		last := map[bool]int64{}
		for _, byAge := range []bool{false, true} {
			cfg := NewConfig(nodes)
			if byAge {
				cfg.Priorities = aging{}
			}
			cfg.OnEnd = func(r Record) {
				if r.Job.ID == "J9" {
					last[byAge] = r.Start
				}
			}
			res, err := Run(context.Background(), cfg, policy, jobs)
			require.NoError(t, err)
			require.Equal(t, len(jobs), res.Jobs)
		}
		require.Equal(t, map[bool]int64{false: 306, true: 102}, last, policy.Name())
	}
}

type wrong int64

func (w wrong) Priority(*workload.Job, int64) int64 { return int64(w) }

func TestPrioritiesOutOfRange(t *testing.T) {
	for _, p := range []wrong{0, core.MaxPriority + 1} {
		cfg := NewConfig(nodesOf([3]int{1, 4, 0}))
		cfg.Priorities = p
		_, err := Run(context.Background(), cfg, startOn(), []workload.Job{jobOf(1, bids.Request{Cores: 1}, 0, 1, 1)})
		require.EqualError(t, err, fmt.Sprintf("policy scripted at second 0: job J1: priority: %d: must be between 1 and 1099511627776", p))
	}
}

// Ranking a queue takes no memory, however the order changes.
func TestRankingAllocatesNothing(t *testing.T) {
	var jobs []workload.Job
	for i := range 500 {
		jobs = append(jobs, jobOf(i, bids.Request{Cores: 1 + i/125}, int64(10*i), 1, 1))
	}
	cfg := NewConfig(nodesOf([3]int{80, 8, 0}))
	cfg.Priorities = aging{}
	s, err := newSimulator(cfg, backfill(t, nil), jobs)
	require.NoError(t, err)
	s.now = 5000
	require.NoError(t, s.advance())
	front := map[string]bool{}
	require.Zero(t, testing.AllocsPerRun(20, func() {
		s.now += 30
		if s.ranking.update(s.now) != nil {
			t.Fail()
		}
	}))
	for now := range int64(40) {
		require.NoError(t, s.ranking.update(now*150))
		front[s.pending.jobs[1].ID] = true
	}
	require.Greater(t, len(front), 1, "the order does change")
}
