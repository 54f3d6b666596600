// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"

	"github.com/aucsched/aucsched/benchmarks/stats"
)

// column is a column of a table: a figure of each run R.
type column[R any] struct {
	title    string
	decimals int
	of       func(R) float64
}

// each are the figures of runs.
func (c *column[R]) each(runs []R) []float64 {
	x := make([]float64, len(runs))
	for i, r := range runs {
		x[i] = c.of(r)
	}
	return x
}

// mean is that of the figures of runs.
func (c *column[R]) mean(runs []R) float64 { return stats.Over(c.each(runs)).Mean }

// print is a number as the column has it.
func (c *column[R]) print(x float64) string { return fmt.Sprintf("%.*f", c.decimals, x) }

// cell is the mean of the figures of runs, with their deviation.
func (c *column[R]) cell(runs []R) string {
	s := stats.Over(c.each(runs))
	return c.print(s.Mean) + " ± " + c.print(s.Dev)
}

// versus is by how much the figures of runs are above those of others, a seed each, with the
// deviation, and on how many seeds they are higher and lower.
func (c *column[R]) versus(runs, others []R) string {
	x := stats.NewDuel(c.each(runs), c.each(others))
	return fmt.Sprintf("%s ± %s (%d, %d)", signed(x.Difference.Mean, c.decimals),
		c.print(x.Difference.Dev), x.Wins, x.Losses)
}

// tableOf is a table that begins with text, and goes on with columns.
func tableOf[R any](columns []column[R], text ...string) *table {
	t := &table{textColumns: len(text), header: text}
	for _, c := range columns {
		t.header = append(t.header, c.title)
	}
	return t
}

// addRuns adds a row: text, and the means of runs.
func addRuns[R any](t *table, columns []column[R], runs []R, text ...string) {
	for i := range columns {
		text = append(text, columns[i].cell(runs))
	}
	t.add(text...)
}
