// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"

	"github.com/aucsched/aucsched/benchmarks"
	"github.com/aucsched/aucsched/core"
)

// page is benchmarks/results/performance.md.
func (f *performanceFigures) page() (string, error) {
	options := core.Preset("none")
	return render("performance", map[string]any{
		"Machine": f.Machine, "Runs": f.Runs, "Enough": duration(float64(enough)), "Parts": parts,
		"Cores": benchmarks.CoresPerNode, "GPUs": benchmarks.GPUsPerNode,
		"Demand": benchmarks.Demand, "Seed": windowSeed,
		"NodeRecordBytes": benchmarks.NodeRecordBytes, "LargeMachine": largeMachine,
		"Options": options, "Work": int(options.Work),
		"Scans": f.Scans, "Stages": f.Stages, "Deadlines": deadlineTable(f.Deadlines),
	})
}

// Table has a row for each window.
func (s stageTable) Table() *table {
	t := &table{header: []string{"nodes", "jobs", "time", "against fewer nodes", "against fewer jobs", "allocs", "bytes"}}
	for _, x := range s.Rows[0].Sizes {
		t.header = append(t.header, x.Of)
	}
	for _, r := range s.Rows {
		byNodes, byJobs := "", ""
		if b := s.fewerNodes(r); b != nil {
			byNodes = growthOf(r.Ns/b.Ns, r.Nodes, b.Nodes)
		}
		if b := s.fewerJobs(r); b != nil {
			byJobs = growthOf(r.Ns/b.Ns, r.Jobs, b.Jobs)
		}
		row := []string{count(r.Nodes), count(r.Jobs), duration(r.Ns), byNodes, byJobs,
			allocs(r.sample), count(int(r.Bytes + 0.5))}
		for _, x := range r.Sizes {
			row = append(row, count(x.N))
		}
		t.add(row...)
	}
	return t
}

// fewerNodes is the last row with as many jobs as r on fewer nodes, fewerJobs that with fewer jobs
// on as many nodes; nil if there is none.
func (s *stageTable) fewerNodes(r stageRow) *stageRow {
	return s.last(func(x stageRow) bool { return x.Jobs == r.Jobs && x.Nodes < r.Nodes })
}

func (s *stageTable) fewerJobs(r stageRow) *stageRow {
	return s.last(func(x stageRow) bool { return x.Nodes == r.Nodes && x.Jobs < r.Jobs })
}

func (s *stageTable) last(fits func(stageRow) bool) (found *stageRow) {
	for i := range s.Rows {
		if fits(s.Rows[i]) {
			found = &s.Rows[i]
		}
	}
	return found
}

// Largest is the row of the largest window.
func (s stageTable) Largest() stageRow { return s.Rows[len(s.Rows)-1] }

// stageGrowth is by how much the time of the largest window grows with its nodes and its jobs.
type stageGrowth struct {
	Nodes, FewerNodes, Jobs, FewerJobs int
	ByNodes, ByJobs                    float64
	NodesProportion, JobsProportion    string
}

// Growth is nil if there are no smaller windows.
func (s stageTable) Growth() *stageGrowth {
	r := s.Largest()
	n, j := s.fewerNodes(r), s.fewerJobs(r)
	if n == nil || j == nil {
		return nil
	}
	byNodes, byJobs := r.Ns/n.Ns, r.Ns/j.Ns
	return &stageGrowth{r.Nodes, n.Nodes, r.Jobs, j.Jobs, byNodes, byJobs,
		proportion(byNodes, r.Nodes, n.Nodes), proportion(byJobs, r.Jobs, j.Jobs)}
}

// proportion compares a growth with that of the size.
func proportion(ratio float64, to, from int) string {
	switch linear := float64(to) / float64(from); {
	case ratio > 1.15*linear:
		return "more than linear"
	case ratio > 0.85*linear:
		return "linear"
	}
	return "less than linear"
}

// growthOf is by how much the time grew for how much more input.
func growthOf(ratio float64, to, from int) string {
	return fmt.Sprintf("%s for %s", times(ratio), times(float64(to)/float64(from)))
}

// allocs is the number of allocations a run: rare ones show as a fraction.
func allocs(s sample) string {
	if s.Allocs < 0.005 {
		return "0"
	}
	if s.Allocs < 10 {
		return fmt.Sprintf("%.2f", s.Allocs)
	}
	return fmt.Sprintf("%.0f", s.Allocs)
}

func sizeOf(s sample, name string) string {
	for _, x := range s.Sizes {
		if x.Of == name {
			return count(x.N)
		}
	}
	return ""
}
