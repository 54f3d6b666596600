// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever the number of workers, the sum is that of all chunks so far.
func TestSteps(t *testing.T) {
	next, sum := 1, 0.0
	for _, workers := range []int{1, 3, 2} {
		sum += step(&next, workers)
	}
	require.Equal(t, 1+6*chunk, next)
	require.InDelta(t, math.Pi*math.Pi/6, sum, 1e-6)
}
