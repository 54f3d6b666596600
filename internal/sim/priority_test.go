// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

func TestMultifactor(t *testing.T) {
	const day = 24 * 60 * 60
	m, err := NewMultifactor(1024, 8192, 0)
	require.NoError(t, err)
	for _, c := range []struct {
		name string
		req  bids.Request
		age  int64
		want int64
	}{
		{"the whole machine, just submitted", bids.Request{MinNodes: 1024, Cores: 8192}, 0, 10080},
		{"a minute is worth one", bids.Request{MinNodes: 1024, Cores: 8192}, 60, 1 + 10080},
		{"less than a minute is not", bids.Request{MinNodes: 1024, Cores: 8192}, 59, 10080},
		// a node is 4.92
		{"all cores, on any number of nodes", bids.Request{Cores: 8192}, 0, 5040 + 4},
		{"a 32nd of the cores", bids.Request{Cores: 256}, 600, 10 + 162}, // 157.5 + 4.92
		{"rounded down", bids.Request{Cores: 1}, 0, 5},                   // 0.62 + 4.92
		{"cores by nodes", bids.Request{MinNodes: 64, TasksPerNode: 4}, 600, 10 + 472},
		{"a week", bids.Request{Cores: 256}, 7 * day, 10080 + 162},
		{"age counts for a week only", bids.Request{Cores: 256}, 9 * day, 10080 + 162},
		{"never more than all cores", bids.Request{MinNodes: 2000, Cores: 9000}, 0, 10080},
		{"before its submission", bids.Request{MinNodes: 1024, Cores: 8192}, -5, 10080},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := jobOf(1, c.req, 100, 1, 1)
			require.Equal(t, c.want, m.Priority(&j, 100+c.age))
		})
	}
}

func TestMultifactorErrors(t *testing.T) {
	for _, c := range []struct {
		nodes, cores, age int64
		want              string
	}{
		{0, 8, 0, "nodes of the machine: 0: must be in 1..1048576"},
		{1, 0, 0, "cores of the machine: 0: must be in 1..68718428160"},
		{1, 8, -60, "age at which it counts fully: -60: must be whole minutes in 60..3153600000 seconds"},
		{1, 8, 90, "age at which it counts fully: 90: must be whole minutes in 60..3153600000 seconds"},
		{1, 8, 60 * 52560001, "age at which it counts fully: 3153600060: must be whole minutes in 60..3153600000 seconds"},
	} {
		_, err := NewMultifactor(c.nodes, c.cores, c.age)
		require.EqualError(t, err, c.want)
	}
}

// The greatest numbers stay in range: a priority is that of exact arithmetic.
func TestMultifactorIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.Int64Range(1, nodeset.MaxNodes).Draw(t, "nodes")
		cores := rapid.Int64Range(1, nodeset.MaxNodes*bids.MaxCoresPerNode).Draw(t, "cores")
		minutes := rapid.Int64Range(1, core.NoTimeLimit/60).Draw(t, "minutes")
		j := jobOf(1, bids.Request{
			Cores: rapid.IntRange(1, bids.MaxCores).Draw(t, "wanted"), MinNodes: rapid.IntRange(0, nodeset.MaxNodes).Draw(t, "least nodes"),
		}, rapid.Int64Range(0, maxTime).Draw(t, "submit"), 1, 1)
		now := j.Submit + rapid.Int64Range(0, 1<<40).Draw(t, "age")
		m, err := NewMultifactor(nodes, cores, 60*minutes)
		require.NoError(t, err)
		w := big.NewInt(minutes)
		age := big.NewInt((now - j.Submit) / 60)
		if age.Cmp(w) > 0 {
			age = w
		}
		share := big.NewRat(min(int64(max(j.MinNodes, 1)), nodes), nodes)
		share.Add(share, big.NewRat(min(int64(j.Cores), cores), cores)).Mul(share, big.NewRat(minutes, 2))
		size := new(big.Int).Quo(share.Num(), share.Denom())
		require.Equal(t, max(size.Add(size, age).Int64(), 1), m.Priority(&j, now))
		require.LessOrEqual(t, m.Priority(&j, now), int64(core.MaxPriority))
	})
}

