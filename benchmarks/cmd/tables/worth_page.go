// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/aucsched/aucsched/benchmarks/stats"
	"github.com/aucsched/aucsched/internal/settings"
	"github.com/aucsched/aucsched/internal/sim"
)

// worthFigures are the figures of the page. Of use more is better, of the others less.
var worthFigures = []criterion{
	{column[*sim.Result]{"CPUs", 2, func(r *sim.Result) float64 { return r.CPUUtilizationLoaded }}, true},
	{column[*sim.Result]{"GPUs", 2, func(r *sim.Result) float64 { return r.GPUUtilizationLoaded }}, true},
	{column[*sim.Result]{"runtime", 2, func(r *sim.Result) float64 { return float64(r.Runtime) }}, false},
	{column[*sim.Result]{"mean", 2, func(r *sim.Result) float64 { return r.WaitMean }}, false},
	{column[*sim.Result]{"p95", 2, func(r *sim.Result) float64 { return r.Waits.P95 }}, false},
	{column[*sim.Result]{"longest", 2, func(r *sim.Result) float64 { return r.Waits.Max }}, false},
	{column[*sim.Result]{"by area", 2, func(r *sim.Result) float64 { return r.AreaWeighted }}, false},
	{column[*sim.Result]{"widest", 2, func(r *sim.Result) float64 { return r.Widest10 }}, false},
	{column[*sim.Result]{"slowdown", 2, func(r *sim.Result) float64 { return r.BoundedSlowdown }}, false},
}

// worthDuel is what a preset promises to be better than.
type worthDuel struct{ Preset, Baseline string }

var worthDuels = []worthDuel{
	{"default", "backfill"}, {"default", "easy"}, {"default", "plan"},
	{"short", "easy-sjf"}, {"short", "easy-f1"},
	{"throughput", "backfill"}, {"throughput", "default"}, {"throughput", "packed"},
}

// worthSection is a table of the page.
type worthSection struct {
	worthDuel
	Table *table
	// Cells is how many figures there are, of which so many are Better and Worse beyond noise.
	Cells, Better, Worse int
}

// worthPage is benchmarks/results/worth.md.
func worthPage(seeds seedRange, traces bool, rows []worthRow, ranges []*rangeRow) (string, error) {
	policies := worthPolicies()
	at := func(name string) int {
		return slices.IndexFunc(policies, func(p worthPolicy) bool { return p.name == name })
	}
	var sections []*worthSection
	for _, d := range worthDuels {
		if at(d.Preset) >= 0 {
			sections = append(sections, worthTable(d, rows, at(d.Preset), at(d.Baseline)))
		}
	}
	command := fmt.Sprintf("worth -seeds %s -plot benchmarks/results/worth.svg", &seeds)
	if traces {
		command += " -traces DIR"
	}
	return render("worth", map[string]any{
		"Command": command + " -into benchmarks/results", "Presets": settings.Planned(),
		"Sections": sections, "Waits": worthHours(rows, policies), "Above": worthAbove(rows, policies),
		"Ranges": rangeSection(ranges), "Parts": worthParts, "Intervals": worthIntervals(rows),
	})
}

// worthIntervals says which rows have which scheduling interval.
func worthIntervals(rows []worthRow) string {
	of := map[int64][]string{}
	for _, r := range rows {
		name, _, _ := strings.Cut(r.name, ",")
		name, _, _ = strings.Cut(name, " at ")
		if !slices.Contains(of[r.interval], name) {
			of[r.interval] = append(of[r.interval], name)
		}
	}
	var all []string
	for _, seconds := range slices.Sorted(maps.Keys(of)) {
		all = append(all, fmt.Sprintf("- %d s: %s", seconds, strings.Join(of[seconds], ", ")))
	}
	return strings.Join(all, "\n")
}

// worthTable holds policy a against policy b.
func worthTable(d worthDuel, rows []worthRow, a, b int) *worthSection {
	s := &worthSection{worthDuel: d, Table: &table{textColumns: 1, header: []string{"workload"}}}
	for _, m := range worthFigures {
		s.Table.header = append(s.Table.header, m.title)
	}
	for _, row := range rows {
		cells := []string{row.name}
		for _, m := range worthFigures {
			cells = append(cells, s.cell(&m, row.runs[a], row.runs[b]))
		}
		s.Table.add(cells...)
	}
	return s
}

// cell is the ratio of the figures of two policies, the geometric mean over the cases. It is bold
// where it is worse beyond noise.
func (s *worthSection) cell(m *criterion, a, b []*sim.Result) string {
	x, y := m.each(a), m.each(b)
	for i := range x {
		if !(x[i] > 0 && y[i] > 0) {
			return "-"
		}
	}
	d := stats.Paired(stats.Logs(x), stats.Logs(y))
	text := fmt.Sprintf("%.2f", math.Exp(d.Mean))
	s.Cells++
	if math.Abs(d.Mean) <= d.Noise || d.Seeds < 2 {
		return text
	}
	if better, _ := m.better(d.Mean, 0); better {
		s.Better++
		return text
	}
	s.Worse++
	return "**" + text + "**"
}

// worthHours is the mean wait in hours, and the longest, under each policy.
func worthHours(rows []worthRow, policies []worthPolicy) *table {
	t := &table{textColumns: 1, header: []string{"workload"}}
	for _, p := range policies {
		t.header = append(t.header, p.name)
	}
	for _, row := range rows {
		cells := []string{row.name}
		for k := range policies {
			mean, longest := 0.0, 0.0
			for _, r := range row.runs[k] {
				mean += r.WaitMean / 3600 / float64(len(row.runs[k]))
				longest += r.Waits.Max / 3600 / float64(len(row.runs[k]))
			}
			cells = append(cells, fmt.Sprintf("%.2f, %.1f", mean, longest))
		}
		t.add(cells...)
	}
	return t
}

// worthAbove is by how many per cent the runtime is above what could be, under each policy. Rows in
// which it is below one per cent under all are left out, for there the last job settles it, and
// those with jobs that can never run.
func worthAbove(rows []worthRow, policies []worthPolicy) *table {
	t := &table{textColumns: 1, header: []string{"workload"}}
	for _, p := range policies {
		t.header = append(t.header, p.name)
	}
	for _, row := range rows {
		cells, most := []string{row.name}, 0.0
		if len(row.bounds) < len(row.runs[0]) {
			continue
		}
		for k := range policies {
			above := 0.0
			for i, r := range row.runs[k] {
				above += 100 * (float64(r.Runtime)/row.bounds[i] - 1) / float64(len(row.runs[k]))
			}
			most = max(most, above)
			cells = append(cells, fmt.Sprintf("%.1f", above))
		}
		if most >= 1 {
			t.add(cells...)
		}
	}
	return t
}
