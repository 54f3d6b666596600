// SPDX-License-Identifier: BSD-3-Clause

package bound

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

func uniform(n int, c nodeset.Capacity) []nodeset.Capacity {
	return slices.Repeat([]nodeset.Capacity{c}, n)
}

// perNode is a job of type 3.
func perNode(nodes, cores, gpus int) bids.Request {
	return bids.Request{MinNodes: nodes, MaxNodes: nodes, TasksPerNode: cores, MinGPUs: gpus}
}

// near compares up to the accuracy of the linear program, from which the bound is below.
func near(t require.TestingT, want, got float64) {
	require.LessOrEqual(t, got, want*(1+1e-12))
	require.GreaterOrEqual(t, got, want*(1-1e-5))
}

func TestBoundsByHand(t *testing.T) {
	node := nodeset.Capacity{Cores: 8, GPUs: 2}
	const h = 100 // s
	for _, c := range []struct {
		name  string
		nodes []nodeset.Capacity
		jobs  []workload.Job
		want  Bounds
	}{
		{"one job", uniform(2, node), []workload.Job{jobOf(bids.Request{Cores: 8}, 7, h)}, Bounds{Cores: h / 2, Longest: h, Nodes: h}},
		{"two of five cores do not fit eight", uniform(2, node),
			[]workload.Job{jobOf(perNode(2, 5, 0), 0, h), jobOf(perNode(2, 5, 0), 0, h)}, Bounds{Cores: 125, Longest: h, Nodes: 200}},
		{"whole nodes, 2 GPUs and 1 GPU", uniform(10, node), []workload.Job{
			jobOf(perNode(10, 8, 0), 0, h), jobOf(perNode(5, 1, 2), 0, h), jobOf(perNode(5, 1, 1), 0, h)},
			Bounds{Cores: 112.5, GPUs: 75, Longest: h, Nodes: 175}},
		{"cores fill what 2 GPUs leave", uniform(10, node), []workload.Job{
			jobOf(bids.Request{Cores: 40}, 0, h), jobOf(perNode(10, 4, 2), 0, h)}, Bounds{Cores: h, GPUs: h, Longest: h, Nodes: h}},
		{"two of three cores are all that eight hold", uniform(1, node), []workload.Job{
			jobOf(perNode(1, 3, 0), 0, h), jobOf(perNode(1, 3, 0), 0, h), jobOf(perNode(1, 3, 0), 0, h)},
			Bounds{Cores: 112.5, Longest: h, Nodes: 150}},
		{"cores that may be anywhere, but with 2 GPUs each", uniform(4, node), []workload.Job{
			jobOf(bids.Request{Cores: 17, MinGPUs: 2}, 0, h), jobOf(bids.Request{Cores: 9, MinGPUs: 2}, 0, h)},
			Bounds{Cores: 81.25, GPUs: 125, Longest: h, Nodes: 125}},
		{"type 2: all cores of so many nodes", uniform(2, node), []workload.Job{
			jobOf(bids.Request{Cores: 16, MinNodes: 2, MaxNodes: 2}, 0, h), jobOf(perNode(1, 5, 0), 0, h)},
			Bounds{Cores: 131.25, Longest: h, Nodes: 150}},
		{"only the nodes with GPUs count for those",
			slices.Concat(uniform(3, nodeset.Capacity{Cores: 8}), uniform(1, node)), []workload.Job{
				jobOf(perNode(1, 6, 1), 0, h), jobOf(perNode(1, 6, 1), 0, h), jobOf(perNode(1, 6, 1), 0, h)},
			Bounds{Cores: 56.25, GPUs: 150, Longest: h, Nodes: 300}},
		{"a range: as fast as all GPUs allow", uniform(1, nodeset.Capacity{Cores: 8, GPUs: 4}), []workload.Job{
			jobOf(bids.Request{MinNodes: 1, TasksPerNode: 2, MinGPUs: 1, MaxGPUs: 4}, 0, h), jobOf(perNode(1, 8, 0), 0, h)},
			Bounds{Cores: 106.25, GPUs: 25, Longest: h, Nodes: 125}},
		{"what comes last", uniform(2, node), []workload.Job{
			jobOf(perNode(1, 1, 0), 50, 10), jobOf(perNode(2, 5, 0), 150, h), jobOf(perNode(2, 5, 0), 150, h)},
			Bounds{Cores: 225, Longest: 200, Nodes: 300}},
		{"what comes last, though cores are busier before", uniform(2, node), []workload.Job{
			jobOf(bids.Request{Cores: 16}, 0, 190), jobOf(perNode(2, 5, 0), 150, h), jobOf(perNode(2, 5, 0), 150, h)},
			Bounds{Cores: 315, Longest: 250, Nodes: 350}},
		{"less than a second", uniform(1, node), []workload.Job{jobOf(perNode(1, 1, 0), 5, 0)},
			Bounds{Cores: 1. / 8, Longest: 1, Nodes: 1}},
		{"no jobs", uniform(1, node), nil, Bounds{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := Runtime(c.nodes, c.jobs)
			require.NoError(t, err)
			near(t, c.want.Nodes, b.Nodes)
			b.Nodes = c.want.Nodes
			require.Equal(t, c.want, b)
		})
	}
}

