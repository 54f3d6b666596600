// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
)

// gpuColumns are the figures of the page's table.
var gpuColumns = []column[gpuRun]{
	{"GPU %", 1, func(r gpuRun) float64 { return 100 * r.Busy }},
	gpuWait,
	{"p95 h", 2, func(r gpuRun) float64 { return r.WaitP95 / 3600 }},
	{"by GPU h", 2, func(r gpuRun) float64 { return r.WaitArea / 3600 }},
	{"slowdown", 1, func(r gpuRun) float64 { return r.SlowdownMean }},
	{"h with a queue", 1, func(r gpuRun) float64 { return float64(r.GPUQueue.Seconds) / 3600 }},
	{"idle %", 1, func(r gpuRun) float64 { return 100 * r.GPUQueue.Idle }},
	{"stranded %", 1, func(r gpuRun) float64 { return 100 * r.GPUQueue.Stranded }},
	gpuStranded,
	{"longest queue", 0, func(r gpuRun) float64 { return float64(r.PendingMax) }},
}

var (
	gpuWait     = column[gpuRun]{"wait, mean h", 2, func(r gpuRun) float64 { return r.WaitMean / 3600 }}
	gpuStranded = column[gpuRun]{"stranded GPU h", 0, func(r gpuRun) float64 {
		return *r.StrandedGPUHours
	}}
)

// gpuPage is benchmarks/results/gpu-traces.md. Of each trace and rate the rows are those of
// gpuPolicies.
func gpuPage(rows []gpuRow) (string, error) {
	figures := tableOf(gpuColumns, "trace", "rate", "policy")
	for _, r := range rows {
		addRuns(figures, gpuColumns, r.Runs, r.Trace, fmt.Sprint(r.Rate), r.Policy)
	}
	return render("gpu", map[string]any{
		"AlibabaPods": alibabaPods, "AlibabaNodes": alibabaNodes, "EveryNode": everyNode, "Machines": machines,
		"EveryWhole": everyWhole, "PhillyWhole": phillyWhole,
		"PhillyJobs": phillyJobs, "PhillyWeeks": phillyWeeks, "PhillyFirst": phillyFirst,
		"PhillyNodes": phillyNodes, "PhillyGPUs": phillyGPUs,
		"Figures": figures,
	})
}
