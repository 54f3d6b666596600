// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"

	"github.com/aucsched/aucsched/benchmarks/papers"
	"github.com/aucsched/aucsched/benchmarks/stats"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/generate"
)

// find are the results of a method on a variant, a seed each.
func (f *simulationFigures) find(variant, method string) []*sim.Result {
	for i := range f.Rows {
		if f.Rows[i].Variant == variant && f.Rows[i].Method == method {
			return f.Rows[i].Results
		}
	}
	return nil
}

// The figures of the simulation's tables.
var (
	simulatedCPU  = column[*sim.Result]{"CPU %", 1, func(r *sim.Result) float64 { return 100 * r.CPUUtilization }}
	simulatedWait = column[*sim.Result]{"wait, mean h", 2, func(r *sim.Result) float64 { return r.WaitMean / 3600 }}
	simulatedFrag = column[*sim.Result]{"fragmentation", 2, func(r *sim.Result) float64 { return r.FragmentationMean }}

	simulatedColumns = []column[*sim.Result]{
		simulatedCPU,
		{"GPU %", 1, func(r *sim.Result) float64 { return 100 * r.GPUUtilization }},
		{"runtime h", 2, func(r *sim.Result) float64 { return float64(r.Runtime) / 3600 }},
		simulatedWait,
		{"wait, std h", 2, func(r *sim.Result) float64 { return r.WaitStd / 3600 }},
		{"slowdown", 1, func(r *sim.Result) float64 { return r.SlowdownMean }},
		simulatedFrag,
		{"spread", 2, func(r *sim.Result) float64 { return r.SpreadMean }},
	}
)

// paperCells are the paper's figures for simulatedColumns, blank where it has none.
func paperCells(p *papers.TsubameRow) []string {
	percent := func(x float64) string { return fmt.Sprintf("%.0f", x) }
	hours := func(x float64) string { return fmt.Sprintf("%.2f", x) }
	return []string{percent(p.CPUUtilization), percent(p.GPUUtilization), hours(p.Runtime),
		hours(p.WaitMean), hours(p.WaitStd), "", hours(p.FragmentationMean), ""}
}

// page is benchmarks/results/simulation.md.
func (f *simulationFigures) page() (string, error) {
	var shown []variantSection
	for _, v := range variants {
		if f.find(v, methodBackfill) != nil {
			shown = append(shown, f.variant(v))
		}
	}
	paired, wins := f.paired()
	return render("simulation", map[string]any{
		"Command":   fmt.Sprintf("simulation -seeds %s -traces DIR -into benchmarks/results", &f.Seeds),
		"Machine":   f.Machine,
		"Interval":  sim.NewConfig(nil).Interval,
		"SeedRange": &f.Seeds,
		"Seeds":     f.Seeds.count(),

		"MaxShare":           100 * generate.DefaultMaxShare,
		"TheoreticalRuntime": paperOf(variants[0], methodBackfill).TheoreticalRuntime,
		"MinDuration":        generate.DefaultMinDuration,
		"MaxDuration":        generate.DefaultMaxDuration,
		"LimitFactor":        generate.DefaultLimitFactor,
		"Arrivals":           generate.DefaultArrivals,
		"Paper":              core.Preset("paper"),

		"Variants": shown,
		"Paired":   paired,
		"Wins":     wins,
		"Runs":     len(variants) * f.Seeds.count(),
		"Traces":   newTraceSection(f.Traces),
	})
}

// variantSection is what the page says of a variant: CPU utilisation in per cent and, of what is
// compared with backfill, in points; waits in hours; blocks a job.
type variantSection struct {
	Name                                       string
	Table                                      *table
	CPU, Auction, Ranges                       float64
	PaperCPU, PaperAuction, PaperRanges        float64
	AsInPaper, RangesAsInPaper                 float64
	Wait, BackfillWait, Blocks, BackfillBlocks float64
}

func (f *simulationFigures) variant(v string) variantSection {
	back, auction := f.find(v, methodBackfill), f.find(v, methodAuction)
	s := variantSection{
		Name:  v,
		Table: tableOf(simulatedColumns, "method"),
		CPU:   simulatedCPU.mean(back), PaperCPU: paperOf(v, methodBackfill).CPUUtilization,
		Wait: simulatedWait.mean(auction), BackfillWait: simulatedWait.mean(back),
		Blocks: simulatedFrag.mean(auction), BackfillBlocks: simulatedFrag.mean(back),
	}
	ahead := func(method string) float64 { return simulatedCPU.mean(f.find(v, method)) - s.CPU }
	printed := func(method string) float64 { return paperOf(v, method).CPUUtilization - s.PaperCPU }
	s.Auction, s.Ranges = ahead(methodAuction), ahead(methodRanges)
	s.PaperAuction, s.PaperRanges = printed(methodAuction), printed(methodRanges)
	s.AsInPaper, s.RangesAsInPaper = ahead(methodPaper), ahead(methodPaperRng)
	for _, m := range methods() {
		addRuns(s.Table, simulatedColumns, f.find(v, m.name), m.name)
		if paper := paperOf(v, m.name); paper != nil {
			s.Table.add(append([]string{"· paper"}, paperCells(paper)...)...)
		}
	}
	return s
}

// paired compares the methods seed by seed, and says how often the auction with ranges wins.
func (f *simulationFigures) paired() (t *table, wins int) {
	t = &table{textColumns: 2,
		header: []string{"variant", "method", "higher", "equal", "lower", "difference", "chance"}}
	for _, v := range variants {
		back := simulatedCPU.each(f.find(v, methodBackfill))
		if len(back) == 0 {
			continue // it was not measured
		}
		for _, m := range methods()[1:] {
			x := stats.NewDuel(simulatedCPU.each(f.find(v, m.name)), back)
			t.add(v, m.name, count(x.Wins), count(x.Ties), count(x.Losses),
				signed(x.Difference.Mean, 1)+" ± "+simulatedCPU.print(x.Difference.Dev),
				fmt.Sprintf("%.3f", x.SignTest()))
			if m.name == methodRanges {
				wins += x.Wins
			}
		}
	}
	return t, wins
}

// points is a difference in percentage points, in words.
func points(d float64) string {
	if d < 0 {
		return fmt.Sprintf("%.1f points lower", -d)
	}
	return fmt.Sprintf("%.1f points higher", d)
}
