// SPDX-License-Identifier: BSD-3-Clause

package simulate

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
)

// resultTable is a table with a column for each result R.
type resultTable[R any] struct {
	*tabwriter.Writer
	results []R
}

func newResultTable[R any](out io.Writer, results []R) *resultTable[R] {
	return &resultTable[R]{tabwriter.NewWriter(out, 0, 0, 2, ' ', 0), results}
}

// line adds a line: its name, and a cell of each result. Flush tells of errors.
func (t *resultTable[R]) line(name string, cell func(R) string) {
	fmt.Fprint(t, name)
	for _, r := range t.results {
		fmt.Fprint(t, "\t", cell(r))
	}
	fmt.Fprintln(t)
}

// printJSON prints an object for each result, one a line.
func printJSON[R any](out io.Writer, results []R, object func(R) any) error {
	e := json.NewEncoder(out)
	for _, r := range results {
		if err := e.Encode(object(r)); err != nil {
			return err
		}
	}
	return nil
}
