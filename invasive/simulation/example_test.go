// SPDX-License-Identifier: BSD-3-Clause

package simulation_test

import (
	"context"
	"fmt"
	"time"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/simulation"
)

// A job that asks for all eight cores, and an urgent one that comes ten seconds later.
func Example() {
	c := simulation.NewConfig(invasive.Partition{Name: "invasic", Nodes: 2, Sockets: 1, CoresPerSocket: 4})
	jobs := []simulation.Job{
		{Duration: time.Minute, Limit: time.Minute, Cores: 8},
		{Submit: 10 * time.Second, Duration: 10 * time.Second, Limit: time.Minute, Cores: 2, Urgent: true},
	}
	for _, share := range []float64{0, 1} {
		flex := simulation.DefaultFlexibility()
		flex.Malleable, flex.Urgent = share, 0
		flexible, err := flex.Apply(jobs, c.Partition.Cores())
		if err != nil {
			fmt.Println(err)
			return
		}
		r, err := simulation.Run(context.Background(), c, flexible)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%d suspended, %d shrunk; the urgent job starts after %.1f s, all is done after %.0f s\n",
			r.Suspensions, r.Shrinks, r.UrgentP50, r.Makespan)
	}
	// Output:
	// 1 suspended, 0 shrunk; the urgent job starts after 1.0 s, all is done after 71 s
	// 0 suspended, 1 shrunk; the urgent job starts after 1.0 s, all is done after 64 s
}
