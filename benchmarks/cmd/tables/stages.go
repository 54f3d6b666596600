// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/aucsched/aucsched/benchmarks/stats"
	"github.com/aucsched/aucsched/benchmarks/traces"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/cycle"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/settings"
	"github.com/aucsched/aucsched/internal/test/generate"
	"github.com/aucsched/aucsched/internal/workload"
)

// stage is a part of the auction, with what turns it off: a switch, or settings.
type stage struct {
	name string
	off  cycle.Parts
	set  func(*core.AuctionOptions)
}

// stages are turned off one at a time; the first is nothing.
var stages = []stage{
	{"nothing", cycle.Parts{}, nil},
	{"enumeration", cycle.Parts{Enumeration: true}, nil},
	{"annealing", cycle.Parts{Annealing: true}, nil},
	{"prices", cycle.Parts{Prices: true}, nil},
	{"annealing and prices", cycle.Parts{Annealing: true, Prices: true}, nil},
	{"10 of 15 bids, 5 of 7 drafts", cycle.Parts{}, func(o *core.AuctionOptions) { o.MaxBidsPerJob, o.Drafts = 5, 2 }},
	{"14 of 15 bids, 6 of 7 drafts", cycle.Parts{}, func(o *core.AuctionOptions) { o.MaxBidsPerJob, o.Drafts = 1, 1 }},
	{"drafts", cycle.Parts{}, func(o *core.AuctionOptions) { o.Drafts = 0 }},
	{"left-overs", cycle.Parts{Leftovers: true}, nil},
	{". behind the window", cycle.Parts{}, func(o *core.AuctionOptions) { o.Depth = 0 }},
	{"ranges", cycle.Parts{Ranges: true}, nil},
	{"timetable", cycle.Parts{}, func(o *core.AuctionOptions) { o.Goal = settings.NoGoal }},
	{". sorted orders and moves", cycle.Parts{Sorted: true}, nil},
	{". moves", cycle.Parts{Moves: true}, nil},
	{". 3 of 4 planned jobs", cycle.Parts{Planned: true}, nil},
	{"all kept places but 1", cycle.Parts{}, func(o *core.AuctionOptions) { o.Reservations = min(o.Reservations, 1) }},
	{"all kept places", cycle.Parts{}, func(o *core.AuctionOptions) { o.Reservations = 0 }},
}

// changes reports whether a policy of these settings has the stage.
func (g *stage) changes(o core.AuctionOptions) bool {
	other := o
	if g.set != nil {
		g.set(&other)
		return !reflect.DeepEqual(o, other)
	}
	return o.Goal != settings.NoGoal || !(g.off.Sorted || g.off.Moves || g.off.Planned || g.off.Ranges)
}

// stageRun is what a run came to: use as a share, times in seconds, and the milliseconds of a
// processor that a cycle takes, with the simulation of what comes before it.
type stageRun struct{ CPUs, GPUs, Mean, Longest, Slowdown, Cycle float64 }

// stageFigures are the columns of the page. The last is the machine's.
var stageFigures = []column[stageRun]{
	{"CPU use", 3, func(r stageRun) float64 { return r.CPUs }},
	{"GPU use", 3, func(r stageRun) float64 { return r.GPUs }},
	{"mean wait", 0, func(r stageRun) float64 { return r.Mean }},
	{"longest wait", 0, func(r stageRun) float64 { return r.Longest }},
	{"slowdown", 1, func(r stageRun) float64 { return r.Slowdown }},
	{"ms a cycle", 1, func(r stageRun) float64 { return r.Cycle }},
}

type stageOptions struct {
	seeds              seedRange
	jobs               int // of a case
	traces, match, dir string
}

// stageMachines are the generated workloads, and the machines that they are made for.
var stageMachines = [][2]string{{"V.1", "64x8x2"}, {"IV.1", "64x8x2"}, {"esp", "128x8x2"}, {"tsubame-1.NC", "352x12x3"}}

// stageCases are the workloads of the page, rows one after the other.
func (o *stageOptions) stageCases() (cases []worthCase, err error) {
	for _, m := range stageMachines {
		nodes, err := traces.ParseCluster(m[1])
		if err != nil {
			return nil, err
		}
		for seed := o.seeds.First; seed <= o.seeds.Last; seed++ {
			w, err := generate.Generate(generate.GeneratorPrefix+m[0], nodes, seed)
			if err != nil {
				return nil, err
			}
			cases = append(cases, worthCase{m[0] + ", " + m[1], fmt.Sprint("seed ", seed), nodes, nil, 5, seed, w.Jobs})
		}
	}
	if o.traces == "" {
		return cases, nil
	}
	philly, err := readPhilly(o.traces)
	if err != nil {
		return nil, err
	}
	centrum, err := traces.ReadFile(filepath.Join(o.traces, realTraces[0].file), traces.Options{})
	if err != nil {
		return nil, err
	}
	nodes, err := traces.ParseCluster("3x80,6x12")
	if err != nil {
		return nil, err
	}
	for k := range o.seeds.count() {
		cases = append(cases, worthCase{"MetaCentrum 2013", fmt.Sprint("part ", k+1), nodes, nil, 30, 1, o.part(centrum, k)})
	}
	for k := range o.seeds.count() {
		cases = append(cases, worthCase{"Philly 2017", fmt.Sprint("part ", k+1), nodesOfPhilly(8), nil, 30, 1, o.part(philly, k)})
	}
	return cases, nil
}

// part is the k-th part of a trace, of as many as there are seeds.
func (o *stageOptions) part(w *workload.Workload, k int) []workload.Job {
	size := len(w.Jobs) / o.seeds.count()
	return window(w.Jobs[k*size:(k+1)*size], w.Jobs[k*size].Submit, workload.MaxSeconds)
}

