// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"math"

	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/ipmodel"
)

// model is the stage that states the choice among the bids as an integer program.
type model struct {
	ipmodel.Model
	build    market.Builder
	required []bool // by job of the window: it has to start; nil: none has to
}

// make builds the program of a window's bids. It speaks in the objective's unit, whatever the
// window's worths are divided by.
func (m *model) make(space *market.Space, variants []market.Variant, w *window, book *market.Book, required []bool) error {
	if err := m.build.Build(space, variants, book, required, &m.Model); err != nil {
		return err
	}
	if m.required = required; len(m.Required) == 0 {
		m.required = nil
	}
	up := 0
	if w.opts.Objective == ByRate {
		up = rateBits
	}
	m.Scale = math.Ldexp(m.Scale, up-w.shift)
	return nil
}

// boundAll is an upper bound on the worth of any allocations of the window's jobs, in the
// objective's unit.
func (m *model) boundAll(w *window, gen *market.Generator) float64 {
	unit := 1 / math.Ldexp(m.Scale, w.shift) // to which worths are rounded
	bound := gen.Bound(m.required, m.build.Alpha()+unit)
	return math.Ldexp(bound*(1+rounding), w.shift)
}

// rounding is more than what the floating-point sums of boundAll can be off by.
const rounding = 1e-9
