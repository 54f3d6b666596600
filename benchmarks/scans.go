// SPDX-License-Identifier: BSD-3-Clause

package benchmarks

import (
	"fmt"

	"github.com/aucsched/aucsched/nodeset"
)

// rack is how many neighbouring nodes of a machine go into a partition together.
const rack = 100

// Queries are the scans that are measured, on a machine of n nodes: for one core and for
// several, with and without GPUs, for whole nodes, and in a partition that has every
// other rack of the machine.
func Queries(n int) []nodeset.Query {
	partition := nodeset.NewMask(n)
	for i := range n {
		if i/rack%2 == 0 {
			partition.Set(i)
		}
	}
	return []nodeset.Query{
		{GPUs: 1},
		{GPUs: 1, MinCores: 4},
		{MinCores: 3},
		{GPUs: GPUsPerNode, MinCores: CoresPerNode},
		{GPUs: 1, MinCores: 4, Eligible: partition},
	}
}

// Scan is nodeset.Table.Scan.
func Scan(w *Window, q nodeset.Query) Stage {
	return scanStage(w, q, func(dst []nodeset.Set) []nodeset.Set { return w.Snapshot.Nodes.Scan(dst, q) })
}

// NodeLoop finds the same nodesets by a loop over an array of node structs.
func NodeLoop(w *Window, q nodeset.Query) Stage {
	nodes := nodeRecords(w.Snapshot.Nodes)
	return scanStage(w, q, func(dst []nodeset.Set) []nodeset.Set { return scanRecords(dst, nodes, q) })
}

func scanStage(w *Window, q nodeset.Query, scan func(dst []nodeset.Set) []nodeset.Set) Stage {
	var sets []nodeset.Set
	return Stage{
		Run:   func() error { sets = scan(sets[:0]); return nil },
		Check: func() error { return checkSets(w.Snapshot.Nodes, q, sets) },
		Sizes: func() []Size { return []Size{{"nodesets", len(sets)}} },
	}
}

// checkSets holds nodesets against their definition: node by node, who is in one
// and whether its neighbours are in the same.
func checkSets(t *nodeset.Table, q nodeset.Query, sets []nodeset.Set) error {
	in := make([]int, t.Len()) // number of the node's set, from 1
	for i, s := range sets {
		cores := int64(0)
		for n := s.First; n <= s.Last; n++ {
			if in[n] != 0 {
				return fmt.Errorf("node %d is in two nodesets", n)
			}
			in[n] = i + 1
			cores += int64(t.Free(int(n)).Cores)
		}
		if cores != s.Cores {
			return fmt.Errorf("nodeset %d-%d: %d cores instead of %d", s.First, s.Last, s.Cores, cores)
		}
	}
	for n := range in {
		free := t.Free(n)
		suits := t.Up(n) && int(free.Cores) >= max(1, q.MinCores) && int(free.GPUs) >= q.GPUs && q.Eligible.Has(n)
		if suits != (in[n] != 0) {
			return fmt.Errorf("node %d: suits: %v, in a nodeset: %v", n, suits, in[n] != 0)
		}
		if n > 0 && suits && in[n-1] != 0 && in[n-1] != in[n] {
			return fmt.Errorf("nodes %d and %d are neighbours in different nodesets", n-1, n)
		}
	}
	return nil
}