// shorten leaves the first jobs of a case, of traces those that ask for a quarter of the machine or
// less, which come so fast that they fill it.
func (o *stageOptions) shorten(c *worthCase) (err error) {
	cores, area := 0.0, 0.0
	for _, n := range c.nodes {
		cores += float64(n.Cores)
	}
	jobs := c.jobs
	if strings.HasPrefix(c.part, "part") {
		jobs = slices.DeleteFunc(jobs, func(j workload.Job) bool {
			return 4*float64(place.LeastCores(&j.Request)) > cores || 4*j.Request.MinNodes > len(c.nodes)
		})
	}
	jobs = jobs[:min(o.jobs, len(jobs))]
	for i := range jobs {
		area += float64(place.LeastCores(&jobs[i].Request)) * float64(jobs[i].Duration)
	}
	const load = 1.2 // that comes, of what the machine can do
	span := float64(jobs[len(jobs)-1].Submit - jobs[0].Submit)
	c.jobs, err = faster(jobs, max(load*span*cores/area, 1))
	return err
}

// stageAblation has the auction decide all cases without each of its stages, and writes the page.
func stageAblation(ctx context.Context, o stageOptions, errs io.Writer) (page string, err error) {
	cases, err := o.stageCases()
	if err != nil {
		return "", err
	}
	for i := range cases {
		if err := o.shorten(&cases[i]); err != nil {
			return "", err
		}
	}
	done, err := openKept[stageRun](o.dir, "stages.jsonl")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, done.close()) }()
	names := append([]string{""}, settings.Planned()...)
	tables := make([]*table, len(names))
	base := make([][]stageRun, len(names))
	for i, g := range stages {
		if i > 0 && !strings.Contains(g.name, o.match) {
			continue
		}
		for k, preset := range names {
			settings := core.Preset("none")
			if preset != "" {
				settings = core.Preset(preset)
			}
			if i > 0 && !g.changes(settings) {
				continue
			}
			runs := make([]stageRun, len(cases))
			for n := range cases {
				part := fmt.Sprintf("%s, %s, %s, without %s", cases[n].row, cases[n].part, preset, g.name)
				if runs[n], err = stageResult(ctx, done, part, &cases[n], &g, settings); err != nil {
					return "", err
				}
			}
			if i == 0 {
				base[k], tables[k] = runs, tableOf(stageFigures, "without")
				tables[k].header = append(tables[k].header, "better", "worse")
			}
			tables[k].add(stageCells(cases, &g, base[k], runs, i == 0)...)
			fmt.Fprintf(errs, "%s: %s\n", preset, strings.Join(tables[k].rows[len(tables[k].rows)-1], " | "))
		}
	}
	return render("stages", map[string]any{"Tables": tables, "Presets": names, "Seeds": &o.seeds, "Jobs": o.jobs, "Cases": len(cases)})
}

// stageResult is what a run came to: the one that is done, or another, which is then kept.
func stageResult(ctx context.Context, done *kept[stageRun], part string, c *worthCase, g *stage, o core.AuctionOptions) (stageRun, error) {
	if f, ok := done.get(part); ok {
		return f, nil
	}
	if g.set != nil {
		g.set(&o)
	}
	before := processorTime()
	r, err := c.decide(cycle.Without(ctx, g.off), worthPolicy{part, auction(o)})
	if err != nil {
		return stageRun{}, fmt.Errorf("%s: %w", part, err)
	}
	cycle := float64(processorTime()-before) / float64(time.Millisecond) / float64(max(r.Cycles, 1))
	f := stageRun{r.CPUUtilizationLoaded, r.GPUUtilizationLoaded, r.WaitMean, r.Waits.Max, r.BoundedSlowdown, cycle}
	return f, done.put(part, f)
}

// stageCells are a row: means, or by how much figures differ from those with the stage and how
// much they may without it; in how many rows figures are better and worse by more.
func stageCells(cases []worthCase, g *stage, base, runs []stageRun, first bool) []string {
	cells, better, worse := []string{g.name}, 0, 0
	for i := range stageFigures {
		c := &stageFigures[i]
		if first {
			cells = append(cells, c.print(c.mean(runs)))
			continue
		}
		cells = append(cells, stagePercent(c, base, runs))
		for from, to := 0, 0; from < len(cases) && i < len(stageFigures)-1; from = to {
			for to = from; to < len(cases) && cases[to].row == cases[from].row; to++ {
			}
			d := stageRatios(c, base[from:to], runs[from:to])
			if d.Seeds < 2 || math.Abs(d.Mean) <= d.Noise {
				continue
			}
			if (d.Mean > 0) == strings.HasSuffix(c.title, "use") {
				better++
			} else {
				worse++
			}
		}
	}
	return append(cells, fmt.Sprint(better), fmt.Sprint(worse))
}

// stageRatios are the logarithms of the figures' ratios, of those cases that have the figure.
func stageRatios(c *column[stageRun], base, runs []stageRun) stats.Difference {
	var x, y []float64
	for n := range runs {
		if a, b := c.of(runs[n]), c.of(base[n]); a > 0 && b > 0 {
			x, y = append(x, a), append(y, b)
		}
	}
	if len(x) == 0 {
		return stats.Difference{}
	}
	return stats.Paired(stats.Logs(x), stats.Logs(y))
}

// stagePercent is the mean of all cases, in hundredths of the logarithm, bold if it is beyond noise.
func stagePercent(c *column[stageRun], base, runs []stageRun) string {
	d := stageRatios(c, base, runs)
	text := fmt.Sprintf("%s ±%.1f", signed(100*d.Mean, 1), 100*d.Noise)
	if math.Abs(d.Mean) > d.Noise {
		return "**" + text + "**"
	}
	return text
}
