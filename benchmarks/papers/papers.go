// SPDX-License-Identifier: BSD-3-Clause

// Package papers has the results that the papers print, as data, to be set beside
// ours.
package papers

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
)

//go:embed aucsched2_table_3.csv
var tsubameCSV string

// TsubameRow is a row of table 3 of Soner, Özturan and Karac, "Extending SLURM with
// Support for GPU Ranges": means over 27 emulations of Slurm on a machine of 1408
// nodes with 12 cores and 3 GPUs each.
type TsubameRow struct {
	Workload                    string // 1.NC ... 2.FC
	Method                      string // one of the constants below
	Jobs                        int
	TheoreticalRuntime          float64 // hours
	CPUUtilization              float64 // percent
	GPUUtilization              float64 // percent
	Runtime                     float64 // hours
	WaitMean, WaitStd           float64 // hours, over jobs
	FragmentationMean, FragmStd float64 // node blocks a job
}

// The methods of TsubameRow.
const (
	SlurmBackfill   = "SLURM/Backfill"
	Aucsched2       = "AUCSCHED2"
	Aucsched2Ranges = "AUCSCHED2 gpu ranges"
)

// Tsubame returns all rows of the table, in its order.
func Tsubame() []TsubameRow {
	var rows []TsubameRow
	for _, r := range readTable(tsubameCSV) {
		rows = append(rows, TsubameRow{
			Workload: r.text("workload"), Method: r.text("method"), Jobs: int(r.number("jobs")),
			TheoreticalRuntime: r.number("theoretical_runtime_h"), CPUUtilization: r.number("cpu_utilization_pct"),
			GPUUtilization: r.number("gpu_utilization_pct"), Runtime: r.number("runtime_h"),
			WaitMean: r.number("wait_mean_h"), WaitStd: r.number("wait_std_h"),
			FragmentationMean: r.number("fragmentation_mean"), FragmStd: r.number("fragmentation_std"),
		})
	}
	return rows
}

// TsubameResult is the row of a workload and method.
func TsubameResult(workload, method string) (TsubameRow, bool) {
	for _, r := range Tsubame() {
		if r.Workload == workload && r.Method == method {
			return r, true
		}
	}
	return TsubameRow{}, false
}

// record is a line of a table, by the names of its columns.
type record map[string]string

// readTable panics on bad data, since they are compiled in.
func readTable(text string) []record {
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		panic("papers: " + err.Error())
	}
	var rows []record
	for _, line := range lines[1:] {
		r := make(record)
		for i, name := range lines[0] {
			r[name] = line[i]
		}
		rows = append(rows, r)
	}
	return rows
}

func (r record) text(name string) string {
	v, ok := r[name]
	if !ok {
		panic("papers: no column " + name)
	}
	return v
}

func (r record) number(name string) float64 {
	v, err := strconv.ParseFloat(r.text(name), 64)
	if err != nil {
		panic(fmt.Sprintf("papers: %s: %v", name, err))
	}
	return v
}
