// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"slices"
)

// largeMachine is from how many nodes on the text sums the figures up.
const largeMachine = 10_000

// Table has a row for each query of each machine.
func (f *scanFigures) Table() *table {
	t := &table{textColumns: 1, header: []string{"query", "nodes", "nodesets", "scan", "allocs", "struct loop"}}
	for _, r := range f.Rows {
		t.add(queryName(r.Query), count(r.Nodes), sizeOf(r.Table, "nodesets"), duration(r.Table.Ns), allocs(r.Table),
			fmt.Sprintf("%s (%s)", duration(r.Loop.Ns), times(r.Loop.Ns/r.Table.Ns)))
	}
	return t
}

// OnLarge is how the loop compares on large machines; it is empty if there is none.
func (f *scanFigures) OnLarge() string {
	var ratios []float64
	for _, r := range f.Rows {
		if r.Nodes >= largeMachine {
			ratios = append(ratios, r.Loop.Ns/r.Table.Ns)
		}
	}
	if len(ratios) == 0 {
		return ""
	}
	return fmt.Sprintf("%s to %s", times(slices.Min(ratios)), times(slices.Max(ratios)))
}

// Megabytes are those of the table.
func (m tableMemory) Megabytes() float64 { return m.Bytes / 1e6 }

// GPUs are those of each node, in words.
func (m tableMemory) GPUs() string { return plural(int(m.Each.GPUs), "GPU") }