// What a job needs at the least, on nodes of 8 cores and 4 GPUs.
func TestNeeds(t *testing.T) {
	m, err := newMachine(uniform(4, nodeset.Capacity{Cores: 8, GPUs: 4}))
	require.NoError(t, err)
	for _, c := range []struct {
		name string
		r    bids.Request
		want need
	}{
		{"cores", bids.Request{Cores: 20}, need{seconds: 12, cores: 20, gpuSeconds: 12, gpus: 0, class: single, pieces: 20, progress: 12}},
		{"a range from no GPUs", bids.Request{Cores: 20, MaxGPUs: 4},
			need{seconds: 12, cores: 20, gpuSeconds: 12, class: single, pieces: 20, progress: 12}},
		{"cores with GPUs", bids.Request{Cores: 20, MinGPUs: 2},
			need{seconds: 12, cores: 20, gpus: 6, gpuSeconds: 12, class: class{1, 8, 2, 2}, pieces: 3, progress: 12}},
		{"nodes", perNode(3, 5, 1), need{seconds: 12, cores: 15, gpus: 3, gpuSeconds: 12,
			class: class{5, 5, 1, 1}, pieces: 3, progress: 12}},
		{"a range", bids.Request{MinNodes: 3, TasksPerNode: 5, MinGPUs: 2, MaxGPUs: 3},
			need{seconds: 8, cores: 15, gpus: 3, gpuSeconds: 24, class: class{5, 5, 2, 3}, pieces: 3, progress: 24}},
		{"all on one node", bids.Request{Cores: 5, MaxNodes: 1},
			need{seconds: 12, cores: 5, gpuSeconds: 12, class: class{5, 5, 0, 0}, pieces: 1, progress: 12}},
		{"at least some on each", bids.Request{Cores: 12, MinNodes: 2, MaxNodes: 2},
			need{seconds: 12, cores: 12, gpuSeconds: 12, class: class{4, 8, 0, 0}, pieces: 2, progress: 12}},
		{"at most some on each", bids.Request{Cores: 7, TasksPerNode: 3, MinGPUs: 1},
			need{seconds: 12, cores: 7, gpus: 3, gpuSeconds: 12, class: class{1, 3, 1, 1}, pieces: 3, progress: 12}},
	} {
		j := jobOf(c.r, 0, 12)
		var n need
		require.NoError(t, n.set(m, &j), c.name)
		require.Equal(t, c.want, n, c.name)
	}
}

func TestCoarse(t *testing.T) {
	s := &classes{widest: 100, steps: 4, at: make(map[class]int)}
	for least, want := range map[int]int{100: 51, 51: 51, 50: 34, 34: 34, 33: 26, 26: 26, 25: 1, 1: 1} {
		require.Equal(t, class{want, want, 1, 2}, s.coarse(class{least, least, 1, 2}))
	}
	require.Equal(t, class{34, 100, 2, 2}, s.coarse(class{40, 60, 2, 2}))
}

