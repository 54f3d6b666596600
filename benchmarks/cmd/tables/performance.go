// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"fmt"
	"io"

	"github.com/aucsched/aucsched/benchmarks"
)

// windowSeed chooses the windows that are measured.
const windowSeed = 1

// stageRow is a stage on one window.
type stageRow struct {
	Nodes, Jobs int
	sample
}

// stageTable are the figures of one stage, which pages/performance.md.tmpl knows by its title, the
// number of jobs changing fastest.
type stageTable struct {
	Title string
	Rows  []stageRow
}

type performanceFigures struct {
	Machine   string
	Runs      int
	Scans     *scanFigures
	Stages    []stageTable
	Deadlines []planned
}

// performance measures and writes the page.
func performance(ctx context.Context, runs, cycles int, errs io.Writer) (string, error) {
	if runs < 5 {
		return "", fmt.Errorf("-runs: %d: must be at least 5", runs)
	}
	err := checkCycles(cycles)
	if err != nil {
		return "", err
	}
	f := performanceFigures{Machine: machine(), Runs: runs}
	fmt.Fprintln(errs, "measuring: Scan for nodesets")
	if f.Scans, err = measureScans(ctx, runs); err != nil {
		return "", err
	}
	for _, s := range []struct {
		title string
		make  func(*benchmarks.Window) (benchmarks.Stage, error)
	}{
		{"Bids", func(w *benchmarks.Window) (benchmarks.Stage, error) { return benchmarks.Bids(w), nil }},
		{"Model", func(w *benchmarks.Window) (benchmarks.Stage, error) { return benchmarks.Model(w), nil }},
		{"Whole cycle", benchmarks.Cycle},
	} {
		fmt.Fprintf(errs, "measuring: %s\n", s.title)
		t := stageTable{Title: s.title}
		if t.Rows, err = measureStage(ctx, runs, s.make); err != nil {
			return "", fmt.Errorf("%s: %w", s.title, err)
		}
		f.Stages = append(f.Stages, t)
	}
	if f.Deadlines, err = measureDeadlines(ctx, deadlineCases, []string{""}, cycles, errs); err != nil {
		return "", fmt.Errorf("deadlines: %w", err)
	}
	return f.page()
}

func measureStage(ctx context.Context, runs int, stage func(*benchmarks.Window) (benchmarks.Stage, error)) ([]stageRow, error) {
	var rows []stageRow
	var stages []benchmarks.Stage
	for _, n := range benchmarks.NodeCounts {
		for _, j := range benchmarks.JobCounts {
			w, err := benchmarks.NewWindow(n, j, windowSeed)
			if err != nil {
				return nil, err
			}
			s, err := stage(w)
			if err != nil {
				return nil, err
			}
			rows, stages = append(rows, stageRow{Nodes: n, Jobs: j}), append(stages, s)
		}
	}
	x, err := measure(ctx, runs, stages...)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		rows[i].sample = x[i]
	}
	return rows, nil
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
