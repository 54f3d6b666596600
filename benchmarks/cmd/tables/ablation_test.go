// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"io"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/cycle"
	"github.com/aucsched/aucsched/internal/test/race"
)

const solverSource = "../../../ipmodel/native"

// Three answers for each of two windows, and one small window: what a page says of them can be
// done in the head.
func TestAblationRows(t *testing.T) {
	whole := &trial{Name: "nothing", Large: [][]answer{{{Worth: 1000, Bound: 1010}, {Worth: 900, Bound: 1100}}},
		Small: [][]answer{{{Work: 2e6, Optimal: true}}}}
	part := &trial{Name: "a part", Large: [][]answer{{{Worth: 980, Bound: 1020}, {Worth: 1000, Bound: 1100}}},
		Small: [][]answer{{{Work: 10e6}}}}
	f := ablationFigures{Names: []string{"a", "b"}, Best: []int64{0, 0}, Trials: []*trial{whole, part}}
	require.NoError(t, f.findBest())
	require.Equal(t, []int64{1000, 1000}, f.Best)
	want := ablationRow{Value: 99, Change: 4, Better: 1, Worse: 1, Far: 1, Gap: 6, Optimal: 0, SmallWork: 10}
	got := f.row(part)
	for _, x := range [][2]float64{{want.Value, got.Value}, {want.Change, got.Change},
		{want.Gap, got.Gap}, {want.SmallWork, got.SmallWork}} {
		require.InDelta(t, x[0], x[1], 1e-9)
	}
	require.Equal(t, []float64{1, 1, 1, 0, 0}, []float64{got.Better, got.Worse, got.Far, got.Near, got.Optimal})
	require.InDelta(t, 1, f.row(whole).Near, 1e-9, "1010 against 1000, not 1100 against 900")

	part.Large[0][0].Bound = 999
	require.ErrorContains(t, f.findBest(), "a without a part: the bound is 999, but 1000 can be had")
}

// Each part makes a difference that can be measured, and the figures are the same once more.
func TestAblation(t *testing.T) {
	race.Slow(t)
	o := ablationOptions{seeds: seedRange{3, 3}, work: 300_000, fresh: 1, small: 1, source: solverSource}
	first, err := ablate(t.Context(), o, io.Discard)
	require.NoError(t, err)
	require.Contains(t, first, "0 windows of MPS files and 1 made")
	for _, part := range organs {
		require.Contains(t, first, "| "+part.Name+" ")
	}
	again, err := ablate(t.Context(), o, io.Discard)
	require.NoError(t, err)
	require.Equal(t, first, again)
}

func TestEveryPartTurnsOff(t *testing.T) {
	race.Slow(t)
	models, err := smallWindows(2, 1)
	require.NoError(t, err)
	o := ablationOptions{seeds: seedRange{1, 1}, work: 30_000_000}
	whole := trial{}
	require.NoError(t, whole.measure(t.Context(), o, models, nil))
	for _, part := range organs {
		without := trial{Off: part.Off}
		require.NoError(t, without.measure(t.Context(), o, models, nil))
		require.NotEqual(t, whole.Large, without.Large, part.Name)
	}
}

func TestEverySwitchIsInATable(t *testing.T) {
	seen := map[int]bool{}
	note := func(off cycle.Parts) {
		for i, x := 0, reflect.ValueOf(off); i < x.NumField(); i++ {
			seen[i] = seen[i] || x.Field(i).Bool()
		}
	}
	for _, part := range organs {
		note(part.Off)
	}
	for _, part := range stages {
		note(part.off)
	}
	for i, ok := range seen {
		require.True(t, ok, "switch %d", i)
	}
}

func TestCodeLines(t *testing.T) {
	c, err := readLines(solverSource)
	require.NoError(t, err)
	n, err := c.of([]string{"enumerate.go", "candidates"})
	require.NoError(t, err)
	require.Equal(t, c.part["enumerate.go"]+c.part["candidates"], n)
	require.Greater(t, c.part["candidates"], 10)
	_, err = c.of([]string{"no such function"})
	require.ErrorContains(t, err, "no such function")
	_, err = readLines(filepath.Join(solverSource, "absent"))
	require.ErrorContains(t, err, "no Go files")
}

// A stage that is turned off makes a difference; `tables stages` writes a row for each.
func TestStages(t *testing.T) {
	race.Slow(t)
	o := stageOptions{seeds: seedRange{1, 2}, jobs: 40, match: "sorted orders"}
	var rows strings.Builder
	page, err := stageAblation(t.Context(), o, &rows)
	require.NoError(t, err)
	require.Contains(t, page, "## throughput")
	require.NotContains(t, rows.String(), "\n: . sorted", "there is no timetable without a preset")
	cases, err := o.stageCases()
	require.NoError(t, err)
	one := cases[0]
	require.NoError(t, o.shorten(&one))
	require.Len(t, one.jobs, 40)
	done, err := openKept[stageRun]("", "")
	require.NoError(t, err)
	settings := core.Preset("default")
	runs := map[string]stageRun{}
	for i := range stages {
		r, err := stageResult(t.Context(), done, stages[i].name, &one, &stages[i], settings)
		require.NoError(t, err)
		r.Cycle = 0
		runs[stages[i].name] = r
	}
	for _, name := range []string{"timetable", ". sorted orders and moves", "all kept places"} {
		require.NotEqual(t, runs["nothing"], runs[name], name)
	}
}
