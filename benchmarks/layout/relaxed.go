// SPDX-License-Identifier: BSD-3-Clause

package layout

import (
	"github.com/aucsched/aucsched/ipmodel"
)

// relaxed builds the packing model: AUCSCHED2's groups and worths; for every table and cell
// the cores and GPUs that a bid takes of a node at least; and the cuts.
type relaxed struct {
	model ipmodel.Model
	cuts  cutList
	row   []int32 // (table, resource, cell) -> row, or -1
	quota []int32 // (table, quota) -> row, or -1
}

// build makes the model anew.
func (r *relaxed) build(p *problem) {
	m, w := &r.model, p.w
	m.Value, m.Scale = w.Fixed.Value, w.Fixed.Scale
	m.GroupStart, m.Required = w.Fixed.GroupStart, w.Fixed.Required
	r.setRows(p)
	m.ColStart, m.Row, m.Coef = append(m.ColStart[:0], 0), m.Row[:0], m.Coef[:0]
	for b := range p.items {
		r.addNodes(p, b)
		r.addCharges(p, &p.items[b])
		for i := range r.cuts {
			if d := r.cuts[i].weight[b]; d > 0 {
				m.Row, m.Coef = append(m.Row, int32(len(m.Cap)-len(r.cuts)+i)), append(m.Coef, d)
			}
		}
		m.ColStart = append(m.ColStart, int32(len(m.Row)))
	}
}

// setRows makes the rows of cells, those of reservations only where they leave less than is
// free now, those of quotas, and those of the cuts.
func (r *relaxed) setRows(p *problem) {
	m := &r.model
	m.Cap, r.row = m.Cap[:0], r.row[:0]
	for k := range p.tables() {
		gpus := p.table(k).FreeGPUs()
		for g := range 2 {
			for i, c := range p.cells {
				free := p.free[k][i]
				if g == 1 {
					free = int64(gpus[c.first])
				}
				if k > 0 && free >= m.Cap[g*len(p.cells)+i] {
					r.row = append(r.row, -1)
					continue
				}
				r.row = append(r.row, int32(len(m.Cap)))
				m.Cap = append(m.Cap, free)
			}
		}
	}
	r.addQuotaRows(p)
	for i := range r.cuts {
		m.Cap = append(m.Cap, r.cuts[i].capacity)
	}
}

// addNodes adds what bid b takes of each of its nodes at least: all that the others can't
// give.
func (r *relaxed) addNodes(p *problem, b int) {
	m, x := &r.model, &p.items[b]
	var room int64
	for _, q := range p.parts(x) {
		room += q.most * p.cells[q.cell].nodes
	}
	for k := range int(x.level) + 1 {
		for g := range 2 {
			for _, q := range p.parts(x) {
				row := r.row[(2*k+g)*len(p.cells)+int(q.cell)]
				takes := max(x.lo, q.most-(room-x.need))
				if g == 1 {
					takes = q.gpus
				}
				if row >= 0 && takes > 0 {
					m.Row, m.Coef = append(m.Row, row), append(m.Coef, int32(takes))
				}
			}
		}
	}
}
