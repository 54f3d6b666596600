// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"

	"github.com/aucsched/aucsched/benchmarks/locality"
	"github.com/aucsched/aucsched/benchmarks/locality/page"
	"github.com/aucsched/aucsched/benchmarks/report"
)

// pictures writes those that are asked for.
func (f *localityFigures) pictures(ctx context.Context, days []localityDay) error {
	if err := writePicture(f.Options.svg, f.distribution); err != nil {
		return err
	}
	if f.Options.html == "" {
		return nil
	}
	text, err := f.html(ctx, days)
	if err != nil {
		return err
	}
	if err := os.WriteFile(f.Options.html, text, 0o666); err != nil {
		return fmt.Errorf("-html: %w", err)
	}
	return nil
}

// html is the page of pictures: the first nearly saturated day, under all schedulers without
// backfilling.
func (f *localityFigures) html(ctx context.Context, days []localityDay) ([]byte, error) {
	shown := days[0]
	for _, x := range f.Days {
		if x.Scheduler == plainPolicies[0] && kindOf(x) == 1 {
			shown = days[slices.IndexFunc(days, func(d localityDay) bool { return d.name == x.Day })]
			break
		}
	}
	jobs, err := shown.jobs()
	if err != nil {
		return nil, err
	}
	p := page.New(shown.name, shown.nodes, jobs)
	p.Command = f.command()
	for _, s := range policiesOf(plainPolicies...) {
		o, log := s.options, new(report.Log)
		o.OnStart = p.Listen(log)
		r, err := locality.Simulate(ctx, shown.nodes, jobs, o)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", shown.name, s.name, err)
		}
		p.Add(r, log)
	}
	var out bytes.Buffer
	err = p.Write(&out)
	return out.Bytes(), err
}

// distribution draws, for each scheduler, on what share of the days it comes to at
// most so much, as SVG.
func (f *localityFigures) distribution() ([]byte, error) {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = "mean stretch under FCFS, over the scheduler's", "share of the days"
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	p.Add(plotter.NewGrid())
	r := localityRatios(f.Days, plainPolicies[0], plainPolicies[0])
	for i, name := range plainPolicies[1:] {
		sorted := slices.Sorted(slices.Values(r.stretch[name]))
		var steps plotter.XYs
		for k, v := range sorted {
			steps = append(steps, plotter.XY{X: v, Y: float64(k) / float64(len(sorted))},
				plotter.XY{X: v, Y: float64(k+1) / float64(len(sorted))})
		}
		line, err := plotter.NewLine(steps)
		if err != nil {
			return nil, err
		}
		line.Color, line.Dashes = plotutil.Color(i), plotutil.Dashes(i)
		p.Add(line)
		p.Legend.Add(name, line)
	}
	p.Legend.Left, p.Legend.Top = true, true
	return picture(p)
}
