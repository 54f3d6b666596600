// SPDX-License-Identifier: BSD-3-Clause

package emulation

import (
	"fmt"

	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// admit tells the jobs that can run from those that never can.
func admit(machine []nodeset.Capacity, jobs []workload.Job) (todo []int, unrun []sim.Unrun, err error) {
	table, err := nodeset.New(machine)
	if err != nil {
		return nil, nil, err
	}
	m := place.NewMachine(table)
	for i := range jobs {
		if err := m.CanEverRun(&jobs[i].Request); err != nil {
			unrun = append(unrun, sim.Unrun{ID: jobs[i].ID, Reason: err.Error()})
			continue
		}
		todo = append(todo, i)
	}
	if len(todo) == 0 {
		return nil, unrun, fmt.Errorf("none of the %d jobs can run on this machine; job %s %s", len(jobs), unrun[0].ID, unrun[0].Reason)
	}
	return todo, unrun, nil
}
