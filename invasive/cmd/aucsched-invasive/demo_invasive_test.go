// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/test/race"
)

// malleableJob builds the job, and makes this process's children the command.
func malleableJob(t *testing.T) string {
	t.Helper()
	race.Slow(t)
	if _, err := coresOf(demoCores); err != nil {
		t.Skipf("this host doesn't tell its cores: %v", err)
	}
	job := filepath.Join(t.TempDir(), "malleable")
	out, err := exec.Command("go", "build", "-o", job, "../../examples/malleable").CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Setenv("AUCSCHED_TEST_COMMAND", "1")
	return job
}

// nothingLeft checks that neither a file nor a process is left of the directory.
func nothingLeft(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
	for job := 1; job <= 4; job++ {
		require.Empty(t, jobProcesses(dir, job), "job %d", job)
	}
	commands, err := filepath.Glob("/proc/*/cmdline")
	require.NoError(t, err)
	for _, path := range commands {
		text, _ := os.ReadFile(path)
		require.NotContains(t, string(text), dir, path)
	}
}

// An urgent job gets cores of running ones at once, which shrink, get them back, and end; the
// kernel confirms each step.
func TestDemoInvasive(t *testing.T) {
	job, dir := malleableJob(t), t.TempDir()
	t.Setenv("TMPDIR", dir)
	code, out, errs := aucsched(t, "", "demo", "invasive", "--job", job, "--pause", "0s")
	require.Zero(t, code, "%s%s", out, errs)
	t.Log("\n" + out)
	nothingLeft(t, dir)

	type state struct{ of [5]int }
	var states []state
	for _, m := range regexp.MustCompile(`(?m)^ *\d+\.\d\d s  \[([1-4.]{12})\]  `).FindAllStringSubmatch(out, -1) {
		var s state
		for job := 1; job <= 4; job++ {
			s.of[job] = strings.Count(m[1], strconv.Itoa(job))
		}
		states = append(states, s)
	}
	full, taken := state{[5]int{0, 4, 4, 4, 0}}, false
	steps := 0 // full, with the urgent job, full again, empty
	for _, s := range states {
		if s.of[4] > 0 {
			taken = true
			require.Equal(t, []int{6, 6}, []int{s.of[4], s.of[1] + s.of[2] + s.of[3]}, out)
			require.Positive(t, s.of[1]*s.of[2]*s.of[3], "jobs shrink, and none is suspended: %s", out)
		}
		if steps == 0 && s == full || steps == 1 && s.of[4] > 0 || steps == 2 && s == full || steps == 3 && s == (state{}) {
			steps++
		}
	}
	require.True(t, taken)
	require.Equal(t, 4, steps, out)
	require.Regexp(t, `the urgent job ran \d+ ms after its submission`, out)
	require.Equal(t, 10, strings.Count(out, "as the ledger says"), "3 jobs, 4, and 3 again: %s", out)
	require.Contains(t, out, "all 4 jobs have ended with 0")
}

// canceller ends a context when a text is written.
type canceller struct {
	bytes.Buffer
	at     string
	cancel func()
}

func (c *canceller) Write(p []byte) (int, error) {
	if strings.Contains(string(p), c.at) {
		c.cancel()
	}
	return c.Buffer.Write(p)
}

// Nothing is left either if it is interrupted while jobs run.
func TestDemoInvasiveInterrupted(t *testing.T) {
	job, dir := malleableJob(t), t.TempDir()
	t.Setenv("TMPDIR", dir)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	out := &canceller{at: "is asked for cores", cancel: cancel}
	var errs bytes.Buffer
	code := run(ctx, []string{"demo", "invasive", "--job", job, "--pause", "0s"}, nil, out, &errs)
	require.NotZero(t, code, out.String())
	require.NotContains(t, out.String(), "all 4 jobs")
	nothingLeft(t, dir)
}

func TestDemoLedger(t *testing.T) {
	l := newLedger(4)
	for _, step := range []struct{ line, says, bar string }{
		{"job 1 owns cores 0-3", "job 1 starts on 4 cores", "1111"},
		{"iScheduler -> iHypervisor  URGENT_JOB, job 2", "", "1111"},
		{"job 1 is asked for cores 2-3", "job 1 is asked for cores 2-3", "1111"},
		{"job 1 owns cores 0-1", "job 1 has let go of 2 cores, and keeps 2", "11.."},
		{"job 2 owns cores 2", "job 2 starts on 1 cores", "112."},
		{"job 1 owns cores 0-1,3", "job 1 grows from 2 to 3 cores", "1121"},
		{"job 1 owns cores none", "job 1 has let go of 3 cores, and keeps 0", "..2."},
		{"job 2 ended with 3", "job 2 has ended with 3", "...."},
		{"job 2 is forgotten", "", "...."},
	} {
		require.Equal(t, step.says, l.take(step.line))
		require.Equal(t, step.bar, l.bar())
	}
}
