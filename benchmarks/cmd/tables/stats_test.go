// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOver(t *testing.T) {
	s := over([]float64{2, 4, 4, 4, 5, 5, 7, 9})
	require.InDelta(t, 5, s.Mean, 1e-12)
	require.InDelta(t, 2.138089935, s.Dev, 1e-9, "a sample's: root of 32/7")
	require.Equal(t, spread{Mean: 3}, over([]float64{3}))
}

func TestPair(t *testing.T) {
	p := pair([]float64{3, 2, 5, 1}, []float64{1, 2, 4, 2})
	require.Equal(t, []int{2, 1, 1}, []int{p.Wins, p.Ties, p.Losses})
	require.InDelta(t, 0.5, p.Difference.Mean, 1e-12)
}

func TestSignTest(t *testing.T) {
	for _, c := range []struct {
		wins, losses int
		want         float64
	}{
		{10, 0, 1.0 / 1024}, {9, 1, 11.0 / 1024}, {5, 5, 638.0 / 1024}, {0, 10, 1}, {0, 0, 1}, {1, 0, 0.5},
	} {
		require.InDelta(t, c.want, paired{Wins: c.wins, Losses: c.losses, Ties: 3}.signTest(), 1e-12, "%d wins, %d losses", c.wins, c.losses)
	}
}
