// SPDX-License-Identifier: BSD-3-Clause

package layout

import (
	"fmt"

	"github.com/aucsched/aucsched/benchmarks/intprog"
	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/place"
)

// Quotas are rows of the packing model, and the flow asks them before a bid comes in: whatever its
// layout, a bid has as many nodes, cores and GPUs, and counts as much. Prices and their bound go
// without quotas, which only makes the bound weaker.

// charged is what a bid counts against a quota, in the quota's units.
type charged struct {
	quota int
	cost  int64
}

// quotas is how many there are.
func (p *problem) quotas() int { return len(p.w.Space.Quotas.Unit) }

// charges are what a bid counts. They belong to p.
func (p *problem) charges(x *item) []charged { return p.charged[x.firstCharge:x.lastCharge] }

// addCharges notes what bid b counts, which is x.
func (p *problem) addCharges(b int32, x *item) {
	x.firstCharge = int32(len(p.charged))
	charges := p.w.Variants[p.w.Book.Bids[b].Job].Spec.Counted()
	for i := range charges {
		c := &charges[i]
		if cost := p.w.Space.Quotas.CostOf(c, place.SizeOf(p.w.Book.Allocation(int(b)))); cost > 0 {
			p.charged = append(p.charged, charged{c.Row, cost})
		}
	}
	x.lastCharge = int32(len(p.charged))
}

// resetQuotas begins with all that is left of them.
func (f *flow) resetQuotas() {
	for len(f.quota) < f.p.tables() {
		f.quota = append(f.quota, nil)
	}
	if f.p.quotas() == 0 {
		return
	}
	for k := range f.p.tables() {
		f.quota[k] = append(f.quota[k][:0], f.p.w.Space.Quotas.Left[k]...)
	}
}

// withinQuotas reports whether bid x may come in as far as quotas go.
func (f *flow) withinQuotas(x *item) bool {
	for _, c := range f.p.charges(x) {
		for k := range x.level + 1 {
			if c.cost > f.quota[k][c.quota] {
				return false
			}
		}
	}
	return true
}

// charge counts x against the quotas, or with sign -1 takes that back.
func (f *flow) charge(x *item, sign int64) {
	for _, c := range f.p.charges(x) {
		for k := range x.level + 1 {
			f.quota[k][c.quota] -= sign * c.cost
		}
	}
}

// addQuotaRows adds the rows of quotas, those of reservations only where they leave less than there
// is now.
func (r *relaxed) addQuotaRows(p *problem) {
	r.quota = r.quota[:0]
	q := &p.w.Space.Quotas
	for k := range p.tables() {
		for i := range p.quotas() {
			left := q.Left[k][i]
			if k > 0 && left >= q.Left[0][i] {
				r.quota = append(r.quota, -1)
				continue
			}
			r.quota = append(r.quota, int32(len(r.model.Cap)))
			r.model.Cap = append(r.model.Cap, left)
		}
	}
}

// addCharges adds what bid x counts.
func (r *relaxed) addCharges(p *problem, x *item) {
	m := &r.model
	for k := range int(x.level) + 1 {
		for _, c := range p.charges(x) {
			if row := r.quota[k*p.quotas()+c.quota]; row >= 0 {
				m.Row, m.Coef = append(m.Row, row), append(m.Coef, int32(c.cost))
			}
		}
	}
}

// addQuotas adds the rows of quotas, in their units: what bids count that win.
func (d *Direct) addQuotas(space *market.Space) {
	for k, left := range space.Quotas.Left {
		rows := make([][]entry, len(left))
		for i := range d.book.Bids {
			v := &d.variants[d.book.Bids[i].Job]
			if v.Crosses < k {
				continue
			}
			charges := v.Spec.Counted()
			for n := range charges {
				c := &charges[n]
				if cost := space.Quotas.CostOf(c, place.SizeOf(d.book.Allocation(i))); cost > 0 {
					rows[c.Row] = append(rows[c.Row], entry{int32(i), cost})
				}
			}
		}
		for q, entries := range rows {
			if len(entries) == 0 {
				continue
			}
			d.OpenRow(fmt.Sprintf("quota%d_%d", k, q), intprog.NoLow, left[q])
			for _, e := range entries {
				d.AddEntry(e.col, e.coef)
			}
		}
	}
}
