// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"

	invasim "github.com/aucsched/aucsched/invasive/simulation"
)

// invasiveColumns are the figures of the page's tables.
var (
	invasiveUse  = column[*invasim.Result]{"utilisation %", 1, func(r *invasim.Result) float64 { return 100 * r.Utilisation }}
	invasiveWait = column[*invasim.Result]{"wait, min", 1, func(r *invasim.Result) float64 { return r.Wait / 60 }}

	invasiveColumns = []column[*invasim.Result]{
		invasiveUse,
		invasiveWait,
		{"turnaround, min", 1, func(r *invasim.Result) float64 { return r.Turnaround / 60 }},
		{"slowdown", 2, func(r *invasim.Result) float64 { return r.Slowdown }},
		{"makespan, h", 2, func(r *invasim.Result) float64 { return r.Makespan / 3600 }},
		{"resized", 0, func(r *invasim.Result) float64 { return float64(r.Shrinks + r.Grows) }},
		{"suspended", 1, func(r *invasim.Result) float64 { return float64(r.Suspensions) }},
	}
)

// resultsOf are the results of a share, a seed each.
func resultsOf(cases []invasim.Case, share float64) (out []*invasim.Result) {
	for i := range cases {
		if cases[i].Share == share {
			out = append(out, &cases[i].Result)
		}
	}
	return out
}

func invasiveTable(first string) *table {
	t := tableOf(invasiveColumns, first)
	t.header = append(t.header, "urgent p50, s", "urgent p99, s")
	return t
}

// addInvasive adds a row: the figures of a share, over the seeds.
func addInvasive(t *table, name string, cases []invasim.Case, share float64) {
	cells, runs := []string{name}, resultsOf(cases, share)
	for i := range invasiveColumns {
		cells = append(cells, invasiveColumns[i].cell(runs))
	}
	for _, q := range []float64{0.5, 0.99} {
		cells = append(cells, fmt.Sprintf("%.2f", invasim.UrgentLatency(cases, share, q)))
	}
	t.add(cells...)
}

// page is benchmarks/results/invasive-simulation.md.
func (f *invasiveFigures) page(picture string) (string, error) {
	figures, variants := invasiveTable("malleable"), invasiveTable("changed")
	for _, share := range invasiveShares {
		addInvasive(figures, fmt.Sprintf("%.0f%%", 100*share), f.cases, share)
	}
	for i, v := range invasiveVariants {
		addInvasive(variants, v.name, f.variants[i], v.share)
	}
	mix := invasim.DefaultMix()
	mean := func(c *column[*invasim.Result], share float64) float64 { return c.mean(resultsOf(f.cases, share)) }
	return render("invasive", map[string]any{
		"Command": fmt.Sprintf("invasive -seeds %s -plot benchmarks/results/invasive.svg -into "+
			"benchmarks/results", &f.seeds),
		"Figures": figures, "Variants": variants, "Picture": picture,
		"Config": f.study.Config, "Flexibility": f.study.Flexibility, "Jobs": f.jobs, "Mix": mix,
		"MaxShare": 100 * mix.MaxShare, "Load": 100 * mix.Load, "Urgent": 100 * f.study.Flexibility.Urgent,
		"HalfWait": mean(&invasiveWait, 0.5), "RigidWait": mean(&invasiveWait, 0),
		"MalleableUse": mean(&invasiveUse, 1), "RigidUse": mean(&invasiveUse, 0),
	})
}

// plot draws what falls and what rises, in percent of what it is with rigid jobs. It returns SVG.
func (f *invasiveFigures) plot() ([]byte, error) {
	p := plot.New()
	p.Title.Text = fmt.Sprintf("%d jobs on %d cores, means over %d seeds", f.jobs, f.study.Config.Partition.Cores(), len(f.study.Seeds))
	p.X.Label.Text, p.Y.Label.Text = "% of the jobs are malleable", "% of what it is if all are rigid"
	p.Y.Min, p.X.Max = 0, 105
	p.Add(plotter.NewGrid())
	var lines []any
	for _, c := range invasiveColumns[:4] {
		rigid := c.mean(resultsOf(f.cases, 0))
		if rigid == 0 {
			continue
		}
		var xy plotter.XYs
		for _, share := range invasiveShares {
			mean := c.mean(resultsOf(f.cases, share))
			xy = append(xy, plotter.XY{X: 100 * share, Y: 100 * mean / rigid})
		}
		name, _, _ := strings.Cut(strings.TrimSuffix(c.title, " %"), ",")
		lines = append(lines, name, xy)
	}
	if err := plotutil.AddLinePoints(p, lines...); err != nil {
		return nil, err
	}
	p.Legend.Top, p.Legend.Left = false, true
	return picture(p)
}
