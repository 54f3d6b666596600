package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/race"
	"github.com/aucsched/aucsched/nodeset"
	"github.com/aucsched/aucsched/workload"
)

// watched is a policy whose cycles are looked at.
type watched struct {
	core.Policy
	look func(s *core.Snapshot, p *core.Plan)
}

func (w watched) Decide(ctx context.Context, s *core.Snapshot, l core.Limits, p *core.Plan) error {
	err := w.Policy.Decide(ctx, s, l, p)
	w.look(s, p)
	return err
}

// espLike are the sizes and times of figure 3 of ipsched on a machine of that many cores, half of the jobs with 2 GPUs
// a node, and each size off a multiple of 8 by up to 4 cores (section VI), in random order; they come one after another.
func espLike(seed uint64, cores int) (jobs []workload.Job) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for _, kind := range []struct {
		size           float64
		count, seconds int
	}{{0.03125, 75, 257}, {0.0625, 9, 341}, {0.5, 3, 536}, {0.25, 3, 601}, {0.5, 3, 312}, {0.0625, 9, 1846}, {0.125, 6, 1321}, {0.1582, 6, 1078},
		{0.03125, 24, 1438}, {0.0625, 24, 715}, {0.0957, 15, 495}, {0.125, 36, 369}, {0.25, 15, 192}} {
		for i := range 2 * kind.count {
			var j workload.Job
			j.Request = bids.Request{Cores: int(kind.size*float64(cores)) + rng.IntN(9) - 4, MinGPUs: i % 2 * 2}
			j.Duration, j.TimeLimit = int64(kind.seconds), int64(kind.seconds)
			jobs = append(jobs, j)
		}
	}
	rng.Shuffle(len(jobs), func(a, b int) { jobs[a], jobs[b] = jobs[b], jobs[a] })
	for i := range jobs {
		jobs[i].ID = fmt.Sprint(i)
		jobs[i].Submit = 15 * int64(max(0, i-100))
	}
	workload.AssignBasicPriorities(jobs)
	return jobs
}

// How near the policy's answers are to its bounds over whole simulated queues, and what the cycles in which some job
// fits take: docs/architecture.md has the figures.
func TestIPSchedIsNearItsBound(t *testing.T) {
	if race.Enabled {
		t.Skip("takes long under the race detector")
	}
	type queue struct {
		name  string
		nodes []nodeset.Capacity
		jobs  []workload.Job
	}
	tsubame := nodesOf([3]int{1408, 12, 3})
	w, err := workload.Generate("gen:tsubame-1.NC", tsubame, 1)
	require.NoError(t, err)
	for _, q := range []queue{
		{"like ESP, 1024x8x2", nodesOf([3]int{1024, 8, 2}), espLike(1, 8192)}, {w.Name + ", 1408x12x3", tsubame, w.Jobs},
	} {
		a, err := core.NewIPSched(core.DefaultIPSchedOptions())
		require.NoError(t, err)
		var worth, bound float64
		var spent latencies
		full, started, proven := 0, 0, 0
		cfg := NewConfig(q.nodes)
		r, err := Run(context.Background(), cfg, watched{a, func(s *core.Snapshot, p *core.Plan) {
			if p.Bound == 0 {
				full++
				return
			}
			worth, bound = worth+p.Objective, bound+p.Bound
			spent.add(p.Stats.Elapsed)
			if p.Stats.Status == "optimal" {
				proven++
			}
			for _, d := range p.Decisions {
				if d.Start {
					started++
				}
			}
		}}, q.jobs)
		require.NoError(t, err)
		require.Empty(t, r.Unrun)
		require.Equal(t, len(q.jobs), started)
		t.Logf("%s: %d cycles, in %d of them no job fits, of the others %d are proven; bounds %.2f%% above the answers; %v (median), %v (p99), %v (max); up to %d jobs waiting",
			q.name, r.Cycles, full, proven, 100*(bound/worth-1), spent.quantile(0.5).Round(time.Millisecond/10), spent.quantile(0.99).Round(time.Millisecond), spent.max.Round(time.Millisecond), r.PendingMax)
		require.Less(t, bound/worth, 1.08, q.name)
	}
}
