// SPDX-License-Identifier: BSD-3-Clause

package highs

import (
	"math"
	"math/bits"

	"github.com/aucsched/aucsched/ipmodel"
)

// costBits is the length of the greatest cost that HiGHS gets. Longer ones are
// divided by a power of two: its tolerances are absolute, 1e-6 and 1e-7, and its
// linear programs fail on costs beyond 1e9 or so.
const costBits = 22

// scaling is how worths become costs: worth = cost x divisor x 2^shift.
type scaling struct {
	divisor int64
	shift   int
	margin  float64 // in costs
}

func newScaling(m *ipmodel.Model) scaling {
	s := scaling{divisor: 1}
	var divisor, most int64
	for _, w := range m.Value {
		divisor, most = gcd(divisor, w), max(most, w)
	}
	if divisor > 0 {
		s.divisor = divisor
	}
	s.shift = max(0, bits.Len64(uint64(most/s.divisor))-costBits)
	s.margin = margin(len(m.Value), s.cost(trivialBound(m)), greatest(m.Coef))
	return s
}

// plainCoef is the greatest coefficient up to which a linear program's vertices
// are taken to have no values within HiGHS's tolerance of an integer but integers.
const plainCoef = 1 << 12

// margin is what HiGHS's bound may be wrong by, in costs. Nodes within 1e-6 of the
// incumbent are cut off, and each column's reduced cost may be wrong by 1e-7; ten
// times that is allowed for. 2^-40 of the greatest sum allows for rounding, of
// 2^-53 each time. With great coefficients, HiGHS's incumbent may owe 1e-6 of its
// cost to values that only pass for integers. This is a judgement of floating-point
// arithmetic on the safe side, not a proof.
func margin(columns int, total float64, coef int32) float64 {
	e := 10*(1e-6+1e-7*float64(columns)) + math.Ldexp(total, -40)
	if coef > plainCoef {
		e += 1e-6 * total
	}
	return e
}

func (s scaling) cost(worth int64) float64 {
	return math.Ldexp(float64(worth/s.divisor), -s.shift)
}

// bound is the greatest worth that a choice can have when HiGHS says that none
// costs more than cost; ok is false when that says nothing.
func (s scaling) bound(cost float64) (worth int64, ok bool) {
	units := math.Floor(math.Ldexp(cost+s.margin, s.shift))
	if !(units >= 0 && units < float64(ipmodel.MaxTotalValue/s.divisor)) {
		return 0, false
	}
	return int64(units) * s.divisor, true
}

// trivialBound is the sum over the groups of the greatest worth.
func trivialBound(m *ipmodel.Model) int64 {
	var total int64
	for g := range m.Groups() {
		var most int64
		for _, w := range m.Value[m.GroupStart[g]:m.GroupStart[g+1]] {
			most = max(most, w)
		}
		total += most
	}
	return total
}

func greatest(values []int32) (most int32) {
	for _, v := range values {
		most = max(most, v)
	}
	return most
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
