// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAFindingGoesOnTopOfItsPage(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "findings"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "findings", "a.md"), []byte("It gains.\n"), 0o644))
	for file, want := range map[string]string{"a.md": "# A\n\nIt gains.\n\nFigures.\n", "b.md": "# A\n\nFigures.\n"} {
		require.NoError(t, writePage(filepath.Join(dir, file), "# A\n\nFigures.\n"))
		got, err := os.ReadFile(filepath.Join(dir, file))
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
}
