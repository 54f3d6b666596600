// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/test/clitest"
)

func TestManPages(t *testing.T) {
	names := clitest.ManPages(t, newRoot())
	require.Subset(t, names, []string{"aucsched", "aucsched-plan", "aucsched-status", "aucsched-slurm", "aucsched-completion-bash"})
	require.NotContains(t, names, "aucsched-reproduce", "the laboratory writes it")

	t.Setenv("SOURCE_DATE_EPOCH", "86400")
	dir := filepath.Join(t.TempDir(), "man")
	code, out, errs := aucsched(t, "", "man-pages", dir)
	require.Zero(t, code, errs)
	require.Empty(t, out)
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, len(names))
	text, err := os.ReadFile(filepath.Join(dir, "aucsched-plan.1"))
	require.NoError(t, err)
	require.Regexp(t, `^\.TH AUCSCHED\\-PLAN 1 "1970-01-02" "aucsched `, string(text))
	require.Contains(t, string(text), "\n.SH Auctions (auction1, auction2)\n")
}

// The settings of jobs inside Slurm are a topic of help.
func TestSlurmTopic(t *testing.T) {
	code, out, errs := aucsched(t, "", "help", "slurm")
	require.Zero(t, code, errs)
	require.Contains(t, out, "sbatch --comment=input=PATH:SIZE")
	_, out, _ = aucsched(t, "", "--help")
	require.Regexp(t, `\nAdditional help topics:\n  aucsched slurm +Options of jobs`, out)
}
