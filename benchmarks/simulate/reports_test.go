// SPDX-License-Identifier: BSD-3-Clause

package simulate

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/clitest"
	"github.com/aucsched/aucsched/internal/test/race"
)

// small are the arguments of a simulation of next to no time.
func small(more ...string) []string {
	return append([]string{"simulate", "--cluster", "64x12x3", "--workload",
		"../traces/testdata/swf/small.swf", "--work", "20000"}, more...)
}

func listDir(t *testing.T, dir string) (names []string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names
}

func TestSeveralPolicies(t *testing.T) {
	dir := t.TempDir()
	code, out, errs := aucsched(t, "", small("--policy", "backfill,auction2", "--json",
		"--html", filepath.Join(dir, "p.html"), "--jobs-csv", filepath.Join(dir, "jobs.csv"))...)
	require.Zero(t, code, errs)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	require.Len(t, lines, 2)
	timing := func(s string) string { return s[:strings.Index(s, `"cycle_ms`)] }
	for i, policy := range []string{"backfill", "auction2"} {
		var r sim.Result
		require.NoError(t, json.Unmarshal([]byte(lines[i]), &r))
		require.Equal(t, policy, r.Policy)
		_, alone, _ := aucsched(t, "", small("--policy", policy, "--json")...)
		require.Equal(t, timing(alone), timing(lines[i]), "as when it runs alone")
		jobs, err := os.ReadFile(filepath.Join(dir, "jobs."+policy+".csv"))
		require.NoError(t, err)
		require.Equal(t, 1+r.Jobs+len(r.Unrun), strings.Count(string(jobs), "\n"))
	}
	require.Equal(t, []string{"jobs.auction2.csv", "jobs.backfill.csv", "p.html"}, listDir(t, dir))
	page, err := os.ReadFile(filepath.Join(dir, "p.html"))
	require.NoError(t, err)
	for _, word := range []string{"<title>backfill, auction2 on ", "bf_max_job_test", "64 nodes of 12 cores and 3 GPUs",
		"aucsched simulate --cluster=64x12x3 --policy=backfill,auction2 --work=20000 --workload=../traces/testdata/swf/small.swf<"} {
		require.Contains(t, string(page), word)
	}

	_, table, _ := aucsched(t, "", small("--policy", "backfill,auction2")...)
	require.Regexp(t, `(?m)^policy +backfill +auction2$`, table)
	require.Regexp(t, `(?m)^wait, mean \((s|min|h)\) +[0-9.]+ +[0-9.]+ +([-+][0-9.]+%|=)$`, table)
}

func TestOnePolicyKeepsItsCSVName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.csv")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	code, _, errs := aucsched(t, "", small("--policy", "backfill", "--jobs-csv", path)...)
	require.Zero(t, code, errs)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(text), "job_id,workload_name,"))
	require.Equal(t, []string{"jobs.csv"}, listDir(t, filepath.Dir(path)))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

// What cannot be written is found before the simulation, which here would end at once
// with another error; nothing is left behind, and what was there stays.
func TestUnwritableReports(t *testing.T) {
	race.Slow(t)
	ctx := clitest.Interrupted()
	dir := t.TempDir()
	old := filepath.Join(dir, "old.html")
	require.NoError(t, os.WriteFile(old, []byte("old"), 0o600))
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{cli.ExitUsage, "--html: ", []string{"--html", filepath.Join(dir, "no/such.html")}},
		{cli.ExitUsage, "is a directory", []string{"--html", dir}},
		{cli.ExitUsage, "--jobs-csv: ", []string{"--html", old, "--jobs-csv", filepath.Join(old, "jobs.csv")}},
		{cli.ExitUsage, "old.html: is named for two outputs", []string{"--html", old, "--jobs-csv", old}},
		{cli.ExitUsage, "--policy: \"backfill\" is given twice", []string{"--html", old, "--policy", "backfill,backfill"}},
		{cli.ExitUsage, "--policy: \"\" is unknown", []string{"--html", old, "--policy", "backfill,"}},
		{130, "interrupted", []string{"--html", old, "--jobs-csv", filepath.Join(dir, "jobs.csv")}},
	} {
		var out, errs bytes.Buffer
		require.Equal(t, c.code, run(ctx, small(c.args...), strings.NewReader(""), &out, &errs), errs.String())
		require.Contains(t, errs.String(), c.want)
		require.Empty(t, out.String())
		require.Equal(t, []string{"old.html"}, listDir(t, dir))
		text, err := os.ReadFile(old)
		require.NoError(t, err)
		require.Equal(t, "old", string(text))
	}
}

// A link stays a link: the file that it names is replaced.
func TestReportThroughLink(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file.html"), filepath.Join(dir, "link.html")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, os.Symlink(file, link))
	code, _, errs := aucsched(t, "", small("--policy", "backfill", "--html", link)...)
	require.Zero(t, code, errs)
	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeSymlink)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), "<!DOCTYPE html>")
}

// Three policies fit beside each other on a terminal of 80 columns, a figure a row.
func TestTableIsNarrow(t *testing.T) {
	code, out, errs := aucsched(t, "", "simulate", "--cluster", "128x8x2", "--workload", "gen:V.1", "--first", "100",
		"--policy", "backfill,easy-sjf,easy-wfp3")
	require.Zero(t, code, errs)
	rows := strings.Split(strings.TrimSpace(out), "\n")
	require.Greater(t, len(rows), 20)
	for _, row := range rows[:len(rows)-1] { // the last says what differences are
		require.LessOrEqual(t, utf8.RuneCountInString(row), 80, row)
		require.NotContains(t, row, "±")
		require.NotContains(t, row, ";")
	}
	require.Regexp(t, `(?m)^wait, mean \((s|min|h)\) +[0-9.]+ +[0-9.]+ +[-+][0-9.]+% +[0-9.]+ +[-+][0-9.]+%$`, out)
}
