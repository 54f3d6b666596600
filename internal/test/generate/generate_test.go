// SPDX-License-Identifier: BSD-3-Clause

package generate

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/internal/test/golden"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

func TestGenerate(t *testing.T) {
	names := Generators()
	require.Len(t, names, 2+15+12+1)
	nodes := nodesOf(t, "64x8x2")
	for _, name := range names {
		name = strings.Replace(name, "LOAD", "70", 1)
		w, err := Generate(name, nodes, 3)
		require.NoError(t, err)
		require.Equal(t, name, w.Name)
		require.NoError(t, Check(w))
		again, err := Generate(name, nodes, 3)
		require.NoError(t, err)
		require.Equal(t, w, again)
		other, err := Generate(name, nodes, 4)
		require.NoError(t, err)
		require.NotEqual(t, w.Jobs, other.Jobs)
	}
	for _, name := range []string{"gen:esp", "gen:esp-rand", "gen:I.1", "gen:V.3"} {
		require.Contains(t, names, name)
	}
	require.Contains(t, names, "gen:tsubame-1.NC")
	require.Contains(t, names, "gen:tsubame-2.FC-ranges")
}

func TestGenerateUnknown(t *testing.T) {
	for _, spec := range []string{"gen:tsubame", "tsubame-1.NC", "gen:", "", "gen:tsubame-3.NC", "gen:VI.1", "gen:I.4", "esp"} {
		_, err := Generate(spec, nil, 1)
		require.ErrorIs(t, err, ErrUnknownGenerator)
		require.EqualError(t, err, fmt.Sprintf("workload %q: no such generator; known are ", spec)+strings.Join(Generators(), ", "))
	}
}

func TestTsubameGolden(t *testing.T) {
	w, err := Generate("gen:tsubame-1.HC-ranges", nil, 1)
	require.NoError(t, err)
	// The first jobs and the first ones that are not there at the start.
	w.Jobs = append(w.Jobs[:15:15], w.Jobs[48:55]...)
	golden.Equal(t, "tsubame-1.HC-ranges.golden", Text(w))
}

// theoretical is the theoretical runtime of aucsched2, section 4, in hours, and
// the same of GPUs.
func theoretical(w *workload.Workload) (cores, gpus float64) {
	for _, j := range w.Jobs {
		cores += float64(j.Duration) * float64(j.Cores) / (1408 * 12) / 3600
		gpus += float64(j.Duration) * float64(j.MinNodes*j.MinGPUs) / (1408 * 3) / 3600
	}
	return cores, gpus
}

// TestTsubamePaper: the figures that aucsched2 gives of its workloads.
func TestTsubamePaper(t *testing.T) {
	const seeds = 200
	for _, c := range []struct {
		length     string
		jobs       int
		theo, late float64 // h; late is when the last job is submitted
	}{{"1", 350, 3.12, 300 * 12. / 3600}, {"2", 700, 6.24, 650 * 12. / 3600}} {
		var cores, gpus, late, half float64
		for seed := range uint64(seeds) {
			w, err := Generate("gen:tsubame-"+c.length+".HC", nil, seed)
			require.NoError(t, err)
			require.Len(t, w.Jobs, c.jobs)
			x, y := theoretical(w)
			cores, gpus = cores+x/seeds, gpus+y/seeds
			late += float64(w.Jobs[c.jobs-1].Submit) / 3600 / seeds
			for _, j := range w.Jobs {
				if j.Contiguous {
					half += 1 / float64(c.jobs*seeds)
				}
			}
		}
		require.InEpsilon(t, c.theo, cores, 0.015)
		require.InEpsilon(t, 1, gpus/cores, 0.02, "GPUs are asked for as much as cores")
		require.InEpsilon(t, c.late, late, 0.02)
		require.InDelta(t, 0.5, half, 0.01)
	}
}

// kind is a job's type, A to E as 0 to 4.
func kind(j *workload.Job) int {
	if j.MinNodes == 0 {
		return 0
	}
	return 1 + j.MinGPUs
}

