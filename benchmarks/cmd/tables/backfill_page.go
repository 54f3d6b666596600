// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"strings"

	"github.com/aucsched/aucsched/benchmarks/stats"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/sim"
)

// criterion is a figure by which rivals are judged.
type criterion struct {
	column[*sim.Result]
	more bool // is better
}

var criteria = []criterion{
	{column[*sim.Result]{"CPU %", 1, func(r *sim.Result) float64 { return 100 * r.CPUUtilization }}, true},
	{column[*sim.Result]{"wait h", 2, func(r *sim.Result) float64 { return r.WaitMean / 3600 }}, false},
	{column[*sim.Result]{"slowdown", 1, func(r *sim.Result) float64 { return r.SlowdownMean }}, false},
	{column[*sim.Result]{"fragmentation", 2, func(r *sim.Result) float64 { return r.FragmentationMean }}, false},
	{column[*sim.Result]{"spread", 2, func(r *sim.Result) float64 { return r.SpreadMean }}, false},
}

// better reports whether a is better than b, and worse the contrary; neither if they are equal.
func (m *criterion) better(a, b float64) (better, worse bool) {
	if m.more {
		return a > b, a < b
	}
	return a < b, a > b
}

// above is by how many per cent rival r's runtime is above the bound, the mean over the seeds.
func (c *contest) above(r int) float64 {
	var x []float64
	for i, res := range c.Runs[r] {
		x = append(x, 100*(float64(res.Runtime)/c.Bound[i]-1))
	}
	return stats.Over(x).Mean
}

// contestList are some contests, as a section of the page shows them.
type contestList []*contest

// backfillPage is benchmarks/results/backfill.md.
func backfillPage(seeds seedRange, all []*contest) (string, error) {
	var target, others contestList
	for _, c := range all {
		if c.Target {
			target = append(target, c)
		} else {
			others = append(others, c)
		}
	}
	return render("backfill", map[string]any{
		"Command":  fmt.Sprintf("backfill -seeds %s -into benchmarks/results", &seeds),
		"Interval": contestInterval,
		"Patience": core.Preset("packed").Patience / 3600,
		"Target":   target,
		"Others":   others,
	})
}

// Summary is the mean of all contests, and who wins.
func (all contestList) Summary() *table {
	t := &table{textColumns: 1, header: []string{"mean of all", "above bound %"}}
	for _, m := range criteria {
		t.header = append(t.header, m.title)
	}
	for r, rival := range rivals {
		above := 0.0
		for _, c := range all {
			above += c.above(r) / float64(len(all))
		}
		cells := []string{rival.name, fmt.Sprintf("%.1f", above)}
		for _, m := range criteria {
			cells = append(cells, m.print(m.mean(all.runs(r))))
		}
		t.add(cells...)
	}
	cells := []string{fmt.Sprintf("runs of %d that throughput wins; loses", len(all.runs(0))), ""}
	for i := range criteria {
		won, lost := all.wins(&criteria[i])
		cells = append(cells, fmt.Sprintf("%d; %d", won, lost))
	}
	t.add(cells...)
	return t
}

// runs are a rival's in all contests and seeds.
func (all contestList) runs(r int) (runs []*sim.Result) {
	for _, c := range all {
		runs = append(runs, c.Runs[r]...)
	}
	return runs
}

// wins is in how many runs the last rival is better than the first, and in how many worse.
func (all contestList) wins(m *criterion) (won, lost int) {
	a, b := m.each(all.runs(len(rivals)-1)), m.each(all.runs(0))
	for i := range a {
		switch better, worse := m.better(a[i], b[i]); {
		case better:
			won++
		case worse:
			lost++
		}
	}
	return won, lost
}

// Table has a row for each contest, backfill's figure and throughput's in each cell.
func (all contestList) Table() *table {
	t := &table{textColumns: 2, header: []string{"machine", "workload", "bound h", "above bound %"}}
	for _, m := range criteria {
		t.header = append(t.header, m.title)
	}
	t.header = append(t.header, "backfill ahead")
	last := len(rivals) - 1
	for _, c := range all {
		bound := fmt.Sprintf("%.2f", stats.Over(c.Bound).Mean/3600)
		cells := []string{c.Machine, c.Workload, bound, fmt.Sprintf("%.1f, %.1f", c.above(0), c.above(last))}
		var ahead []string
		for _, m := range criteria {
			b, a := m.mean(c.Runs[0]), m.mean(c.Runs[last])
			cells = append(cells, m.print(b)+", "+m.print(a))
			if _, worse := m.better(a, b); worse {
				ahead = append(ahead, m.title)
			}
		}
		if ahead == nil {
			ahead = []string{"-"}
		}
		t.add(append(cells, strings.Join(ahead, "; "))...)
	}
	return t
}
