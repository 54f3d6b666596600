// SPDX-License-Identifier: BSD-3-Clause

package reproduce

import (
	"fmt"
	"strings"

	"github.com/aucsched/aucsched/benchmarks/papers"
)

// ipschedTables are tables V and VI of ipsched: the modified ESP benchmark, and the
// same with sizes that are not whole nodes.
func ipschedTables() []Table {
	tables := []Table{
		{Name: "ipsched-5", Title: "Soner, Özturan: IPSCHED, table V: the ESP benchmark with GPU jobs, 1024 nodes of 8 cores and 2 GPUs"},
		{Name: "ipsched-6", Title: "Soner, Özturan: IPSCHED, table VI: the ESP benchmark with GPU jobs and random sizes"},
	}
	tables[0].Notes = notesOf("ipsched")
	tables[1].Notes = notesOf("ipsched", "ipsched-6")
	for _, p := range papers.Ipsched() {
		t, spec := &tables[0], "gen:esp"
		if p.Table == "VI" {
			t, spec = &tables[1], "gen:esp-rand"
		}
		t.Rows = append(t.Rows, ipschedRow(p, spec))
	}
	return tables
}

func ipschedRow(p papers.IpschedRow, spec string) Row {
	priority := strings.ToLower(p.Priority)
	row := Row{
		Workload: "priority " + priority, Method: fmt.Sprintf("%s: %s", p.Experiment, p.Plugin), Quick: true,
		Baseline: p.Plugin == "Backfill",
		Args:     []string{"--cluster=1024x8x2", "--workload=" + spec, "--priority=" + priority, "--interval=4"},
		Paper: map[string]float64{
			CPUUtilization: 100 * p.Utilization, Wait: p.WaitMean, WaitStd: p.WaitStd,
			Slowdown: p.SlowdownMean, SlowdownStd: p.SlowdownStd,
		},
	}
	if p.PackingMean > 0 {
		row.Paper[Packing], row.Paper[PackingStd] = p.PackingMean, p.PackingStd
	}
	if p.Table == "VI" && !row.Baseline {
		row.Args = append(row.Args, "--node-limits=false")
	}
	switch p.Objective {
	case papers.ObjectiveSize:
		row.Method += ", max sum p r (s - c)"
		row.Args = append(row.Args, "--policy=ipsched", "--objective=size")
	case papers.ObjectivePriority:
		row.Method += ", max sum p (s - c)"
		row.Args = append(row.Args, "--policy=ipsched", "--objective=priority")
	default:
		row.Args = append(row.Args, "--policy=backfill")
	}
	return row
}
