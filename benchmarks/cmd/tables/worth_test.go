// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/sim"
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

// The page is made of runs of all policies on the workloads that are asked for.
func TestWorthPage(t *testing.T) {
	if testing.Short() {
		t.Skip("it simulates a workload under all policies")
	}
	text, err := worth(context.Background(), seedRange{1, 1}, "", "esp, 128x8x2", io.Discard)
	require.NoError(t, err)
	require.Contains(t, text, "## default against easy")
	require.Equal(t, len(worthDuels)+2, strings.Count(text, "| esp, 128x8x2"), "all duels, the bound and the hours")
	require.NotContains(t, text, "NaN")
	_, err = worth(context.Background(), seedRange{1, 1}, "", "no such", io.Discard)
	require.ErrorIs(t, err, errUsage)
}
