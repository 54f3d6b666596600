// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"slices"
	"strings"
)

// largeMachine is from how many nodes on the text sums the figures up.
const largeMachine = 10_000

// Table has a row for each query of each machine.
func (f *scanFigures) Table() *table {
	t := &table{textColumns: 1,
		header: append([]string{"query", "nodes", "nodesets", "scan", "allocs"}, f.Others...)}
	for _, r := range f.Rows {
		row := []string{queryName(r.Query), count(r.Nodes), sizeOf(r.Table, "nodesets"),
			duration(r.Table.Ns), allocs(r.Table)}
		for _, o := range r.Other {
			row = append(row, fmt.Sprintf("%s (%s)", duration(o.Ns), times(o.Ns/r.Table.Ns)))
		}
		t.add(row...)
	}
	return t
}

// OnLarge sums up how the others compare on large machines; it is empty if there is none.
func (f *scanFigures) OnLarge() string {
	var parts []string
	for i, o := range f.Others {
		var ratios []float64
		for _, r := range f.Rows {
			if r.Nodes >= largeMachine {
				ratios = append(ratios, r.Other[i].Ns/r.Table.Ns)
			}
		}
		if len(ratios) > 0 {
			parts = append(parts,
				fmt.Sprintf("%q %s to %s", o, times(slices.Min(ratios)), times(slices.Max(ratios))))
		}
	}
	return strings.Join(parts, ", ")
}

// Megabytes are those of the table.
func (m tableMemory) Megabytes() float64 { return m.Bytes / 1e6 }

// GPUs are those of each node, in words.
func (m tableMemory) GPUs() string { return plural(int(m.Each.GPUs), "GPU") }
