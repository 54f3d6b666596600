// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/benchmarks/traces"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/generate"
	"github.com/aucsched/aucsched/internal/test/race"
)

// A cell is a ratio, and bold where it is worse whatever the seed.
func TestWorthCells(t *testing.T) {
	with := func(waits ...float64) (runs []*sim.Result) {
		for _, w := range waits {
			runs = append(runs, &sim.Result{WaitMean: w, CPUUtilization: 1})
			runs[len(runs)-1].CPUUtilizationLoaded = 1 / w
		}
		return runs
	}
	use, mean := &worthFigures[0], &worthFigures[3]
	for _, c := range []struct {
		a, b          []*sim.Result
		use, mean     string
		better, worse int
	}{
		{with(2, 4, 8), with(1, 2.1, 4), "**0.51**", "**1.97**", 0, 2},
		{with(1, 2.1, 4), with(2, 4, 8), "1.97", "0.51", 2, 0},
		{with(1, 4), with(2, 2), "1.00", "1.00", 0, 0},
		{with(3), with(1), "0.33", "3.00", 0, 0},
	} {
		var s worthSection
		require.Equal(t, c.use, s.cell(use, c.a, c.b))
		require.Equal(t, c.mean, s.cell(mean, c.a, c.b))
		require.Equal(t, []int{2, c.better, c.worse}, []int{s.Cells, s.Better, s.Worse})
	}
	var s worthSection
	require.Equal(t, "-", s.cell(mean, with(0, 1), with(1, 1)), "nothing to divide by")
	require.Zero(t, s.Cells)
}

// Waits are in proportion to those of the first policy, with the same seed.
func TestWorthCosts(t *testing.T) {
	run := func(mean, longest float64) *sim.Result {
		return &sim.Result{WaitMean: mean, Waits: sim.Waits{Max: longest}}
	}
	rows := []worthRow{
		{runs: [][]*sim.Result{{run(10, 100), run(20, 300)}, {run(5, 200), run(10, 600)}}},
		{runs: [][]*sim.Result{{run(1, 1)}, {run(0.5, 2)}}},
		{runs: [][]*sim.Result{{run(0, 0)}, {run(0, 0)}}},
	}
	costs := worthCosts(rows, []worthPolicy{{name: "backfill"}, {name: "short"}})
	require.Equal(t, cost{"backfill", 1, 1}, costs[0])
	require.Equal(t, "short", costs[1].policy)
	require.InDelta(t, math.Pow(0.5, 2.0/3), costs[1].mean, 1e-9, "nobody waits in one of three rows")
	require.InDelta(t, math.Pow(2, 2.0/3), costs[1].longest, 1e-9)
}

// Cases and policies run at once, and each has its own place.
func TestWorthRuns(t *testing.T) {
	nodes, err := traces.ParseCluster("128x8x2")
	require.NoError(t, err)
	var cases []worthCase
	for seed := uint64(1); seed <= 2; seed++ {
		w, err := generate.Generate("gen:esp", nodes, seed)
		require.NoError(t, err)
		cases = append(cases, worthCase{row: "esp", part: fmt.Sprint(seed), nodes: nodes, interval: 5, seed: seed, jobs: w.Jobs[:10+seed]})
	}
	done, err := openKept[worthFigure]("", "")
	require.NoError(t, err)
	rows, err := decideWorth(t.Context(), cases, done, io.Discard)
	require.NoError(t, err)
	require.Len(t, rows, 1)
	for k, p := range worthPolicies() {
		for i, r := range rows[0].runs[k] {
			require.Equal(t, len(cases[i].jobs), r.Jobs, p.name)
		}
	}
}

// The page is made of runs of all policies on the workloads that are asked for.
func TestWorthPage(t *testing.T) {
	if testing.Short() {
		t.Skip("it simulates a workload under all policies")
	}
	race.Slow(t) // TestWorthRuns has the same at once
	file := filepath.Join(t.TempDir(), "worth.svg")
	o := worthOptions{seeds: seedRange{1, 1}, match: "esp, 128x8x2", plot: file, dir: t.TempDir()}
	text, err := worth(context.Background(), o, io.Discard)
	require.NoError(t, err)
	require.Contains(t, text, "## default against easy")
	require.Equal(t, len(worthDuels)+2, strings.Count(text, "| esp, 128x8x2"), "all duels, the bound and the hours")
	require.NotContains(t, text, "NaN")
	svg, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, p := range worthPolicies() {
		require.Contains(t, string(svg), ">"+p.name+"</text>")
	}
	figures := filepath.Join(o.dir, "worth.jsonl")
	before, err := os.ReadFile(figures)
	require.NoError(t, err)
	again, err := worth(context.Background(), o, io.Discard)
	require.NoError(t, err)
	require.Equal(t, text, again)
	after, err := os.ReadFile(figures)
	require.NoError(t, err)
	require.Equal(t, string(before), string(after), "nothing is simulated again")
	_, err = worth(context.Background(), worthOptions{match: "no such"}, io.Discard)
	require.ErrorIs(t, err, errUsage)
}
