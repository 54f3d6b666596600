// SPDX-License-Identifier: BSD-3-Clause

package layout

import (
	"cmp"
	"math"
	"slices"
)

// bound is the bound at the best prices, rounded to whole units of worth: proven, for it is made in
// integers. It reports false if these would leave their range.
func (x *prices) bound(p *problem, w *weights) (sum int64, ok bool) {
	if !x.whole(p) {
		return 0, false
	}
	for k, free := range p.core() {
		gpus := p.table(k).FreeGPUs()
		for i, c := range p.cells {
			sum += c.nodes * (x.wholeCore[k][i]*free[i] + x.wholeGPU[k][i]*int64(gpus[c.first]))
		}
	}
	start := p.w.Fixed.GroupStart
	for j := range p.jobs() {
		from, to := start[j], start[j+1]
		if from == to {
			continue
		}
		most := int64(0)
		if p.w.Fixed.IsRequired(j) {
			most = math.MinInt64
		}
		for b := from; b < to; b++ {
			most = max(most, p.w.Fixed.Value[b]-x.wholeCost(p, b, w))
		}
		sum += most
	}
	return sum, true
}

// whole rounds the best prices. It reports false if sums of them might overflow.
func (x *prices) whole(p *problem) bool {
	x.wholeCore, x.wholeGPU = zeros(x.wholeCore, p), zeros(x.wholeGPU, p)
	most, forSale := 0.0, 0.0
	for k, free := range p.core() {
		gpus := p.table(k).FreeGPUs()
		for i, c := range p.cells {
			x.wholeCore[k][i], x.wholeGPU[k][i] = int64(x.core[k][i]+0.5), int64(x.gpu[k][i]+0.5)
			most = max(most, x.core[k][i], x.gpu[k][i])
			forSale += float64(c.nodes) * float64(free[i]+int64(gpus[c.first]))
		}
	}
	// What bids take of a table is at most what it has.
	return (most+1)*(forSale+1) < math.MaxInt64/8
}

// wholeCost is what the cheapest layout of a bid costs at whole prices.
func (x *prices) wholeCost(p *problem, b int32, w *weights) (sum int64) {
	it := &p.items[b]
	left := it.need
	w.pays = w.pays[:0]
	for _, q := range p.parts(it) {
		n := p.cells[q.cell].nodes
		var c int64
		for k := range it.level + 1 {
			c += x.wholeCore[k][q.cell]
			sum += n * q.gpus * x.wholeGPU[k][q.cell]
		}
		left -= it.lo * n
		sum += c * it.lo * n
		w.pays = append(w.pays, payment{c, n, q.most - it.lo})
	}
	return sum + w.cheapest(left)
}

// cheapest is what so many cores weigh on the nodes of w.pays that weigh least.
func (w *weights) cheapest(left int64) (sum int64) {
	if left == 0 {
		return 0
	}
	slices.SortFunc(w.pays, func(a, b payment) int { return cmp.Compare(a.y, b.y) })
	for _, a := range w.pays {
		n := min(left, a.nodes*a.most)
		sum += a.y * n
		left -= n
	}
	return sum
}
