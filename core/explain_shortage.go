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
	// eligible), "gpus_per_node", "cores_per_node", "contiguous", "cores", "switches" (nodes
	// below such switches as are demanded) or a further resource of the machine.
	Resource string
	// Need and Have are in nodes; if Resource is "cores", in cores.
	Need, Have int64
	// CoresPerNode and GPUsPerNode are what a node needs to have free to count.
	CoresPerNode, GPUsPerNode int
	// Eligible nodes are up and may be used; WithGPUs of these have the GPUs free,
	// WithCores of these also the cores. Further are the stages after that. Run is the
	// longest run of nodes of the last stage, which matters if nodes have to be contiguous.
	Eligible, WithGPUs, WithCores, Run int
	// Further has a stage for each further resource that the request uses.
	Further []FurtherStage
	// Share is told if GPUs are short, whole ones or shares, and the machine's jobs share some.
	Share *ShareShortage
	// Cores is the most that nodes of the last stage could give the job at once, and LimitedBy,
	// if Resource is "cores", the further resource without which these would do; "" if none.
	Cores     int64
	LimitedBy string
}

// FurtherStage is a stage of a Shortage: Nodes of those of the stage before have Amount of a
// further resource free.
type FurtherStage struct {
	Resource string
	Amount   int64
	Nodes    int
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
	case r.Cores == 0: // t is 0 if it takes no core
		n.lo, n.hi = t, t
	case t == 0:
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

// shortageOf says what r, which the machine of t could meet, lacks on t; nil if it lacks nothing.
func shortageOf(t *nodeset.Table, r *bids.Request) *Shortage {
	need := needsOf(r)
	s := &Shortage{CoresPerNode: need.lo, GPUsPerNode: r.MinGPUs}
	give := make([]int, t.Len()) // cores for the job, by node; 1 if it takes none
	for n := range give {
		c := t.Free(n)
		if t.Up(n) && r.Eligible.Has(n) {
			s.Eligible++
			if int(c.GPUs) >= r.MinGPUs {
				s.WithGPUs++
				if int(c.Cores) >= need.lo {
					s.WithCores++
					give[n] = max(min(int(c.Cores), need.hi), 1)
				}
			}
		}
	}
	short := mostCores(give, need, r.Contiguous) < int64(r.Cores)
	for _, u := range known(t, r.Uses) {
		s.further(t, u, need, give)
		if !short && mostCores(give, need, r.Contiguous) < int64(r.Cores) {
			s.LimitedBy, short = t.ResourceName(u.Row), true
		}
	}
	s.Run = longestRun(give)
	if need.hi > 0 {
		s.Cores = mostCores(give, need, r.Contiguous)
	}
	if !s.tooFewNodes(need.nodes, r.Contiguous) {
		if s.Cores >= int64(r.Cores) {
			return nil
		}
		s.Resource, s.Need, s.Have = "cores", int64(r.Cores), s.Cores
	}
	if s.Resource != "cores" {
		s.LimitedBy = ""
	}
	switch shares, shared := t.Shares(); {
	case shared && s.Resource == "gpus_per_node":
		s.Share = gpuUses(t, func(n int) bool {
			return t.Up(n) && r.Eligible.Has(n) && int(t.Total(n).GPUs) >= r.MinGPUs
		})
	case !shared || s.Resource != t.ResourceName(shares):
		s.Share = nil
	}
	return s
}

// further adds the stage of a further resource, and leaves of what nodes give as many cores as it
// suffices for.
func (s *Shortage) further(t *nodeset.Table, u nodeset.Use, need needs, give []int) {
	stage := FurtherStage{Resource: t.ResourceName(u.Row), Amount: u.Of(uint16(need.lo), uint8(s.GPUsPerNode))}
	if r, shared := t.Shares(); shared && u.Row == r {
		s.Share = gpuUses(t, func(n int) bool { return give[n] > 0 && t.TotalOf(r)[n] >= u.PerNode })
	}
	for n, free := range t.FreeOf(u.Row) {
		switch {
		case give[n] == 0:
		case free < stage.Amount:
			give[n] = 0
		default:
			stage.Nodes++
			if u.PerCore > 0 && need.hi > 0 {
				give[n] = int(min(int64(give[n]), (free-u.Of(0, uint8(s.GPUsPerNode)))/u.PerCore))
			}
		}
	}
	s.Further = append(s.Further, stage)
}

// tooFewNodes reports whether a stage has fewer nodes than that, and notes the first.
func (s *Shortage) tooFewNodes(nodes int, contiguous bool) bool {
	stages := append([]FurtherStage{{"nodes", 0, s.Eligible}, {"gpus_per_node", 0, s.WithGPUs},
		{"cores_per_node", 0, s.WithCores}}, s.Further...)
	if contiguous {
		stages = append(stages, FurtherStage{"contiguous", 0, s.Run})
	}
	for _, stage := range stages {
		if stage.Nodes < nodes {
			s.Resource, s.Need, s.Have = stage.Resource, int64(nodes), int64(stage.Nodes)
			return true
		}
	}
	return false
}

// longestRun is the most neighbours that give something.
func longestRun(give []int) (longest int) {
	run := 0
	for _, g := range give {
		if run++; g == 0 {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
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
