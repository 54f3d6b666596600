// SPDX-License-Identifier: BSD-3-Clause

package market

import (
	"slices"

	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/nodeset"
)

// View is a part of a space, which those variants share that see no more of it: nodes have no more
// free than in the space, now and at each of its reservations.
type View struct {
	// Space has as many reservations as the space of which it is a view. Its Quotas do not count.
	Space *Space
	// Binds says, by variant, whether what it bids is taken from the view as well.
	Binds []bool
}

// setViewRows adds rows as setRows does, for each view: where it leaves less than the space. What
// holds elsewhere follows from the space's rows, for they have all that the view's have.
func (b *Builder) setViewRows(space *Space, m *ipmodel.Model) {
	for v := range b.Views {
		for k := range len(space.Left) + 1 {
			all, seen := tables(space, k), tables(b.Views[v].Space, k)
			for _, c := range b.cells {
				least := leastOf(seen.FreeCores()[c.first : c.last+1])
				b.addRow(m, least, least < leastOf(all.FreeCores()[c.first:c.last+1]))
			}
			for _, c := range b.cells {
				least := leastOf(seen.FreeGPUs()[c.first : c.last+1])
				b.addRow(m, least, least < leastOf(all.FreeGPUs()[c.first:c.last+1]))
			}
			for i, most := range b.most {
				b.addMoreRow(m, all, seen, i, most)
			}
			for range b.charged {
				b.addRow(m, 0, false)
			}
		}
	}
}

// addMoreRow adds the row of a further resource and cell, the i-th of b.most, where bids could take
// more of it than the view has.
func (b *Builder) addMoreRow(m *ipmodel.Model, all, seen *nodeset.Table, i int, most int64) {
	if most == 0 {
		b.addRow(m, 0, false)
		return
	}
	r, c := i/len(b.cells), &b.cells[i%len(b.cells)]
	least := slices.Min(seen.FreeOf(r)[c.first : c.last+1])
	b.addRow(m, least, most > least && least < slices.Min(all.FreeOf(r)[c.first:c.last+1]))
}

// addViewEntries adds what bid i takes of the views that bind it.
func (b *Builder) addViewEntries(variants []Variant, book *Book, m *ipmodel.Model, i int) {
	job := book.Bids[i].Job
	for v := range b.Views {
		view := &b.Views[v]
		if !view.Binds[job] {
			continue
		}
		for k := range variants[job].Crosses + 1 {
			b.addTaken(variants, book, m, i, (v+1)*(len(view.Space.Left)+1)+k)
		}
	}
}
