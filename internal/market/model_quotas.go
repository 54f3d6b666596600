// SPDX-License-Identifier: BSD-3-Clause

package market

import (
	"fmt"
	"math"

	"github.com/aucsched/aucsched/ipmodel"
)

// setCharged sets b.charged: of each quota, what bids of each group count at most, summed up. It is
// empty where no bid counts anything.
func (b *Builder) setCharged(space *Space, variants []Variant, book *Book) error {
	b.charged = b.charged[:0]
	if len(space.Quotas.Unit) == 0 {
		return nil
	}
	b.charged = append(b.charged, make([]int64, len(space.Quotas.Unit))...)
	b.alone = append(b.alone[:0], make([]int64, len(space.Quotas.Unit))...)
	for j := 0; j < len(variants); j = NextJob(variants, j) {
		next := NextJob(variants, j)
		for i := book.JobStart[j]; i < book.JobStart[next]; i++ {
			charges := variants[book.Bids[i].Job].Spec.Counted()
			for n := range charges {
				c := &charges[n]
				cost := space.Quotas.CostFor(&variants[book.Bids[i].Job].Spec, n, book.Allocation(int(i)))
				if cost > math.MaxInt32 {
					return fmt.Errorf("quota %d: a bid counts %d: must be at most %d of its units", c.Row, cost, math.MaxInt32)
				}
				b.charged[c.Row] += max(cost-b.alone[c.Row], 0)
				b.alone[c.Row] = max(b.alone[c.Row], cost)
			}
		}
		for k := j; k < next; k++ {
			for _, c := range variants[k].Spec.Counted() {
				b.alone[c.Row] = 0
			}
		}
	}
	return nil
}

// addQuotaRows adds the rows of quotas of table k: where what is bid could pass them, and of a
// reservation where it leaves less than there is now.
func (b *Builder) addQuotaRows(space *Space, m *ipmodel.Model, k int) {
	for q, most := range b.charged {
		left := space.Quotas.Left[k][q]
		b.addRow(m, left, most > left && (k == 0 || left < space.Quotas.Left[0][q]))
	}
}

// addQuotaEntries adds what bid i counts against the quotas of table k.
func (b *Builder) addQuotaEntries(space *Space, variants []Variant, book *Book, m *ipmodel.Model, i, k int) {
	rows := b.used[(k+1)*b.kinds()-len(b.charged):]
	charges := variants[book.Bids[i].Job].Spec.Counted()
	for n := range charges {
		c := &charges[n]
		if r := rows[c.Row]; r >= 0 {
			if cost := space.Quotas.CostFor(&variants[book.Bids[i].Job].Spec, n, book.Allocation(i)); cost > 0 {
				m.Row, m.Coef = append(m.Row, r), append(m.Coef, int32(cost))
			}
		}
	}
}
