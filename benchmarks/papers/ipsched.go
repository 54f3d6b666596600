// SPDX-License-Identifier: BSD-3-Clause

package papers

import _ "embed"

//go:embed ipsched_tables_5_6.csv
var ipschedCSV string

// IpschedRow is a row of table V or VI of Soner and Özturan, "Integer Programming
// Based Heterogeneous CPU-GPU Cluster Scheduler for SLURM Resource Manager": means
// over three emulations of Slurm on 1024 nodes with 8 cores and 2 GPUs each.
type IpschedRow struct {
	Table                     string  // V or VI
	Experiment                string  // 1-SLURM, 2, ... 8
	Plugin                    string  // Backfill or IPSCHED
	Priority                  string  // Basic or Multifactor
	Objective                 string  // one of the constants below; "" for Backfill
	WaitMean, WaitStd         float64 // hours, over jobs
	SlowdownMean, SlowdownStd float64 // over jobs
	Utilization               float64 // 0 to 1
	PackingMean, PackingStd   float64 // packing factor, over jobs; 0 in table V, which has none
}

// The objectives of IpschedRow: what a start is worth.
const (
	ObjectiveSize     = "sum p_j r_j (s_j - c_j)"
	ObjectivePriority = "sum p_j (s_j - c_j)"
)

// Ipsched returns all rows of tables V and VI, in their order.
func Ipsched() []IpschedRow {
	var rows []IpschedRow
	for _, r := range readTable(ipschedCSV) {
		row := IpschedRow{
			Table: r.text("table"), Experiment: r.text("experiment"), Plugin: r.text("plugin"),
			Priority: r.text("priority"), Objective: r.text("objective"),
			WaitMean: r.number("wait_mean_h"), WaitStd: r.number("wait_std_h"),
			SlowdownMean: r.number("slowdown_mean"), SlowdownStd: r.number("slowdown_std"), Utilization: r.number("utilization"),
		}
		if r.text("packing_factor_mean") != "" {
			row.PackingMean, row.PackingStd = r.number("packing_factor_mean"), r.number("packing_factor_std")
		}
		rows = append(rows, row)
	}
	return rows
}
