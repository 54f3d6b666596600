// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

// cost is how long jobs wait under a policy, in proportion to backfill's waits: the geometric mean
// over the rows of the page.
type cost struct {
	policy        string
	mean, longest float64
}

// worthCosts are those of all policies, of which the first is backfill.
func worthCosts(rows []worthRow, policies []worthPolicy) []cost {
	costs := make([]cost, len(policies))
	for k, p := range policies {
		mean, longest := 0.0, 0.0
		for _, row := range rows {
			for i, r := range row.runs[k] {
				of, each := row.runs[0][i], float64(len(rows)*len(row.runs[k]))
				mean += ratioLog(r.WaitMean, of.WaitMean) / each
				longest += ratioLog(r.Waits.Max, of.Waits.Max) / each
			}
		}
		costs[k] = cost{p.name, math.Exp(mean), math.Exp(longest)}
	}
	return costs
}

// ratioLog is 0 where nobody waits.
func ratioLog(a, b float64) float64 {
	if !(a > 0 && b > 0) {
		return 0
	}
	return math.Log(a / b)
}

// drawCosts has a point for each policy: what the mean wait gains, and what the longest pays
// for it. It returns SVG.
func drawCosts(costs []cost) ([]byte, error) {
	p := plot.New()
	p.Title.Text = "Waits in proportion to those by backfill"
	p.X.Label.Text, p.Y.Label.Text = "mean wait", "longest wait"
	p.Add(plotter.NewGrid())
	for k, c := range costs {
		s, err := plotter.NewScatter(plotter.XYs{{X: c.mean, Y: c.longest}})
		if err != nil {
			return nil, err
		}
		s.Shape, s.Color, s.Radius = plotutil.Shape(k), plotutil.Color(k), vg.Points(4)
		name, err := plotter.NewLabels(plotter.XYLabels{XYs: plotter.XYs{{X: c.mean, Y: c.longest}}, Labels: []string{c.policy}})
		if err != nil {
			return nil, err
		}
		name.Offset = vg.Point{X: vg.Points(6), Y: vg.Points(-3)}
		p.Add(s, name)
	}
	p.X.Max += 0.05 // the last name
	return picture(p)
}
