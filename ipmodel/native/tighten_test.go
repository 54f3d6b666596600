// SPDX-License-Identifier: BSD-3-Clause

package native

import (
	"math/rand/v2"
	"testing"

	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/stretchr/testify/require"
)

// TestTightenedRowsHoldTheSame holds random sets of columns against a row before and after,
// for capacities and coefficients of all sizes that are looked at.
func TestTightenedRowsHoldTheSame(t *testing.T) {
	race.Slow(t)
	rng := rand.New(rand.NewPCG(1, 28))
	var all tightener // whose places are taken by one row after the other
	changed := 0
	for range 20_000 {
		capacity := 1 + rng.Int64N(maxTightened)
		var coefs []int64
		have := int64(0)
		for range 1 + rng.IntN(6) {
			coefs = append(coefs, 1+rng.Int64N(capacity))
			have |= 1 << coefs[len(coefs)-1]
		}
		x := all.row(have, capacity)
		for range 20 {
			before, after := int64(0), int64(0)
			for before <= capacity {
				a := coefs[rng.IntN(len(coefs))]
				before, after = before+a, after+int64(x.to[a])
				require.Equal(t, before <= capacity, after <= x.capTo, "capacity %d, coefficients %v", capacity, coefs)
			}
		}
		if x.capTo < capacity {
			changed++
		}
	}
	require.Greater(t, changed, 1000)
}
