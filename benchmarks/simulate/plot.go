// SPDX-License-Identifier: BSD-3-Clause

package simulate

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/benchmarks/report"
	"github.com/aucsched/aucsched/benchmarks/stats"
	"github.com/aucsched/aucsched/internal/cli"
)

// plotFlags are the settings of a plot.
type plotFlags struct {
	path, panels string
}

func (f *plotFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.path, "plot", "", "draw the runs into this `file`, which ends in .pdf or .svg")
	flags.StringVar(&f.panels, "panels", strings.Join(report.Panels(), ","),
		"with --plot: what is drawn, below each other; use, queue and gantt are of the first seed")
}

// check reports what is wrong with them.
func (f *plotFlags) check(flags *pflag.FlagSet) error {
	if f.path == "" {
		if flags.Changed("panels") {
			return fmt.Errorf("--panels: goes with --plot")
		}
		return nil
	}
	if _, err := report.PlotEnding(f.path); err != nil {
		return fmt.Errorf("--plot: %w", err)
	}
	for name := range strings.SplitSeq(f.panels, ",") {
		if !slices.Contains(report.Panels(), name) {
			return cli.Unknown("--panels", name, report.Panels())
		}
	}
	return nil
}

// write draws the page's runs, which are those of the first seed, and compares all runs.
func (f *plotFlags) write(w io.Writer, p *report.Page, s *study, runs [][]*ran) error {
	ending, err := report.PlotEnding(f.path)
	if err != nil {
		return err
	}
	var names []string
	for _, v := range s.variants {
		names = append(names, v.short())
	}
	return p.Plot(w, ending, strings.Split(f.panels, ","), names, compare(names, runs, &Table[*ran]{Draws: s.trace != nil}))
}

// compared are the figures of a plot, from above.
var compared = []Row[*ran]{
	{Name: "mean wait", Value: func(r *ran) float64 { return r.WaitMean }},
	{Name: "p95 wait", Value: func(r *ran) float64 { return r.P95 }},
	{Name: "longest wait", Value: func(r *ran) float64 { return r.Max }},
	{Name: "wait by area", Value: func(r *ran) float64 { return r.AreaWeighted }},
	{Name: "wait of widest 10%", Value: func(r *ran) float64 { return r.Widest10 }},
	{Name: "bounded slowdown", Value: func(r *ran) float64 { return r.BoundedSlowdown }},
	{Name: "runtime", Value: func(r *ran) float64 { return float64(r.Runtime) }},
	{Name: "CPU use until the last comes", Value: func(r *ran) float64 { return r.CPUUtilizationLoaded }},
	{Name: "GPU use until the last comes", Value: func(r *ran) float64 { return r.GPUUtilizationLoaded }},
}

// compare is how the runs of the policies differ from those of the first. Figures that are 0 under the
// first are left out.
func compare(names []string, runs [][]*ran, t *Table[*ran]) *report.Comparison {
	c := &report.Comparison{To: names[0]}
	for i, name := range names[1:] {
		c.With = append(c.With, report.Differences{Policy: name})
		for k := range compared {
			row := &compared[k]
			base := row.values(&Column[*ran]{Runs: runs[0]})
			mean := stats.Over(base).Mean
			if mean == 0 {
				continue
			}
			if i == 0 {
				c.Figures = append(c.Figures, row.Name)
			}
			d := stats.Paired(row.values(&Column[*ran]{Runs: runs[i+1]}), base)
			d.Noise = t.noise(d.Noise, mean, d.Seeds)
			with := &c.With[i]
			with.Percent, with.Noise = append(with.Percent, 100*d.Mean/math.Abs(mean)), append(with.Noise, 100*d.Noise/math.Abs(mean))
		}
	}
	if len(c.Figures) == 0 {
		return nil
	}
	return c
}
