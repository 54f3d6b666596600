// SPDX-License-Identifier: BSD-3-Clause

package generate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// The distributions of the model of Lublin and Feitelson, and the exponential one.
var gammas = [][2]float64{{1, 2}, {4.2, 0.94}, {312, 0.03}, {10.2303 * 1.0225, 0.4871}, {8.1737, 3.9631}}

// gammaIntegral adds up the density in narrow strips.
func gammaIntegral(x, a, b float64) (sum float64) {
	const strips = 20000
	for i := range strips {
		at := (float64(i) + 0.5) * x / strips
		lg, _ := math.Lgamma(a)
		sum += math.Exp((a-1)*math.Log(at)-at/b-lg-a*math.Log(b)) * x / strips
	}
	return sum
}

func TestGammaCDFIsTheIntegral(t *testing.T) {
	require.InDelta(t, 1-math.Exp(-1.5), gammaCDF(3, 1, 2), 1e-14, "the exponential distribution")
	require.Zero(t, gammaCDF(0, 4, 1)+gammaCDF(-1, 4, 1))
	for _, g := range gammas {
		mean, std := g[0]*g[1], math.Sqrt(g[0])*g[1]
		for _, x := range []float64{max(mean-2*std, 0.01), mean - std/3, mean, mean + 2*std, mean + 6*std} {
			require.InDelta(t, gammaIntegral(x, g[0], g[1]), gammaCDF(x, g[0], g[1]), 1e-5, "%v at %v", g, x)
		}
	}
}

// farthest is how far the distribution of numbers is from a given one at most.
func farthest(numbers []float64, cdf func(float64) float64) (d float64) {
	slices.Sort(numbers)
	n := float64(len(numbers))
	for i, x := range numbers {
		p := cdf(x)
		d = max(d, p-float64(i)/n, float64(i+1)/n-p)
	}
	return d
}

// critical is how far so many numbers are in one of a hundred samples at least (Kolmogorov).
func critical(n int) float64 { return 1.63 / math.Sqrt(float64(n)) }

func TestGammaDraws(t *testing.T) {
	const n = 20000
	for _, g := range gammas {
		r := rand.New(rand.NewPCG(7, 7))
		var x []float64
		for range n {
			x = append(x, gamma(r, g[0], g[1]))
		}
		require.Less(t, farthest(x, func(x float64) float64 { return gammaCDF(x, g[0], g[1]) }), critical(n), "%v", g)
		x = x[:0]
		for range n { // half of them are cut off
			x = append(x, gammaBelow(r, g[0], g[1], g[0]*g[1]))
		}
		all := gammaCDF(g[0]*g[1], g[0], g[1])
		require.Less(t, farthest(x, func(x float64) float64 { return gammaCDF(x, g[0], g[1]) / all }), critical(n), "%v", g)
	}
}
