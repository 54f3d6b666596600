// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"strings"

	"github.com/aucsched/aucsched/benchmarks/papers"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/workload"
)

// of are a figure of each result, times scale.
func (r *tsubameRow) of(figure func(*sim.Result) float64, scale float64) []float64 {
	var x []float64
	for _, res := range r.Results {
		x = append(x, figure(res)*scale)
	}
	return x
}

// find is the row of a method on a variant.
func (f *simulationFigures) find(variant, method string) *tsubameRow {
	for i := range f.Rows {
		if f.Rows[i].Variant == variant && f.Rows[i].Method == method {
			return &f.Rows[i]
		}
	}
	return nil
}

// column is a figure of the simulation's tables; paper is nil where the paper has none.
type column struct {
	title    string
	decimals int
	scale    float64
	figure   func(*sim.Result) float64
	paper    func(*papers.TsubameRow) float64
}

var columns = []column{
	{"CPU %", 1, 100, func(r *sim.Result) float64 { return r.CPUUtilization }, func(p *papers.TsubameRow) float64 { return p.CPUUtilization }},
	{"GPU %", 1, 100, func(r *sim.Result) float64 { return r.GPUUtilization }, func(p *papers.TsubameRow) float64 { return p.GPUUtilization }},
	{"runtime h", 2, 1.0 / 3600, func(r *sim.Result) float64 { return float64(r.Runtime) }, func(p *papers.TsubameRow) float64 { return p.Runtime }},
	{"wait, mean h", 2, 1.0 / 3600, func(r *sim.Result) float64 { return r.WaitMean }, func(p *papers.TsubameRow) float64 { return p.WaitMean }},
	{"wait, std h", 2, 1.0 / 3600, func(r *sim.Result) float64 { return r.WaitStd }, func(p *papers.TsubameRow) float64 { return p.WaitStd }},
	{"slowdown", 1, 1, func(r *sim.Result) float64 { return r.SlowdownMean }, nil},
	{"fragmentation", 2, 1, func(r *sim.Result) float64 { return r.FragmentationMean }, func(p *papers.TsubameRow) float64 { return p.FragmentationMean }},
	{"spread", 2, 1, func(r *sim.Result) float64 { return r.SpreadMean }, nil},
}

// page is benchmarks/results/simulation.md.
func (f *simulationFigures) page() string {
	var p page
	p.heading(1, "Simulation")
	p.say("Written by `go run ./benchmarks/cmd/tables simulation -seeds %s -traces DIR > benchmarks/results/simulation.md`; change the command, not this page. A referee that shares nothing with the policies checks every start; had one been wrong, the command would have failed and this page would not have been written.", f.Seeds.String())
	f.writeTsubame(&p)
	f.writePaired(&p)
	f.writeTraces(&p)
	return p.String()
}

func (f *simulationFigures) writeTsubame(p *page) {
	p.heading(2, "The papers' workloads on Tsubame")
	p.say("1408 nodes of 12 cores and 3 GPUs, 350 jobs, a scheduling interval of %d s, seeds %s. The same command gives the same numbers again. `±` is the standard deviation over the seeds; \"wait, std\" is the deviation over the jobs of a workload.",
		sim.NewConfig(nil).Interval, f.Seeds.String())
	p.say("The rows \"paper\" are table 3 of Soner, Özturan and Karac, \"Extending SLURM with Support for GPU Ranges\", means over 27 workloads run in real time on an emulated Slurm. The jobs are not the paper's own, which are not public:")
	f.writeAssumptions(p)
	p.say("Backfill's row is what the arrivals were calibrated against, so it proves nothing by itself; where it differs from the paper's row, the workload or the simulation differs from the paper's runs: compare differences between methods, not levels. As in the paper, backfill, which knows no ranges, runs the jobs without them; the utilisation of the CPUs counts a job with a range as long as it takes with the fewest GPUs, so running it faster raises the figure. \"Papers' settings\" are %s; the others are the default settings.",
		papersSettings())
	for _, v := range variants {
		p.heading(3, v)
		t := table{textColumns: 1, header: []string{"method"}}
		for _, c := range columns {
			t.header = append(t.header, c.title)
		}
		for _, m := range methods() {
			f.addMethod(&t, v, m.name)
		}
		p.table(&t)
		p.say("%s", f.reading(v))
	}
}

// writeAssumptions says what workload.Tsubame settles that the paper leaves open.
func (f *simulationFigures) writeAssumptions(p *page) {
	a := workload.DefaultArrivals
	p.list(
		"the types A to E, or A, B, C', D', E, are equally likely, as the paper says;",
		fmt.Sprintf("sizes are uniform up to %.2f%% of the machine's cores, which gives the paper's theoretical runtime of %.2f h;", 100*workload.DefaultMaxShare, paperOf(variants[0], methodBackfill).TheoreticalRuntime),
		fmt.Sprintf("durations are uniform in %d to %d s, those of the authors' earlier generator (aucsched1, section 6.1);", workload.DefaultMinDuration, workload.DefaultMaxDuration),
		"jobs of type B want half of a node's cores or all, those of the types with GPUs 2 or 3 cores a GPU, after the ratio of GPU to CPU utilisation in the paper's table;",
		fmt.Sprintf("time limits are %.1f times the durations, rounded up to minutes: users know how long their jobs take;", workload.DefaultLimitFactor),
		fmt.Sprintf("%d jobs are there at the start, the others come at exponential gaps of %.0f s on average, with which backfill has about the paper's mean wait.", a.Initial, a.MeanGap),
	)
}

