// SPDX-License-Identifier: BSD-3-Clause

package bound_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/benchmarks/bound"
	"github.com/aucsched/aucsched/benchmarks/traces"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/generate"
	"github.com/aucsched/aucsched/internal/test/race"
)

// No simulation is sooner done than the bounds say.
func TestSimulationsTakeLonger(t *testing.T) {
	race.Slow(t)
	backfill, err := sim.NewBackfill(sim.DefaultBackfill())
	require.NoError(t, err)
	o := core.Preset("none")
	o.Work, o.Window = 20_000, 20
	auction, err := core.NewAuction(o, nil)
	require.NoError(t, err)
	for _, c := range []struct {
		cluster, workload string
		policy            core.Policy
	}{
		{"128x8x2", "gen:IV.3", auction}, {"128x8x2", "gen:V.1", auction},
		{"96x8x2,32x12x4", "gen:V.1", auction}, {"128x8x2", "gen:esp", backfill}, {"100x8x2,28x8", "gen:esp-rand", auction},
		{"1408x12x3", "gen:tsubame-1.NC-ranges", backfill}, {"1408x12x3", "gen:tsubame-1.HC-ranges", auction},
	} {
		for seed := uint64(2); seed <= 3; seed++ {
			t.Run(fmt.Sprint(c.cluster, c.workload, c.policy.Name(), seed), func(t *testing.T) {
				nodes, err := traces.ParseCluster(c.cluster)
				require.NoError(t, err)
				w, err := generate.Generate(c.workload, nodes, seed)
				require.NoError(t, err)
				b, err := bound.Runtime(nodes, w.Jobs)
				require.NoError(t, err)
				r, err := sim.Run(t.Context(), sim.NewConfig(nodes), c.policy, w.Jobs)
				require.NoError(t, err)
				require.Empty(t, r.Unrun)
				require.LessOrEqual(t, b.Nodes, float64(r.Runtime))
				require.Greater(t, b.Nodes, 0.5*float64(r.Runtime), "%+v", b)
			})
		}
	}
}
