// SPDX-License-Identifier: BSD-3-Clause

package locality

import (
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// readFile reads a file of the authors' data, or skips the test.
func readFile[T any](t testing.TB, path string, read func(io.Reader, string) (T, error)) T {
	t.Helper()
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		t.Skipf("the authors' data are not there: %v", err)
	}
	require.NoError(t, err)
	defer f.Close()
	v, err := read(f, path)
	require.NoError(t, err)
	return v
}
