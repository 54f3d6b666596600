// SPDX-License-Identifier: BSD-3-Clause

package generate

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/nodeset"
)

// expectedSizes are the probabilities of the sizes of the model, told by steps of its uniform
// numbers.
func expectedSizes(machine int) map[int]float64 {
	out := map[int]float64{1: 0.244}
	top := math.Log2(float64(machine))
	const steps = 200000
	for i := range steps {
		u := (float64(i) + 0.5) / steps
		for _, part := range [][3]float64{{0.86, 0.8, top - 2.5}, {0.14, top - 2.5, top}} {
			x := part[1] + u*(part[2]-part[1])
			power := min(1<<int(math.Floor(x+0.5)), machine)
			out[power] += 0.576 * part[0] / steps
			out[min(int(math.Pow(2, x)+0.5), machine)] += (1 - 0.244 - 0.576) * part[0] / steps
		}
	}
	return out
}

func TestLublinSizes(t *testing.T) {
	const n = 100000
	for _, machine := range []int{16, 100, 128, 1000} {
		r, count := rand.New(rand.NewPCG(3, 1)), map[int]int{}
		for range n {
			count[lublinSize(r, machine)]++
		}
		want := expectedSizes(machine)
		sum := 0.0
		for size, p := range want {
			sum += p
			require.InDelta(t, p, float64(count[size])/n, 4*math.Sqrt(p/n)+1e-4, "%d of %d", size, machine)
		}
		require.InDelta(t, 1, sum, 1e-9)
		for size := range count {
			require.Contains(t, want, size, "of %d", machine)
		}
	}
}

// The logarithms of run times have the mixture's distribution, longer ones where jobs are wider.
func TestLublinRuntimes(t *testing.T) {
	const n = 20000
	for cores, short := range map[int]float64{1: 0.78 - 0.0054, 64: 0.78 - 0.3456, 144: 0.78 - 0.7776, 145: 0, 4000: 0} {
		r := rand.New(rand.NewPCG(uint64(cores), 2))
		var x []float64
		for range n {
			x = append(x, lublinRuntime(r, cores))
		}
		// Too long ones are drawn anew from the one of the two that they came from.
		below := func(x, a, b float64) float64 { return gammaCDF(x, a, b) / gammaCDF(12, a, b) }
		require.Less(t, farthest(x, func(x float64) float64 {
			return short*below(x, 4.2, 0.94) + (1-short)*below(x, 312, 0.03)
		}), critical(n), "%d cores", cores)
		if cores == 1 {
			require.Greater(t, x[n-1], 11.5, "the distribution of the short ones is the wider one")
		}
		require.LessOrEqual(t, x[n-1], 12.0)
	}
}

func TestLublinGaps(t *testing.T) {
	const n = 20000
	r := rand.New(rand.NewPCG(4, 2))
	var x []float64
	for range n {
		x = append(x, lublinGap(r))
	}
	require.Less(t, farthest(x, func(x float64) float64 { return gammaCDF(x, 10.2303*1.0225, 0.4871) }), critical(n))
	require.LessOrEqual(t, x[n-1], 13.0)
}

func TestLublinDay(t *testing.T) {
	c := newCycle()
	sum, most, least := 0.0, 0, 0
	for i, x := range c {
		sum += x
		if x > c[most] {
			most = i
		}
		if x < c[least] {
			least = i
		}
	}
	require.InDelta(t, 48, sum, 1e-9)
	// The gamma distribution has its mode at 7.1737 x 3.9631 = 28.4 slots, the 28th from midnight.
	require.Equal(t, 27, most)
	require.Equal(t, 10, least, "where the day begins")
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.Float64Range(0, 1e7).Draw(t, "at")
		later := at + rapid.Float64Range(0, 1e5).Draw(t, "more")
		require.InDelta(t, at, c.seconds(c.points(at)), 1e-4)
		require.LessOrEqual(t, c.points(at), c.points(later))
		require.InDelta(t, c.points(at)+24*3600, c.points(at+24*3600), 1e-6, "a day is a day")
	})
}

