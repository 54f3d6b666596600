// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/benchmarks/results"
)

func TestTheFindingOfAPageStays(t *testing.T) {
	dir := t.TempDir()
	const page = "# A\n\nFigures.\n"
	for file, was := range map[string]string{"a.md": "# A\n\nIt gains.\n\n" + results.Marker + "\n\nOlder figures.\n", "b.md": ""} {
		file = filepath.Join(dir, file)
		if was != "" {
			require.NoError(t, os.WriteFile(file, []byte(was), 0o644))
		}
		require.NoError(t, writePage(file, page))
		got, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, strings.Replace(was, "Older figures", "Figures", 1) == string(got), was != "", string(got))
		_, rest := results.Finding(string(got))
		require.Equal(t, page, rest)
	}
}
