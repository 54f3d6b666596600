// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"math"
	"math/bits"
	"time"
)

// moments adds up a mean and a standard deviation (Welford's recurrence). The
// jobs of a workload are the whole population, so the deviation divides by n.
type moments struct {
	n        int
	mean, m2 float64
}

func (m *moments) add(x float64) {
	m.n++
	d := x - m.mean
	m.mean += d / float64(m.n)
	m.m2 += d * (x - m.mean)
}

func (m *moments) std() float64 {
	if m.n == 0 {
		return 0
	}
	return math.Sqrt(m.m2 / float64(m.n))
}

// tally adds up seconds x units exactly, so that the order does not matter.
type tally struct{ hi, lo uint64 }

func (t *tally) add(seconds int64, units int) {
	hi, lo := bits.Mul64(uint64(seconds), uint64(units))
	var carry uint64
	t.lo, carry = bits.Add64(t.lo, lo, 0)
	t.hi += hi + carry
}

func (t *tally) float() float64 { return math.Ldexp(float64(t.hi), 64) + float64(t.lo) }

// quantile is the duration that a share q of all, which are sorted, do not exceed; 0 of none.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(int(math.Ceil(q*float64(len(sorted)))), 1)-1]
}
