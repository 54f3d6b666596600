// SPDX-License-Identifier: BSD-3-Clause

// Package stats sums up figures that were measured once for each seed, and compares two methods
// seed by seed.
package stats

import (
	"math"
	"slices"
)

// Figure is a mean over seeds and the standard deviation of a sample, which divides
// by n-1; 0 for one seed.
type Figure struct {
	Mean  float64 `json:"mean"`
	Dev   float64 `json:"dev"`
	Seeds int     `json:"seeds"`
}

// Over is the figure of x, which is not empty.
func Over(x []float64) Figure {
	f := Figure{Seeds: len(x)}
	for _, v := range x {
		f.Mean += v / float64(len(x))
	}
	if len(x) < 2 {
		return f
	}
	squares := 0.0
	for _, v := range x {
		squares += (v - f.Mean) * (v - f.Mean)
	}
	f.Dev = math.Sqrt(squares / float64(len(x)-1))
	return f
}

// Half is half the width of the mean's 95% interval, by Student's t; 0 for one seed.
func (f Figure) Half() float64 {
	if f.Seeds < 2 {
		return 0
	}
	return studentQuantile(f.Seeds-1) * f.Dev / math.Sqrt(float64(f.Seeds))
}

// Median is the middle of x, which is not empty, or the mean of the two in the middle.
func Median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}

// Geometric is the geometric mean of positive numbers: of twice as good and half as good it is 1.
func Geometric(x []float64) float64 { return math.Exp(Over(Logs(x)).Mean) }

// Logs are the natural logarithms of positive numbers.
func Logs(x []float64) []float64 {
	y := make([]float64, len(x))
	for i := range x {
		y[i] = math.Log(x[i])
	}
	return y
}
