// SPDX-License-Identifier: BSD-3-Clause

package generate

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/internal/test/golden"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// TestMixShares: the kinds of jobs of aucsched1, table 4, and what they ask of a
// node, in equal parts.
func TestMixShares(t *testing.T) {
	nodes := nodesOf(t, "128x8x2")
	type kind struct{ perNode, gpus int } // 0, 0: cores only
	for _, c := range []struct {
		workload string
		want     map[kind]float64
	}{
		{"I", map[kind]float64{{0, 0}: 1}},
		{"II", map[kind]float64{{4, 0}: 0.5, {8, 0}: 0.5}},
		{"III", map[kind]float64{{0, 0}: 0.5, {4, 0}: 0.25, {8, 0}: 0.25}},
		{"IV", map[kind]float64{{0, 0}: 0.4, {4, 0}: 0.2, {8, 0}: 0.2, {1, 1}: 0.1, {2, 1}: 0.1}},
		{"V", map[kind]float64{{0, 0}: 1. / 3, {4, 0}: 1. / 6, {8, 0}: 1. / 6, {1, 1}: 1. / 12,
			{2, 1}: 1. / 12, {2, 2}: 1. / 12, {4, 2}: 1. / 12}},
	} {
		got, total, contiguous := map[kind]float64{}, 0.0, 0.0
		for seed := range uint64(30) {
			w, err := Generate("gen:"+c.workload+".2", nodes, seed)
			require.NoError(t, err)
			for _, j := range w.Jobs {
				k := kind{0, j.MinGPUs}
				if j.MinNodes > 0 {
					require.Equal(t, []int{j.MinNodes, j.MinNodes * j.TasksPerNode}, []int{j.MaxNodes, j.Cores})
					k.perNode = j.TasksPerNode
				}
				got[k]++
				total++
				if j.Contiguous {
					contiguous++
				}
			}
		}
		require.Len(t, got, len(c.want), c.workload)
		for k, share := range c.want {
			require.InEpsilon(t, share, got[k]/total, 0.08, "%s: %v", c.workload, k)
		}
		require.InDelta(t, 0.5, contiguous/total, 0.01)
	}
}

// TestMixPaper: the theoretical runtimes of aucsched1, tables 5 to 7, are the same on
// all machines, and sizes and durations are uniform.
func TestMixPaper(t *testing.T) {
	const seeds = 60
	for _, machine := range []string{"128x8x2", "256x8x2", "1024x8x2"} {
		nodes := nodesOf(t, machine)
		hours, duration, size, jobs := 0.0, 0.0, 0.0, 0.0
		for seed := range uint64(seeds) {
			w, err := Generate("gen:I.1", nodes, seed)
			require.NoError(t, err)
			hours += coreTime(w, nodes) / 3600 / seeds
			for _, j := range w.Jobs {
				require.Zero(t, j.Cores%8)
				require.LessOrEqual(t, j.Cores, len(nodes))
				duration, size, jobs = duration+float64(j.Duration), size+float64(j.Cores), jobs+1
			}
		}
		require.InEpsilon(t, 4.02, hours, 0.015, machine)
		require.InEpsilon(t, 330, duration/jobs, 0.015)
		require.InEpsilon(t, float64(8+len(nodes))/2, size/jobs, 0.015)
	}
}

func TestMixGolden(t *testing.T) {
	w, err := Generate("gen:V.2", nodesOf(t, "128x8x2"), 1)
	require.NoError(t, err)
	w.Jobs = append(w.Jobs[:15:15], w.Jobs[48:55]...)
	golden.Equal(t, "V.2.golden", Text(w))
}

// TestPropertyMixOneDraw: the versions of a workload differ in contiguity only, and
// the arrivals change nothing but the submissions.
func TestPropertyMixOneDraw(t *testing.T) {
	race.Slow(t)
	nodes := nodesOf(t, "128x8x2")
	rapid.Check(t, func(t *rapid.T) {
		seed, name := rapid.Uint64().Draw(t, "seed"), rapid.SampledFrom([]string{"I", "II", "III", "IV", "V"}).Draw(t, "workload")
		make := func(version string, a *Arrivals) []workload.Job {
			w, err := Mix(MixOptions{Variant: name + version, Nodes: nodes, Seed: seed, Arrivals: a})
			require.NoError(t, err)
			return w.Jobs
		}
		none, half, all := make(".1", nil), make(".2", nil), make(".3", nil)
		burst := make(".1", &Arrivals{Initial: 1 << 20})
		require.NotEqual(t, none, half)
		for i := range none {
			require.False(t, none[i].Contiguous)
			require.True(t, all[i].Contiguous)
			all[i].Contiguous, half[i].Contiguous = false, false
			require.Zero(t, burst[i].Submit)
			burst[i].Submit = none[i].Submit
		}
		require.Equal(t, none, half)
		require.Equal(t, none, all)
		require.Equal(t, none, burst)
	})
}

