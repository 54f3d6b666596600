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
	"github.com/aucsched/aucsched/internal/test/race"
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

// tail has cycles in a row in which the window changes: jobs end, others come. Nodes are below leaves
// of 32, with four further resources, two of which jobs take by core and by GPU.
type tail struct {
	metered
	cluster       *core.Cluster
	clock         *fakeClock
	random        *rand.Rand
	jobs          int
	next, waiting int
	running       []string
}

func newTail(t testing.TB, nodes, jobs int) *tail {
	o := core.Preset("default")
	o.Window = jobs
	auction, err := core.NewAuction(o, nil)
	require.NoError(t, err)
	x := &tail{metered: metered{Policy: auction}, clock: &fakeClock{midnight}, random: rand.New(rand.NewPCG(1, 1)), jobs: jobs}
	x.cluster, err = core.NewCluster(core.ClusterOptions{Policy: &x.metered, Clock: x.clock.Now})
	require.NoError(t, err)
	switches := []nodeset.Switch{{Name: "root", Parent: -1}}
	for l := range (nodes + 31) / 32 {
		switches = append(switches, nodeset.Switch{Name: fmt.Sprint("leaf", l), Parent: 0})
	}
	require.NoError(t, x.cluster.SetTopology(switches))
	for n := range nodes {
		require.NoError(t, x.cluster.SetNode(core.Node{Name: fmt.Sprint("n", n), Capacity: nodeset.Capacity{Cores: 64, GPUs: 4},
			Leaf: fmt.Sprint("leaf", n/32), Resources: map[string]int64{"memory": 512, "disk": 1000, "gpu-memory": 320, "net": 100}}))
	}
	return x
}

func (x *tail) cycle(t testing.TB) {
	r := x.random
	for ; x.waiting < 3*x.jobs/2; x.waiting++ {
		j := drawnJob(r, x.next, 5)
		j.Takes = map[string]nodeset.Use{"memory": {PerCore: 1 + r.Int64N(12)}, "disk": {PerNode: r.Int64N(500)},
			"net": {PerNode: r.Int64N(50)}, "gpu-memory": {PerGPU: 20 * r.Int64N(4)}}
		if r.IntN(2) == 0 {
			j.Request = bids.Request{Cores: 1 + r.IntN(32)}
		}
		require.NoError(t, x.cluster.Submit(j))
		x.next++
	}
	for range 1 + len(x.running)/30 {
		if len(x.running) == 0 {
			break
		}
		i := r.IntN(len(x.running))
		require.NoError(t, x.cluster.Ended(x.running[i]))
		x.running[i] = x.running[len(x.running)-1]
		x.running = x.running[:len(x.running)-1]
	}
	x.clock.Advance(time.Minute)
	cycle, err := x.cluster.Decide(context.Background())
	require.NoError(t, err)
	for _, s := range cycle.Starts {
		x.running = append(x.running, s.Job)
	}
	x.waiting -= len(cycle.Starts)
}

// allocating is in how many cycles from the given one on something is allocated.
func (x *tail) allocating(from int) (some int) {
	for _, n := range x.allocs[from:] {
		some += int(min(n, 1))
	}
	return some
}

// Jobs that ask for what nobody before them did need no memory of their own.
func TestChangingWindowAllocatesNothingInSteadyState(t *testing.T) {
	race.Allocates(t)
	x := newTail(t, 128, 30)
	for range 250 {
		x.cycle(t)
	}
	require.Less(t, x.allocating(150), 25, "%v", x.allocs)
	require.Greater(t, x.next, 500)
}

// BenchmarkTail says what part of the cycles take, in processor time, and in how many of a hundred
// something is allocated. Begin with -benchtime 400x: the first 100 cycles do not count.
func BenchmarkTail(b *testing.B) {
	for _, size := range []struct{ nodes, jobs int }{{1024, 200}, {10_000, 500}} {
		b.Run(fmt.Sprintf("N=%d/J=%d", size.nodes, size.jobs), func(b *testing.B) {
			x := newTail(b, size.nodes, size.jobs)
			for b.Loop() {
				x.cycle(b)
			}
			if len(x.cpu) <= 100 {
				return
			}
			cpu := slices.Sorted(slices.Values(x.cpu[100:]))
			at := func(q float64) float64 { return float64(cpu[int(q*float64(len(cpu)-1))].Microseconds()) / 1000 }
			b.ReportMetric(at(0.5), "p50-ms")
			b.ReportMetric(at(0.99), "p99-ms")
			b.ReportMetric(at(1), "max-ms")
			b.ReportMetric(100*float64(x.allocating(100))/float64(len(cpu)), "allocating-%")
			b.ReportMetric(float64(len(x.running)), "running")
		})
	}
}
