// SPDX-License-Identifier: BSD-3-Clause

package reproduce

import "github.com/aucsched/aucsched/internal/sim"

// Metric is a figure of the papers' tables.
type Metric struct {
	Key   string // in JSON
	Title string // with the unit
	// Ordered metrics are compared between methods; the others are deviations over
	// jobs.
	Ordered bool
	// Always has our figures shown where the paper has none, too.
	Always   bool
	decimals int
	of       func(*sim.Result) float64
}

// The metrics of the papers' tables, by key.
const (
	CPUUtilization = "cpu_utilization_pct"
	GPUUtilization = "gpu_utilization_pct"
	Runtime        = "runtime_h"
	Wait           = "wait_mean_h"
	WaitStd        = "wait_std_h"
	Slowdown       = "slowdown_mean"
	SlowdownStd    = "slowdown_std"
	Fragmentation  = "fragmentation_mean"
	FragmStd       = "fragmentation_std"
	Spread         = "spread_mean"
	SpreadStd      = "spread_std"
	Packing        = "packing_factor_mean"
	PackingStd     = "packing_factor_std"
)

// metrics are in the order in which they are printed.
var metrics = []Metric{
	{CPUUtilization, "CPU %", true, true, 1, func(r *sim.Result) float64 { return 100 * r.CPUUtilization }},
	{GPUUtilization, "GPU %", true, false, 1, func(r *sim.Result) float64 { return 100 * r.GPUUtilization }},
	{Runtime, "runtime h", true, true, 2, func(r *sim.Result) float64 { return float64(r.Runtime) / 3600 }},
	{Wait, "wait h", true, true, 2, func(r *sim.Result) float64 { return r.WaitMean / 3600 }},
	{WaitStd, "wait, jobs ± h", false, false, 2, func(r *sim.Result) float64 { return r.WaitStd / 3600 }},
	{Fragmentation, "fragmentation", true, true, 2, func(r *sim.Result) float64 { return r.FragmentationMean }},
	{FragmStd, "fragm., jobs ±", false, false, 2, func(r *sim.Result) float64 { return r.FragmentationStd }},
	{Slowdown, "slowdown", true, true, 2, func(r *sim.Result) float64 { return r.SlowdownMean }},
	{SlowdownStd, "slowdown, jobs ±", false, false, 2, func(r *sim.Result) float64 { return r.SlowdownStd }},
	{Spread, "spread", true, true, 2, func(r *sim.Result) float64 { return r.SpreadMean }},
	{SpreadStd, "spread, jobs ±", false, false, 2, func(r *sim.Result) float64 { return r.SpreadStd }},
	{Packing, "packing factor", true, false, 3, func(r *sim.Result) float64 { return r.PackingFactorMean }},
	{PackingStd, "packing, jobs ±", false, false, 3, func(r *sim.Result) float64 { return r.PackingFactorStd }},
}
