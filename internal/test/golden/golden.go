// SPDX-License-Identifier: BSD-3-Clause

// Package golden compares what tests make with files, which -rewrite writes anew.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

// Equal compares got with the file testdata/path of the package under test. With
// -rewrite it makes the file first: look at the difference.
func Equal(t testing.TB, path, got string) {
	t.Helper()
	path = filepath.Join("testdata", path)
	if *rewrite {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}
