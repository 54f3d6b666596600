// SPDX-License-Identifier: BSD-3-Clause

package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// box sums up the values of a class: the mean and the values that 25, 50, 75 and
// 95% do not exceed.
type box struct {
	N                        int
	Mean, P25, P50, P75, P95 float64
}

func boxOf(values []int64) box {
	b := box{N: len(values)}
	if b.N == 0 {
		return b
	}
	slices.Sort(values)
	for _, v := range values {
		b.Mean += float64(v) / float64(b.N)
	}
	at := func(q float64) float64 { return float64(values[int(math.Ceil(q*float64(b.N)))-1]) }
	b.P25, b.P50, b.P75, b.P95 = at(0.25), at(0.5), at(0.75), at(0.95)
	return b
}

// size is how many cores a job asks for, at the least.
func size(j *workload.Job) int {
	if j.Cores > 0 {
		return j.Cores
	}
	return max(j.MinNodes, 1) * max(j.TasksPerNode, 1)
}

// sizeClass numbers the classes of sizes, which grow fourfold: 1, 2-4, 5-16, ...
func sizeClass(cores int) int {
	c := 0
	for top := 1; top < cores; top *= 4 {
		c++
	}
	return c
}

func sizeLabel(class int) string {
	if class == 0 {
		return "1"
	}
	top := 1 << (2 * class)
	return fmt.Sprintf("%d–%d", top/4+1, top)
}

// bins are classes of a number by their upper ends; the last has none.
type bins struct {
	Tops   []float64
	Labels []string
}

var (
	blockBins  = bins{[]float64{1, 2, 3, 4, 8, 16, 32}, []string{"1", "2", "3", "4", "5–8", "9–16", "17–32", "more"}}
	spreadBins = bins{[]float64{1, 1.25, 1.5, 2, 4, 8, 16}, []string{"1", "to 1.25", "to 1.5", "to 2", "to 4", "to 8", "to 16", "more"}}
)

func (b *bins) of(v float64) int {
	i, _ := slices.BinarySearch(b.Tops, v)
	return i
}

// spread is (last node - first node + 1) over the number of nodes, as in sim.Result.
func spread(segs []nodeset.Segment) float64 {
	return float64(segs[len(segs)-1].Last-segs[0].First+1) / float64(nodeset.Nodes(segs))
}
