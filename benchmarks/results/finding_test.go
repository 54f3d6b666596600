// SPDX-License-Identifier: BSD-3-Clause

package results

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFinding(t *testing.T) {
	for _, finding := range []string{"", "It is fast.\n\n| a |\n|---|\n| 1 |"} {
		const page = "# Load\n\nFigures.\n"
		with, err := withFinding(page, finding)
		require.NoError(t, err)
		got, rest := Finding(with)
		require.Equal(t, finding, got)
		require.Equal(t, page, rest)
	}
	finding, rest := Finding("# Load\n\nFigures.\n")
	require.Empty(t, finding)
	require.Equal(t, "# Load\n\nFigures.\n", rest)
	_, err := withFinding("Figures.\n", "It is fast.")
	require.ErrorContains(t, err, "no title")
}

func TestPagesHaveFindings(t *testing.T) {
	pages, err := pagesOfDirectory()
	require.NoError(t, err)
	require.NotEmpty(t, pages)
	for name, page := range pages {
		finding, _ := Finding(page)
		require.NotEmpty(t, finding, "%s.md", name)
	}
}
