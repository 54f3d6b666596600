// SPDX-License-Identifier: BSD-3-Clause

package engine_test

import (
	"fmt"

	"github.com/aucsched/aucsched/internal/engine"
)

// One job that fits now, one that has to wait for the running job, and one that never fits.
func ExampleEngine() {
	e, err := engine.New("reservations=1 deadline_ms=1000", engine.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	in := &engine.Input{
		Now:      1000,
		Nodes:    []engine.Node{{Cores: 8, FreeCores: 8, Up: 1}, {Cores: 8, FreeCores: 2, Up: 1}},
		Running:  []engine.Running{{End: 1600, Segments: 1}},
		Segments: []engine.Segment{{First: 1, Last: 1, Cores: 6}},
		Jobs: []engine.Job{
			{Priority: 3, Cores: 10, TimeLimit: 60, Mask: -1},
			{Priority: 2, Cores: 8, TimeLimit: 60, Mask: -1},
			{Priority: 1, Cores: 17, TimeLimit: 60, Mask: -1},
		},
	}
	var out engine.Output
	if err := e.Cycle(in, &out); err != nil {
		fmt.Println(err)
		return
	}
	for i, d := range out.Decisions {
		fmt.Println(i, d.Why, d.Expected, out.Segments[d.FirstSegment:d.FirstSegment+d.Segments])
	}
	in.Jobs[2].Cores = 0
	fmt.Println(e.Cycle(in, &out), out.Starts, out.Decisions[2].Why == engine.Faulty, out.Fault)
	// Output:
	// 0 0 0 [{0 0 8 0 0} {1 1 2 0 0}]
	// 1 3 1060 []
	// 2 4 0 []
	// <nil> 1 true jobs[2].cores: 0: must be at least 1 for who takes nothing else of each node
}
