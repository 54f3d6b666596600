// SPDX-License-Identifier: BSD-3-Clause

package results

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestOnTop(t *testing.T) {
	findings := fstest.MapFS{"load.md": {Data: []byte("It is fast.\n")}}
	for _, c := range []struct{ name, page, want string }{
		{"load", "# Load\n\nFigures.\n", "# Load\n\nIt is fast.\n\nFigures.\n"},
		{"other", "# Other\n\nFigures.\n", "# Other\n\nFigures.\n"},
	} {
		got, err := OnTop(c.page, c.name, findings)
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
	_, err := OnTop("Figures.\n", "load", findings)
	require.ErrorContains(t, err, "no title")
}

// A page in the directory is what its generator writes: its finding is on top, word for word.
func TestPagesHaveTheirFindings(t *testing.T) {
	pages, err := pagesOfDirectory()
	require.NoError(t, err)
	require.NotEmpty(t, pages)
	for name, page := range pages {
		title, _, _ := strings.Cut(page, "\n")
		want, err := OnTop(title+"\n", name, Findings())
		require.NoError(t, err)
		require.NotEqual(t, title+"\n", want, "%s has no finding", name)
		require.True(t, strings.HasPrefix(page, want), "the finding of %s is not on top of its page", name)
	}
}
