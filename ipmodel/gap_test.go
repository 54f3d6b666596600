// SPDX-License-Identifier: BSD-3-Clause

package ipmodel

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWithinGap(t *testing.T) {
	for _, c := range []struct {
		worth, bound int64
		gap          float64
		want         bool
	}{
		{100, 100, 0, true},
		{100, 101, 0, false},
		{100, 101, 0.01, true},
		{100, 102, 0.01, false},
		{0, 1, 10, false},
		{0, 0, 0, true},
		{100, 101, -1, false},
		{100, 101, math.NaN(), false},
		{100, math.MaxInt64, 0.5, false},
		{100, math.MaxInt64, math.Inf(1), true},
	} {
		require.Equal(t, c.want, WithinGap(c.worth, c.bound, c.gap), "%+v", c)
	}
}