// TestPropertyMixFits: every job could run on the empty machine, whatever the machine
// and the options, and a second draw is the same.
func TestPropertyMixFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := nodesOf(t, fmt.Sprintf("%dx%d,%dx%dx%d", rapid.IntRange(1, 99).Draw(t, "nodes"), rapid.IntRange(4, 40).Draw(t, "cores"),
			rapid.IntRange(1, 99).Draw(t, "nodes with GPUs"), rapid.IntRange(4, 40).Draw(t, "their cores"),
			rapid.IntRange(2, 4).Draw(t, "GPUs")))
		o := MixOptions{
			Variant: rapid.SampledFrom(mixVariants()).Draw(t, "variant"), Nodes: nodes, Seed: rapid.Uint64().Draw(t, "seed"),
			LimitFactor: rapid.Float64Range(1, 5).Draw(t, "factor"), Runtime: rapid.Int64Range(1, 20000).Draw(t, "runtime"),
			MinDuration: rapid.Int64Range(10, 300).Draw(t, "shortest"), MaxDuration: rapid.Int64Range(300, 4000).Draw(t, "longest"),
		}
		all, err := allCores(nodes)
		require.NoError(t, err)
		o.MaxCores = rapid.IntRange(max(leastCores(nodes), all/30), all).Draw(t, "most cores")
		w, err := Mix(o)
		require.NoError(t, err)
		again, err := Mix(o)
		require.NoError(t, err)
		require.Equal(t, w, again)
		runsOn(t, w, nodes)
		for _, j := range w.Jobs {
			require.NoError(t, j.Validate())
			require.LessOrEqual(t, j.Cores, max(o.MaxCores, all))
			require.GreaterOrEqual(t, j.TimeLimit, j.Duration)
			require.GreaterOrEqual(t, j.Duration, o.MinDuration)
			require.LessOrEqual(t, j.Duration, o.MaxDuration)
		}
	})
}

func TestMixErrors(t *testing.T) {
	nodes := nodesOf(t, "128x8x2")
	for _, c := range []struct {
		o    MixOptions
		want string
	}{
		{MixOptions{Variant: "I.1"}, "nodes: 0: must be in 1..1048576"},
		{MixOptions{Variant: "I.1", Nodes: make([]nodeset.Capacity, 1)}, "cores of a node: 0: must be at least 1"},
		{MixOptions{Variant: "I.4", Nodes: nodes},
			`variant "I.4": must be one of [I.1 I.2 I.3 II.1 II.2 II.3 III.1 III.2 III.3 IV.1 IV.2 IV.3 V.1 V.2 V.3]`},
		{MixOptions{Variant: "V.1", Nodes: nodesOf(t, "128x8x1")}, "no node has the 2 cores and 2 GPUs that jobs of workload V need"},
		{MixOptions{Variant: "IV.1", Nodes: nodesOf(t, "128x8")}, "no node has the 1 cores and 1 GPUs that jobs of workload IV need"},
		{MixOptions{Variant: "V.1", Nodes: nodesOf(t, "128x3x2")}, "no node has the 4 cores and 2 GPUs that jobs of workload V need"},
		{MixOptions{Variant: "II.1", Nodes: nodes, CoresPerNode: []int{0}}, "cores on a node: 0: must be at least 1"},
		{MixOptions{Variant: "IV.1", Nodes: nodes, CoresPerGPU: []int{-1}}, "cores on a node: -1: must be at least 1"},
		{MixOptions{Variant: "I.1", Nodes: nodes, MaxCores: 7}, "most cores of a job: 7: must be in 8..1024, a node's and all"},
		{MixOptions{Variant: "I.1", Nodes: nodes, MaxCores: 1025}, "most cores of a job: 1025: must be in 8..1024, a node's and all"},
		{MixOptions{Variant: "I.1", Nodes: nodes, Runtime: -1}, "runtime: -1 s: must be in 1..2147483648"},
		{MixOptions{Variant: "I.1", Nodes: nodes, MaxCores: 8, MinDuration: 1, MaxDuration: 1, Runtime: 1 << 20},
			"runtime: 1048576 s: more than 4194304 jobs"},
		{MixOptions{Variant: "I.1", Nodes: nodesOf(t, "1x1,100000x65535"), MaxCores: 1,
			MinDuration: 1, MaxDuration: 1, Runtime: 1 << 31}, "runtime: 2147483648 s: more than 4194304 jobs"},
		{MixOptions{Variant: "I.1", Nodes: nodes, MinDuration: 700}, "durations: 700-600 s: must be in 1..2147483648 and not empty"},
		{MixOptions{Variant: "I.1", Nodes: nodes, LimitFactor: math.Inf(1)}, "limit factor: +Inf: must be in 1..100"},
		{MixOptions{Variant: "I.1", Nodes: nodes, Arrivals: &Arrivals{Initial: -1}}, "initial arrivals: -1: must not be negative"},
	} {
		_, err := Mix(c.o)
		require.EqualError(t, err, "workload of mixed jobs: "+c.want)
	}
}
