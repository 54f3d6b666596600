// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var embedding = regexp.MustCompile("(?s)```go\n(package main.*?)```.*?```\n(.*?)```")

// The program of README.md runs, and prints what stands below it.
func TestProgramOfREADME(t *testing.T) {
	text, err := os.ReadFile("../../../README.md")
	require.NoError(t, err)
	m := embedding.FindSubmatch(text)
	require.NotNil(t, m, "README.md has no program")
	file := filepath.Join(t.TempDir(), "main.go")
	require.NoError(t, os.WriteFile(file, m[1], 0o644))
	out, err := exec.Command("go", "run", file).CombinedOutput()
	require.NoError(t, err, "%s", out)
	var lines []string
	for l := range strings.Lines(string(out)) {
		lines = append(lines, strings.TrimRight(l, " \n"))
	}
	require.Equal(t, strings.TrimSpace(string(m[2])), strings.Join(lines, "\n"))
}
