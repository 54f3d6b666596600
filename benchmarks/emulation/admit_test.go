// SPDX-License-Identifier: BSD-3-Clause

package emulation

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// Jobs that can never run are left out, and listed as a simulation lists them.
func TestAdmit(t *testing.T) {
	machine := []nodeset.Capacity{{Cores: 4}, {Cores: 4, GPUs: 1}}
	var jobs []workload.Job
	for i, r := range []bids.Request{{Cores: 9}, {Cores: 8}, {Cores: 1, MinGPUs: 2},
		{Cores: 1, MinGPUs: 1}, {Cores: 2, MinNodes: 2, MaxNodes: 2, MinGPUs: 1}} {
		j := workload.Job{Job: core.Job{ID: string(rune('a' + i)), Request: r, Priority: 1, TimeLimit: 60}, Duration: 60}
		jobs = append(jobs, j)
	}
	todo, unrun, err := admit(machine, jobs)
	require.NoError(t, err)
	require.Equal(t, []int{1, 3}, todo)
	b, err := sim.NewBackfill(sim.DefaultBackfill())
	require.NoError(t, err)
	simulated, err := sim.Run(t.Context(), sim.NewConfig(machine), b, jobs)
	require.NoError(t, err)
	require.Equal(t, simulated.Unrun, unrun)
	require.Len(t, unrun, 3)

	_, _, err = admit(machine, jobs[:1])
	require.ErrorContains(t, err, "none of the 1 jobs can run on this machine; job a can never run: needs 9 cores")
	_, _, err = admit(nil, jobs)
	require.Error(t, err)
}
