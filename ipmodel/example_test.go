// SPDX-License-Identifier: BSD-3-Clause

package ipmodel_test

import (
	"context"
	"fmt"

	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/ipmodel/native"
)

// Two jobs and a node of four cores. The first job bids for three cores, or for two at a lower
// preference; the second one bids for two.
func Example() {
	m := ipmodel.Model{
		Value:      []int64{12, 10, 7}, // of each bid
		GroupStart: []int32{0, 2, 3},   // job 0 has the bids 0 and 1, job 1 has bid 2
		ColStart:   []int32{0, 1, 2, 3},
		Row:        []int32{0, 0, 0}, // each bid takes of row 0, the node's cores:
		Coef:       []int32{3, 2, 2},
		Cap:        []int64{4},
	}
	if err := m.Validate(); err != nil {
		fmt.Println(err)
		return
	}
	var r ipmodel.Result
	if err := native.New().Solve(context.Background(), &m, ipmodel.Options{}, &r); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v: bids %v win\n", r.Status, r.Chosen)
	fmt.Printf("objective %v, bound %v\n", m.Objective(r.Value), m.Objective(r.Bound))
	// Output:
	// optimal: bids [1 2] win
	// objective 17, bound 17
}
