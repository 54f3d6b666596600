// SPDX-License-Identifier: BSD-3-Clause

package requests

import (
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/test/draw"
	"github.com/aucsched/aucsched/nodeset"
)

// drawNodes is how many nodes the machine of a drawn case has.
const drawNodes = 8

// Draw draws a valid request and an allocation that meets it, or nearly does:
// OK is what [Met] says.
func Draw(t *rapid.T) Case {
	c := Case{Nodes: drawNodes, Segs: drawSegments(t)}
	for valid := false; !valid; {
		c.Request = drawRequest(t, c.Segs)
		valid = place.Validate(&c.Request) == nil
	}
	c.OK = Met(&c.Request, c.Segs)
	return c
}

// drawSegments draws an allocation; the nodes of most are alike.
func drawSegments(t *rapid.T) (segs []nodeset.Segment) {
	number := func(least, most int, name string) int { return rapid.IntRange(least, most).Draw(t, name) }
	alike, cores, gpus := number(0, 2, "alike") > 0, max(0, number(-1, 4, "cores of nodes")), max(0, number(-2, 2, "gpus of nodes"))
	for n := number(0, 3, "first"); n < drawNodes && (len(segs) == 0 || number(0, 3, "more") > 0); n += 1 + number(0, 5, "gap")/4 {
		if !alike {
			cores, gpus = number(0, 4, "cores of a node"), number(0, 2, "gpus of a node")
		}
		segs = nodeset.Append(segs, each(n, n, cores, gpus))
	}
	return segs
}

// drawRequest draws what an allocation may be for: each number is the allocation's, one
// beside it, or not given.
func drawRequest(t *rapid.T, segs []nodeset.Segment) bids.Request {
	near := func(n int, name string) int {
		return max(0, rapid.SampledFrom([]int{0, n, n, n, n - 1, n + 1}).Draw(t, name))
	}
	total := 0
	for _, s := range segs {
		total += s.Len() * int(s.Cores)
	}
	nodes, first := nodeset.Nodes(segs), segs[0]
	r := bids.Request{
		Cores: near(total, "cores"), MinNodes: near(nodes, "min nodes"), MaxNodes: near(nodes, "max nodes"),
		TasksPerNode: near(int(first.Cores), "tasks per node"),
		MinGPUs:      near(int(first.GPUs), "min gpus"), MaxGPUs: near(int(first.GPUs), "max gpus"),
		MixedGPUs: rapid.Bool().Draw(t, "mixed"), Contiguous: rapid.IntRange(0, 3).Draw(t, "contiguous") == 0,
	}
	if rapid.IntRange(0, 2).Draw(t, "masked") == 0 {
		r.Eligible = nodeset.Mask{uint64(rapid.IntRange(0, 1<<drawNodes-1).Draw(t, "without"))>>1 ^ (1<<drawNodes - 1)}
	}
	return r
}

// DrawAny draws any request for a machine of n nodes; some contradict themselves.
func DrawAny(t *rapid.T, n int) bids.Request {
	r := DrawWithCores(t, n)
	if rapid.IntRange(0, 4).Draw(t, "no core") == 4 {
		r.Cores, r.TasksPerNode = 0, 0
	}
	return r
}

// DrawWithCores is DrawAny of jobs that take cores.
func DrawWithCores(t *rapid.T, n int) bids.Request {
	r := bids.Request{Contiguous: rapid.Bool().Draw(t, "contiguous"), Eligible: draw.Mask(t, n, "eligible")}
	r.MinGPUs = max(0, rapid.IntRange(-3, 2).Draw(t, "gpus"))
	r.MaxGPUs = r.MinGPUs + rapid.IntRange(0, 1).Draw(t, "range")
	if rapid.Bool().Draw(t, "nodes given") {
		r.MinNodes = rapid.IntRange(1, min(n, 8)+1).Draw(t, "min nodes")
		if rapid.Bool().Draw(t, "max nodes given") {
			r.MaxNodes = r.MinNodes + max(0, rapid.IntRange(-2, 3).Draw(t, "more nodes"))
		}
	}
	kind := rapid.IntRange(0, 3).Draw(t, "type")
	if kind == 0 || kind == 3 {
		r.TasksPerNode = rapid.IntRange(1, 6).Draw(t, "tasks per node")
	}
	if kind != 0 {
		r.Cores = max(r.MinNodes, rapid.IntRange(1, 40).Draw(t, "cores"))
	}
	return r
}
