// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/aucsched/aucsched/benchmarks"
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
		f, err := benchmarks.Deadlines(ctx, c.nodes, c.jobs, max(cycles/c.of, 5), c.limit)
		if err != nil {
			return nil, fmt.Errorf("%d nodes: %w", c.nodes, err)
		}
		rows = append(rows, *f)
	}
	return rows, nil
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