func TestTsubameTypes(t *testing.T) {
	var n [5]int
	total := 0
	perNode := map[[2]int]int{} // kind and cores on each node
	for seed := range uint64(50) {
		w, err := Generate("gen:tsubame-2.NC", nil, seed)
		require.NoError(t, err)
		for _, j := range w.Jobs {
			k := kind(&j)
			n[k]++
			total++
			require.False(t, j.Contiguous)
			require.Equal(t, int64(math.Ceil(float64(j.Duration)/60))*60, j.TimeLimit)
			if k == 0 {
				require.Zero(t, j.Cores%12)
				require.Zero(t, j.MinGPUs)
			} else {
				require.Equal(t, j.MinNodes, j.MaxNodes)
				require.Zero(t, j.Cores%j.MinNodes)
				perNode[[2]int{k, j.Cores / j.MinNodes}]++
			}
		}
	}
	for k, count := range n {
		require.InEpsilon(t, 0.2, float64(count)/float64(total), 0.04, "type %c", 'A'+k)
	}
	for _, want := range [][2]int{{1, 6}, {1, 12}, {2, 2}, {2, 3}, {3, 4}, {3, 6}, {4, 6}, {4, 9}} {
		require.InEpsilon(t, 0.1, float64(perNode[want])/float64(total), 0.06, "%v", want)
	}
	require.Len(t, perNode, 8)
}

// TestPropertyTsubameRanges: with and without ranges of GPUs the jobs are the
// same but for the ranges.
func TestPropertyTsubameRanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := TsubameOptions{Variant: "1.HC", Seed: rapid.Uint64().Draw(t, "seed")}
		plain, err := Tsubame(o)
		require.NoError(t, err)
		o.Ranges = true
		ranges, err := Tsubame(o)
		require.NoError(t, err)
		for i, j := range ranges.Jobs {
			require.Equal(t, [...]int{0, 0, 3, 3, 0}[kind(&j)], j.MaxGPUs)
			j.MaxGPUs = 0
			require.Equal(t, plain.Jobs[i], j)
		}
	})
}

// TestPropertyTsubameOneDraw: the variants of a length differ in contiguity only,
// and the arrivals change nothing but the submissions.
func TestPropertyTsubameOneDraw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		make := func(variant string, a *Arrivals) []workload.Job {
			w, err := Tsubame(TsubameOptions{Variant: variant, Seed: seed, Arrivals: a})
			require.NoError(t, err)
			return w.Jobs
		}
		none, all := make("1.NC", nil), make("1.FC", nil)
		burst := make("1.NC", &Arrivals{Initial: 350})
		for i := range none {
			require.True(t, all[i].Contiguous)
			all[i].Contiguous = false
			require.Zero(t, burst[i].Submit)
			burst[i].Submit = none[i].Submit
		}
		require.Equal(t, none, all)
		require.Equal(t, none, burst)
	})
}

// TestPropertyTsubameFits: every job could run on the empty machine, whatever the
// machine and the options.
func TestPropertyTsubameFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := TsubameOptions{
			Variant: rapid.SampledFrom([]string{"1.NC", "2.HC", "1.FC"}).Draw(t, "variant"),
			Ranges:  rapid.Bool().Draw(t, "ranges"),
			Seed:    rapid.Uint64().Draw(t, "seed"),
			Nodes:   rapid.IntRange(1, 300).Draw(t, "nodes"),
			Node: nodeset.Capacity{Cores: uint16(rapid.IntRange(9, 64).Draw(t, "cores")),
				GPUs: uint8(rapid.IntRange(3, 8).Draw(t, "gpus"))},
			LimitFactor: rapid.Float64Range(1, 5).Draw(t, "factor"),
			MinDuration: rapid.Int64Range(1, 100).Draw(t, "shortest"),
			MaxDuration: rapid.Int64Range(100, 200).Draw(t, "longest"),
		}
		o.MaxCores = rapid.IntRange(int(o.Node.Cores), o.Nodes*int(o.Node.Cores)).Draw(t, "most cores")
		w, err := Tsubame(o)
		require.NoError(t, err)
		for _, j := range w.Jobs {
			require.NoError(t, j.Validate())
			require.LessOrEqual(t, j.MinNodes, o.Nodes)
			require.LessOrEqual(t, j.Cores, max(j.MinNodes, o.Nodes)*int(o.Node.Cores))
			if j.MinNodes > 0 {
				require.LessOrEqual(t, j.Cores/j.MinNodes, int(o.Node.Cores))
			}
			require.LessOrEqual(t, max(j.MinGPUs, j.MaxGPUs), int(o.Node.GPUs))
			require.GreaterOrEqual(t, j.TimeLimit, j.Duration)
			require.GreaterOrEqual(t, j.Duration, o.MinDuration)
			require.LessOrEqual(t, j.Duration, o.MaxDuration)
		}
	})
}

