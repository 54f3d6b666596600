// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/try"
	"github.com/aucsched/aucsched/internal/workload"
)

// try runs the command.
func runTry(t *testing.T, args ...string) (string, error) {
	t.Helper()
	c := tryCommand()
	var out bytes.Buffer
	c.SetOut(&out)
	c.SetErr(&out)
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs(args)
	err := c.Execute()
	return out.String(), err
}

// site writes a day of jobs on two nodes, and their slurm.conf.
func site(t *testing.T) (sacct, conf string) {
	t.Helper()
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString(strings.ReplaceAll(workload.PastFormat, ",", "|") + "\n")
	for i := range 40 {
		at := fmt.Sprintf("2026-01-05T%02d:%02d:00", i/6, i%6*10)
		end := fmt.Sprintf("2026-01-05T%02d:%02d:00", i/6+1, i%6*10)
		fmt.Fprintf(&b, "%d|%s|%s|%s|3600|90|4|4|1|1|cpu=4|cpu=4|COMPLETED|%d|u%d|%s|p||||n%d\n", i, at, at, end, 100-i, i%3, at, i%6+1)
	}
	sacct, conf = filepath.Join(dir, "jobs.txt"), filepath.Join(dir, "slurm.conf")
	require.NoError(t, os.WriteFile(sacct, []byte(b.String()), 0o600))
	require.NoError(t, os.WriteFile(conf, []byte("NodeName=n[1-6] CPUs=4\nPartitionName=p Nodes=ALL\n"), 0o600))
	return sacct, conf
}

func TestTryCommand(t *testing.T) {
	sacct, conf := site(t)
	html := filepath.Join(t.TempDir(), "page.html")
	text, err := runTry(t, "--sacct", sacct, "--conf", conf, "--html", html)
	require.NoError(t, err)
	for _, want := range []string{"6 nodes, 40 jobs", "Your jobs hardly wait", "throughput", "u2",
		"auc_mode=shadow,auc_interval=3,auc_preset=short"} {
		require.Contains(t, text, want)
	}
	page, err := os.ReadFile(html)
	require.NoError(t, err)
	require.Contains(t, string(page), "In short, for a decision")

	text, err = runTry(t, "--sacct", sacct, "--conf", conf, "--json", "--presets", "short",
		"--from", "2026-01-05T02:00:00", "--to", "2026-01-05T04:00:00")
	require.NoError(t, err)
	var r try.Report
	require.NoError(t, json.Unmarshal([]byte(text), &r))
	require.Equal(t, []string{"Slurm, as it was", "backfill", "short"}, r.Policies)
	require.Equal(t, []int{12, 5}, []int{r.All.Jobs, r.Before})

	text, err = runTry(t, "--how", "--weeks", "4")
	require.NoError(t, err)
	require.Contains(t, text, "sacct --allusers --allocations --duplicates --parsable2 --starttime=now-4weeks --format=JobID,")
}

func TestTryErrors(t *testing.T) {
	sacct, conf := site(t)
	for want, args := range map[string][]string{
		"--sacct is needed":                nil,
		"--weeks: 0: must be 1 to 520":     {"--weeks", "0"},
		"--interval: 0: must be 1 to 3600": {"--interval", "0"},
		"--from and --to go together":      {"--from", "2026-01-05T02:00:00"},
		`--from: "today": not a time like`: {"--from", "today", "--to", "2026-01-05T02:00:00"},
		"must be after --from":             {"--from", "2026-01-05T02:00:00", "--to", "2026-01-05T02:00:00"},
		`--presets: "shrt" is unknown; known are default, short, throughput, none; did you mean "short"?`: {"--presets", "shrt"},
		"--most: 40 jobs: more than 39; take fewer --weeks":                                               {"--most", "39"},
		"no such file or directory": {"--conf", "/no/such/file"},
		"has no job from 2020-01-01T00:00:00 to 2020-01-02T00:00:00: its jobs are from 2026-01-05T": {"--from", "2020-01-01", "--to", "2020-01-02"},
		"no job that began; see aucsched try --how":                                                 {"--sacct", os.DevNull},
	} {
		if args != nil {
			args = append([]string{"--sacct", sacct, "--conf", conf}, args...)
		}
		_, err := runTry(t, args...)
		require.ErrorContains(t, err, want)
	}
}
