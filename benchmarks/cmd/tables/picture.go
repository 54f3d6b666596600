// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"fmt"
	"os"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

func init() {
	plotutil.DefaultColors = plotutil.DarkColors // others are too faint for lines
}

// picture is a plot as SVG, of the size that all of benchmarks/results have.
func picture(p *plot.Plot) ([]byte, error) {
	w, err := p.WriterTo(7*vg.Inch, 4*vg.Inch, "svg")
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	_, err = w.WriteTo(&out)
	return out.Bytes(), err
}

// writePicture writes what is drawn to the file of -plot, if there is one.
func writePicture(file string, draw func() ([]byte, error)) error {
	if file == "" {
		return nil
	}
	svg, err := draw()
	if err == nil {
		err = os.WriteFile(file, svg, 0o666)
	}
	if err != nil {
		return fmt.Errorf("-plot: %w", err)
	}
	return nil
}
