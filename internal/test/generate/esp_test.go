// SPDX-License-Identifier: BSD-3-Clause

package generate

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/test/golden"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// nodesOf is a machine by the runs of Nodes.
func nodesOf(t require.TestingT, spec string) []nodeset.Capacity {
	nodes, err := Nodes(spec)
	require.NoError(t, err)
	return nodes
}

// coreTime is the theoretical runtime in seconds: that of all jobs' cores on all of
// the machine's.
func coreTime(w *workload.Workload, nodes []nodeset.Capacity) float64 {
	sum, all := 0.0, 0
	for _, c := range nodes {
		all += int(c.Cores)
	}
	for _, j := range w.Jobs {
		sum += float64(j.Duration) * float64(j.Cores) / float64(all)
	}
	return sum
}

// runsOn checks that each job could run on the empty machine.
func runsOn(t require.TestingT, w *workload.Workload, nodes []nodeset.Capacity) {
	tab, err := nodeset.New(nodes)
	require.NoError(t, err)
	m := place.NewMachine(tab)
	for _, j := range w.Jobs {
		require.NoError(t, m.CanEverRun(&j.Request), "job %s", j.ID)
	}
}

// TestESPPaper: the figures that ipsched, section V, gives of its workload.
func TestESPPaper(t *testing.T) {
	nodes := nodesOf(t, "1024x8x2")
	for seed := range uint64(20) {
		w, err := Generate("gen:esp", nodes, seed)
		require.NoError(t, err)
		require.Len(t, w.Jobs, 458)
		require.Equal(t, 21822.0, math.Floor(coreTime(w, nodes)))
		initial, gaps, full := 0, 0.0, []int64(nil)
		for _, j := range w.Jobs {
			switch {
			case j.Cores == 8192:
				full = append(full, j.Submit)
			case j.Submit == 0:
				initial++
			default:
				gaps = float64(j.Submit)
			}
		}
		require.Equal(t, 50, initial)
		require.InDelta(t, 406*30, gaps, 5*math.Sqrt(406)*10)
		require.Equal(t, []int64{4800, 14400}, full)
	}
}

// TestESPTable: each row of figure 3(a), as it is and with 2 GPUs on every node.
func TestESPTable(t *testing.T) {
	w, err := Generate("gen:esp", nodesOf(t, "1024x8x2"), 7)
	require.NoError(t, err)
	type row struct {
		kind                   string
		cores, gpus            int
		duration, limit, count int64
	}
	rows := map[row]int64{}
	for _, j := range w.Jobs {
		require.Zero(t, j.MinNodes+j.MaxNodes+j.TasksPerNode+j.MaxGPUs)
		require.False(t, j.Contiguous)
		require.Equal(t, j.MinGPUs > 0, strings.HasSuffix(j.ID, "g"))
		rows[row{kind: j.ID[:1], cores: j.Cores, gpus: j.MinGPUs, duration: j.Duration, limit: j.TimeLimit}]++
	}
	want := map[row]int64{{kind: "Z", cores: 8192, duration: 100, limit: 120}: 2}
	for _, r := range []row{
		{"A", 256, 0, 257, 300, 75}, {"B", 512, 0, 341, 360, 9}, {"C", 4096, 0, 536, 540, 3}, {"D", 2048, 0, 601, 660, 3},
		{"E", 4096, 0, 312, 360, 3}, {"F", 512, 0, 1846, 1860, 9}, {"G", 1024, 0, 1321, 1380, 6}, {"H", 1296, 0, 1078, 1080, 6},
		{"I", 256, 0, 1438, 1440, 24}, {"J", 512, 0, 715, 720, 24}, {"K", 784, 0, 495, 540, 15}, {"L", 1024, 0, 369, 420, 36},
		{"M", 2048, 0, 192, 240, 15},
	} {
		n := r.count
		r.count = 0
		want[r] = n
		r.gpus = 2
		want[r] = n
	}
	require.Equal(t, want, rows)
}

