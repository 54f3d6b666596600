// SPDX-License-Identifier: BSD-3-Clause

package reproduce

import (
	"strings"

	"github.com/aucsched/aucsched/benchmarks/papers"
)

// aucsched2Tables is table 3 of aucsched2, each auction with the papers' settings and
// with our own.
func aucsched2Tables() []Table {
	t := Table{
		Name:  "aucsched2-3",
		Title: "Soner, Özturan, Karac: GPU ranges, table 3: Tsubame, 1408 nodes of 12 cores and 3 GPUs",
		Notes: notesOf("aucsched2-3"),
	}
	for _, p := range papers.Tsubame() {
		row := Row{
			Workload: p.Workload, Method: p.Method, Baseline: p.Method == papers.SlurmBackfill,
			Quick: strings.HasPrefix(p.Workload, "1."),
			Paper: map[string]float64{
				CPUUtilization: p.CPUUtilization, GPUUtilization: p.GPUUtilization, Runtime: p.Runtime,
				Wait: p.WaitMean, WaitStd: p.WaitStd, Fragmentation: p.FragmentationMean, FragmStd: p.FragmStd,
			},
		}
		spec := "gen:tsubame-" + p.Workload
		if p.Method == papers.Aucsched2Ranges {
			spec += "-ranges"
		}
		args := func(policy ...string) []string {
			return append([]string{"--cluster=1408x12x3", "--workload=" + spec}, policy...)
		}
		if row.Baseline {
			row.Args = args("--policy=backfill")
			t.Rows = append(t.Rows, row)
			continue
		}
		row.Args = args("--policy=auction2", "--preset=paper")
		defaults := row
		defaults.Method, defaults.Args = p.Method+", our defaults", args("--policy=auction2")
		throughput := row
		throughput.Method, throughput.Args = p.Method+", packed", args("--policy=auction2", "--preset=packed")
		t.Rows = append(t.Rows, row, defaults, throughput)
	}
	return []Table{t}
}
