// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The page's figures are those of the simulations: a small partition, one seed.
func TestInvasivePage(t *testing.T) {
	f, err := measureInvasive(t.Context(), seedRange{1, 1}, 4, 30, io.Discard)
	require.NoError(t, err)
	require.Len(t, f.cases, len(invasiveShares))
	require.Len(t, f.variants, len(invasiveVariants))
	require.Equal(t, f.cases[4].Result.Wait, f.variants[0][0].Wait, "as above")
	text, err := f.page("invasive.svg")
	require.NoError(t, err)
	for _, want := range []string{"| 25%", "| 1% of a job is serial", "-seeds 1-1",
		"](invasive.svg)", "4 nodes of 2 sockets of 8 cores. 30 jobs"} {
		require.Contains(t, text, want)
	}
	require.NotContains(t, text, "NaN")
	svg, err := f.plot()
	require.NoError(t, err)
	require.True(t, strings.Contains(string(svg), "<svg") && strings.Contains(string(svg), "turnaround"))
}
