// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// localityMachine has eight nodes, each of which keeps one file of 9 GB in its memory.
func localityMachine(parameters string) Config {
	return Config{Groups: Uniform(8, 4, 0), SchedulerParameters: join(",", "auc_delay_ms=100", parameters)}
}

// ranOn runs a job on a whole node, long enough for several cycles to see it, and
// returns where it was.
func ranOn(t *testing.T, c *Cluster, args ...string) string {
	t.Helper()
	id := submit(t, c, "sleep 4", append([]string{"-N1", "--ntasks-per-node=4", "--time=1"}, args...)...)
	node := running(t, c, patience, id)[0].NodeList
	_, err := c.WaitFor(t.Context(), id, 30*time.Second, "COMPLETED")
	require.NoError(t, err)
	require.NoError(t, c.waitIdle(t.Context()), "for the next job any node is as good")
	return node
}

// A job goes where its file is, though other nodes are free and come first; also if slurmctld was
// killed in between, and whoever has started the job that read the file before.
func TestJobsGoWhereTheirFileIs(t *testing.T) {
	beside(t)
	c := cluster(t, auction, localityMachine("auc_locality=yes"))
	w := watch(t, c)
	first := ranOn(t, c, "--comment=input=/data/a:9G") // as the auction likes it
	require.Equal(t, "n0006", ranOn(t, c, "--comment=for me;input=/data/b:9G", "-w", "n0006", "--spread-job"), "by Slurm")
	require.NotEqual(t, "n0006", first)
	require.Equal(t, "n0006", ranOn(t, c, "--comment=input=/data/b:9G"))
	require.NotEqual(t, "n0006", ranOn(t, c, "--comment=input=/data/c:9G"), "nobody has read that file")
	require.NotEqual(t, "n0006", ranOn(t, c), "a job without a file")

	require.NoError(t, c.poll(t.Context(), patience, "what nodes hold to be saved", func() (bool, error) {
		_, err := os.Stat(c.path("state", "aucsched_files"))
		return err == nil, nil
	}))
	kill(t, c)
	require.NoError(t, c.waitIdle(t.Context()))
	require.Equal(t, "n0006", ranOn(t, c, "--comment=input=/data/b:9G"), "after a kill")

	// There is no room for both.
	ranOn(t, c, "--comment=input=/data/d:9G", "-w", "n0006", "--spread-job")
	require.NotEqual(t, "n0006", ranOn(t, c, "--comment=input=/data/b:9G"), "it was pushed out")
	s, err := c.Status()
	require.NoError(t, err)
	require.Equal(t, uint64(2), s.Files.Starts, "of jobs with files since the kill, by the auction")
	require.Equal(t, uint64(1), s.Files.OnHolders)
	require.GreaterOrEqual(t, s.Files.Known, 2)
	_, err = w.Look(t.Context())
	require.NoError(t, err)
}

// A damaged file is nothing known, and said once.
func TestDamagedFileState(t *testing.T) {
	beside(t)
	c := cluster(t, auction, localityMachine("auc_locality=yes"))
	ranOn(t, c, "--comment=input=/data/b:9G", "-w", "n0006", "--spread-job")
	path := c.path("state", "aucsched_files")
	require.NoError(t, c.poll(t.Context(), patience, "what nodes hold to be saved", func() (bool, error) {
		_, err := os.Stat(path)
		return err == nil, nil
	}))
	require.NoError(t, c.KillController(t.Context(), 9))
	saved, err := os.ReadFile(path)
	require.NoError(t, err)
	saved[len(saved)/2] ^= 1
	require.NoError(t, os.WriteFile(path, saved, 0o600))
	require.NoError(t, c.StartController(t.Context()))
	require.NoError(t, c.waitIdle(t.Context()))
	require.NotEqual(t, "n0006", ranOn(t, c, "--comment=input=/data/b:9G"))
	require.Len(t, logLines(t, c, "aucsched_files: files: damaged: .*; no node is taken to hold a file"), 1)
}

// Without auc_locality nobody looks at files, and comments are anybody's.
func TestWithoutLocality(t *testing.T) {
	beside(t)
	c := cluster(t, auction, localityMachine(""))
	require.Equal(t, "n0006", ranOn(t, c, "--comment=input=/data/b:9G", "-w", "n0006", "--spread-job"))
	require.NotEqual(t, "n0006", ranOn(t, c, "--comment=input=/data/b:9G"))
	require.NotEqual(t, "n0006", ranOn(t, c, "--comment=input=what the user says"))
	_, err := os.Stat(c.path("state", "aucsched_files"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestRefusedInputs(t *testing.T) {
	beside(t)
	c := cluster(t, auction, localityMachine("auc_locality=yes"))
	for comment, words := range map[string]string{
		"input=x":                       "input=x: must be PATH:SIZE",
		"note;input=/data/a:5GB":        "input=/data/a:5GB: its size must be a number of bytes above 0, or with K, M, G or T",
		"input=a:5G":                    "input=a:5G: its path must begin with / or be a URL",
		"input=/data/a:1G;input=/b:1G":  "input=/b:1G: is a second input; name the largest one alone",
		"input=/data/a:0;auc:gpu=1-2;x": "input=/data/a:0: its size must be",
	} {
		_, err := c.Sbatch(t.Context(), []string{"-n1", "--comment=" + comment}, c.Script("true"))
		require.ErrorContains(t, err, words)
	}
	for _, comment := range []string{"for the review", "my input=5", "input", "a;b=c", ""} {
		id := submit(t, c, "true", "-n1", "--time=1", "--comment="+comment)
		j, err := c.ShowJob(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, comment, j.Fields["Comment"])
	}
	id := submit(t, c, "sleep 1", "-n1", "-H", "--comment=input=/data/a:1G")
	_, err := c.Scontrol(t.Context(), "update", fmt.Sprint("JobId=", id), "Comment=input=1G")
	require.ErrorContains(t, err, "Invalid argument")
	_, err = c.Scontrol(t.Context(), "update", fmt.Sprint("JobId=", id), "Comment=input=/data/b:1G")
	require.NoError(t, err)
}