func TestESPGolden(t *testing.T) {
	w, err := Generate("gen:esp-rand", nodesOf(t, "128x8x2"), 1)
	require.NoError(t, err)
	w.Jobs = append(w.Jobs[:6:6], w.Jobs[48:55]...)
	golden.Equal(t, "esp-rand.golden", Text(w))
}

// TestPropertyESP: on any machine that can run them all, there are the same jobs,
// each of which could run; sizes deviate by the jitter at most and nothing else depends on it.
func TestPropertyESP(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		with := rapid.IntRange(20, 300).Draw(t, "nodes with GPUs")
		cores := rapid.IntRange(1, 64).Draw(t, "cores")
		nodes := nodesOf(t, fmt.Sprintf("%dx%dx%d,%dx%d", with, cores, rapid.IntRange(2, 4).Draw(t, "GPUs"),
			rapid.IntRange(1, with-2).Draw(t, "nodes without"), cores))
		o := ESPOptions{Nodes: nodes, Seed: rapid.Uint64().Draw(t, "seed"), LimitFactor: rapid.Float64Range(1, 3).Draw(t, "factor")}
		plain, err := ESP(o)
		require.NoError(t, err)
		o.Jitter = rapid.IntRange(0, 9).Draw(t, "jitter")
		w, err := ESP(o)
		require.NoError(t, err)
		again, err := ESP(o)
		require.NoError(t, err)
		require.Equal(t, w, again)
		require.Len(t, w.Jobs, 458)
		runsOn(t, w, nodes)
		for i, j := range w.Jobs {
			require.NoError(t, j.Validate())
			require.GreaterOrEqual(t, j.TimeLimit, j.Duration)
			require.InDelta(t, plain.Jobs[i].Cores, j.Cores, float64(o.Jitter))
			j.Cores = plain.Jobs[i].Cores
			require.Equal(t, plain.Jobs[i], j)
		}
	})
}

// TestESPJitter: all deviations from -4 to 4 are as likely.
func TestESPJitter(t *testing.T) {
	nodes, n := nodesOf(t, "1024x8x2"), map[int]int{}
	for seed := range uint64(40) {
		plain, err := Generate("gen:esp", nodes, seed)
		require.NoError(t, err)
		w, err := Generate("gen:esp-rand", nodes, seed)
		require.NoError(t, err)
		for i, j := range w.Jobs {
			if j.Cores < 8000 {
				n[j.Cores-plain.Jobs[i].Cores]++
			}
		}
	}
	require.Len(t, n, 9)
	for d := -4; d <= 4; d++ {
		require.InEpsilon(t, 456*40/9, n[d], 0.1, "%d", d)
	}
}

func TestESPErrors(t *testing.T) {
	nodes := nodesOf(t, "1024x8x2")
	for _, c := range []struct {
		o    ESPOptions
		want string
	}{
		{ESPOptions{}, "nodes: 0: must be in 1..1048576"},
		{ESPOptions{Nodes: make([]nodeset.Capacity, 1)}, "cores of a node: 0: must be at least 1"},
		{ESPOptions{Nodes: nodesOf(t, "64x8x1")}, "the nodes with 2 GPUs have 0 cores in all, jobs of type A with GPUs need 16"},
		{ESPOptions{Nodes: nodesOf(t, "64x8,31x8x2,31x16x1")},
			"the nodes with 2 GPUs have 248 cores in all, jobs of type C with GPUs need 628"},
		{ESPOptions{Nodes: nodes, Jitter: -1}, "jitter: -1: must be in 0..1048576 cores"},
		{ESPOptions{Nodes: nodes, MeanGap: -1}, "mean gap: -1 s: must be in 0..1048576"},
		{ESPOptions{Nodes: nodes, GapDeviation: math.NaN()}, "deviation of the gaps: NaN s: must be in 0..1048576"},
		{ESPOptions{Nodes: nodes, FullAt: &[2]int64{-1, 0}}, "submissions of the jobs Z: [-1 0] s: must be in 0..2147483648"},
		{ESPOptions{Nodes: nodes, LimitFactor: 0.9}, "limit factor: 0.9: must be in 1..100"},
	} {
		_, err := ESP(c.o)
		require.EqualError(t, err, "esp workload: "+c.want)
	}
}
