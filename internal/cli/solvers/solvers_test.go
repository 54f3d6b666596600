// SPDX-License-Identifier: BSD-3-Clause

package solvers

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/ipmodel/highs"
)

func TestNames(t *testing.T) {
	for _, name := range names {
		_, err := New(name)
		if name == "highs" && !highs.Built {
			require.ErrorContains(t, err, "highs is not built into this program")
			continue
		}
		require.NoError(t, err, name)
	}
	_, err := New("nativ")
	require.EqualError(t, err, `--solver: "nativ" is unknown; known are native, highs, auto; did you mean "native"?`)
}
