// SPDX-License-Identifier: BSD-3-Clause

package market

import (
	"slices"

	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/nodeset"
)

// A bid of a job that consists of several parts is one column too, with the entries of all of them.
// Where parts share nodes, these add up.

// usesMore reports whether a variant, or a part of it, takes anything of further resources.
func usesMore(v Variant) bool {
	if v.Spec.Parts == nil {
		return v.Spec.Uses != nil
	}
	return slices.ContainsFunc(v.Spec.Parts.Specs, func(s place.Spec) bool { return s.Uses != nil })
}

// entries are those of a column by row, or anything else by number, in order of their coming.
type entries struct {
	at     []int
	amount []int64
}

// merge brings the entries of m's last column from the given one on into the order of rows, and
// adds up those of one row.
func (e *entries) merge(m *ipmodel.Model, from int) {
	e.reset()
	for k := from; k < len(m.Row); k++ {
		e.add(int(m.Row[k]), int64(m.Coef[k]))
	}
	m.Row, m.Coef = m.Row[:from], m.Coef[:from]
	for k, r := range e.at {
		m.Row, m.Coef = append(m.Row, int32(r)), append(m.Coef, int32(e.amount[k]))
	}
}

func (e *entries) reset() { e.at, e.amount = e.at[:0], e.amount[:0] }

// add adds an amount. Those of one part come in order, so that most go to the end.
func (e *entries) add(at int, amount int64) {
	if n := len(e.at); n == 0 || e.at[n-1] < at {
		e.at, e.amount = append(e.at, at), append(e.amount, amount)
		return
	}
	i, known := slices.BinarySearch(e.at, at)
	if known {
		e.amount[i] += amount
		return
	}
	e.at, e.amount = slices.Insert(e.at, i, at), slices.Insert(e.amount, i, amount)
}

// eachUseOfParts is eachUse for a bid of several parts: it visits each resource and cell once.
func (b *Builder) eachUseOfParts(parts *place.Parts, segs []nodeset.Segment, visit func(at int, amount int64)) {
	b.entries.reset()
	for len(segs) > 0 {
		var part []nodeset.Segment
		part, segs = place.CutPart(segs)
		for _, u := range parts.Specs[part[0].Part].More() {
			for _, s := range part {
				if amount := u.Of(s.Cores, s.GPUs); amount > 0 {
					for c := b.cell[s.First]; c <= b.cell[s.Last]; c++ {
						b.entries.add(u.Row*len(b.cells)+int(c), amount)
					}
				}
			}
		}
	}
	for k, at := range b.entries.at {
		visit(at, b.entries.amount[k])
	}
}
