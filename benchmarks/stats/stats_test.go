// SPDX-License-Identifier: BSD-3-Clause

package stats

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

func TestOver(t *testing.T) {
	s := Over([]float64{2, 4, 4, 4, 5, 5, 7, 9})
	require.InDelta(t, 5, s.Mean, 1e-12)
	require.InDelta(t, 2.138089935, s.Dev, 1e-9, "a sample's: root of 32/7")
	require.Equal(t, Figure{Mean: 3, Seeds: 1}, Over([]float64{3}))
}

func TestDuel(t *testing.T) {
	p := NewDuel([]float64{3, 2, 5, 1}, []float64{1, 2, 4, 2})
	require.Equal(t, []int{2, 1, 1}, []int{p.Wins, p.Ties, p.Losses})
	require.InDelta(t, 0.5, p.Difference.Mean, 1e-12)
}

func TestSignTest(t *testing.T) {
	for _, c := range []struct {
		wins, losses int
		want         float64
	}{
		{10, 0, 1.0 / 1024}, {9, 1, 11.0 / 1024}, {5, 5, 638.0 / 1024}, {0, 10, 1}, {0, 0, 1}, {1, 0, 0.5},
	} {
		require.InDelta(t, c.want, Duel{Wins: c.wins, Losses: c.losses, Ties: 3}.SignTest(), 1e-12, "%d wins, %d losses", c.wins, c.losses)
	}
}

func TestMedianAndGeometric(t *testing.T) {
	x := []float64{8, 1, 2}
	require.Equal(t, 2.0, Median(x))
	require.Equal(t, []float64{8, 1, 2}, x, "it is not sorted")
	require.Equal(t, 3.0, Median([]float64{9, 1, 2, 4}))
	require.InDelta(t, 1, Geometric([]float64{2, 0.5}), 1e-12)
}