func TestTsubameErrors(t *testing.T) {
	cap := func(c uint16, g uint8) nodeset.Capacity { return nodeset.Capacity{Cores: c, GPUs: g} }
	for _, c := range []struct {
		o    TsubameOptions
		want string
	}{
		{TsubameOptions{}, `variant "": must be one of [1.NC 1.HC 1.FC 2.NC 2.HC 2.FC]`},
		{TsubameOptions{Nodes: -1}, "nodes: -1: must be in 1..1048576"},
		{TsubameOptions{Node: cap(0, 3)}, "cores of a node: 0: must be at least 1"},
		{TsubameOptions{Node: cap(12, 2)}, "GPUs of a node: 2: jobs of type E need 3"},
		{TsubameOptions{Node: cap(8, 3)}, "cores per GPU: 3: must be in 1..2, for jobs of type E on nodes of 8 cores"},
		{TsubameOptions{CoresPerNode: []int{6, 13}}, "cores per node: 13: must be in 1..12, what a node has"},
		{TsubameOptions{CoresPerGPU: []int{0}}, "cores per GPU: 0: must be in 1..4, for jobs of type E on nodes of 12 cores"},
		{TsubameOptions{MaxCores: 11}, "most cores of a job: 11: must be in 12..16896, a node's and all"},
		{TsubameOptions{MaxCores: 16897}, "most cores of a job: 16897: must be in 12..16896, a node's and all"},
		{TsubameOptions{MinDuration: 700}, "durations: 700-600 s: must be in 1..2147483648 and not empty"},
		{TsubameOptions{LimitFactor: 0.5}, "limit factor: 0.5: must be in 1..100"},
		{TsubameOptions{LimitFactor: math.NaN()}, "limit factor: NaN: must be in 1..100"},
		{TsubameOptions{Arrivals: &Arrivals{Initial: -1}}, "initial arrivals: -1: must not be negative"},
		{TsubameOptions{Arrivals: &Arrivals{MeanGap: math.Inf(1)}}, "mean gap of arrivals: +Inf s: must be in 0..1048576"},
	} {
		_, err := Tsubame(c.o)
		require.EqualError(t, err, "tsubame workload: "+c.want)
	}
}

func ExampleGenerate() {
	w, err := Generate("gen:tsubame-1.NC-ranges", nil, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	ranges := 0
	for _, j := range w.Jobs {
		if j.MaxGPUs > j.MinGPUs {
			ranges++
		}
	}
	fmt.Println(w.Name, len(w.Jobs), "jobs,", ranges, "with a range of GPUs")
	// Output: gen:tsubame-1.NC-ranges 350 jobs, 127 with a range of GPUs
}

func ExampleTsubame() {
	w, err := Tsubame(TsubameOptions{
		Variant:  "1.FC",
		Nodes:    64,
		Node:     nodeset.Capacity{Cores: 16, GPUs: 4},
		Arrivals: &Arrivals{Initial: 350}, // all at the start
	})
	fmt.Println(len(w.Jobs), w.Jobs[349].Submit, w.Jobs[349].Contiguous, err)
	// Output: 350 0 true <nil>
}
