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

// latencies is a histogram of durations with 16 classes an octave, so that a
// quantile is at most 6.25% too high. Its size does not depend on their number.
type latencies struct {
	counts [64 * 16]int64
	n      int64
	max    time.Duration
}

func (l *latencies) add(d time.Duration) {
	d = max(d, 0)
	l.n++
	l.max = max(l.max, d)
	l.counts[latencyClass(uint64(d))]++
}

func latencyClass(v uint64) int {
	if v < 16 {
		return int(v)
	}
	shift := bits.Len64(v) - 5
	return shift*16 + int(v>>shift) // v>>shift is 16..31
}

// classTop is the greatest duration of a class.
func classTop(c int) uint64 {
	if c < 32 {
		return uint64(c)
	}
	shift := c/16 - 1
	return uint64(c-shift*16+1)<<shift - 1
}

// quantile is the duration that a share q of all do not exceed.
func (l *latencies) quantile(q float64) time.Duration {
	need := int64(math.Ceil(q * float64(l.n)))
	for c, k := range l.counts {
		if need -= k; need <= 0 && k > 0 {
			return min(time.Duration(classTop(c)), l.max)
		}
	}
	return l.max
}
