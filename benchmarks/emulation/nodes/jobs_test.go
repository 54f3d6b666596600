// SPDX-License-Identifier: BSD-3-Clause

package nodes_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience is what things take on a loaded machine, in real time.
const patience = 60 * time.Second

// job is what slurmctld noted of a job that has ended.
type job struct {
	state, exit, nodes string
	start, end         time.Time
}

// script is a job's that takes so many seconds.
func script(seconds float64) string {
	return fmt.Sprintf("#!/bin/sh\n# aucsched-emulation: %g\n", seconds)
}

func (c *cluster) sbatch(t *testing.T, script string, args ...string) int {
	out, err := c.run(script, append([]string{"sbatch", "--parsable", "-o", "/dev/null"}, args...)...)
	require.NoError(t, err)
	id, err := strconv.Atoi(out)
	require.NoError(t, err)
	return id
}

// poll waits until done says so.
func poll(t *testing.T, what string, done func() bool) {
	for end := time.Now().Add(patience); !done(); time.Sleep(50 * time.Millisecond) {
		require.True(t, time.Now().Before(end), "waited %v for %s", patience, what)
	}
}

// idle waits until all n nodes are.
func (c *cluster) idle(t *testing.T, n int) {
	poll(t, "all nodes to be idle", func() bool {
		out, err := c.run("", "sinfo", "-h", "-o", "%D %T")
		return err == nil && out == fmt.Sprint(n, " idle")
	})
}

// state is that of a job that slurmctld remembers.
func (c *cluster) state(id int) string {
	out, _ := c.run("", "squeue", "-h", "-t", "all", "-o", "%T", "-j", strconv.Itoa(id))
	return out
}

func (c *cluster) running(t *testing.T, id int) {
	poll(t, "job to run", func() bool { return c.state(id) == "RUNNING" })
}

// ended waits until n jobs have, and returns what was noted of them: of each once.
func (c *cluster) ended(t *testing.T, n int) map[int]job {
	var jobs map[int]job
	poll(t, fmt.Sprint(n, " jobs to end"), func() bool {
		jobs = c.completed(t)
		return len(jobs) >= n
	})
	require.Len(t, jobs, n)
	return jobs
}

func (c *cluster) completed(t *testing.T) map[int]job {
	text, err := os.ReadFile(c.path("jobcomp.log"))
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	jobs := map[int]job{}
	lines := strings.Split(string(text), "\n")
	for _, line := range lines[:len(lines)-1] {
		fields := map[string]string{}
		for _, word := range strings.Fields(line) {
			name, value, _ := strings.Cut(word, "=")
			fields[name] = value
		}
		id, err := strconv.Atoi(fields["JobId"])
		require.NoError(t, err, line)
		require.NotContains(t, jobs, id, "ended twice: %s", line)
		moment := func(name string) time.Time {
			at, _ := time.Parse("2006-01-02T15:04:05", fields[name]) // "Unknown" is the zero time
			return at
		}
		jobs[id] = job{fields["JobState"], fields["ExitCode"], fields["NodeList"], moment("StartTime"), moment("EndTime")}
	}
	return jobs
}

// said is how often vslurmd has said something.
func (c *cluster) said(t *testing.T, format string, args ...any) int {
	log, err := os.ReadFile(c.path("vslurmd.out"))
	require.NoError(t, err)
	return strings.Count(string(log), fmt.Sprintf(format, args...))
}

// launches is how often vslurmd has launched a job.
func (c *cluster) launches(t *testing.T, id int) int {
	return c.said(t, "job %d: launched on", id)
}
