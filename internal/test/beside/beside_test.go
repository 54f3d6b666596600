// SPDX-License-Identifier: BSD-3-Clause

package beside

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShared(t *testing.T) {
	top := t.TempDir()
	deep := filepath.Join(top, "trees", "checkout", "internal", "pods")
	want := filepath.Join(top, "shared", "traces", "a.csv")
	require.NoError(t, os.MkdirAll(deep, 0o755))
	require.NoError(t, os.MkdirAll(filepath.Dir(want), 0o755))
	require.NoError(t, os.WriteFile(want, nil, 0o600))
	t.Chdir(deep)
	require.Equal(t, want, Shared(t, "traces/a.csv"))
	t.Run("absent", func(t *testing.T) {
		t.Cleanup(func() { require.True(t, t.Skipped()) })
		Shared(t, "traces/no such file.csv")
		t.Error("found")
	})
}
