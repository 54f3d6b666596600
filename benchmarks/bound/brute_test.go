// SPDX-License-Identifier: BSD-3-Clause

package bound

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

func jobOf(r bids.Request, submit, duration int64) workload.Job {
	return workload.Job{Job: core.Job{ID: "j", Request: r, Priority: 1, TimeLimit: max(duration, 1)}, Submit: submit, Duration: duration}
}

// way is what a job may take for how long, node by node.
type way struct {
	seconds int64
	use     []nodeset.Capacity
}

// waysOf are all that meet the words of Request's comments on these nodes.
func waysOf(nodes []nodeset.Capacity, j *workload.Job) (ways []way) {
	for k := j.MinGPUs; k <= max(j.MinGPUs, j.MaxGPUs); k++ {
		d := j.Duration
		if k > j.MinGPUs && j.MinGPUs > 0 {
			d = (d*int64(j.MinGPUs) + int64(k) - 1) / int64(k)
		}
		d = max(min(d, j.TimeLimit), 1)
		use := make([]nodeset.Capacity, len(nodes))
		var place func(n int)
		place = func(n int) {
			if n == len(nodes) {
				if meets(&j.Request, use) {
					ways = append(ways, way{d, slices.Clone(use)})
				}
				return
			}
			use[n] = nodeset.Capacity{}
			place(n + 1)
			for c := uint16(1); c <= nodes[n].Cores && k <= int(nodes[n].GPUs); c++ {
				use[n] = nodeset.Capacity{Cores: c, GPUs: uint8(k)}
				place(n + 1)
			}
			use[n] = nodeset.Capacity{}
		}
		place(0)
	}
	return ways
}

func meets(r *bids.Request, use []nodeset.Capacity) bool {
	taken, cores, each := 0, 0, true
	for _, u := range use {
		if u.Cores == 0 {
			continue
		}
		taken++
		cores += int(u.Cores)
		each = each && int(u.Cores) == r.TasksPerNode
	}
	switch {
	case taken == 0 || taken < r.MinNodes || r.MaxNodes > 0 && taken > r.MaxNodes:
		return false
	case r.TasksPerNode > 0:
		return each && (r.Cores == 0 || cores == r.Cores)
	}
	return cores == r.Cores
}

// optimum is the shortest runtime that any schedule has, by trying all: each order of
// the jobs, each in every way and as early as it can. Some such schedule is optimal.
func optimum(nodes []nodeset.Capacity, jobs []workload.Job) int64 {
	first, best := jobs[0].Submit, int64(1)<<60
	for i := range jobs {
		first = min(first, jobs[i].Submit)
	}
	ways := make([][]way, len(jobs))
	for i := range jobs {
		ways[i] = waysOf(nodes, &jobs[i])
	}
	type placed struct {
		start, end int64
		use        []nodeset.Capacity
	}
	var done []placed
	fits := func(w *way, start int64) bool {
		for at := start; at < start+w.seconds; at++ {
			for n, c := range nodes {
				cores, gpus := int(w.use[n].Cores), int(w.use[n].GPUs)
				for _, p := range done {
					if p.start <= at && at < p.end {
						cores, gpus = cores+int(p.use[n].Cores), gpus+int(p.use[n].GPUs)
					}
				}
				if cores > int(c.Cores) || gpus > int(c.GPUs) {
					return false
				}
			}
		}
		return true
	}
	var try func(left []int, end int64)
	try = func(left []int, end int64) {
		if end >= best {
			return
		}
		if len(left) == 0 {
			best = end
			return
		}
		for k, i := range left {
			for w := range ways[i] {
				start := jobs[i].Submit
				for !fits(&ways[i][w], start) {
					start++
				}
				e := start + ways[i][w].seconds
				done = append(done, placed{start, e, ways[i][w].use})
				try(slices.Delete(slices.Clone(left), k, k+1), max(end, e))
				done = done[:len(done)-1]
			}
		}
	}
	var all []int
	for i := range jobs {
		all = append(all, i)
	}
	try(all, first)
	return best - first
}

func drawMachine(t *rapid.T) []nodeset.Capacity {
	var nodes []nodeset.Capacity
	for range rapid.IntRange(1, 2).Draw(t, "nodes") {
		nodes = append(nodes, nodeset.Capacity{Cores: rapid.Uint16Range(1, 4).Draw(t, "cores"),
			GPUs: rapid.Uint8Range(0, 2).Draw(t, "GPUs")})
	}
	return nodes
}

// drawJob draws a job that can run on the machine.
func drawJob(t *rapid.T, nodes []nodeset.Capacity) workload.Job {
	return rapid.Custom(func(t *rapid.T) workload.Job {
		var r bids.Request
		if rapid.Bool().Draw(t, "nodes given") {
			r.MinNodes = rapid.IntRange(0, 2).Draw(t, "least nodes")
			r.MaxNodes = rapid.SampledFrom([]int{0, r.MinNodes, 2}).Draw(t, "most nodes")
		}
		if rapid.Bool().Draw(t, "cores of each node") {
			r.TasksPerNode = rapid.IntRange(1, 4).Draw(t, "cores a node")
		} else {
			r.Cores = rapid.IntRange(1, 6).Draw(t, "cores in all")
		}
		r.MinGPUs = rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "least GPUs")
		r.MaxGPUs = rapid.SampledFrom([]int{0, 0, 2}).Draw(t, "most GPUs")
		j := jobOf(r, rapid.Int64Range(3, 5).Draw(t, "submit"), rapid.Int64Range(0, 5).Draw(t, "duration"))
		j.TimeLimit = max(1, j.Duration-rapid.SampledFrom([]int64{0, 0, 0, 1}).Draw(t, "beyond the limit"))
		return j
	}).Filter(func(j workload.Job) bool {
		return j.Validate() == nil && len(waysOf(nodes, &j)) > 0
	}).Draw(t, "job")
}

// coarseBound is a bound for which all classes are coarsened, or too many.
func coarseBound(t *rapid.T, nodes []nodeset.Capacity, jobs []workload.Job) float64 {
	m, err := newMachine(nodes)
	require.NoError(t, err)
	d, err := newDemand(m, jobs)
	require.NoError(t, err)
	s := &classes{widest: m.widest, steps: rapid.IntRange(1, 4).Draw(t, "steps"), at: make(map[class]int)}
	all := d.classes()
	s.takeAll(all[:rapid.IntRange(0, len(all)).Draw(t, "classes")])
	return newPacking(m, d, s).bound()
}

// No schedule at all is shorter than the bounds.
func TestNoScheduleIsShorter(t *testing.T) {
	exact := 0
	rapid.Check(t, func(t *rapid.T) {
		nodes := drawMachine(t)
		var jobs []workload.Job
		for range rapid.IntRange(1, 4).Draw(t, "jobs") {
			jobs = append(jobs, drawJob(t, nodes))
		}
		b, err := Runtime(nodes, jobs)
		require.NoError(t, err)
		best := float64(optimum(nodes, jobs))
		require.LessOrEqual(t, b.Nodes, best, "%+v", b)
		require.GreaterOrEqual(t, b.Nodes, max(b.Cores, b.GPUs, b.Longest))
		require.LessOrEqual(t, coarseBound(t, nodes, jobs), best, "with few classes")
		if b.Nodes == best {
			exact++
		}
	})
	require.NotZero(t, exact, "no bound was ever met")
}
