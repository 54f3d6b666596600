// SPDX-License-Identifier: BSD-3-Clause

//go:build unix

package core_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/nodeset"
)

// metered is a policy whose cycles are measured: their processor time, of all threads, and how often
// they allocate.
type metered struct {
	core.Policy
	cpu           []time.Duration
	allocs        []uint64
	before, after runtime.MemStats
	used          syscall.Rusage
}

func (m *metered) Decide(ctx context.Context, s *core.Snapshot, l core.Limits, p *core.Plan) error {
	begin := m.processorTime()
	runtime.ReadMemStats(&m.before)
	err := m.Policy.Decide(ctx, s, l, p)
	runtime.ReadMemStats(&m.after)
	m.cpu = append(m.cpu, m.processorTime()-begin)
	m.allocs = append(m.allocs, m.after.Mallocs-m.before.Mallocs)
	return err
}

func (m *metered) processorTime() time.Duration {
	if syscall.Getrusage(syscall.RUSAGE_SELF, &m.used) != nil {
		return 0
	}
	return time.Duration(m.used.Utime.Nano() + m.used.Stime.Nano())
}

// BenchmarkTail has cycles in a row in which the window changes: jobs end, others come. Nodes are below
// leaves of 32, with four further resources, two of which jobs take by core and by GPU. It says what
// part of the cycles take, in processor time, and in how many of a hundred something is allocated.
// Begin with -benchtime 400x: the first 100 cycles do not count.
func BenchmarkTail(b *testing.B) {
	for _, size := range []struct{ nodes, jobs int }{{1024, 200}, {10_000, 500}} {
		b.Run(fmt.Sprintf("N=%d/J=%d", size.nodes, size.jobs), func(b *testing.B) {
			o := core.Preset("default")
			o.Window = size.jobs
			auction, err := core.NewAuction(o, nil)
			require.NoError(b, err)
			m, clock := &metered{Policy: auction}, &fakeClock{midnight}
			c, err := core.NewCluster(core.ClusterOptions{Policy: m, Clock: clock.Now})
			require.NoError(b, err)
			switches := []nodeset.Switch{{Name: "root", Parent: -1}}
			for l := range (size.nodes + 31) / 32 {
				switches = append(switches, nodeset.Switch{Name: fmt.Sprint("leaf", l), Parent: 0})
			}
			require.NoError(b, c.SetTopology(switches))
			for n := range size.nodes {
				require.NoError(b, c.SetNode(core.Node{Name: fmt.Sprint("n", n), Capacity: nodeset.Capacity{Cores: 64, GPUs: 4},
					Leaf: fmt.Sprint("leaf", n/32), Resources: map[string]int64{"memory": 512, "disk": 1000, "gpu-memory": 320, "net": 100}}))
			}
			r, next, waiting := rand.New(rand.NewPCG(1, 1)), 0, 0
			var running []string
			for b.Loop() {
				for ; waiting < 3*size.jobs/2; waiting++ {
					j := drawnJob(r, next, 5)
					j.Takes = map[string]nodeset.Use{"memory": {PerCore: 1 + r.Int64N(12)}, "disk": {PerNode: r.Int64N(500)},
						"net": {PerNode: r.Int64N(50)}, "gpu-memory": {PerGPU: 20 * r.Int64N(4)}}
					if r.IntN(2) == 0 {
						j.Request = bids.Request{Cores: 1 + r.IntN(32)}
					}
					require.NoError(b, c.Submit(j))
					next++
				}
				for range 1 + len(running)/30 {
					if len(running) == 0 {
						break
					}
					i := r.IntN(len(running))
					require.NoError(b, c.Ended(running[i]))
					running[i] = running[len(running)-1]
					running = running[:len(running)-1]
				}
				clock.Advance(time.Minute)
				cycle, err := c.Decide(context.Background())
				require.NoError(b, err)
				for _, s := range cycle.Starts {
					running = append(running, s.Job)
				}
				waiting -= len(cycle.Starts)
			}
			if len(m.cpu) <= 100 {
				return
			}
			cpu := slices.Sorted(slices.Values(m.cpu[100:]))
			at := func(q float64) float64 { return float64(cpu[int(q*float64(len(cpu)-1))].Microseconds()) / 1000 }
			b.ReportMetric(at(0.5), "p50-ms")
			b.ReportMetric(at(0.99), "p99-ms")
			b.ReportMetric(at(1), "max-ms")
			some := 0
			for _, n := range m.allocs[100:] {
				if n > 0 {
					some++
				}
			}
			b.ReportMetric(100*float64(some)/float64(len(cpu)), "allocating-%")
			b.ReportMetric(float64(len(running)), "running")
		})
	}
}
