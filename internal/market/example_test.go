// SPDX-License-Identifier: BSD-3-Clause

package market_test

import (
	"fmt"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// Two jobs bid on a machine of 8 nodes, of which node 3 is busy.
func ExampleGenerator() {
	machine, _ := nodeset.NewUniform(8, nodeset.Capacity{Cores: 4, GPUs: 1})
	_ = machine.Allocate([]nodeset.Segment{{First: 3, Last: 3, Cores: 4, GPUs: 1}})
	variants := []market.Variant{
		{Spec: spec(bids.Request{Cores: 10}), Priority: 2},
		{Spec: spec(bids.Request{MinNodes: 2, TasksPerNode: 2, MinGPUs: 1, Contiguous: true}), Priority: 1},
	}
	var g market.Generator
	var book market.Book
	g.Generate(&market.Space{Now: machine}, variants, market.Options{MaxBidsPerJob: 4}, &book)
	for i, b := range book.Bids {
		fmt.Printf("job %d class %v preference %.3f %v\n", b.Job, b.Class, b.Preference, book.Allocation(i))
	}
	// Output:
	// job 0 class A preference 0.917 [{0 1 4 0} {2 2 2 0}]
	// job 0 class A preference 0.917 [{0 0 2 0} {1 2 4 0}]
	// job 0 class A preference 0.917 [{4 5 4 0} {6 6 2 0}]
	// job 0 class A preference 0.917 [{5 5 2 0} {6 7 4 0}]
	// job 1 class A preference 1.000 [{0 1 2 1}]
	// job 1 class A preference 1.000 [{1 2 2 1}]
	// job 1 class A preference 1.000 [{4 5 2 1}]
	// job 1 class A preference 1.000 [{6 7 2 1}]
}

// spec is the normal form of a request that is known to be valid.
func spec(r bids.Request) place.Spec {
	s, err := place.SpecOf(&r)
	if err != nil {
		panic(err)
	}
	return s
}
