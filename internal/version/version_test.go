// SPDX-License-Identifier: BSD-3-Clause

package version

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the linker sets counts, and says whether the checkout had changes.
func TestTextOfStamp(t *testing.T) {
	defer func(s string) { stamp = s }(stamp)
	for s, want := range map[string]string{
		"":            Number, // a test has no commit of its own
		"abc":         Number + " (commit abc)",
		"abc-changed": Number + " (commit abc, with changes)",
	} {
		stamp = s
		require.Equal(t, want, Text())
	}
}

// scripts/commit.sh knows a clean checkout from a changed one, also in a worktree, and is silent
// without Git.
func TestCommitScript(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is missing")
	}
	script, err := os.ReadFile("../../scripts/commit.sh")
	require.NoError(t, err)
	plain := t.TempDir()
	do := func(dir, name string, args ...string) string {
		c := exec.Command(name, args...)
		c.Dir = dir
		c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CEILING_DIRECTORIES="+filepath.Dir(plain),
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return strings.TrimSpace(string(out))
	}
	place := func(dir string) {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "scripts"), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "scripts", "commit.sh"), script, 0o755))
	}
	place(plain)
	require.Empty(t, do(plain, "sh", "scripts/commit.sh"))

	do(plain, "git", "init", "-q")
	do(plain, "git", "add", ".")
	do(plain, "git", "commit", "-qm", "one")
	hash := do(plain, "git", "rev-parse", "HEAD")
	require.Equal(t, hash, do(plain, "sh", "scripts/commit.sh"))
	tree := filepath.Join(t.TempDir(), "tree")
	do(plain, "git", "worktree", "add", "-q", tree)
	require.Equal(t, hash, do(tree, "sh", "scripts/commit.sh"))
	require.NoError(t, os.WriteFile(filepath.Join(plain, "more"), nil, 0o600))
	require.Equal(t, hash+"-changed", do(plain, "sh", "scripts/commit.sh"))
}
