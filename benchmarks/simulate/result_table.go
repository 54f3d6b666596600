// SPDX-License-Identifier: BSD-3-Clause

package simulate

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
)

// Table is a table with a column for each result R.
type Table[R any] struct {
	*tabwriter.Writer
	results []R
}

// NewTable makes an empty table that is written to out.
func NewTable[R any](out io.Writer, results []R) *Table[R] {
	return &Table[R]{tabwriter.NewWriter(out, 0, 0, 2, ' ', 0), results}
}

// Line adds a line: its name, and a cell of each result. Flush tells of errors.
func (t *Table[R]) Line(name string, cell func(R) string) {
	fmt.Fprint(t, name)
	for _, r := range t.results {
		fmt.Fprint(t, "\t", cell(r))
	}
	fmt.Fprintln(t)
}

// Figure adds a line of a figure. Behind those of the results after the first is by what that of
// the first is to be multiplied, unless that is 0.
func (t *Table[R]) Figure(name string, show func(float64) string, value func(R) float64) {
	first := value(t.results[0])
	begun := false
	t.Line(name, func(r R) string {
		v := value(r)
		if !begun || first == 0 {
			begun = true
			return show(v)
		}
		return fmt.Sprintf("%s (%.2f)", show(v), v/first)
	})
}

// spread adds a line of means, and one of standard deviations.
func (t *Table[R]) spread(name string, value func(R) (mean, std float64)) {
	show := Digits(2)
	t.Figure(name+", mean", show, func(r R) float64 { mean, _ := value(r); return mean })
	t.Line("· standard deviation", func(r R) string { _, std := value(r); return show(std) })
}

// Digits shows a number with so many digits behind the point.
func Digits(n int) func(float64) string {
	return func(v float64) string { return strconv.FormatFloat(v, 'f', n, 64) }
}

// Percent shows a share of 1.
func Percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

// PrintJSON prints an object for each result, one a line.
func PrintJSON[R any](out io.Writer, results []R, object func(R) any) error {
	e := json.NewEncoder(out)
	for _, r := range results {
		if err := e.Encode(object(r)); err != nil {
			return err
		}
	}
	return nil
}
