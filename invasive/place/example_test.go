// SPDX-License-Identifier: BSD-3-Clause

package place_test

import (
	"fmt"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/place"
)

// An urgent job takes one core from a malleable one.
func ExampleSeat() {
	malleable := &invasive.Job{ID: 1, Flex: invasive.Malleable, MinCores: 1, MaxCores: 4}
	urgent := &invasive.Job{ID: 2, MinCores: 1, MaxCores: 1, Urgent: true}
	view := &place.View{
		Partition: invasive.Partition{Nodes: 1, Sockets: 2, CoresPerSocket: 2},
		Owners:    []invasive.JobID{1, 1, 1, 1},
		Jobs: []invasive.Held{
			{Job: malleable, State: invasive.Running, Cores: []uint32{0, 1, 2, 3}},
			{Job: urgent, State: invasive.Accepted},
		},
	}
	for _, event := range place.Seat(view, &place.Policy{Means: []invasive.How{invasive.Shrink}}) {
		fmt.Println(event.Kind, "from job", event.ID, "cores", event.Cores)
	}
	// Output: take from job 1 cores [3]
}
