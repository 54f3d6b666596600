// SPDX-License-Identifier: BSD-3-Clause

package queue_test

import (
	"context"
	"fmt"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/queue"
)

// A malleable job makes room for a rigid one.
func Example() {
	q := queue.New(1000)
	_ = q.Add(queue.Entry{Job: &invasive.Job{ID: 1, Flex: invasive.Malleable, MinCores: 4, MaxCores: 32}})
	_ = q.Add(queue.Entry{Job: &invasive.Job{ID: 2, MinCores: 24, MaxCores: 24}})
	mapper, err := queue.NewMapper(queue.DefaultOptions())
	if err != nil {
		fmt.Println(err)
		return
	}
	var waiting []*invasive.Job // Agent.Queue has them
	for id := invasive.JobID(1); id <= 2; id++ {
		e, _ := q.Get(id)
		waiting = append(waiting, e.Job)
	}
	offer := &invasive.Offer{Jobs: 10, Parts: []invasive.Part{{Node: 0, Cores: 16}, {Node: 1, Cores: 16}}}
	answer, err := mapper.Decide(context.Background(), q.Entries(nil, waiting, 0), offer, false, 0)
	for _, m := range answer.Map {
		fmt.Println(m.Job.ID, m.Parts)
	}
	fmt.Println(answer.Accept, queue.Verify(offer, answer.Map), err)
	// Output:
	// 1 [{0 8 0}]
	// 2 [{0 8 0} {1 16 0}]
	// true <nil> <nil>
}
