// SPDX-License-Identifier: BSD-3-Clause

package native

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/ipmodel"
)

// lagrangian is the bound of prices, from its definition.
func lagrangian(m *ipmodel.Model, prices []float64) float64 {
	sum := 0.0
	for r, p := range prices {
		sum += p * float64(m.Cap[r])
	}
	for g := range m.Groups() {
		best := 0.0
		for i := m.GroupStart[g]; i < m.GroupStart[g+1]; i++ {
			net := float64(m.Value[i])
			for k := m.ColStart[i]; k < m.ColStart[i+1]; k++ {
				net -= prices[m.Row[k]] * float64(m.Coef[k])
			}
			best = max(best, net)
		}
		sum += best
	}
	return sum
}

func TestPricesBoundTheWorth(t *testing.T) {
	lower := 0
	for seed := range uint64(200) {
		m := randomModel(rand.New(rand.NewPCG(seed, 1)), 8, 5, 6, false)
		var r ipmodel.Result
		require.NoError(t, New().Solve(context.Background(), m, ipmodel.Options{Work: 2_000_000}, &r))
		require.Len(t, r.Prices, len(m.Cap))
		for _, p := range r.Prices {
			require.GreaterOrEqual(t, p, 0.0)
		}
		at := lagrangian(m, r.Prices)
		require.GreaterOrEqual(t, at*(1+1e-9), float64(r.Value))
		if at < 0.99*lagrangian(m, make([]float64, len(m.Cap))) {
			lower++
		}
	}
	require.Greater(t, lower, 50, "prices lower the bound of many models")
}
