// SPDX-License-Identifier: BSD-3-Clause

package reproduce

import (
	"math"

	"github.com/aucsched/aucsched/benchmarks/stats"
)

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

// orderOf holds a difference against the printed one. Where the paper prints a tie,
// the order is the same if ours is within noise.
func orderOf(d *stats.Difference, printed float64) Order {
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
