// SPDX-License-Identifier: BSD-3-Clause

package reproduce

import (
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/benchmarks/papers"
	"github.com/aucsched/aucsched/core"
)

// aucsched1Tables are tables 5 to 8 of aucsched1: the workloads I.1 to V.3 on three
// machines, and variants of the auction on the largest.
func aucsched1Tables() []Table {
	notes := notesOf("aucsched1")
	tables := make([]Table, 4)
	for i, title := range []string{"machine S, 128 nodes", "machine M, 256 nodes",
		"machine L, 1024 nodes", "machine L, variants without SLURM bids"} {
		tables[i] = Table{
			Name:  fmt.Sprintf("aucsched1-%d", 5+i),
			Title: fmt.Sprintf("Soner, Özturan: AUCSCHED, table %d: %s of 8 cores and 2 GPUs", 5+i, title),
			Notes: notes,
		}
	}
	tables[3].Title = "Soner, Özturan: AUCSCHED, table 8: machine L, variants without SLURM bids"
	tables[3].Notes = slices.Concat(notes, notesOf("aucsched1-8"))
	for _, p := range papers.Aucsched1Tables() {
		t := &tables[p.Table-5]
		row := aucsched1Row(p)
		if t.Rows = append(t.Rows, row); row.Baseline || p.Variant != "" {
			continue
		}
		basic := row
		basic.Method += ", basic priorities"
		basic.Args = slices.DeleteFunc(slices.Clone(row.Args), func(a string) bool { return a == multifactor })
		t.Rows = append(t.Rows, basic)
	}
	return tables
}

// multifactor is the flag for the priorities with which AUCSCHED's waits come out.
const multifactor = "--priority=multifactor"

func aucsched1Row(p papers.Aucsched1Row) Row {
	row := Row{
		Workload: p.Workload, Method: p.Method, Baseline: p.Method == papers.Aucsched1Backfill,
		Quick: p.Machine == "S", Remark: p.Remark,
		Args: []string{fmt.Sprintf("--cluster=%dx8x2", p.Nodes), "--workload=gen:" + p.Workload, "--interval=5"},
		Paper: map[string]float64{
			CPUUtilization: p.Utilization, Runtime: p.Runtime, Wait: p.WaitMean, WaitStd: p.WaitStd,
			Fragmentation: p.FragmentationMean, FragmStd: p.FragmentationStd,
			Slowdown: p.Slowdown, Spread: p.SpreadMean, SpreadStd: p.SpreadStd,
		},
	}
	if p.Variant != "" {
		row.Workload += ", " + p.Variant
	}
	if row.Baseline {
		row.Args = append(row.Args, "--policy=backfill")
		return row
	}
	row.Args = append(row.Args, "--policy=auction1", "--preset=paper", multifactor)
	row.Args = append(row.Args, aucsched1Variant(p.Variant)...)
	return row
}

// aucsched1Variant are the settings of a variant of table 8 (aucsched1, section 6.2).
func aucsched1Variant(variant string) []string {
	// CPLEX has 5 s in the paper for what our solver's default work is here.
	seconds := func(s int64) string {
		return fmt.Sprintf("--work=%d", core.Preset("paper").Work*s/5)
	}
	switch variant {
	case "":
		return []string{"--slurm-bids"}
	case papers.NoSlurmBids:
		return nil
	case papers.Largest:
		return []string{"--bids=15"}
	case papers.LargestLongsolve:
		return []string{"--bids=15", seconds(10)}
	case papers.LargestShortsolve:
		return []string{"--bids=15", seconds(3)}
	case papers.ContigOnlyBids:
		return []string{"--contiguous-bids"}
	}
	panic("reproduce: aucsched1, table 8: unknown variant " + variant) // the data are compiled in
}
