// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"

	"github.com/aucsched/aucsched/benchmarks/crews"
	"github.com/aucsched/aucsched/benchmarks/stats"
)

// crewColumns are the figures of the page's tables.
var (
	crewWait       = column[crewFigure]{"wait, h", 2, func(f crewFigure) float64 { return f.Wait / 3600 }}
	crewTurnaround = column[crewFigure]{"turnaround, h", 2, func(f crewFigure) float64 { return f.Turnaround / 3600 }}
	crewSlowdown   = column[crewFigure]{"bounded slowdown", 1, func(f crewFigure) float64 { return f.Slowdown }}

	crewColumns = []column[crewFigure]{
		{"use, %", 1, func(f crewFigure) float64 { return 100 * f.Use }}, crewWait,
		{"p95, h", 1, func(f crewFigure) float64 { return f.P95 / 3600 }},
		{"widest tenth, h", 1, func(f crewFigure) float64 { return f.Widest / 3600 }},
		crewTurnaround, crewSlowdown,
		{"lost, %", 2, func(f crewFigure) float64 { return 100 * f.Lost }},
		{"changes a job", 1, func(f crewFigure) float64 { return f.Changes }},
	}
	// of the one manager
	crewUnknown = map[string]bool{"p95, h": true, "widest tenth, h": true, "lost, %": true}
)

// crewOrder are the schedulers in the order of the tables.
func crewOrder() (names []string) {
	for _, p := range crewPolicies {
		names = append(names, p.name)
	}
	return append(names, oneHost)
}

// figures is the table of a workload.
func (r *crewRows) figures() *table {
	t := tableOf(crewColumns, "scheduler", "malleable")
	for _, percent := range crewShares {
		for _, name := range crewOrder() {
			runs := r.runs[crewKey(name, percent)]
			if runs == nil {
				continue
			}
			cells := []string{name, fmt.Sprintf("%d%%", percent)}
			for i := range crewColumns {
				if name == oneHost && crewUnknown[crewColumns[i].title] {
					cells = append(cells, "")
					continue
				}
				cells = append(cells, crewColumns[i].cell(runs))
			}
			t.add(cells...)
		}
	}
	return t
}

// difference is the mean of figures less others, case by case, with half of its 95% interval.
func difference(figures, others []float64, decimals int) string {
	d := stats.Paired(figures, others)
	return fmt.Sprintf("%s ± %.*f", signed(d.Mean, decimals), decimals, d.Noise)
}

// payers is the table of who waits how much longer, against the same scheduler with rigid jobs.
func (r *crewRows) payers() *table {
	t := &table{textColumns: 2, header: []string{"scheduler", "malleable",
		"wait of these, h", "their turnaround, h", "wait of the rigid, h", "their turnaround, h"}}
	for k, percent := range crewShares {
		for _, p := range crewPolicies[2:] {
			if percent == 0 {
				continue
			}
			now, rigid := r.runs[crewKey(p.name, percent)], r.runs[crewKey(p.name, 0)]
			cells := []string{p.name, fmt.Sprintf("%d%%", percent)}
			for _, of := range []func(*crewFigure) float64{
				func(f *crewFigure) float64 { return f.Chosen[k].Wait },
				func(f *crewFigure) float64 { return f.Chosen[k].Turnaround },
				func(f *crewFigure) float64 { return f.Others[k].Wait },
				func(f *crewFigure) float64 { return f.Others[k].Turnaround },
			} {
				x, y := make([]float64, len(now)), make([]float64, len(now))
				any := false
				for i := range now {
					x[i], y[i] = of(&now[i])/3600, of(&rigid[i])/3600
					any = any || y[i] > 0
				}
				cell := "none"
				if any {
					cell = difference(x, y, 2)
				}
				cells = append(cells, cell)
			}
			t.add(cells...)
		}
	}
	return t
}

// duels is the table of the auction less backfill at the same share.
func (r *crewRows) duels() *table {
	t := &table{textColumns: 1, header: []string{"malleable"}}
	columns := []column[crewFigure]{crewColumns[0], crewWait, crewTurnaround, crewSlowdown}
	for _, c := range columns {
		t.header = append(t.header, c.title)
	}
	for _, percent := range crewShares {
		cells := []string{fmt.Sprintf("%d%%", percent)}
		for i := range columns {
			c := &columns[i]
			auction, backfill := c.each(r.runs[crewKey("auction2", percent)]), c.each(r.runs[crewKey("backfill", percent)])
			cells = append(cells, difference(auction, backfill, c.decimals))
		}
		t.add(cells...)
	}
	return t
}

// changed is the table of variants.
func (r *crewRows) changed() *table {
	t := tableOf(crewColumns, "changed", "scheduler")
	for _, v := range crewVariants {
		for _, p := range crewPolicies[2:] {
			addRuns(t, crewColumns, r.variants[p.name+", "+v.name], v.name, p.name)
		}
	}
	return t
}

// crewPart is what the page says of a workload.
type crewPart struct {
	Name                   string
	Cases                  int
	Figures, Payers, Duels *table
}

func malleablePage(o *crewOptions, rows []*crewRows) (string, error) {
	var parts []crewPart
	for _, r := range rows {
		parts = append(parts, crewPart{r.name, len(r.cases), r.figures(), r.payers(), r.duels()})
	}
	command := fmt.Sprintf("malleable -seeds %s", &o.seeds)
	if o.traces != "" {
		command += " -traces DIR"
	}
	return render("malleable", map[string]any{
		"Command": command + " -into benchmarks/results", "Parts": parts, "Variants": rows[0].changed(),
		"VariantShare": crewVariantShare, "Crews": crews.Default(), "Interval": contestInterval,
	})
}
