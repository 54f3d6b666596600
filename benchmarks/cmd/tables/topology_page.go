// SPDX-License-Identifier: BSD-3-Clause

package main

// treeColumns are the figures of the page's table.
var treeColumns = []column[treeRun]{
	{"leaves a job", 3, func(r treeRun) float64 { return r.Leaves.Mean }},
	{"of several nodes", 3, func(r treeRun) float64 { return r.Leaves.WideMean }},
	{"below the fewest %", 1, func(r treeRun) float64 { return 100 * float64(r.Leaves.Whole) / float64(max(r.Leaves.Wide, 1)) }},
	{"jobs of several nodes", 0, func(r treeRun) float64 { return float64(r.Leaves.Wide) }},
	{"use %", 1, func(r treeRun) float64 { return 100 * r.Busy }},
	{"wait, mean h", 3, func(r treeRun) float64 { return r.WaitMean / 3600 }},
	{"slowdown", 1, func(r treeRun) float64 { return r.SlowdownMean }},
}

// topologyPage is benchmarks/results/topology.md.
func topologyPage(rows []treeRow) (string, error) {
	figures := tableOf(treeColumns, "trace", "policy")
	for _, r := range rows {
		addRuns(figures, treeColumns, r.Runs, r.Case, r.Policy)
	}
	return render("topology", map[string]any{
		"Nodes": treeNodes, "Leaves": treeLeaves, "Parts": treeParts, "PhillyFirst": phillyFirst,
		"Figures": figures,
	})
}
