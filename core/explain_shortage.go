// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"slices"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

// Shortage is what a request lacks among what is free. Nodes are counted in stages,
// each among those of the stage before; the first stage with too few is what is short.
type Shortage struct {
	// Resource is what is short, named as in a window file: "nodes" (up and
	// eligible), "gpus_per_node", "cores_per_node", "contiguous" or "cores".
	Resource string
	// Need and Have are in nodes; if Resource is "cores", in cores.
	Need, Have int64
	// CoresPerNode and GPUsPerNode are what a node needs to have free to count.
	CoresPerNode, GPUsPerNode int
	// Eligible nodes are up and may be used; WithGPUs of these have the GPUs free,
	// WithCores of these also the cores. Run is the longest run of the last, which
	// matters if nodes have to be contiguous.
	Eligible, WithGPUs, WithCores, Run int
	// Cores is the most that nodes WithCores could give the job at once.
	Cores int64
}

// needs is what a request asks for at least: nodes, up to most of them, with lo to hi
// cores on each. See bids.Request for how the fields go together.
type needs struct{ nodes, most, lo, hi int }

func needsOf(r *bids.Request) needs {
	n := needs{max(r.MinNodes, 1), r.MaxNodes, 1, bids.MaxCoresPerNode}
	if n.most == 0 {
		n.most = nodeset.MaxNodes
	}
	t := r.TasksPerNode
	switch {
	case t == 0:
	case r.Cores == 0:
		n.lo, n.hi = t, t
	case fixedNodes(r) > 0:
		n.nodes, n.most, n.lo, n.hi = r.Cores/t, r.Cores/t, t, t
	default:
		n.hi = t
		n.nodes = max(n.nodes, (r.Cores+t-1)/t)
	}
	return n
}

// fixedNodes is the number of nodes of a request whose cores and tasks per node
// settle it, otherwise 0.
func fixedNodes(r *bids.Request) int {
	t := r.TasksPerNode
	if t == 0 || r.Cores == 0 || r.Cores%t != 0 || r.Cores/t < r.MinNodes || (r.MaxNodes > 0 && r.Cores/t > r.MaxNodes) {
		return 0
	}
	return r.Cores / t
}

// shortageOf says what r lacks on t, nil if it lacks nothing.
func shortageOf(t *nodeset.Table, r *bids.Request) *Shortage {
	need := needsOf(r)
	s := &Shortage{CoresPerNode: need.lo, GPUsPerNode: r.MinGPUs}
	give := make([]int, t.Len()) // cores for the job, by node
	run := 0
	for n := range give {
		c := t.Free(n)
		if t.Up(n) && r.Eligible.Has(n) {
			s.Eligible++
			if int(c.GPUs) >= r.MinGPUs {
				s.WithGPUs++
				if int(c.Cores) >= need.lo {
					s.WithCores++
					give[n] = min(int(c.Cores), need.hi)
				}
			}
		}
		if run++; give[n] == 0 {
			run = 0
		}
		s.Run = max(s.Run, run)
	}
	s.Cores = mostCores(give, need, r.Contiguous)
	for _, stage := range []struct {
		resource string
		have     int
	}{{"nodes", s.Eligible}, {"gpus_per_node", s.WithGPUs}, {"cores_per_node", s.WithCores}, {"contiguous", s.Run}} {
		if stage.have < need.nodes && (stage.resource != "contiguous" || r.Contiguous) {
			s.Resource, s.Need, s.Have = stage.resource, int64(need.nodes), int64(stage.have)
			return s
		}
	}
	if s.Cores < int64(r.Cores) {
		s.Resource, s.Need, s.Have = "cores", int64(r.Cores), s.Cores
		return s
	}
	return nil
}

// mostCores is the most that the job could get at once of what nodes give.
func mostCores(give []int, need needs, contiguous bool) int64 {
	if !contiguous {
		give = slices.Clone(give)
		slices.SortFunc(give, func(a, b int) int { return b - a })
	}
	var most, sum int64
	length := 0
	for n, g := range give { // windows of up to need.most nodes of one run
		if g == 0 {
			sum, length = 0, 0
			continue
		}
		sum += int64(g)
		if length++; length > need.most {
			sum -= int64(give[n-need.most])
			length--
		}
		if length >= need.nodes {
			most = max(most, sum)
		}
	}
	return most
}
