// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aucsched/aucsched/benchmarks"
)

// largeMachine is from how many nodes on the text sums the figures up.
const largeMachine = 10_000

// meanings are what the columns of others are of.
var meanings = map[string]string{
	structLoop: fmt.Sprintf("a loop over an array of node structs of %d bytes.", benchmarks.NodeRecordBytes),
	bitsetLib:  "`github.com/bits-and-blooms/bitset`: intersections, then `NextSet` and `NextClear` for the runs and `OnesBetween` for their cores.",
	slurmRuns:  "Slurm's bit strings, from C and the installed `libslurmfull.so`: `bit_and`, then `bit_test` from `bit_ffs` to `bit_fls`, as its own selection looks for runs, and `bit_set_count_range` for their cores.",
	slurmCount: "the same library asked for less: `bit_and` and `bit_set_count`, that is how many nodes suit, not which runs of them with how many cores.",
	plainRead:  "the sum of as many bytes as the scan reads at least, no question asked.",
}

func (f *scanFigures) write(p *page) {
	p.heading(2, "Scan for nodesets")
	p.say("`nodeset.Table.Scan` against other ways to the same nodesets and their cores, for several queries: cores and GPUs that each node must have free, and \"partition\", where only every other hundred of nodes may be used. In brackets is by how much longer the others take than the scan.")
	var list []string
	for _, o := range f.Others {
		list = append(list, fmt.Sprintf("\"%s\" is %s", o, meanings[o]))
	}
	p.list(list...)
	p.say("The scan finds out from the free cores and GPUs which nodes suit. Libraries of bit sets are spared that: their bitmaps of the nodes that have the GPUs, the cores and the partition are made beforehand, for each query.")
	if f.NoSlurm != "" {
		p.say("Slurm's bit strings are left out here: %s.", f.NoSlurm)
	}
	t := table{textColumns: 1, header: append([]string{"query", "nodes", "nodesets", "scan", "allocs"}, f.Others...)}
	for _, r := range f.Rows {
		row := []string{queryName(r.Query), count(r.Nodes), sizeOf(r.Table, "nodesets"), duration(r.Table.Ns), allocs(r.Table)}
		for _, o := range r.Other {
			row = append(row, fmt.Sprintf("%s (%s)", duration(o.Ns), times(o.Ns/r.Table.Ns)))
		}
		t.add(row...)
	}
	p.table(&t)
	p.say("%s", f.reading())
	for _, m := range f.Memory {
		p.say("The table of a machine of %s nodes with %d cores and %s each takes %.1f MB.", count(m.Nodes), m.Each.Cores, plural(int(m.Each.GPUs), "GPU"), m.Bytes/1e6)
	}
}

// reading sums up how the others compare on large machines.
func (f *scanFigures) reading() string {
	var parts []string
	for i, o := range f.Others {
		var ratios []float64
		for _, r := range f.Rows {
			if r.Nodes >= largeMachine {
				ratios = append(ratios, r.Other[i].Ns/r.Table.Ns)
			}
		}
		if len(ratios) > 0 {
			parts = append(parts, fmt.Sprintf("\"%s\" %s to %s", o, times(slices.Min(ratios)), times(slices.Max(ratios))))
		}
	}
	if len(parts) == 0 {
		return "No machine here is a large one."
	}
	return fmt.Sprintf("From %s nodes on, the others take, by query: %s.", count(largeMachine), strings.Join(parts, ", "))
}