func papersSettings() string {
	o := core.PaperAuctionOptions()
	return fmt.Sprintf("windows of %d jobs, %d bids a job by the papers' rules alone, %d drafts and %d reservations", o.Window, o.MaxBidsPerJob, o.Drafts, o.Reservations)
}

// addMethod adds a method's row, and the paper's where it has one.
func (f *simulationFigures) addMethod(t *table, variant, method string) {
	r := f.find(variant, method)
	row := []string{method}
	for _, c := range columns {
		s := over(r.of(c.figure, c.scale))
		row = append(row, fmt.Sprintf("%.*f ± %.*f", c.decimals, s.Mean, c.decimals, s.Dev))
	}
	t.add(row...)
	paper := paperOf(variant, method)
	if paper == nil {
		return
	}
	row = []string{"· paper"}
	for _, c := range columns {
		switch {
		case c.paper == nil:
			row = append(row, "")
		case c.scale == 100:
			row = append(row, fmt.Sprintf("%.0f", c.paper(paper)))
		default:
			row = append(row, fmt.Sprintf("%.2f", c.paper(paper)))
		}
	}
	t.add(row...)
}

// reading says what a variant's table shows.
func (f *simulationFigures) reading(variant string) string {
	back, auction, ranges := f.find(variant, methodBackfill), f.find(variant, methodAuction), f.find(variant, methodRanges)
	mean := func(r *tsubameRow, title string) float64 {
		for _, c := range columns {
			if c.title == title {
				return over(r.of(c.figure, c.scale)).Mean
			}
		}
		panic("no column " + title)
	}
	cpu := func(r *tsubameRow) float64 { return mean(r, "CPU %") }
	paper := func(m string) float64 { return paperOf(variant, m).CPUUtilization }
	text := []string{
		fmt.Sprintf("Against backfill's %.1f%% (the paper's: %.0f%%), the auction's CPU utilisation is %s, with GPU ranges %s (in the paper %s and %s).",
			cpu(back), paper(methodBackfill), points(cpu(auction)-cpu(back)), points(cpu(ranges)-cpu(back)),
			points(paper(methodAuction)-paper(methodBackfill)), points(paper(methodRanges)-paper(methodBackfill))),
		fmt.Sprintf("With the papers' settings, under which a wide job may wait for ever, it is %s, with ranges %s.",
			points(cpu(f.find(variant, methodPaper))-cpu(back)), points(cpu(f.find(variant, methodPaperRng))-cpu(back))),
	}
	wait := func(r *tsubameRow) float64 { return mean(r, "wait, mean h") }
	text = append(text, fmt.Sprintf("Jobs wait %.2f h on average instead of %.2f h.", wait(auction), wait(back)))
	frag := func(r *tsubameRow) float64 { return mean(r, "fragmentation") }
	if frag(auction) == frag(back) {
		return strings.Join(append(text, "Fragmentation is the same."), " ")
	}
	return strings.Join(append(text, fmt.Sprintf("Fragmentation is %s: %.2f blocks a job instead of %.2f.",
		higher(frag(auction)-frag(back), "lower", "higher"), frag(auction), frag(back))), " ")
}

// points is a difference in percentage points, in words.
func points(d float64) string {
	return fmt.Sprintf("%.1f points %s", max(d, -d), higher(d, "lower", "higher"))
}

func higher(difference float64, less, more string) string {
	if difference < 0 {
		return less
	}
	return more
}

// writePaired compares the methods seed by seed.
func (f *simulationFigures) writePaired(p *page) {
	p.heading(2, "Seed by seed")
	p.say("CPU utilisation against backfill's on the same seed: on how many of the %d seeds it is higher, equal or lower, by how many points, and the chance of so many wins if either were as likely to win (sign test, one-sided).", f.Seeds.count())
	t := table{textColumns: 2, header: []string{"variant", "method", "higher", "equal", "lower", "difference", "chance"}}
	all, wins := 0, 0
	for _, v := range variants {
		back := f.find(v, methodBackfill).of(columns[0].figure, columns[0].scale)
		for _, m := range methods()[1:] {
			x := pair(f.find(v, m.name).of(columns[0].figure, columns[0].scale), back)
			t.add(v, m.name, count(x.Wins), count(x.Ties), count(x.Losses),
				signed(x.Difference.Mean, 1)+fmt.Sprintf(" ± %.1f", x.Difference.Dev), fmt.Sprintf("%.3f", x.signTest()))
			if m.name == methodRanges {
				all, wins = all+f.Seeds.count(), wins+x.Wins
			}
		}
	}
	p.table(&t)
	p.say("The auction with GPU ranges has the higher CPU utilisation on %d of the %d workloads.", wins, all)
}
