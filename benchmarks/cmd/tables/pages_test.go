// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/benchmarks"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/golden"
	"github.com/aucsched/aucsched/nodeset"
)

// The figures of these pages are made up.

// goldenPage compares what is drawn on a page with a file of testdata. That leaves out the
// paragraphs and items that its template has word by word, those that it has twice, and the further
// rows of long tables.
func goldenPage(t *testing.T, file, page string) {
	t.Helper()
	source, err := pageFiles.ReadFile("pages/" + strings.TrimSuffix(file, ".golden") + ".md.tmpl")
	require.NoError(t, err)
	known := make(map[string]bool)
	parts := func(text string) []string {
		return strings.Split(item.ReplaceAllString(text, "\n\n- "), "\n\n")
	}
	for _, part := range parts(tidy(string(source))) {
		known[part] = !strings.Contains(part, "{{") && !strings.HasPrefix(part, "#")
	}
	var drawn []string
	for _, part := range parts(strings.TrimSuffix(page, "\n")) {
		if known[part] {
			continue
		}
		known[part] = true
		if strings.HasPrefix(part, "|") {
			part = shortTable(part)
		}
		drawn = append(drawn, part)
	}
	golden.Equal(t, file, strings.Join(drawn, "\n\n")+"\n")
}

var (
	item     = regexp.MustCompile(`\n+- `)
	cellEdge = regexp.MustCompile(` *\| *`)
	dashes   = regexp.MustCompile(`-{3,}`)
)

// shortTable is a table's head and first rows without padding, and how many rows follow.
func shortTable(table string) string {
	const rows = 4
	lines := strings.Split(dashes.ReplaceAllString(cellEdge.ReplaceAllString(table, "|"), "---"), "\n")
	if more := len(lines) - 2 - rows; more > 0 {
		lines = append(lines[:2+rows], "", fmt.Sprintf("And %d more rows.", more))
	}
	return strings.Join(lines, "\n")
}

func TestPerformancePage(t *testing.T) {
	f := performanceFigures{Machine: "Some CPU, 4 logical CPUs, go1, linux/amd64", Runs: 7}
	f.Scans = new(scanFigures)
	for i, n := range []int{128, 10_000, 100_000} {
		x := float64(i + 1)
		sets := []benchmarks.Size{{Of: "nodesets", N: 2000 * n}}
		f.Scans.Rows = append(f.Scans.Rows, scanRow{Nodes: n, Query: nodeset.Query{GPUs: i},
			Table: sample{Ns: 100 * x, Sizes: sets}, Loop: sample{Ns: 900 * x * x}})
	}
	f.Scans.Rows = append(f.Scans.Rows, scanRow{Nodes: 128, Query: nodeset.Query{GPUs: 2, MinCores: 4, Eligible: nodeset.Mask{1}},
		Table: sample{Ns: 100, Allocs: 0.01}, Loop: sample{Ns: 90}})
	f.Scans.Memory = []tableMemory{{Nodes: 1000, Each: nodeset.Capacity{Cores: 12, GPUs: 1}, Bytes: 12345678}}
	s := stageTable{Title: "Bids"}
	for i, n := range []int{128, 1024} {
		for k, j := range []int{50, 200} {
			s.Rows = append(s.Rows, stageRow{Nodes: n, Jobs: j, sample: sample{
				Ns: 1e6 * float64(1+9*i) * float64(1+3*k), Allocs: float64(30 * k),
				Bytes: 1500.4, Sizes: []benchmarks.Size{{Of: "bids", N: 15 * j}}}})
		}
	}
	f.Stages = append(f.Stages, s)
	text, err := f.page()
	require.NoError(t, err)
	goldenPage(t, "performance.golden", text)
}

// invented are results that rise with the seed and the method.
func invented(variant string, method, seed int) *sim.Result {
	x := float64(method) + float64(seed)/2
	r := &sim.Result{
		CPUUtilization: 0.60 + x/100, GPUUtilization: 0.50 + x/100, Runtime: 18000 - 360*int64(method),
		WaitMean: 3600 - 100*x, WaitStd: 3500, SlowdownMean: 20 - x, FragmentationMean: 1 + x/10, SpreadMean: 1 + x/5,
	}
	if variant == "1.FC" {
		r.FragmentationMean, r.SpreadMean = 1, 1
		r.CPUUtilization = 0.60 - x/100
	}
	return r
}

func simulated() *simulationFigures {
	f := &simulationFigures{Machine: "Some CPU, 4 logical CPUs, go1, linux/amd64", Seeds: seedRange{3, 5}}
	for _, v := range variants {
		for i, m := range methods() {
			row := tsubameRow{Variant: v, Method: m.name}
			for seed := range f.Seeds.count() {
				row.Results = append(row.Results, invented(v, i, seed))
			}
			f.Rows = append(f.Rows, row)
		}
	}
	return f
}

func TestSimulationPage(t *testing.T) {
	without, err := simulated().page()
	require.NoError(t, err)
	f := simulated()
	for i, policy := range []string{"backfill", "auction2"} {
		f.Traces = append(f.Traces, traceRow{Trace: "Some trace", Cluster: "100x16",
			CPU: time.Duration(i+1) * 1500 * time.Millisecond, PeakBytes: int64(1-i) << 25,
			Result: sim.Result{Policy: policy, Jobs: 12345, CPUUtilization: 0.7,
				Runtime: 360000, WaitMean: 1800, WaitStd: 7200, SlowdownMean: 12.34,
				FragmentationMean: 1.2345, Cycles: 9999, CycleMsP50: 0.012, CycleMsP99: 1.2, CycleMsMax: 120}})
	}
	text, err := f.page()
	require.NoError(t, err)
	goldenPage(t, "simulation.golden", text)
	without, found := strings.CutSuffix(without, "\n\nThey were not at hand when this page was made.\n")
	require.True(t, found, without)
	require.True(t, strings.HasPrefix(text, without+"\n\n"))
}

func TestDeadlineTable(t *testing.T) {
	text := deadlineTable([]planned{
		{"", benchmarks.DeadlineFigures{Nodes: 1024, Jobs: 200, Cycles: 2000, Limit: 50 * time.Millisecond, Missed: 1,
			P50: 40 * time.Millisecond, P99: 45 * time.Millisecond, P999: 49 * time.Millisecond,
			Max: 51 * time.Millisecond, Started: 12.5}},
		{"", benchmarks.DeadlineFigures{Nodes: 10_000, Jobs: 500, Cycles: 100, Limit: time.Second,
			P50: 900 * time.Millisecond, P99: time.Second, P999: time.Second, Max: time.Second, Started: 100}},
	}).String()
	require.Contains(t, text, "|  1,024 |  200 |     50ms |  2,000 |    1 | 40.0 ms "+
		"| 45.0 ms | 49.0 ms |  51.0 ms |            12.5 |")
	require.Contains(t, text, "|       - |   1.00 s |", "99.9% of a hundred is not told")
	require.Contains(t, plannedTable([]planned{{"short", benchmarks.DeadlineFigures{Nodes: 1024, Jobs: 200, Missed: 3}}}).String(),
		"| short  | 1,024 |  200 |")
}
