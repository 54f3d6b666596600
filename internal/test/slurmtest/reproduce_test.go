// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The papers' experiments as a job array: the same report as without Slurm, from tasks
// that Slurm ran, no more of them at a time than asked for; and a second run finds all
// results there.
func TestReproduceViaSlurm(t *testing.T) {
	beside(t)
	c := cluster(t, stock, Config{Groups: Uniform(16, 8, 0)})
	dir := t.TempDir()
	bin, err := programmes()
	require.NoError(t, err)
	program := filepath.Join(bin, "aucsched")

	reproduce := func(out string, more ...string) (string, error) {
		args := []string{program, "reproduce", "ipsched-5", "--only", "4-SLURM",
			"--seeds", "1-4", "--json", "-j", "2", "--out", filepath.Join(dir, out)}
		return c.Run(t.Context(), append(args, more...)...)
	}
	via, err := reproduce("slurm", "--via", "slurm")
	require.NoError(t, err)
	local, err := reproduce("local")
	require.NoError(t, err)
	require.Equal(t, local, via)

	ended := requireTasks(t, c, 4)
	for _, j := range ended {
		running := 0
		for _, o := range ended {
			if o.Start <= j.Start && j.Start < o.End {
				running++
			}
		}
		require.LessOrEqual(t, running, 2, "%v", ended)
	}

	again, err := reproduce("slurm", "--via", "slurm")
	require.NoError(t, err)
	require.Equal(t, local, again)
	requireTasks(t, c, 4)

	_, err = reproduce("none", "--via", "slurm", "--partition", "nonsense")
	require.Regexp(t, `^aucsched: sbatch: exit status 1: .*invalid partition`, Stderr(err))
}

// requireTasks waits for the completion log to have n tasks, all completed.
func requireTasks(t *testing.T, c *Cluster, n int) []Ended {
	t.Helper()
	var ended []Ended
	require.Eventually(t, func() bool {
		var err error
		ended, err = c.Ended()
		return err == nil && len(ended) >= n
	}, 20*time.Second, 200*time.Millisecond)
	require.Len(t, ended, n)
	for _, j := range ended {
		require.Equal(t, []string{"aucsched-reproduce", "COMPLETED"}, []string{j.Name, j.State})
	}
	return ended
}
