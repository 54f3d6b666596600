// SPDX-License-Identifier: BSD-3-Clause

// Package requests is for tests: what a bids.Request means, as one table of allocations that
// meet it or do not, and as a function that reads the words of its fields one by one. All code
// that judges allocations is held against both, so that it can count in its own way but not
// mean something else.
package requests

import (
	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// Case is an allocation on a machine of Nodes nodes, and whether it meets the request.
type Case struct {
	Name    string
	Request bids.Request
	Nodes   int
	Segs    []nodeset.Segment // ascending
	OK      bool
}

// Met says whether an allocation meets a valid request. It looks at nodes one by one, and at each
// field as its comment in package bids has it.
func Met(r *bids.Request, segs []nodeset.Segment) bool {
	var at, cores, gpus []int // by node of the allocation
	total := 0
	for _, s := range segs {
		for n := s.First; n <= s.Last; n++ {
			at, cores, gpus = append(at, int(n)), append(cores, int(s.Cores)), append(gpus, int(s.GPUs))
			total += int(s.Cores)
		}
	}
	if len(at) == 0 || !nodesMet(r, at) || (r.Cores > 0 && total != r.Cores) {
		return false
	}
	for i := range at {
		if !coresMet(r, cores[i]) || gpus[i] < r.MinGPUs || gpus[i] > max(r.MinGPUs, r.MaxGPUs) || (!r.MixedGPUs && gpus[i] != gpus[0]) {
			return false
		}
	}
	return true
}

// nodesMet looks at which nodes these are, and how many.
func nodesMet(r *bids.Request, at []int) bool {
	for i, n := range at {
		if !r.Eligible.Has(n) || (r.Contiguous && n != at[0]+i) {
			return false
		}
	}
	return inRange(r, len(at))
}

// inRange says whether the request allows so many nodes: of cores on each of them without a total
// it has the fewest, unless it gives a range.
func inRange(r *bids.Request, nodes int) bool {
	if r.MaxNodes == 0 && r.Cores == 0 {
		return nodes == max(r.MinNodes, 1)
	}
	return nodes >= r.MinNodes && (r.MaxNodes == 0 || nodes <= r.MaxNodes)
}

// coresMet says whether one node may give so many cores. TasksPerNode is how many each one gives,
// save for a total that is no multiple of it, or is one that no allowed number of nodes makes:
// then it is the most. A node gives a core at least, or none at all where none is asked for.
func coresMet(r *bids.Request, cores int) bool {
	t := r.TasksPerNode
	switch {
	case t == 0 && r.Cores == 0:
		return cores == 0
	case t == 0:
		return cores > 0
	case r.Cores == 0, r.Cores%t == 0 && inRange(r, r.Cores/t):
		return cores == t
	}
	return cores > 0 && cores <= t
}

// Spec is the normal form of a request, which stays in use; the zero Spec if it is not valid.
func Spec(r *bids.Request) place.Spec {
	spec, err := place.SpecOf(r)
	if err != nil {
		return place.Spec{}
	}
	return spec
}

// Place finds a place for a request alone: see [place.Placer].
func Place(t *nodeset.Table, r *bids.Request, gpus int) ([]nodeset.Segment, bool) {
	var p place.Placer
	var l place.Limited
	spec := Spec(r)
	return p.Place(nil, l.Of(t, &spec), &spec, gpus)
}
