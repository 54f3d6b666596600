// SPDX-License-Identifier: BSD-3-Clause

package generate

import (
	"math"
	"math/rand/v2"
)

// gamma draws from the gamma distribution of shape a, at least 1, and scale b: Marsaglia and Tsang,
// "A simple method for generating gamma variables" (ACM TOMS 26(3), 2000). The conversions keep
// processors from rounding once where others round twice.
func gamma(r *rand.Rand, a, b float64) float64 {
	d := a - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := r.NormFloat64()
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		v *= v * v
		u := 1 - r.Float64() // never 0
		if math.Log(u) < float64(x*x/2)+d-float64(d*v)+float64(d*math.Log(v)) {
			return float64(d*v) * b
		}
	}
}

// gammaBelow draws until the number is at most so much.
func gammaBelow(r *rand.Rand, a, b, most float64) float64 {
	for {
		if x := gamma(r, a, b); x <= most {
			return x
		}
	}
}

// gammaCDF is the probability of at most x: the series of the incomplete gamma function, which
// converges fast where x/b is not much more than a.
func gammaCDF(x, a, b float64) float64 {
	x /= b
	if x <= 0 {
		return 0
	}
	lg, _ := math.Lgamma(a + 1)
	term, sum := 1.0, 1.0
	for k := 1; term > 1e-17*sum; k++ {
		term *= x / (a + float64(k))
		sum += term
	}
	return math.Exp(float64(a*math.Log(x))-x-lg) * sum
}
