// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"

	"github.com/aucsched/aucsched/benchmarks"
)

// page is benchmarks/results/performance.md.
func (f *performanceFigures) page() string {
	var p page
	p.heading(1, "Performance")
	p.say("Written by `go run ./benchmarks/cmd/tables performance > benchmarks/results/performance.md`; change the command, not this page. `go test -bench . ./benchmarks` measures the same stages one by one.")
	p.say("Measured on: %s, one goroutine but for the solver's two hands. Times are medians of %d measurements of about %s or one run each, in turns, in the steady state, where memory is reused from run to run. Of a measurement of many runs the fastest of %d parts counts. The machine had other work, so trust ratios within a table more than the times themselves.", f.Machine, f.Runs, duration(float64(enough)), parts)
	p.say("The input is a machine of nodes with %d cores and %d GPUs, half of whose cores are held by jobs of 1 to 256 nodes (an eighth of the machine at most), and a queue that asks for about %.0f times the free cores: jobs of all types of the papers, a quarter of them contiguous, some with ranges of nodes or GPUs (`benchmarks.NewWindow`, seed %d). All stages see the same one. The first and the last answer of each measurement are verified, outside the time.",
		benchmarks.CoresPerNode, benchmarks.GPUsPerNode, benchmarks.Demand, windowSeed)
	p.say("What the solver's answers are worth, over time and beside other solvers', is in [solver.md](solver.md).")
	f.Scans.write(&p)
	for i := range f.Stages {
		f.Stages[i].write(&p)
	}
	if len(f.Deadlines) > 0 {
		writeDeadlines(&p, f.Deadlines)
	}
	return p.String()
}

// write adds the stage's section.
func (s *stageTable) write(p *page) {
	p.heading(2, s.Title)
	p.say("%s", s.What)
	header := []string{"nodes", "jobs", "time", "against fewer nodes", "against fewer jobs", "allocs", "bytes"}
	for _, x := range s.Rows[0].Sizes {
		header = append(header, x.Of)
	}
	t := table{header: header}
	for _, r := range s.Rows {
		byNodes, byJobs := "", ""
		if b := s.before(r, func(x stageRow) bool { return x.Jobs == r.Jobs && x.Nodes < r.Nodes }); b != nil {
			byNodes = growthOf(r.Ns/b.Ns, r.Nodes, b.Nodes)
		}
		if b := s.before(r, func(x stageRow) bool { return x.Nodes == r.Nodes && x.Jobs < r.Jobs }); b != nil {
			byJobs = growthOf(r.Ns/b.Ns, r.Jobs, b.Jobs)
		}
		row := []string{count(r.Nodes), count(r.Jobs), duration(r.Ns), byNodes, byJobs, allocs(r.sample), count(int(r.Bytes + 0.5))}
		for _, x := range r.Sizes {
			row = append(row, count(x.N))
		}
		t.add(row...)
	}
	p.table(&t)
	last := s.Rows[len(s.Rows)-1]
	p.say("%s", s.reading(last))
}

// before is the last row that is like r but smaller.
func (s *stageTable) before(r stageRow, smaller func(stageRow) bool) (found *stageRow) {
	for i := range s.Rows {
		if smaller(s.Rows[i]) {
			found = &s.Rows[i]
		}
	}
	return found
}

// reading says what the table shows at its largest row.
func (s *stageTable) reading(last stageRow) string {
	byNodes := s.before(last, func(x stageRow) bool { return x.Jobs == last.Jobs && x.Nodes < last.Nodes })
	byJobs := s.before(last, func(x stageRow) bool { return x.Nodes == last.Nodes && x.Jobs < last.Jobs })
	text := fmt.Sprintf("The largest window, %s nodes and %d jobs, takes %s.", count(last.Nodes), last.Jobs, duration(last.Ns))
	if byNodes == nil || byJobs == nil {
		return text
	}
	return text + fmt.Sprintf(" From %s nodes to %s the time grows %s, %s in the number of nodes; from %d jobs to %d %s, %s in the number of jobs.",
		count(byNodes.Nodes), count(last.Nodes), times(last.Ns/byNodes.Ns), proportion(last.Ns/byNodes.Ns, last.Nodes, byNodes.Nodes),
		byJobs.Jobs, last.Jobs, times(last.Ns/byJobs.Ns), proportion(last.Ns/byJobs.Ns, last.Jobs, byJobs.Jobs))
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