func TestBadInput(t *testing.T) {
	node := nodeset.Capacity{Cores: 8, GPUs: 2}
	late := jobOf(perNode(1, 1, 0), 0, 1)
	late.TimeLimit = workload.MaxSeconds + 1
	for want, c := range map[string]struct {
		nodes []nodeset.Capacity
		job   workload.Job
	}{
		"nodes: 0: must be in 1..":                                     {nil, jobOf(perNode(1, 1, 0), 0, 1)},
		"job j: needs 9 cores and 0 GPUs on a node, which no node has": {uniform(2, node), jobOf(perNode(1, 9, 0), 0, 1)},
		"job j: needs 1 cores and 3 GPUs on a node, which no node has": {uniform(2, node), jobOf(bids.Request{Cores: 4, MinGPUs: 3}, 0, 1)},
		"job j: needs more nodes than it may have": {uniform(2, node),
			jobOf(bids.Request{Cores: 9, MaxNodes: 1}, 0, 1)},
		"job j: takes no core, and the bound counts cores":   {uniform(2, node), jobOf(bids.Request{MinGPUs: 1}, 0, 1)},
		"job j: cores: 0: the job asks for nothing":          {uniform(2, node), jobOf(bids.Request{}, 0, 1)},
		"job j: submit: -1: must be in 0..":                  {uniform(2, node), jobOf(perNode(1, 1, 0), -1, 1)},
		"job j: duration: -1: must be in 0..":                {uniform(2, node), jobOf(perNode(1, 1, 0), 0, -1)},
		"job j: time_limit_s: 1099511627777: must be in 1..": {uniform(2, node), late},
	} {
		_, err := Runtime(c.nodes, []workload.Job{c.job})
		require.ErrorContains(t, err, want)
	}
}

// drawLarger draws what is too large to try all schedules of.
func drawLarger(t *rapid.T) ([]nodeset.Capacity, []workload.Job) {
	nodes := []nodeset.Capacity{{Cores: 12, GPUs: 3}}
	for range rapid.IntRange(0, 9).Draw(t, "more nodes") {
		nodes = append(nodes, rapid.SampledFrom([]nodeset.Capacity{{Cores: 12, GPUs: 3}, {Cores: 8}, {Cores: 7, GPUs: 1}}).Draw(t, "node"))
	}
	var jobs []workload.Job
	for range rapid.IntRange(1, 40).Draw(t, "jobs") {
		r := perNode(rapid.IntRange(1, 3).Draw(t, "nodes"), rapid.IntRange(1, 12).Draw(t, "cores"), rapid.IntRange(0, 3).Draw(t, "GPUs"))
		switch rapid.IntRange(0, 2).Draw(t, "type") {
		case 0:
			r = bids.Request{Cores: r.MinNodes * r.TasksPerNode, MinGPUs: r.MinGPUs}
		case 1:
			r.MaxGPUs = max(r.MinGPUs, rapid.IntRange(0, 3).Draw(t, "most GPUs"))
		}
		jobs = append(jobs, jobOf(r, rapid.Int64Range(0, 50).Draw(t, "submit"), rapid.Int64Range(1, 100).Draw(t, "duration")))
	}
	return nodes, jobs
}

// Twice the time is twice the bound; where nodes and jobs stand is all the same.
func TestScaledAndRelabelled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes, jobs := drawLarger(t)
		b, err := Runtime(nodes, jobs)
		require.NoError(t, err)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))

		shuffled := slices.Clone(jobs)
		rng.Shuffle(len(nodes), func(i, k int) { nodes[i], nodes[k] = nodes[k], nodes[i] })
		rng.Shuffle(len(shuffled), func(i, k int) { shuffled[i], shuffled[k] = shuffled[k], shuffled[i] })
		again, err := Runtime(nodes, shuffled)
		require.NoError(t, err)
		require.Equal(t, []float64{b.Cores, b.GPUs, b.Longest}, []float64{again.Cores, again.GPUs, again.Longest})
		require.InEpsilon(t, b.Nodes, again.Nodes, 1e-4)

		twice := slices.Clone(jobs)
		for i := range jobs {
			jobs[i].MaxGPUs = 0 // shares of a second are rounded up
			twice[i] = jobs[i]
			twice[i].Submit, twice[i].Duration, twice[i].TimeLimit = 2*jobs[i].Submit, 2*jobs[i].Duration, 2*jobs[i].TimeLimit
		}
		b, err = Runtime(nodes, jobs)
		require.NoError(t, err)
		double, err := Runtime(nodes, twice)
		require.NoError(t, err)
		require.Equal(t, []float64{2 * b.Cores, 2 * b.GPUs, 2 * b.Longest}, []float64{double.Cores, double.GPUs, double.Longest})
		require.InEpsilon(t, 2*b.Nodes, double.Nodes, 1e-4)
	})
}

