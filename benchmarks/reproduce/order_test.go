// SPDX-License-Identifier: BSD-3-Clause

package reproduce

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/benchmarks/stats"
)

func TestOrder(t *testing.T) {
	for _, c := range []struct {
		a, b    []float64
		printed float64
		want    Order
	}{
		{[]float64{5, 6, 7}, []float64{1, 2, 3.1}, 2, Same},
		{[]float64{5, 6, 7}, []float64{1, 2, 3.1}, -2, Opposite},
		{[]float64{1, 2, 3.1}, []float64{5, 6, 7}, -2, Same},
		{[]float64{5, 6, 7}, []float64{1, 2, 3.1}, 0, Opposite},
		{[]float64{5, 6, 7}, []float64{4, 7, 6.5}, 2, Noise},
		{[]float64{5, 6, 7}, []float64{4, 7, 6.5}, -2, Noise},
		{[]float64{5, 6, 7}, []float64{4, 7, 6.5}, 0, Same},
		{[]float64{1, 1}, []float64{1, 1}, 0, Same},
		{[]float64{1, 1}, []float64{1, 1}, 1, Noise},
		{[]float64{1, 1}, []float64{1, 1}, 1.02 - 1.01 - 0.01, Same}, // rounding is no order
		{[]float64{2}, []float64{1}, 1, SameOnce},
		{[]float64{2}, []float64{1}, -1, OpposedOnce},
		{[]float64{2}, []float64{1}, 0, OpposedOnce},
		{[]float64{1}, []float64{1}, 0, SameOnce},
	} {
		d := stats.Paired(c.a, c.b)
		require.Equal(t, c.want, orderOf(&d, c.printed), "%+v", c)
	}
	// Two seeds that differ by 1 and by 3 are 2 ± 1: Student allows 12.7 errors.
	d := stats.Paired([]float64{2, 4}, []float64{1, 1})
	require.InDelta(t, 2, d.Mean, 1e-12)
	require.InDelta(t, 1, d.Error, 1e-12)
	require.Equal(t, Noise, orderOf(&d, 2))
}
