// SPDX-License-Identifier: BSD-3-Clause

package reproduce

import "math"

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

// Order says whether our figures have the order that the printed ones have.
type Order string

// The values of Order. One seed cannot tell a difference from noise.
const (
	Same        Order = "yes"
	Opposite    Order = "no"
	Noise       Order = "within noise"
	SameOnce    Order = "yes, one seed"
	OpposedOnce Order = "no, one seed"
)

// Difference is a method's figure less the baseline's, seed by seed.
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
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	f := Over(d)
	x := Difference{Mean: f.Mean, Error: f.Dev / math.Sqrt(float64(len(d))), Seeds: len(d)}
	if len(d) > 1 {
		x.Noise = studentQuantile(len(d)-1) * x.Error
	}
	return x
}

// order holds the difference against the printed one. Where the paper prints a tie,
// the order is the same if ours is within noise.
func (d *Difference) order(printed float64) Order {
	// Differences of printed figures have the rounding of their subtraction in them.
	const tie = 1e-9
	sign := func(x float64) int {
		switch {
		case math.Abs(x) < tie:
			return 0
		case x < 0:
			return -1
		}
		return 1
	}
	ours, theirs := sign(d.Mean), sign(printed)
	switch {
	case d.Seeds < 2 && ours == theirs:
		return SameOnce
	case d.Seeds < 2:
		return OpposedOnce
	case math.Abs(d.Mean) <= d.Noise+tie && theirs == 0:
		return Same
	case math.Abs(d.Mean) <= d.Noise+tie:
		return Noise
	case ours == theirs:
		return Same
	}
	return Opposite
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
