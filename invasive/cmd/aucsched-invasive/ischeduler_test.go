// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/invasive/ischeduler"
)

// daemon is the command in a process of its own, which ends with the test.
func daemon(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	c := exec.Command(program, append([]string{"ischeduler", "--dir", dir, "--connect",
		"unix:" + filepath.Join(dir, "nobody", "socket")}, args...)...)
	c.Env = append(os.Environ(), "AUCSCHED_TEST_COMMAND=1")
	var errs strings.Builder
	c.Stderr = &errs
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	require.Eventually(t, func() bool {
		code, _, _ := aucsched(t, "", "ischeduler", "--dir", dir, "status")
		return code == 0
	}, 30*time.Second, 20*time.Millisecond, "%s", errs.String())
	return c
}

// What was answered survives kill -9 at any time, and nothing comes twice.
func TestISchedulerKilled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	var told []string
	for round := range 3 {
		d := daemon(t, dir)
		for i := 0; ; i++ {
			if i == 3 { // some time during the next ones
				time.AfterFunc(time.Duration(round)*5*time.Millisecond, func() { _ = d.Process.Signal(syscall.SIGKILL) })
			}
			code, out, _ := aucsched(t, "", "ischeduler", "--dir", dir, "submit", "--max", "4", "--", "solve", strconv.Itoa(i))
			if code != 0 {
				break
			}
			told = append(told, strings.TrimSpace(out))
		}
		_ = d.Wait()
	}
	require.GreaterOrEqual(t, len(told), 9)
	d := daemon(t, dir)
	code, out, errs := aucsched(t, "", "ischeduler", "--dir", dir, "list", "--json")
	require.Zero(t, code, errs)
	found := make(map[string]bool)
	for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
		var j ischeduler.Info
		require.NoError(t, json.Unmarshal([]byte(line), &j))
		id := strconv.FormatUint(j.ID, 10)
		require.False(t, found[id], "job %s is there twice", id)
		found[id] = true
		require.Equal(t, []any{"waiting", "moldable", uint32(4), "solve"}, []any{j.State, j.Kind, j.MaxCores, j.Args[0]})
	}
	for _, id := range told {
		require.True(t, found[id], "job %s was lost", id)
	}
	require.NoError(t, d.Process.Signal(syscall.SIGTERM))
	require.NoError(t, d.Wait(), "it ends in order")
}

func TestIScheduler(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	daemon(t, dir, "--limit", "3")
	file := filepath.Join(t.TempDir(), "jobs.json")
	require.NoError(t,
		os.WriteFile(file,
			[]byte("[{\"args\":[\"a\"]},\n {\"args\":[\"b\"],\"kind\":\"malleable\",\"max_cores\":4,\"urgent\":true}]"),
			0o600))
	code, out, errs := aucsched(t, "", "ischeduler", "--dir", dir, "submit", file)
	require.Zero(t, code, errs)
	assert.Equal(t, "1\n2\n", out)
	code, out, errs = aucsched(t, `{"args":["c"]}`, "ischeduler", "--dir", dir, "submit", "-")
	require.Zero(t, code, errs)
	assert.Equal(t, "3\n", out)
	code, _, errs = aucsched(t, "", "ischeduler", "--dir", dir, "submit", "--", "d", "e")
	assert.Equal(t, cli.ExitFailed, code)
	assert.Equal(t, "aucsched: d e: jobs[0]: the queue is full: it has 3 jobs, the most that it takes\n", errs)
	_, out, _ = aucsched(t, "", "ischeduler", "--dir", dir, "list")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	require.Len(t, lines, 4)
	assert.Equal(t, []string{"2", "waiting", "0", "malleable,", "urgent", "1-4", "0", "0"}, strings.Fields(lines[2])[:8])
	_, out, _ = aucsched(t, "", "ischeduler", "--dir", dir, "status")
	var st ischeduler.Status
	require.NoError(t, json.Unmarshal([]byte(out), &st))
	assert.Equal(t, ischeduler.Status{Jobs: 3, Waiting: 2, Limit: 3, Peers: st.Peers}, st)
	code, _, errs = aucsched(t, "", "ischeduler", "--dir", dir, "cancel", "1")
	assert.Equal(t, cli.ExitFailed, code)
	assert.Contains(t, errs, "no connection to the iHypervisor")
}

func TestISchedulerErrors(t *testing.T) {
	race.Slow(t)
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.json")
	require.NoError(t, os.WriteFile(bad, []byte("{\"args\":[\"a\"],\n\"min_cores\":0.5}"), 0o600))
	tests := []struct {
		args []string
		code int
		err  string
	}{
		{nil, cli.ExitUsage, "--connect is needed"},
		{[]string{"--connect", "udp:x"}, cli.ExitUsage, `--connect: "udp:x": must be unix:PATH or tcp:HOST:PORT`},
		{[]string{"--connect", "tcp:localhost:1"}, cli.ExitUsage, "--tls-ca, --tls-cert and --tls-key are needed"},
		{[]string{"--connect", "unix:/x", "--peer", "me"}, cli.ExitUsage, `--peer: "me": must be a user ID`},
		{[]string{"--connect", "unix:/x", "--limit", "0"}, cli.ExitUsage, "queue of 0 jobs: must be 1 to 16384"},
		{[]string{"--connect", "unix:/x", "--fill", "200"}, cli.ExitUsage, "fill 200%: must be at most 100%"},
		{[]string{"submit"}, cli.ExitUsage, "submit: FILE.json is missing"},
		{[]string{"submit", "a", "b"}, cli.ExitUsage, "submit: one file, or -- and a command"},
		{[]string{"submit", bad}, cli.ExitUsage, "bad.json:2: cannot unmarshal number 0.5"},
		{[]string{"cancel", "x"}, cli.ExitUsage, `"x": must be a job's number`},
		{[]string{"list"}, cli.ExitFailed, "no iScheduler"},
	}
	for _, test := range tests {
		code, _, errs := aucsched(t, "", append([]string{"ischeduler", "--dir", filepath.Join(dir, "s")}, test.args...)...)
		assert.Equal(t, test.code, code, errs)
		assert.Contains(t, errs, test.err)
	}
}

// A file of jobs may begin with a byte order mark, and is not in UTF-16.
func TestReadSpecsMarks(t *testing.T) {
	specs, err := readSpecs(strings.NewReader("\xef\xbb\xbf"+`{"args":["true"]}`), "-")
	require.NoError(t, err)
	require.Equal(t, []string{"true"}, specs[0].Args)
	_, err = readSpecs(strings.NewReader("{\x00}\x00"), "-")
	require.EqualError(t, err, "standard input:1: the text is in UTF-16: save it as UTF-8")
}
