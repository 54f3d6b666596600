// SPDX-License-Identifier: BSD-3-Clause

package requests

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The table and the function say the same, and requests of the table are valid.
func TestCases(t *testing.T) {
	names, met := map[string]bool{}, 0
	for _, c := range Cases() {
		require.False(t, names[c.Name], c.Name)
		names[c.Name] = true
		require.NoError(t, c.Request.Validate(), c.Name)
		require.Equal(t, c.OK, Met(&c.Request, c.Segs), c.Name)
		if c.OK {
			met++
		}
	}
	require.Greater(t, met, 20)
	require.Greater(t, len(names)-met, 20)
}

// What is drawn is met often enough, and not met often enough, to tell judges apart.
func TestDrawDrawsBoth(t *testing.T) {
	drawn := map[bool]int{}
	rapid.Check(t, func(r *rapid.T) { drawn[Draw(r).OK]++ })
	require.Greater(t, drawn[true], 10)
	require.Greater(t, drawn[false], 20)
}
