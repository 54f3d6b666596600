// SPDX-License-Identifier: BSD-3-Clause

package policy

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/highs"
)

func TestSolvers(t *testing.T) {
	for _, name := range solvers {
		_, err := NewSolver(name)
		if name == "highs" && !highs.Built {
			require.ErrorContains(t, err, "highs is not built into this program")
			continue
		}
		require.NoError(t, err, name)
	}
	_, err := NewSolver("nativ")
	require.EqualError(t, err, `--solver: "nativ" is unknown; known are native, highs, auto; did you mean "native"?`)
}
