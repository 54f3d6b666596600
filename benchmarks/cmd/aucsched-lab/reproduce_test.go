// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/benchmarks/papers"
	"github.com/aucsched/aucsched/benchmarks/reproduce"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/test/clitest"
	"github.com/aucsched/aucsched/internal/test/race"
)

func TestReproducePrintsOursBesideThePapers(t *testing.T) {
	race.Slow(t)
	out, page := filepath.Join(t.TempDir(), "results"), filepath.Join(t.TempDir(), "page.md")
	args := []string{"reproduce", "aucsched2-3", "--only", "1.FC AUCSCHED2 gpu ranges", "--seeds", "3", "--out", out, "--markdown", page,
		"--html", page + ".html"}
	code, text, errs := aucsched(t, "", args...)
	require.Zero(t, code, errs)
	require.Contains(t, text, "AUCSCHED2 gpu ranges, our defaults - SLURM/Backfill")
	markdown, err := os.ReadFile(page)
	require.NoError(t, err)
	clitest.Words(t, "text", text+string(markdown))
	html, err := os.ReadFile(page + ".html")
	require.NoError(t, err)
	clitest.Page(t, "reproduce", string(html))
	require.Contains(t, strings.Join(strings.Fields(string(markdown)), " "),
		"Written by `aucsched reproduce aucsched2-3 --seeds 3 --only \"1.FC AUCSCHED2 gpu "+
			"ranges\" --markdown "+page+" --html "+page+".html`")
	require.Contains(t, string(markdown), "| 1.FC     | AUCSCHED2 gpu ranges ")

	files, err := filepath.Glob(filepath.Join(out, "*.json"))
	require.NoError(t, err)
	require.Len(t, files, 4)
	code, again, errs := aucsched(t, "", append(args, "--json")...)
	require.Zero(t, code, errs)
	var r reproduce.Report
	require.NoError(t, json.Unmarshal([]byte(again), &r))
	row := r.Tables[0].Rows[1]
	require.Equal(t, papers.Aucsched2Ranges, row.Method)
	printed, _ := papers.TsubameResult("1.FC", papers.Aucsched2Ranges)
	require.Equal(t, printed.Runtime, row.Paper[reproduce.Runtime])

	// The figures are those of the command that the row names.
	code, single, errs := aucsched(t, "", append([]string{"simulate", "--seed=3", "--json"}, row.Args...)...)
	require.Zero(t, code, errs)
	var s struct {
		Runtime float64 `json:"runtime_s"`
		Bound   float64 `json:"runtime_bound_s"`
	}
	require.NoError(t, json.Unmarshal([]byte(single), &s))
	require.InDelta(t, s.Runtime/3600, row.Ours[reproduce.Runtime].Mean, 1e-12)
	require.InDelta(t, 100*(s.Runtime/s.Bound-1), row.AboveBound.Mean, 1e-9)
	require.Greater(t, row.AboveBound.Mean, 1.0)

	// A damaged result is found and run again.
	want, err := os.ReadFile(files[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(files[0], want[:100], 0o644))
	code, repaired, errs := aucsched(t, "", append(args, "--json")...)
	require.Zero(t, code, errs)
	require.Contains(t, errs, files[0])
	require.Contains(t, errs, "the cell is run again")
	require.Equal(t, again, repaired)
	got, err := os.ReadFile(files[0])
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}

func TestReproduceChecksItsInputFirst(t *testing.T) {
	race.Slow(t)
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	out := filepath.Join(t.TempDir(), "results")
	for want, args := range map[string]string{
		`table "nonsense" is unknown; known are ipsched-5`: "nonsense",
		`--seeds: "0": must be FIRST-LAST`:                 "aucsched2-3 --seeds 0",
		`--seeds: "-2": must be FIRST-LAST`:                "aucsched2-3 --seeds=-2",
		`--seeds: "5-1": must be FIRST-LAST`:               "aucsched2-3 --seeds 5-1",
		`-j: 0: must be at least 1`:                        "aucsched2-3 -j 0",
		`-j: -1: must be at least 1`:                       "aucsched2-3 -j -1",
		`--via: "pbs" is unknown; known are local, slurm`:  "aucsched2-3 --via pbs",
		`--quick: has one seed`:                            "aucsched2-3 --quick --seeds 1-3",
		`no row matches "9.NC"`:                            "aucsched2-3 --only 9.NC",
		`--out: `:                                          "aucsched2-3 --out " + file + "/results",
		`--markdown: `:                                     "aucsched2-3 --markdown " + file + "/page.md",
		`--html: `:                                         "aucsched2-3 --html " + file + "/page.html",
		`--list: needs --cell`:                             "--list cells-1.json",
		`--cell: needs --list, and no table`:               "--cell 1",
		`there is no such file`:                            "--cell 1 --list cells-1.json",
	} {
		full := append([]string{"reproduce"}, strings.Fields(args)...)
		if !strings.Contains(args, "--out") {
			full = append(full, "--out", out)
		}
		code, text, errs := aucsched(t, "", full...)
		require.Equal(t, cli.ExitUsage, code, "%s: %s", args, errs)
		require.Empty(t, text, args)
		require.Contains(t, errs, want, args)
		require.Equal(t, 1, strings.Count(errs, "\n"), "%s: one line: %s", args, errs)
		files, _ := filepath.Glob(filepath.Join(out, "*"))
		require.Empty(t, files, "%s: nothing was run", args)
	}
}

// What a result depends on is all there: the flags with their defaults, and what
// --preset=paper stands for.
func TestSimulateSettings(t *testing.T) {
	args := []string{"--cluster=1408x12x3", "--workload=gen:tsubame-1.NC", "--seed=7"}
	settings, err := simulateSettings(args)
	require.NoError(t, err)
	for _, want := range []string{"cluster=1408x12x3", "workload=gen:tsubame-1.NC",
		"seed=7", "policy=auction2", "bids=15", "interval=3", "work=4000000", "deadline=0s"} {
		require.Contains(t, settings, want)
	}
	require.NotContains(t, strings.Join(settings, "\n"), "json")
	require.NotContains(t, strings.Join(settings, "\n"), "bound=", "it decides nothing that is stored")
	papers, err := simulateSettings(append(args, "--preset=paper"))
	require.NoError(t, err)
	require.Contains(t, strings.Join(papers, "\n"), "of the preset={")
	given, err := simulateSettings(append(args, "--preset=paper", "--bids=15"))
	require.NoError(t, err)
	require.NotEqual(t, papers, given, "the papers have 5 bids, and 15 are given")

	for want, bad := range map[string][]string{
		"no such generator":       {"--cluster=8x8", "--workload=gen:nonsense"},
		"must be in 1..":          {"--cluster=0x8x2", "--workload=gen:tsubame-1.NC"},
		`"nonsense" is unknown`:   {"--cluster=1408x12x3", "--workload=gen:tsubame-1.NC", "--policy=nonsense"},
		"unknown flag: --missing": {"--cluster=8x8", "--missing=1"},
	} {
		_, err := simulateSettings(bad)
		require.ErrorContains(t, err, want)
	}
}

func TestReproduceInterrupted(t *testing.T) {
	var out, errs strings.Builder
	code := run(clitest.Interrupted(), []string{"reproduce", "aucsched2-3", "--seeds", "1", "--out", t.TempDir()},
		strings.NewReader(""), &out, &errs)
	require.Equal(t, 130, code)
	require.Contains(t, errs.String(), "interrupted: 0 of 42 runs are done and kept in")
	require.Empty(t, out.String())
}

// All that the tables name exists, and no setting of theirs is without effect.
func TestEveryRowCanBeSimulated(t *testing.T) {
	race.Slow(t)
	tables := reproduce.Tables()
	program, err := simulateProgram()
	require.NoError(t, err)
	require.Regexp(t, "^(commit|sha256) [0-9a-f]{40}", program.Version)
	cells, err := reproduce.Cells(program, tables, []uint64{1})
	require.NoError(t, err)
	args := make(map[string]bool)
	for _, table := range tables {
		for _, row := range table.Rows {
			args[strings.Join(row.Args, " ")] = true
		}
	}
	require.Equal(t, len(args), len(cells))
}

// Without a choice nothing runs and nothing is written: it says how much there is, and what to say.
func TestReproduceAsksWhatToRun(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CACHE_HOME", "")
	for _, args := range [][]string{{"reproduce"}, {"reproduce", "--seeds", "1-2", "-j", "3"}, {"reproduce", "--json"}} {
		code, out, errs := aucsched(t, "", args...)
		require.Equal(t, cli.ExitUsage, code)
		require.Empty(t, out)
		require.Regexp(t, `^aucsched: reproduce: choose what to run; nothing was run\n`+
			`aucsched:   --all: \d+ runs with seeds \S+, about [0-9.]+ (min|h) with -j \d+\n`+
			`aucsched:   --quick: \d+ runs with one seed, about .+\n`+
			`aucsched:   TABLE...: ipsched-5 \(\d+\), .+\n$`, errs)
	}
	_, _, errs := aucsched(t, "", "reproduce", "--all", "--quick")
	require.Contains(t, errs, "--all: goes without --quick and without tables")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
}

// Results go to the user's cache, and not to where one stands, unless --out says so.
func TestReproduceSaysWhereResultsAre(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	t.Chdir(dir)
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", "")
	var out, errs strings.Builder
	args := []string{"reproduce", "aucsched2-3", "--only", "1.FC AUCSCHED2 gpu ranges", "--seeds", "1"}
	require.Equal(t, 130, run(clitest.Interrupted(), args, strings.NewReader(""), &out, &errs))
	kept := filepath.Join(home, ".cache", "aucsched", "reproduce")
	require.Contains(t, errs.String(), "aucsched: results are kept in "+kept+"; --out names another directory\n")
	require.DirExists(t, kept)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
	require.NoError(t, os.RemoveAll(kept))
	args = append(args, "--out", filepath.Join(dir, "mine"))
	errs.Reset()
	require.Equal(t, 130, run(clitest.Interrupted(), args, strings.NewReader(""), &out, &errs))
	require.NotContains(t, errs.String(), "another directory")
	require.DirExists(t, filepath.Join(dir, "mine"))
	require.NoDirExists(t, kept)
}
