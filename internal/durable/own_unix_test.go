// SPDX-License-Identifier: BSD-3-Clause

//go:build unix

package durable

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOpenOwn(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	f, info, err := OpenOwn(path, os.O_CREATE|os.O_WRONLY)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	require.NoError(t, f.Close())
	link, twice := filepath.Join(dir, "link"), filepath.Join(dir, "twice")
	require.NoError(t, os.Symlink(path, link))
	require.NoError(t, os.Link(path, twice))
	fifo := filepath.Join(dir, "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	for _, other := range []string{link, twice, path, fifo, dir, os.DevNull} {
		_, _, err := OpenOwn(other, os.O_RDWR)
		require.Error(t, err, other)
	}
	require.NoError(t, os.Remove(twice))
	f, _, err = OpenOwn(path, os.O_RDWR)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}
