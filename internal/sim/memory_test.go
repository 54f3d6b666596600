// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// mixOfMemory is a workload for 8 nodes of 16 cores and 62 GiB, on which memory binds.
type mixOfMemory struct {
	name  string
	jobs  int
	every float64 // seconds between two on average, exponentially distributed
	low   int64   // seconds that they run, uniformly distributed
	high  int64
	// wide: 1 to 4 nodes, 1 to 8 cores on each, 2 to 7 GiB a core. Else a node, 2 cores, 14 to 30
	// GiB.
	wide bool
}

func (m *mixOfMemory) draw(rng *rand.Rand) (jobs []workload.Job) {
	at := 0.0
	for i := range m.jobs {
		r := bids.Request{MinNodes: 1, TasksPerNode: 2, Uses: nodeset.Uses{{Row: 1, PerNode: 14 + rng.Int64N(17)}}}
		if m.wide {
			r = bids.Request{MinNodes: 1 + rng.IntN(4), TasksPerNode: 1 + rng.IntN(8),
				Uses: nodeset.Uses{{Row: 1, PerCore: 2 + rng.Int64N(6)}}}
		}
		r.MaxNodes = r.MinNodes
		runs := m.low + rng.Int64N(m.high-m.low+1)
		j := jobOf(i, r, int64(at), runs, runs+60)
		j.Priority += 1000
		jobs = append(jobs, j)
		at += m.every * rng.ExpFloat64()
	}
	return jobs
}

// Where memory binds, jobs wait no longer under the auction than under backfill.
func TestWaitsWhereMemoryBinds(t *testing.T) {
	race.Slow(t)
	const seeds = 20
	for _, m := range []mixOfMemory{
		{"48 jobs at once, 8 s", 48, 0, 8, 8, false},
		{"200 jobs, 0.42 s apart, 8 s", 200, 0.42, 8, 8, false},
		{"300 jobs, 5.6 s apart, 10-200 s", 300, 5.6, 10, 200, false},
		{"200 wide jobs, 14 s apart, 10-200 s", 200, 14, 10, 200, true},
	} {
		var wait, free [2]float64 // the latter as if memory did not count
		for seed := range uint64(seeds) {
			jobs := m.draw(rand.New(rand.NewPCG(seed, 1)))
			cfg := withMemory(nodesOf([3]int{8, 16, 0}), 62, 62, 62, 62, 62, 62, 62, 62)
			cfg.Interval = 1
			for i, memory := range []*[2]float64{&wait, &free} {
				if i > 0 {
					for k := range jobs {
						jobs[k].Uses = nil
					}
				}
				for k, p := range []core.Policy{backfill(t, nil), auction(t)} {
					_, res := recordsWith(t, cfg, p, jobs)
					require.Equal(t, m.jobs, res.Jobs)
					memory[k] += res.WaitMean / seeds
				}
			}
		}
		t.Logf("%s: mean wait %.2f s under backfill, %.2f s under the auction; without memory %.2f and %.2f s",
			m.name, wait[0], wait[1], free[0], free[1])
		require.LessOrEqual(t, wait[1], wait[0], m.name)
		require.Greater(t, wait[0], 1.2*free[0], "memory binds")
	}
}
