// SPDX-License-Identifier: BSD-3-Clause

package preemption

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/sim"
)

func policies(t *testing.T) map[string]core.Policy {
	auction, err := core.NewAuction(core.Preset(""), nil)
	require.NoError(t, err)
	stock, err := sim.NewBackfill(sim.DefaultBackfill())
	require.NoError(t, err)
	return map[string]core.Policy{"auction2": auction, "backfill": stock}
}

// All jobs of a small site run, urgent ones are stopped by nobody, and they wait less for it.
func TestUrgentJobsWaitLess(t *testing.T) {
	site := Site{Name: "small", Nodes: 8, Cores: 16, Hours: 2, Load: 1.5, Urgent: 10, Wide: 2}
	for name, policy := range policies(t) {
		r, err := Run(t.Context(), &site, policy, 1)
		require.NoError(t, err, name)
		require.Positive(t, r.Stops, name)
		require.Less(t, r.UrgentMean, r.ScavengersMean/2, name)
		require.Positive(t, r.Lost, name)
		require.Less(t, r.Lost, 1.0, name)
	}
}

// Where nobody is urgent nobody is stopped.
func TestNobodyIsStoppedForNobody(t *testing.T) {
	site := Site{Name: "calm", Nodes: 8, Cores: 16, Hours: 2, Load: 1.5}
	for name, policy := range policies(t) {
		r, err := Run(t.Context(), &site, policy, 1)
		require.NoError(t, err, name)
		require.Zero(t, r.Stops, name)
		require.Zero(t, r.Lost, name)
	}
}
