// SPDX-License-Identifier: BSD-3-Clause

package reproduce

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The twin takes no differences: the variance of a-b is var(a) + var(b) - 2 cov(a,b).
func TestPairedIsTheTwins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 12).Draw(t, "n")
		figure := rapid.SliceOfN(rapid.Float64Range(-50, 50), n, n)
		a, b := figure.Draw(t, "a"), figure.Draw(t, "b")
		var sumA, sumB float64
		for i := range a {
			sumA, sumB = sumA+a[i], sumB+b[i]
		}
		co := func(x, y []float64, mx, my float64) (s float64) {
			for i := range x {
				s += (x[i] - mx) * (y[i] - my)
			}
			return s / float64(n-1)
		}
		ma, mb := sumA/float64(n), sumB/float64(n)
		variance := co(a, a, ma, ma) + co(b, b, mb, mb) - 2*co(a, b, ma, mb)
		d := Paired(a, b)
		if math.Abs(d.Mean-(ma-mb)) > 1e-9 || math.Abs(d.Error*d.Error*float64(n)-variance) > 1e-8 {
			t.Fatalf("%+v, twin %v, %v", d, ma-mb, variance)
		}
		if math.Abs(d.Noise-quantileTwin(n-1)*d.Error) > 1e-3*d.Error || d.Seeds != n {
			t.Fatalf("%+v, twin %v", d, quantileTwin(n-1)*d.Error)
		}
		back := Paired(b, a)
		if back.Mean != -d.Mean || math.Abs(back.Noise-d.Noise) > 1e-9 {
			t.Fatalf("%+v, the other way round %+v", d, back)
		}
	})
}

// quantileTwin adds up Student's density in small steps.
func quantileTwin(n int) float64 {
	v := float64(n)
	g1, _ := math.Lgamma((v + 1) / 2)
	g2, _ := math.Lgamma(v / 2)
	scale := math.Exp(g1-g2) / math.Sqrt(v*math.Pi)
	const step = 1e-4
	x, area := 0.0, 0.0
	for area < 0.475 {
		middle := x + step/2
		area += step * scale * math.Pow(1+middle*middle/v, -(v+1)/2)
		x += step
	}
	return x
}

func TestStudentQuantile(t *testing.T) {
	for n := range 200 {
		require.InDelta(t, quantileTwin(n+1), studentQuantile(n+1), 2e-3, "%d degrees of freedom", n+1)
	}
}

func TestOrder(t *testing.T) {
	for _, c := range []struct {
		a, b    []float64
		printed float64
		want    Order
	}{
		{[]float64{5, 6, 7}, []float64{1, 2, 3.1}, 2, Same},
		{[]float64{5, 6, 7}, []float64{1, 2, 3.1}, -2, Opposite},
		{[]float64{1, 2, 3.1}, []float64{5, 6, 7}, -2, Same},
		{[]float64{5, 6, 7}, []float64{1, 2, 3.1}, 0, Opposite},
		{[]float64{5, 6, 7}, []float64{4, 7, 6.5}, 2, Noise},
		{[]float64{5, 6, 7}, []float64{4, 7, 6.5}, -2, Noise},
		{[]float64{5, 6, 7}, []float64{4, 7, 6.5}, 0, Same},
		{[]float64{1, 1}, []float64{1, 1}, 0, Same},
		{[]float64{1, 1}, []float64{1, 1}, 1, Noise},
		{[]float64{1, 1}, []float64{1, 1}, 1.02 - 1.01 - 0.01, Same}, // rounding is no order
		{[]float64{2}, []float64{1}, 1, SameOnce},
		{[]float64{2}, []float64{1}, -1, OpposedOnce},
		{[]float64{2}, []float64{1}, 0, OpposedOnce},
		{[]float64{1}, []float64{1}, 0, SameOnce},
	} {
		d := Paired(c.a, c.b)
		require.Equal(t, c.want, d.order(c.printed), "%+v", c)
	}
	// Two seeds that differ by 1 and by 3 are 2 ± 1: Student allows 12.7 errors.
	d := Paired([]float64{2, 4}, []float64{1, 1})
	require.InDelta(t, 2, d.Mean, 1e-12)
	require.InDelta(t, 1, d.Error, 1e-12)
	require.Equal(t, Noise, d.order(2))
}
