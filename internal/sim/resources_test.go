// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// withMemory is the configuration of a machine whose nodes have so much memory.
func withMemory(nodes []nodeset.Capacity, memory ...int64) Config {
	cfg := NewConfig(nodes)
	cfg.Resources = []Resource{{Name: "disk", Total: make([]int64, len(nodes))}, {Name: "memory", Total: memory}}
	return cfg
}

// takes is a job of a core that takes so much memory.
func takes(number int, memory, submit, duration int64) workload.Job {
	return jobOf(number, bids.Request{Cores: 1, Uses: nodeset.Uses{{Row: 1, PerNode: memory}}}, submit, duration, duration)
}

// Memory binds: jobs wait for it, the first of them has its place kept, and small ones go before.
func TestMemoryIsBackfilled(t *testing.T) {
	jobs := []workload.Job{takes(1, 40, 0, 90), takes(2, 40, 1, 90), takes(3, 10, 1, 30), takes(4, 20, 1, 300), takes(5, 65, 1, 9)}
	for name, p := range map[string]core.Policy{"backfill": backfill(t, nil), "auction": auction(t)} {
		got, res := recordsWith(t, withMemory(nodesOf([3]int{1, 8, 0}), 64), p, jobs)
		starts := map[string]int64{}
		for id, r := range got {
			starts[id] = r.Start
		}
		require.EqualValues(t, 90, starts["J2"], name)
		require.EqualValues(t, 3, starts["J3"], name)
		want := int64(33) // once J3 is over: it runs beside the place that is kept
		if name == "backfill" {
			want = 90 // whole nodes are kept until J2 has its place
		}
		require.Equal(t, want, starts["J4"], name)
		require.Equal(t, []Unrun{{"J5", "can never run: needs 65 memory on a node, most has 64"}}, res.Unrun)
	}
}

// A second counts by itself, from what each job asked for, what nodes give.
func TestMemoryIsNeverOverCommitted(t *testing.T) {
	bound := 0
	rapid.Check(t, func(t *rapid.T) {
		nodes, jobs := drawWorkload(t)
		tab := mustTable(t, nodes)
		uses := drawMemory(t, tab)
		for i := range jobs {
			jobs[i].Uses = uses()
		}
		cfg := NewConfig(nodes)
		if tab.Resources() > 0 {
			cfg.Resources = []Resource{{Name: "memory", Total: tab.TotalOf(0)}}
		}
		opt := smallOptions(t)
		b, err := NewBackfill(opt)
		require.NoError(t, err)
		for _, p := range []core.Policy{b, auction(t)} {
			got, res := recordsWith(t, cfg, p, jobs)
			require.Len(t, jobs, len(got)+len(res.Unrun))
			checkLoad(t, nodes, got)
			for _, at := range got {
				load := make([]int64, len(nodes))
				for _, r := range got {
					if r.Start > at.Start || at.Start >= r.End {
						continue
					}
					for _, u := range r.Job.Uses {
						for _, s := range r.Segs {
							for n := s.First; n <= s.Last; n++ {
								load[n] += u.PerNode + u.PerCore*int64(s.Cores) + u.PerGPU*int64(s.GPUs)
							}
						}
					}
				}
				for n, l := range load {
					if l > 0 {
						require.LessOrEqual(t, l, cfg.Resources[0].Total[n], "node %d at %d", n, at.Start)
						bound++
					}
				}
			}
		}
	})
	require.Greater(t, bound, 100)
}

// A policy has to say what a job takes of further resources.
func TestPoliciesTellResources(t *testing.T) {
	nodes := nodesOf([3]int{1, 8, 2})
	forgets := startOn(nodeset.Segment{Cores: 1})
	_, err := Run(context.Background(), withMemory(nodes, 64), forgets, []workload.Job{takes(1, 40, 0, 9)})
	require.ErrorContains(t, err, "job J1: it uses [] instead of [{1 0 40 0 0}]")
	cfg := withMemory(nodes, 64, 64)
	_, err = Run(context.Background(), cfg, forgets, []workload.Job{takes(1, 40, 0, 9)})
	require.ErrorContains(t, err, "resource memory: 2 numbers for 1 nodes")
}

// Jobs that take no core run beside those that take all, under policies that know them.
func TestJobsWithoutCoresAreSimulated(t *testing.T) {
	jobs := []workload.Job{jobOf(1, bids.Request{MinNodes: 2, TasksPerNode: 4}, 0, 100, 100),
		jobOf(2, bids.Request{MinNodes: 2, MinGPUs: 1}, 0, 100, 100), jobOf(3, bids.Request{MinGPUs: 1}, 2, 50, 50),
		jobOf(4, bids.Request{MinNodes: 1, TasksPerNode: 1}, 3, 10, 10)}
	cfg := NewConfig(nodesOf([3]int{2, 4, 1}))
	got, res := recordsWith(t, cfg, auction(t), jobs)
	require.Empty(t, res.Unrun)
	for id, start := range map[string]int64{"J1": 0, "J2": 0, "J3": 100, "J4": 100} {
		require.InDelta(t, start, got[id].Start, 5, id) // cycles come in intervals
	}
	_, res = recordsWith(t, cfg, backfill(t, nil), jobs)
	require.Equal(t, []Unrun{{"J2", "it takes no core, which this policy does not know (the machine is idle)"},
		{"J3", "it takes no core, which this policy does not know (the machine is idle)"}}, res.Unrun)
}