// Any prices make a valid bound: at random ones it is never above the one that was
// optimised for, but for accuracy.
func TestPricesAreOptimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes, jobs := drawLarger(t)
		for i := range jobs {
			jobs[i].Submit = 0
		}
		m, err := newMachine(nodes)
		require.NoError(t, err)
		d, err := newDemand(m, jobs)
		require.NoError(t, err)
		p := newPacking(m, d, newClasses(m, d))
		best := p.bound()
		for range 20 {
			for r := range p.prices {
				p.prices[r] = rapid.Int64Range(0, 20).Draw(t, "price")
			}
			require.LessOrEqual(t, p.certify(), best*(1+1e-4))
		}
	})
}

// The knapsack against all sets of pieces.
func TestKnapsack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &classes{at: map[class]int{}}
		s.take(single)
		for range rapid.IntRange(0, 4).Draw(t, "classes") {
			least, low := rapid.IntRange(1, 6).Draw(t, "cores"), rapid.IntRange(0, 3).Draw(t, "GPUs")
			c := class{least, least + rapid.IntRange(0, 2).Draw(t, "more cores"), low, low}
			if low > 0 {
				c.high += rapid.IntRange(0, 2).Draw(t, "more GPUs")
			}
			s.take(c)
		}
		m := &machine{widest: 7, deepest: 3}
		k := newKnapsack(m, s)
		prices := make([]int64, s.rows)
		for r := range prices {
			prices[r] = rapid.Int64Range(0, 9).Draw(t, "price")
		}
		k.fill(prices)
		var most func(cores, gpus int) int64
		most = func(cores, gpus int) (best int64) {
			for i, c := range s.list {
				for g := c.low; g <= min(c.high, gpus); g++ {
					for w := c.least; w <= min(c.most, cores); w++ {
						row, perCore := s.rowsOf(i)
						worth := prices[row]
						if perCore >= 0 {
							worth += int64(w) * prices[perCore]
						}
						best = max(best, worth*c.rate(g)+most(cores-w, gpus-g))
					}
				}
			}
			return best
		}
		for cores := range 6 {
			for gpus := range 4 {
				require.Equal(t, most(cores, gpus), k.value(cores, gpus))
				column, worth := make([]float64, s.rows), 0.0
				k.pattern(cores, gpus, column)
				for r, v := range column {
					worth += v * float64(prices[r])
				}
				require.Equal(t, float64(k.value(cores, gpus)), worth, "its pattern is worth as much")
			}
		}
	})
}

// With more classes than have prices the bound is lower, but it is still one of all jobs.
func TestManyClasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	nodes := uniform(50, nodeset.Capacity{Cores: 128, GPUs: 8})
	var jobs []workload.Job
	for range 3000 {
		r := perNode(1+rng.IntN(4), 65+rng.IntN(64), rng.IntN(9))
		if rng.IntN(10) == 0 {
			r = bids.Request{Cores: 1 + rng.IntN(500), MinGPUs: rng.IntN(9)}
		}
		jobs = append(jobs, jobOf(r, 0, 1+rng.Int64N(5000)))
	}
	m, err := newMachine(nodes)
	require.NoError(t, err)
	d, err := newDemand(m, jobs)
	require.NoError(t, err)
	p := newPacking(m, d, newClasses(m, d))
	require.NotZero(t, p.classes.steps)
	require.Greater(t, len(p.classes.list), maxClasses/2)
	require.LessOrEqual(t, len(p.classes.list), maxClasses)
	require.LessOrEqual(t, len(p.sack.lines), maxLines)
	asked, given := int64(0), int64(0)
	for i := range d {
		asked += d[i].cores * d[i].seconds
	}
	for _, a := range p.parts {
		given += a.cores * a.progress
	}
	require.Equal(t, asked, given, "no core is lost")
	b, err := Runtime(nodes, jobs)
	require.NoError(t, err)
	require.Greater(t, b.Nodes, 1.1*max(b.Cores, b.GPUs, b.Longest))
}

// Nodes beyond what the knapsack may hold have the bounds of resources.
func TestVeryLargeNodes(t *testing.T) {
	b, err := Runtime([]nodeset.Capacity{{Cores: 60000, GPUs: 255}},
		[]workload.Job{jobOf(perNode(1, 40000, 0), 0, 100), jobOf(perNode(1, 40000, 0), 0, 100)})
	require.NoError(t, err)
	require.InDelta(t, 133.33333, b.Nodes, 1e-4)
}
