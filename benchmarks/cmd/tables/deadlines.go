// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/aucsched/aucsched/benchmarks"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/settings"
)

// deadlineCase is a machine, a queue, and what a cycle may take.
type deadlineCase struct {
	nodes, jobs int
	limit       time.Duration
	of          int // one in so many cycles is run
}

// deadlineCases are those of the pages; the larger ones are run less often than asked for, so that
// each takes about as long.
var deadlineCases = []deadlineCase{
	{1024, 200, 50 * time.Millisecond, 1},
	{10_000, 500, 250 * time.Millisecond, 25},
	{100_000, 1000, time.Second, 100},
	{1_000_000, 1000, time.Second, 200},
	{1_000_000, 5000, 2 * time.Second, 400},
}

// planned are how cycles of a preset kept their deadlines.
type planned struct {
	Preset string // "": the default settings
	benchmarks.DeadlineFigures
}

// measureDeadlines keeps all cores busy meanwhile.
func measureDeadlines(ctx context.Context, cases []deadlineCase, presets []string, cycles int, errs io.Writer) ([]planned, error) {
	stop, err := benchmarks.Load()
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	defer stop()
	var rows []planned
	for _, c := range cases {
		for _, preset := range presets {
			fmt.Fprintf(errs, "measuring: cycles of %v on %d nodes %s\n", c.limit, c.nodes, preset)
			o := core.Preset("none")
			if preset != "" {
				o = core.Preset(preset)
			}
			f, err := benchmarks.Deadlines(ctx, o, c.nodes, c.jobs, max(cycles/c.of, 5), c.limit)
			if err != nil {
				return nil, fmt.Errorf("%d nodes %s: %w", c.nodes, preset, err)
			}
			rows = append(rows, planned{preset, *f})
		}
	}
	return rows, nil
}

// checkCycles reports what is wrong with the flag.
func checkCycles(cycles int) error {
	if cycles < 1 || cycles > 1_000_000 {
		return fmt.Errorf("-cycles: %d: must be 1 to 1000000", cycles)
	}
	return nil
}

// presetCases are those of deadlineCases that presets are held against.
const presetCases = 3

// presetDeadlines is a page of cycles with a plan over time.
func presetDeadlines(ctx context.Context, cycles int, errs io.Writer) (string, error) {
	if err := checkCycles(cycles); err != nil {
		return "", err
	}
	rows, err := measureDeadlines(ctx, deadlineCases[:presetCases], settings.Planned(), cycles, errs)
	if err != nil {
		return "", err
	}
	return render("deadlines", map[string]any{"Machine": machine(), "Figures": plannedTable(rows)})
}

// plannedTable has a row for each machine and preset.
func plannedTable(rows []planned) *table {
	t := deadlineTable(rows)
	t.textColumns, t.header = 1, append([]string{"preset"}, t.header...)
	for i, r := range rows {
		t.rows[i] = append([]string{r.Preset}, t.rows[i]...)
	}
	return t
}

// deadlineTable has a row for each machine; it is nil without figures.
func deadlineTable(rows []planned) *table {
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
