// SPDX-License-Identifier: BSD-3-Clause

package pods

import (
	"math"
	"math/rand/v2"
)

// The largest node of the paper's cluster, against which its scores are normalised.
const (
	mostCPU  = 128_000
	mostGPUs = 8 * Whole
)

// stateless are scores that need no more than a state and a request.
type stateless func(s *State, r *Request) int

func (stateless) changed(int, *State) {}

// score is in whole numbers, as Kubernetes has them: that decides many ties, which go to the
// lowest rank. A share goes on the fullest GPU.
func (f stateless) score(_ int, s *State, r *Request, c *cell) {
	c.add(way{score: float32(f(s, r)), gpu: int8(s.Fullest(r.Share))})
}

// bestFit leaves the least of CPUs and GPUs (paper, section 6.1).
func bestFit(s *State, r *Request) int {
	left := 0.5*float64(s.CPU-r.CPU)/mostCPU + 0.5*float64(s.Idle()-r.Thousandths())/mostGPUs
	return int(100 * (1 - left))
}

// dotProduct takes the node whose free resources point least the way of the request.
func dotProduct(s *State, r *Request) int {
	cpu := float64(s.CPU) / mostCPU * float64(r.CPU) / mostCPU
	gpu := float64(s.Idle()) / mostGPUs * float64(r.Thousandths()) / mostGPUs
	return int(100 * (1 - (cpu+gpu)/2))
}

// gpuPacking takes shared GPUs first, then idle ones on nodes in use, then free nodes.
func gpuPacking(s *State, r *Request) int {
	if r.GPUs == 0 {
		return 0
	}
	whole := 0
	for _, g := range s.GPUs {
		if g == Whole {
			whole++
		}
	}
	if whole == int(s.Count) {
		return max(100/3-whole, whole)
	}
	if !r.Shared() {
		return max(50-int(r.GPUs), 100/3)
	}
	if g := s.GPUs[s.Fullest(r.Share)]; g < Whole {
		return max(100-int(g)*100/Whole/10, 50)
	}
	return 50 - 1
}

// clustering puts pods that ask for as many GPUs together (paper, section 6.1).
type clustering struct {
	here [][MaxGPUs + 1]int // pods by node and number of GPUs; 0: shares
}

func (c *clustering) changed(int, *State) {}

// put is told of a start.
func (c *clustering) put(node int, r *Request) {
	if r.GPUs > 0 {
		c.here[node][affinity(r)]++
	}
}

func affinity(r *Request) int {
	if r.Shared() {
		return 0
	}
	return int(r.GPUs)
}

func (c *clustering) score(node int, s *State, r *Request, to *cell) {
	if r.GPUs == 0 {
		to.add(way{gpu: -1})
		return
	}
	classes := 0
	for _, n := range c.here[node] {
		if n > 0 {
			classes++
		}
	}
	score := 25 * (mostGPUs - s.Idle()) / mostGPUs
	switch alike := c.here[node][affinity(r)] > 0; {
	case alike && classes == 1:
		score += 75
	case alike:
		score += 50
	case classes == 0:
		score += 25
	}
	to.add(way{score: float32(score), gpu: int8(s.Fullest(r.Share))})
}

// gradient is FGD: it starts a pod where the GPUs that typical pods can't use grow least (paper,
// section 5).
type gradient struct {
	mix    Mix
	before []float64
}

func (g *gradient) changed(node int, s *State) { g.before[node] = g.mix.Unusable(s) }

func (g *gradient) score(node int, s *State, r *Request, c *cell) {
	for gpu := range s.Ways(r) {
		after := *s
		after.Take(r, gpu)
		cost := g.mix.Unusable(&after) - g.before[node]
		c.add(way{score: float32(math.Trunc(100 / (1 + math.Exp(cost/Whole)))), gpu: int8(gpu)})
	}
}

// anywhere takes a random node, and for a share a random GPU.
func (x *cluster) anywhere(kind int, rng *rand.Rand) (node, gpu int) {
	r := &x.kinds[kind]
	node, gpu = -1, -1
	seen := 0
	for i := range x.nodes {
		if x.nodes[i].Fits(r) {
			if seen++; rng.IntN(seen) == 0 {
				node = i
			}
		}
	}
	if node < 0 || !r.Shared() {
		return node, gpu
	}
	s := &x.nodes[node]
	seen = 0
	for i, g := range s.GPUs[:s.Count] {
		if g >= r.Share {
			if seen++; rng.IntN(seen) == 0 {
				gpu = i
			}
		}
	}
	return node, gpu
}
