// SPDX-License-Identifier: BSD-3-Clause

package papers

import _ "embed"

//go:embed aucsched1_tables_5_6_7.csv
var aucsched1CSV string

//go:embed aucsched1_table_8.csv
var aucsched1VariantsCSV string

// Aucsched1Row is a row of tables 5 to 8 of Soner and Özturan, "An Auction Based
// SLURM Scheduler for Heterogeneous Supercomputers and its Comparative Performance
// Study": means over seven emulations of Slurm, each with a workload of its own. All
// nodes have 8 cores and 2 GPUs.
type Aucsched1Row struct {
	Table   int    // 5 to 8
	Machine string // S, M or L
	Nodes   int
	// Workload is I.1 ... V.3: the kind of jobs, and none (1), half (2) or all (3)
	// of them contiguous.
	Workload string
	// Variant is one of the constants below; "" outside table 8.
	Variant                             string
	Method                              string  // AUCSCHED or SLURM/BF
	TheoreticalRuntime                  float64 // hours
	Utilization                         float64 // percent
	Runtime                             float64 // hours
	WaitMean, WaitStd                   float64 // hours, over jobs
	FragmentationMean, FragmentationStd float64 // node blocks a job
	Slowdown                            float64 // mean over jobs
	SpreadMean, SpreadStd               float64 // over jobs
	// Remark says what to know of the row; mostly "".
	Remark string
}

// The methods of Aucsched1Row.
const (
	Aucsched1         = "AUCSCHED"
	Aucsched1Backfill = "SLURM/BF"
)

// The variants of table 8, all of them without SLURM bids (aucsched1, section 6.2).
const (
	NoSlurmBids       = "no SLURM bids"
	Largest           = "largest"            // 15 bids a job instead of 5
	LargestLongsolve  = "largest longsolve"  // and 10 s for CPLEX instead of 5
	LargestShortsolve = "largest shortsolve" // and 3 s for CPLEX
	ContigOnlyBids    = "contigonlybids"     // no bid of class C
)

// misprint is what to know of the slowdown of table 8, V.2, AUCSCHED without SLURM
// bids, which is given as printed.
const misprint = "the printed slowdown, 3.00, repeats the spread beside it: a misprint, like rows have 32 to 33"

// Aucsched1Tables returns all rows of tables 5 to 8, in their order.
func Aucsched1Tables() []Aucsched1Row {
	var rows []Aucsched1Row
	for _, r := range readTable(aucsched1CSV) {
		rows = append(rows, aucsched1Row(r, ""))
	}
	for _, r := range readTable(aucsched1VariantsCSV) {
		rows = append(rows, aucsched1Row(r, r.text("variant")))
	}
	return rows
}

func aucsched1Row(r record, variant string) Aucsched1Row {
	row := Aucsched1Row{
		Table: int(r.number("table")), Machine: r.text("machine"), Nodes: int(r.number("nodes")),
		Workload: r.text("workload"), Variant: variant, Method: r.text("method"),
		TheoreticalRuntime: r.number("theoretical_runtime_h"), Utilization: r.number("utilization_pct"),
		Runtime: r.number("runtime_h"), WaitMean: r.number("wait_mean_h"), WaitStd: r.number("wait_std_h"),
		FragmentationMean: r.number("fragmentation_mean"), FragmentationStd: r.number("fragmentation_std"),
		Slowdown: r.number("slowdown"), SpreadMean: r.number("spread_mean"), SpreadStd: r.number("spread_std"),
	}
	if row.Slowdown == row.SpreadMean && row.Slowdown > 1 {
		row.Remark = misprint
	}
	return row
}
