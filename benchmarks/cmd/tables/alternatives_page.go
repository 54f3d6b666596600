// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"

	"github.com/aucsched/aucsched/benchmarks/stats"
	"github.com/aucsched/aucsched/core"
)

// alternativeColumns are the figures of the page's tables.
var alternativeColumns = []column[alternativeRun]{
	{"CPU %", 1, func(r alternativeRun) float64 { return 100 * r.CPUUtilization }},
	{"GPU %", 1, func(r alternativeRun) float64 { return 100 * r.GPUUtilization }},
	{"wait, mean h", 2, func(r alternativeRun) float64 { return r.WaitMean / 3600 }},
	{"slowdown", 1, func(r alternativeRun) float64 { return r.SlowdownMean }},
	{"fragmentation", 2, func(r alternativeRun) float64 { return r.FragmentationMean }},
	{"spread", 2, func(r alternativeRun) float64 { return r.SpreadMean }},
	{"taken %", 1, func(r alternativeRun) float64 { return 100 * r.Taken }},
}

// offered is the share of the jobs that offer something else.
var offered = column[alternativeRun]{"offered %", 0, func(r alternativeRun) float64 { return 100 * r.Offer }}

// alternativesPage is benchmarks/results/alternatives.md.
func alternativesPage(seeds seedRange, rows []alternativeRow) (string, error) {
	figures := tableOf(alternativeColumns, "workload", "jobs and policy")
	for _, r := range rows {
		addRuns(figures, alternativeColumns, r.Runs, r.Case, offerings()[r.Offering].name)
	}
	var readings []alternativesReading
	for k, o := range offerings() {
		if o.change != nil {
			readings = append(readings, readAlternatives(rows, k))
		}
	}
	return render("alternatives", map[string]any{
		"Command":         fmt.Sprintf("alternatives -seeds %s -into benchmarks/results", &seeds),
		"MaxAlternatives": core.MaxAlternatives,
		"Figures":         figures,
		"Seeds":           seeds.count(),
		"Paired":          pairedAlternatives(rows),
		"Readings":        readings,
	})
}

// pairedAlternatives holds each offering against its rival, seed by seed.
func pairedAlternatives(rows []alternativeRow) *table {
	shown := alternativeColumns[:len(alternativeColumns)-1]
	t := tableOf(shown, "workload", "jobs and policy", offered.title)
	t.textColumns--
	for _, r := range rows {
		o := offerings()[r.Offering]
		rival := findOffering(rows, r.Case, o.against)
		if o.change == nil || rival == nil {
			continue
		}
		cells := []string{r.Case, o.name, offered.print(offered.mean(r.Runs))}
		for _, c := range shown {
			cells = append(cells, c.versus(r.Runs, rival.Runs))
		}
		t.add(cells...)
	}
	return t
}

func findOffering(rows []alternativeRow, name string, offering int) *alternativeRow {
	for i := range rows {
		if rows[i].Case == name && rows[i].Offering == offering {
			return &rows[i]
		}
	}
	return nil
}

// alternativesReading is what an offering comes to over all workloads that have it.
type alternativesReading struct {
	Name         string
	Runs         int
	CPU          stats.Duel // against the rival
	Chance       string     // of as many wins
	Wait, Waited float64    // with it and without, in hours
	Shorter      int        // on how many runs the wait is
}

func readAlternatives(rows []alternativeRow, offering int) alternativesReading {
	o := offerings()[offering]
	var with, without []alternativeRun
	for _, r := range rows {
		if rival := findOffering(rows, r.Case, o.against); r.Offering == offering && rival != nil {
			with, without = append(with, r.Runs...), append(without, rival.Runs...)
		}
	}
	cpu, wait := &alternativeColumns[0], &alternativeColumns[2]
	x := alternativesReading{Name: o.name, Runs: len(with), CPU: stats.NewDuel(cpu.each(with), cpu.each(without)),
		Wait: wait.mean(with), Waited: wait.mean(without)}
	x.Chance = chance(x.CPU.SignTest())
	x.Shorter = stats.NewDuel(wait.each(with), wait.each(without)).Losses
	return x
}

// chance is a probability with three decimals.
func chance(p float64) string {
	if p < 0.001 {
		return "under 0.001"
	}
	return fmt.Sprintf("%.3f", p)
}
