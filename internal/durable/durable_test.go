// SPDX-License-Identifier: BSD-3-Clause

package durable

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, text := range []string{"long ago", "now"} {
		require.NoError(t, Write(path, []byte(text)))
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, text, string(got))
	}
	st, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), st.Mode())
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "nothing is left beside it")
}

// A file that can't be written leaves the one before.
func TestFailedWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, Write(path, []byte("before")))
	require.NoError(t, os.Mkdir(path+".new", 0o700))
	require.Error(t, Write(path, []byte("after")))
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "before", string(got))
	require.ErrorIs(t, Write(filepath.Join(t.TempDir(), "none", "file"), nil), os.ErrNotExist)
}