// The arrivals of many days follow the day, and the gaps that are left without it are gamma's.
func TestLublinArrivals(t *testing.T) {
	const n = 200000
	w, err := Lublin(LublinOptions{Nodes: nodesOf(t, "128x1"), Load: 0.7, Jobs: n, Seed: 5})
	require.NoError(t, err)
	c := newCycle()
	var quarters [4]float64 // of the day
	last := 0.0
	var gaps []float64
	sum := 0.0
	for _, j := range w.Jobs[1:] {
		quarters[j.Submit/(6*3600)%4] += 1.0 / n
		at := c.points(float64(j.Submit))
		gaps = append(gaps, at-last)
		sum += at - last
		last = at
	}
	for i, x := range quarters {
		want := 0.0
		for _, slot := range c[12*i : 12*i+12] {
			want += slot / 48
		}
		require.InDelta(t, want, x, 0.015, "quarter %d", i)
	}
	// How much the gaps were stretched shows in their mean. The shortest ones are whole seconds.
	mean := 0.0
	for i := range 13000 { // the density in strips
		at := (float64(i) + 0.5) / 1000
		p := gammaCDF(at+0.0005, 10.2303*1.0225, 0.4871) - gammaCDF(at-0.0005, 10.2303*1.0225, 0.4871)
		mean += math.Exp(at) * p
	}
	mean /= gammaCDF(13, 10.2303*1.0225, 0.4871)
	stretch := sum / float64(len(gaps)) / mean
	for _, x := range []float64{4, 5, 6, 8} {
		shorter := 0
		for _, g := range gaps {
			if g <= stretch*math.Exp(x) {
				shorter++
			}
		}
		require.InDelta(t, gammaCDF(x, 10.2303*1.0225, 0.4871), float64(shorter)/n, 0.02, "e^%v s", x)
	}
}

// The load comes out on whatever machine; other loads have the same jobs at other times.
func TestPropertyLublinLoad(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := LublinOptions{Seed: rapid.Uint64().Draw(t, "seed"), Jobs: rapid.IntRange(2, 300).Draw(t, "jobs"),
			Load: rapid.Float64Range(0.01, 2).Draw(t, "load"), LimitFactor: rapid.Float64Range(1, 10).Draw(t, "factor")}
		for range rapid.IntRange(2, 20).Draw(t, "nodes") {
			o.Nodes = append(o.Nodes, nodeset.Capacity{Cores: uint16(rapid.IntRange(8, 64).Draw(t, "cores"))})
		}
		w, err := Lublin(o)
		require.NoError(t, err)
		require.NoError(t, Check(w))
		cores, work := 0, 0.0
		for _, n := range o.Nodes {
			cores += int(n.Cores)
		}
		for _, j := range w.Jobs {
			require.LessOrEqual(t, j.Cores, cores)
			require.Less(t, float64(j.Duration), math.Exp(12))
			require.GreaterOrEqual(t, float64(j.TimeLimit), float64(j.Duration)*o.LimitFactor)
			require.Less(t, float64(j.TimeLimit), float64(j.Duration)*o.LimitFactor+60)
			work += float64(j.Cores) * float64(j.Duration)
		}
		last := w.Jobs[len(w.Jobs)-1].Submit
		require.InDelta(t, work/o.Load/float64(cores), float64(last), 1.001, "in whole seconds")
		o.Load /= 2
		half, err := Lublin(o)
		require.NoError(t, err)
		for i := range half.Jobs {
			half.Jobs[i].Submit = w.Jobs[i].Submit
		}
		require.Equal(t, w.Jobs, half.Jobs)
	})
}

func TestLublinErrors(t *testing.T) {
	nodes := nodesOf(t, "4x4")
	for want, o := range map[string]LublinOptions{
		"nodes: 0: must be in 1..1048576":               {Load: 1},
		"cores of the machine: 12: must be at least 16": {Load: 1, Nodes: nodes[:3]},
		"load: 0: must be above 0 and at most 2":        {Nodes: nodes},
		"load: NaN: must be above 0 and at most 2":      {Nodes: nodes, Load: math.NaN()},
		"jobs: 1: must be in 2..4194304":                {Nodes: nodes, Load: 1, Jobs: 1},
		"limit factor: 0.5: must be in 1..100":          {Nodes: nodes, Load: 1, LimitFactor: 0.5},
	} {
		_, err := Lublin(o)
		require.EqualError(t, err, "lublin workload: "+want)
	}
	for _, load := range []string{"", "0", "201", "70%", "LOAD", "-5", "0x10"} {
		_, err := Generate("gen:lublin-"+load, nodes, 1)
		require.EqualError(t, err, "workload gen:lublin-"+load+": the load must be a whole number of percent in 1..200")
	}
}
