// SPDX-License-Identifier: BSD-3-Clause

package stats

import "math"

// Difference is a method's figure less another's, seed by seed.
type Difference struct {
	Mean float64 `json:"mean"`
	// Error is the standard error of the mean; 0 for one seed.
	Error float64 `json:"standard_error"`
	// Noise is how large Mean may be, either way, if there is no difference, in 95
	// of 100 such runs: Student's quantile times Error.
	Noise float64 `json:"noise"`
	Seeds int     `json:"seeds"`
}

// Paired is the difference of a and b, which have a number for each seed.
func Paired(a, b []float64) Difference {
	f := Over(differences(a, b))
	n := f.Seeds
	x := Difference{Mean: f.Mean, Error: f.Dev / math.Sqrt(float64(n)), Seeds: n}
	if n > 1 {
		x.Noise = studentQuantile(n-1) * x.Error
	}
	return x
}

func differences(a, b []float64) []float64 {
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	return d
}

// Duel is on how many seeds a method's number is greater than another's, equal and less.
type Duel struct {
	Wins, Ties, Losses int
	Difference         Figure
}

// NewDuel holds a against b, which have a number for each seed.
func NewDuel(a, b []float64) Duel {
	d := differences(a, b)
	x := Duel{Difference: Over(d)}
	for _, v := range d {
		switch {
		case v > 0:
			x.Wins++
		case v < 0:
			x.Losses++
		default:
			x.Ties++
		}
	}
	return x
}

// SignTest is the probability of so many wins or more if wins and losses were equally
// likely; ties are left out.
func (d Duel) SignTest() float64 {
	n, tail := d.Wins+d.Losses, 0.0
	for k := d.Wins; k <= n; k++ {
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

// student has the 97.5% quantiles of Student's distribution for 1 to 30 degrees of
// freedom.
var student = [...]float64{
	12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
	2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
	2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
}

// studentQuantile is the 97.5% quantile for n degrees of freedom, n at least 1.
func studentQuantile(n int) float64 {
	if n <= len(student) {
		return student[n-1]
	}
	return 1.960 + 2.46/float64(n)
}
