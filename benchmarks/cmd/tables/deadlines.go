// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/aucsched/aucsched/benchmarks"
	"github.com/aucsched/aucsched/core"
)

// deadlineCases are cycles and what they may take; the larger ones are run less often
// than asked for, so that each takes about as long.
var deadlineCases = []struct {
	nodes, jobs int
	limit       time.Duration
	of          int // one in so many
}{
	{1024, 200, 50 * time.Millisecond, 1},
	{10_000, 500, 250 * time.Millisecond, 25},
	{100_000, 1000, time.Second, 100},
	{1_000_000, 1000, time.Second, 200},
	{1_000_000, 5000, 2 * time.Second, 400},
}

// measureDeadlines keeps all cores busy meanwhile.
func measureDeadlines(ctx context.Context, cycles int, errs io.Writer) ([]benchmarks.DeadlineFigures, error) {
	stop, err := benchmarks.Load()
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	defer stop()
	var rows []benchmarks.DeadlineFigures
	for _, c := range deadlineCases {
		fmt.Fprintf(errs, "measuring: cycles of %v on %d nodes\n", c.limit, c.nodes)
		f, err := benchmarks.Deadlines(ctx, core.DefaultAuctionOptions(), c.nodes, c.jobs, max(cycles/c.of, 5), c.limit)
		if err != nil {
			return nil, fmt.Errorf("%d nodes: %w", c.nodes, err)
		}
		rows = append(rows, *f)
	}
	return rows, nil
}

// planned are how cycles of a preset kept their deadlines.
type planned struct {
	Preset string
	benchmarks.DeadlineFigures
}

// presetCases are those of deadlineCases that presets are held against.
const presetCases = 3

// presetDeadlines is a page of cycles with a plan over time, all cores busy meanwhile.
func presetDeadlines(ctx context.Context, cycles int, errs io.Writer) (string, error) {
	if cycles < 1 || cycles > 1_000_000 {
		return "", fmt.Errorf("-cycles: %d: must be 1 to 1000000", cycles)
	}
	stop, err := benchmarks.Load()
	if err != nil {
		return "", fmt.Errorf("load: %w", err)
	}
	defer stop()
	var rows []planned
	for _, c := range deadlineCases[:presetCases] {
		for _, preset := range core.Presets() {
			fmt.Fprintf(errs, "measuring: cycles of %v on %d nodes, %s\n", c.limit, c.nodes, preset)
			o, err := core.AuctionPreset(preset)
			if err != nil {
				return "", err
			}
			f, err := benchmarks.Deadlines(ctx, o, c.nodes, c.jobs, max(cycles/c.of, 5), c.limit)
			if err != nil {
				return "", fmt.Errorf("%d nodes, %s: %w", c.nodes, preset, err)
			}
			rows = append(rows, planned{preset, *f})
		}
	}
	return render("deadlines", map[string]any{"Machine": machine(), "Figures": plannedTable(rows)})
}

// plannedTable has a row for each machine and preset.
func plannedTable(rows []planned) *table {
	var figures []benchmarks.DeadlineFigures
	for _, r := range rows {
		figures = append(figures, r.DeadlineFigures)
	}
	t := deadlineTable(figures)
	t.textColumns, t.header = 1, append([]string{"preset"}, t.header...)
	for i, r := range rows {
		t.rows[i] = append([]string{r.Preset}, t.rows[i]...)
	}
	return t
}

// deadlineTable has a row for each machine; it is nil without figures.
func deadlineTable(rows []benchmarks.DeadlineFigures) *table {
	if len(rows) == 0 {
		return nil
	}
	t := &table{header: []string{"nodes", "jobs", "deadline", "cycles", "late", "median",
		"99%", "99.9%", "greatest", "started a cycle"}}
	for _, r := range rows {
		last := "-" // not told by so few
		if r.Cycles >= 1000 {
			last = duration(float64(r.P999))
		}
		t.add(count(r.Nodes), count(r.Jobs), r.Limit.String(), count(r.Cycles), count(r.Missed),
			duration(float64(r.P50)), duration(float64(r.P99)),
			last, duration(float64(r.Max)), digits(r.Started))
	}
	return t
}
