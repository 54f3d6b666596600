// SPDX-License-Identifier: BSD-3-Clause

package emulation

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// However a file grows, its lines are counted as they come.
func TestLineCounter(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		path := filepath.Join(dir, string(rune('a'+n%26)))
		os.Remove(path)
		l := lineCounter{path: path}
		got, err := l.count()
		require.NoError(t, err)
		require.Zero(t, got, "no file yet")
		f, err := os.Create(path)
		require.NoError(t, err)
		defer f.Close()
		var all bytes.Buffer
		for _, part := range rapid.SliceOfN(
			rapid.SampledFrom([]string{"", "a", "\n", "JobId=1\n", "a\nb",
				strings.Repeat("x\n", 1<<15), strings.Repeat("y", 1<<16)}), 0, 8).Draw(t, "parts") {
			all.WriteString(part)
			_, err := f.WriteString(part)
			require.NoError(t, err)
			got, err := l.count()
			require.NoError(t, err)
			require.Equal(t, bytes.Count(all.Bytes(), []byte("\n")), got)
		}
	})
	l := lineCounter{path: dir}
	_, err := l.count()
	require.Error(t, err, "a directory")
}
