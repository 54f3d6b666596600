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
	lines, err := csv.NewReader(strings.NewReader(tsubameCSV)).ReadAll()
	if err != nil {
		panic("papers: " + err.Error()) // the data are compiled in
	}
	column := make(map[string]int)
	for i, name := range lines[0] {
		column[name] = i
	}
	var rows []TsubameRow
	for _, line := range lines[1:] {
		num := func(name string) float64 {
			v, err := strconv.ParseFloat(line[column[name]], 64)
			if err != nil {
				panic(fmt.Sprintf("papers: %s: %v", name, err))
			}
			return v
		}
		rows = append(rows, TsubameRow{
			Workload: line[column["workload"]], Method: line[column["method"]], Jobs: int(num("jobs")),
			TheoreticalRuntime: num("theoretical_runtime_h"), CPUUtilization: num("cpu_utilization_pct"),
			GPUUtilization: num("gpu_utilization_pct"), Runtime: num("runtime_h"),
			WaitMean: num("wait_mean_h"), WaitStd: num("wait_std_h"),
			FragmentationMean: num("fragmentation_mean"), FragmStd: num("fragmentation_std"),
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
