// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"strings"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/sim"
)

// criterion is a figure by which rivals are judged.
type criterion struct {
	name     string
	decimals int
	scale    float64
	more     bool // is better
	figure   func(*sim.Result) float64
}

var criteria = []criterion{
	{"CPU %", 1, 100, true, func(r *sim.Result) float64 { return r.CPUUtilization }},
	{"wait h", 2, 1.0 / 3600, false, func(r *sim.Result) float64 { return r.WaitMean }},
	{"slowdown", 1, 1, false, func(r *sim.Result) float64 { return r.SlowdownMean }},
	{"fragmentation", 2, 1, false, func(r *sim.Result) float64 { return r.FragmentationMean }},
	{"spread", 2, 1, false, func(r *sim.Result) float64 { return r.SpreadMean }},
}

// of are the figures of rival r, a seed each.
func (m *criterion) of(c *contest, r int) (x []float64) {
	for _, res := range c.Runs[r] {
		x = append(x, m.figure(res)*m.scale)
	}
	return x
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
	return over(x).Mean
}

// backfillPage is benchmarks/results/backfill.md.
func backfillPage(seeds seedRange, all []*contest) string {
	var p page
	p.heading(1, "The auction against backfill")
	p.say("Written by `go run ./benchmarks/cmd/tables backfill -seeds %s > benchmarks/results/backfill.md`; change the command, not this page. The same command gives the same numbers again. A referee that shares nothing with the policies checks every start.", seeds.String())
	o := core.ThroughputAuctionOptions()
	p.say("The jobs of a seed are the same for all, as is the interval of %d s. \"auction\" has the default settings, \"throughput\" those of `--throughput`:", contestInterval)
	p.list(
		"a start is worth priority x size / time limit (`--objective rate`), where size is the job's share of all cores plus that of all GPUs, instead of the priority alone;",
		fmt.Sprintf("the place that is kept free is not for the job at the head of the queue, but for the one with most priority x (size + time waited / %d h) (`--patience`): large jobs do not pile up until the end, and nobody is passed over by jobs that come much later;", o.Patience/3600),
		"a job lies in one block of consecutive nodes or in two (`--compact`).")
	p.say("\"above bound\" is by how many per cent the runtime is above what no policy can undercut (package bound, the bound that respects nodes). Figures are means over the seeds; \"backfill ahead\" are the figures in which backfill's mean is better than throughput's. The settings were chosen with seeds 1-5 of IV and V, and a look at seeds 1-3 of some of the others.")
	p.heading(2, "Workloads IV and V of aucsched1")
	var target, others []*contest
	for _, c := range all {
		if c.Target {
			target = append(target, c)
		} else {
			others = append(others, c)
		}
	}
	summary(&p, target)
	contestTable(&p, target)
	p.heading(2, "Other workloads")
	summary(&p, others)
	contestTable(&p, others)
	return p.String()
}

// summary is the mean of all contests, and who wins.
func summary(p *page, all []*contest) {
	t := table{textColumns: 1, header: []string{"mean of all", "above bound %"}}
	for _, m := range criteria {
		t.header = append(t.header, m.name)
	}
	for r, rival := range rivals {
		above := 0.0
		for _, c := range all {
			above += c.above(r) / float64(len(all))
		}
		cells := []string{rival.name, fmt.Sprintf("%.1f", above)}
		for i := range criteria {
			cells = append(cells, fmt.Sprintf("%.*f", criteria[i].decimals, over(pooled(all, &criteria[i], r)).Mean))
		}
		t.add(cells...)
	}
	cells := []string{fmt.Sprintf("runs of %d that throughput wins; loses", len(pooled(all, &criteria[0], 0))), ""}
	for i := range criteria {
		won, lost := wins(all, &criteria[i])
		cells = append(cells, fmt.Sprintf("%d; %d", won, lost))
	}
	t.add(cells...)
	p.table(&t)
}

// pooled are a rival's figures in all contests and seeds.
func pooled(all []*contest, m *criterion, r int) (x []float64) {
	for _, c := range all {
		x = append(x, m.of(c, r)...)
	}
	return x
}

// wins is in how many runs the last rival is better than the first, and in how many worse.
func wins(all []*contest, m *criterion) (won, lost int) {
	a, b := pooled(all, m, len(rivals)-1), pooled(all, m, 0)
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

// contestTable has a row for each contest, backfill's figure and throughput's in each cell.
func contestTable(p *page, all []*contest) {
	p.say("Each cell: backfill, throughput.")
	t := table{textColumns: 2, header: []string{"machine", "workload", "bound h", "above bound %"}}
	for _, m := range criteria {
		t.header = append(t.header, m.name)
	}
	t.header = append(t.header, "backfill ahead")
	last := len(rivals) - 1
	for _, c := range all {
		cells := []string{c.Machine, c.Workload, fmt.Sprintf("%.2f", over(c.Bound).Mean/3600), fmt.Sprintf("%.1f, %.1f", c.above(0), c.above(last))}
		var ahead []string
		for i := range criteria {
			m := &criteria[i]
			b, a := over(m.of(c, 0)).Mean, over(m.of(c, last)).Mean
			cells = append(cells, fmt.Sprintf("%.*f, %.*f", m.decimals, b, m.decimals, a))
			if _, worse := m.better(a, b); worse {
				ahead = append(ahead, m.name)
			}
		}
		if ahead == nil {
			ahead = []string{"-"}
		}
		t.add(append(cells, strings.Join(ahead, "; "))...)
	}
	p.table(&t)
}