// A small job that has come first stays in front of a large one until it is so old
// that it gains no more by waiting.
func TestOrderChangesWithAge(t *testing.T) {
	m, err := NewMultifactor(1, 4, 3600) // W = 60, 30 for the one node: a core is worth 7.5 minutes
	require.NoError(t, err)
	var order []string
	p := scripted(func(s *core.Snapshot, p *core.Plan) error {
		order = append(order, fmt.Sprintf("%d %s %d", s.Now, s.Pending[0].ID, s.Pending[0].Priority))
		return nil
	})
	cfg := NewConfig(nodesOf([3]int{1, 4, 0}))
	cfg.Priorities = m
	event := func(n int, at int64) workload.Job { // brings about a cycle, and is never in front
		return jobOf(n, bids.Request{Cores: 1}, at, 1, 1)
	}
	small, large := jobOf(1, bids.Request{Cores: 2}, 0, 1, 1), jobOf(2, bids.Request{Cores: 4}, 3000, 1, 1)
	_, err = Run(context.Background(), cfg, p, []workload.Job{small, large, event(3, 600), event(4, 5700), event(5, 5760)})
	require.NoError(t, err)
	require.Equal(t, []string{"0 J1 45", "600 J1 55", "3000 J1 95", "5700 J1 105", "5760 J2 106"}, first(order, 5))
}

// Priorities hold for a period, but those of jobs that come.
func TestPrioritiesHoldForAPeriod(t *testing.T) {
	m, err := NewMultifactor(1, 4, 3600)
	require.NoError(t, err)
	var order []string
	p := scripted(func(s *core.Snapshot, p *core.Plan) error {
		order = append(order, fmt.Sprintf("%d %s %d", s.Now, s.Pending[0].ID, s.Pending[0].Priority))
		return nil
	})
	cfg := NewConfig(nodesOf([3]int{1, 4, 0}))
	cfg.Priorities, cfg.PriorityPeriod = m, 600
	jobs := []workload.Job{jobOf(1, bids.Request{Cores: 2}, 0, 1, 1), jobOf(2, bids.Request{Cores: 4}, 3000, 1, 1)}
	for i, at := range []int64{660, 1140, 1200, 5700, 5760, 6000} { // as in TestOrderChangesWithAge
		jobs = append(jobs, jobOf(3+i, bids.Request{Cores: 1}, at, 1, 1))
	}
	_, err = Run(context.Background(), cfg, p, jobs)
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
		cores := int64(0)
		for _, n := range nodes {
			cores += int64(n.Cores)
		}
		m, err := NewMultifactor(int64(len(nodes)), cores, 60*rapid.Int64Range(1, 30).Draw(t, "minutes"))
		require.NoError(t, err)
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
					require.Equal(t, m.Priority(&bySubmit[i], s.Now), pr)
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
		cfg.Priorities = m
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
func TestMultifactorServesLargeJobsFirst(t *testing.T) {
	nodes := nodesOf([3]int{4, 4, 0})
	jobs := []workload.Job{jobOf(0, bids.Request{Cores: 16}, 0, 100, 100)}
	for i := range 8 {
		jobs = append(jobs, jobOf(1+i, bids.Request{Cores: 4}, 1, 100, 100))
	}
	jobs = append(jobs, jobOf(9, bids.Request{Cores: 16}, 2, 100, 100))
	for _, policy := range []core.Policy{backfill(t, nil), auction(t)} {
		last := map[bool]int64{}
		for _, multifactor := range []bool{false, true} {
			cfg := NewConfig(nodes)
			if multifactor {
				m, err := NewMultifactor(4, 16, 0)
				require.NoError(t, err)
				cfg.Priorities = m
			}
			cfg.OnEnd = func(r Record) {
				if r.Job.ID == "J9" {
					last[multifactor] = r.Start
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
	m, err := NewMultifactor(80, 640, 600)
	require.NoError(t, err)
	var jobs []workload.Job
	for i := range 500 {
		jobs = append(jobs, jobOf(i, bids.Request{Cores: 1 + i*37%640}, int64(i), 1, 1))
	}
	cfg := NewConfig(nodesOf([3]int{80, 8, 0}))
	cfg.Priorities = m
	s, err := newSimulator(cfg, backfill(t, nil), jobs)
	require.NoError(t, err)
	s.now = 500
	require.NoError(t, s.advance())
	front := map[string]bool{}
	require.Zero(t, testing.AllocsPerRun(20, func() {
		s.now += 30
		if s.ranking.update(s.now) != nil {
			t.Fail()
		}
	}))
	for now := range int64(40) {
		require.NoError(t, s.ranking.update(now*30))
		front[s.pending.jobs()[1].ID] = true
	}
	require.Greater(t, len(front), 1, "the order does change")
}
