// SPDX-License-Identifier: BSD-3-Clause

package layout

import (
	"cmp"
	"math"
	"slices"
)

// cost is that of a bid's cheapest layout, or more than enough if that is seen at once. Otherwise
// it leaves in x.pays what the bid's nodes cost, the cheapest first.
func (x *prices) cost(p *problem, b int32, core, gpu [][]float64, enough float64) float64 {
	it := &p.items[b]
	left, sum, least := it.need, 0.0, math.Inf(1)
	x.pays = x.pays[:0]
	for i, q := range p.parts(it) {
		n := p.cells[q.cell].nodes
		var c, g float64
		for k := range it.level + 1 {
			c, g = c+core[k][q.cell], g+gpu[k][q.cell]
		}
		left -= it.lo * n
		sum += float64(float64(n) * (float64(c*float64(it.lo)) + float64(g*float64(q.gpus))))
		if q.most > it.lo {
			least = min(least, c)
			x.pays = append(x.pays, offer{c, float64(n * (q.most - it.lo)), int32(i)})
		}
	}
	x.work += int64(it.last - it.first)
	if left == 0 {
		return sum
	}
	if all := sum + float64(least*float64(left)); all >= enough {
		return all
	}
	slices.SortFunc(x.pays, func(a, b offer) int { return cmp.Or(cmp.Compare(a.price, b.price), cmp.Compare(a.part, b.part)) })
	x.work += 4 * int64(len(x.pays))
	rest := float64(left)
	for _, o := range x.pays {
		n := min(rest, o.most)
		sum += float64(n * o.price)
		if rest -= n; rest == 0 {
			break
		}
	}
	return sum
}

// take adds what bid b takes at the prices that are tried.
func (x *prices) take(p *problem, b int32) {
	x.cost(p, b, x.atCore, x.atGPU, math.Inf(1))
	it := &p.items[b]
	left := float64(it.need)
	add := func(cell int32, cores, gpus float64) {
		for k := range it.level + 1 {
			x.useCore[k][cell] += cores
			x.useGPU[k][cell] += gpus
		}
	}
	for _, q := range p.parts(it) {
		n := float64(p.cells[q.cell].nodes)
		add(q.cell, n*float64(it.lo), n*float64(q.gpus))
		left -= n * float64(it.lo)
	}
	for _, o := range x.pays {
		if left <= 0 {
			break
		}
		n := min(left, o.most)
		add(p.part[it.first+o.part].cell, n, 0)
		left -= n
	}
}
