// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

// plot draws, over the time given, the mean of what the native choice and its bound are worth
// in percent of the best, with the others' choices as points. It returns SVG.
func (f *solverFigures) plot() ([]byte, error) {
	p := plot.New()
	p.Title.Text = fmt.Sprintf("Mean over %d windows", len(f.Rows))
	p.X.Label.Text, p.Y.Label.Text = "seconds", "% of the best known"
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	p.Add(plotter.NewGrid())
	worth, bound := make(plotter.XYs, len(nativeLimits)), make(plotter.XYs, len(nativeLimits))
	for i, l := range nativeLimits {
		worth[i].X, bound[i].X = l.Seconds(), l.Seconds()
		for _, r := range f.Rows {
			worth[i].Y += 100 * math.Max(float64(r.Native[i].Worth), 0) / float64(r.Best) / float64(len(f.Rows))
			// A bound of the first milliseconds may be anything: beyond 150% it is
			// the same to the eye.
			bound[i].Y += math.Min(100*r.Native[i].Bound/float64(r.Best), 150) / float64(len(f.Rows))
		}
	}
	if err := plotutil.AddLinePoints(p, "native: choice", worth, "native: bound", bound); err != nil {
		return nil, err
	}
	for k, name := range f.Peers {
		mean := 0.0
		for _, r := range f.Rows {
			mean += 100 * math.Max(float64(r.Peers[k].Worth), 0) / float64(r.Best) / float64(len(f.Rows))
		}
		if err := f.addPeer(p, k, name, mean); err != nil {
			return nil, err
		}
	}
	p.Legend.Top, p.Legend.Left = false, true
	return picture(p)
}

func (f *solverFigures) addPeer(p *plot.Plot, k int, name string, mean float64) error {
	s, err := plotter.NewScatter(plotter.XYs{{X: peerLimit.Seconds(), Y: mean}})
	if err != nil {
		return err
	}
	s.Shape, s.Color, s.Radius = plotutil.Shape(k+2), plotutil.Color(k+2), vg.Points(4)
	p.Add(s)
	p.Legend.Add(fmt.Sprintf("%s: choice at %v", name, peerLimit), s)
	return nil
}
