// SPDX-License-Identifier: BSD-3-Clause

// Package beside finds data that are kept beside the checkout, and are no part of it.
package beside

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Shared is where the file or directory of that path, with slashes, is in a directory "shared" next
// to the checkout or to one that it is in. It skips the test where there is none.
func Shared(t testing.TB, path string) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		found := filepath.Join(dir, "..", "shared", filepath.FromSlash(path))
		if _, err := os.Stat(found); err == nil {
			return found
		}
		if dir == filepath.Dir(dir) {
			t.Skipf("%s is not beside the checkout, in shared: this test needs the real data", path)
		}
		dir = filepath.Dir(dir)
	}
}
