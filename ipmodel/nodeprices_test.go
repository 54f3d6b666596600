package ipmodel_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/ipmodel"
)

// A bid costs the same at the prices of rows and at those of nodes, merged or not.
func TestNodePricesAreThoseOfTheRows(t *testing.T) {
	costly := 0
	for seed := range uint64(200) {
		w := newWindow(seed, 8, 6)
		rng := rand.New(rand.NewPCG(seed, 3))
		var m ipmodel.Model
		b := ipmodel.Builder{Merge: seed%2 == 0}
		require.NoError(t, b.Build(&w.space, w.asks, &w.book, nil, &m))
		rows := make([]float64, len(m.Cap))
		for r := range rows {
			rows[r] = float64(rng.IntN(3)) * rng.Float64() * 1e6
		}
		var p bids.Prices
		b.NodePrices(&w.space, rows, &p)
		require.InDelta(t, float64(b.Alpha()), p.Alpha, 0)
		for i := range w.book.Bids {
			byRows := 0.0
			for k := m.ColStart[i]; k < m.ColStart[i+1]; k++ {
				byRows += rows[m.Row[k]] * float64(m.Coef[k])
			}
			byNodes, crosses := 0.0, w.asks[w.book.Bids[i].Job].Crosses
			for _, s := range w.book.Allocation(i) {
				for n := s.First; n <= s.Last; n++ {
					byNodes += p.Cores[crosses][n]*float64(s.Cores) + p.GPUs[crosses][n]*float64(s.GPUs)
				}
			}
			require.InDelta(t, byRows, byNodes*m.Scale, 1e-6*(1+byRows))
			if byRows > 0 {
				costly++
			}
		}
	}
	require.Positive(t, costly)
}
