// SPDX-License-Identifier: BSD-3-Clause

package main

import "math"

// spread is a mean and a standard deviation over seeds.
type spread struct{ Mean, Dev float64 }

// over is the mean of x and the deviation of a sample, which divides by n-1; 0 for one
// number.
func over(x []float64) spread {
	var s spread
	for _, v := range x {
		s.Mean += v / float64(len(x))
	}
	if len(x) > 1 {
		for _, v := range x {
			s.Dev += (v - s.Mean) * (v - s.Mean) / float64(len(x)-1)
		}
	}
	s.Dev = math.Sqrt(s.Dev)
	return s
}

// paired compares two methods seed by seed.
type paired struct {
	Wins, Ties, Losses int
	Difference         spread
}

// pair holds a against b, which have a number for each seed.
func pair(a, b []float64) paired {
	var p paired
	d := make([]float64, len(a))
	for i := range a {
		switch d[i] = a[i] - b[i]; {
		case d[i] > 0:
			p.Wins++
		case d[i] < 0:
			p.Losses++
		default:
			p.Ties++
		}
	}
	p.Difference = over(d)
	return p
}

// signTest is the probability of so many wins or more if wins and losses were equally
// likely; ties are left out.
func (p paired) signTest() float64 {
	n, tail := p.Wins+p.Losses, 0.0
	for k := p.Wins; k <= n; k++ {
		tail += math.Exp(logBinomial(n, k) - float64(n)*math.Ln2)
	}
	return min(tail, 1)
}

func logBinomial(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}
