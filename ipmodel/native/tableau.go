// SPDX-License-Identifier: BSD-3-Clause

package native

import (
	"cmp"
	"math"
	"slices"
)

// tableauRow of a basic variable: at a position, or a group's key.
type tableauRow struct {
	pos, group int32   // one of them is -1
	half       float64 // by how much its value differs from 1/2
}

// listFractional lists the rows of fractional columns, those nearest to 1/2 first.
func (l *lp) listFractional(rows *[]tableauRow) {
	*rows = (*rows)[:0]
	for q, v := range l.bas {
		if fractional(l.x[q]) && int(v) < l.n+l.g {
			*rows = append(*rows, tableauRow{int32(q), -1, math.Abs(l.x[q] - 0.5)})
		}
	}
	for g, x := range l.xkey {
		if fractional(x) {
			*rows = append(*rows, tableauRow{-1, int32(g), math.Abs(x - 0.5)})
		}
	}
	slices.SortStableFunc(*rows, func(a, b tableauRow) int { return cmp.Compare(a.half, b.half) })
}

// tableauRow makes rho the multipliers of a row.
func (l *lp) tableauRow(r tableauRow) {
	if r.pos >= 0 {
		q := int(r.pos)
		copy(l.rho, l.inv[q*l.wide:q*l.wide+l.m])
		return
	}
	clear(l.rho)
	for q, v := range l.bas {
		if int(v) < l.n+l.g && l.groupOf(v) == r.group {
			for i, f := range l.inv[q*l.wide : q*l.wide+l.m] {
				l.rho[i] -= f
			}
		}
	}
}
