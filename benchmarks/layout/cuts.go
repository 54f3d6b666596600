// SPDX-License-Identifier: BSD-3-Clause

package layout

import (
	"math"
	"slices"
)

// cut is a row that every choice with layouts keeps to: what the bids weigh at least,
// and what the capacities do.
type cut struct {
	weight   []int32 // by bid
	capacity int64
	y        []int32 // by table and cell
}

// weights are those of a cut: y of each table at each cell.
type weights struct {
	y    [][]int32
	pays []payment
}

// payment is what nodes of a bid weigh a core.
type payment struct {
	y, nodes, most int64
}

func (w *weights) reset(p *problem) {
	for len(w.y) < p.tables() {
		w.y = append(w.y, nil)
	}
	for k := range p.tables() {
		w.y[k] = append(w.y[k][:0], make([]int32, len(p.cells))...)
	}
}

// minimal sets w to the cut that the last search ended at: full tables between what it saw
// and what it did not.
func (w *weights) minimal(f *flow) {
	w.reset(f.p)
	t := int32(f.p.tables())
	for v, seen := range f.seen[:f.vertexs] {
		if seen != f.search {
			continue
		}
		if k := int32(v) % t; k == 0 || f.seen[v-1] != f.search {
			w.y[k][int32(v)/t] = 1
		}
	}
}

// least is what any layout of a bid weighs: its cores on the nodes that weigh least.
func (w *weights) least(p *problem, x *item) int64 {
	w.pays = w.pays[:0]
	left, sum := x.need, int64(0)
	for _, q := range p.parts(x) {
		var y int64
		for _, at := range w.y[:x.level+1] {
			y += int64(at[q.cell])
		}
		n := p.cells[q.cell].nodes
		left -= x.lo * n
		sum += y * x.lo * n
		w.pays = append(w.pays, payment{y, n, q.most - x.lo})
	}
	return sum + w.cheapest(left)
}

// cut makes c the row of these weights. It reports false if that is no row of whole
// numbers in range.
func (w *weights) cut(p *problem, c *cut) bool {
	c.weight, c.capacity, c.y = c.weight[:0], 0, c.y[:0]
	for b := range p.items {
		d := w.least(p, &p.items[b])
		if d > math.MaxInt32 {
			return false
		}
		c.weight = append(c.weight, int32(d))
	}
	for k, y := range w.y[:p.tables()] {
		c.y = append(c.y, y...)
		for i, v := range y {
			c.capacity += int64(v) * p.free[k][i] * p.cells[i].nodes
		}
	}
	return true
}

// cutList are the cuts of a window; their memory is used again.
type cutList []cut

// next is an empty cut at the end of the list, which is not part of it yet.
func (l *cutList) next() *cut {
	n := len(*l)
	if n == cap(*l) {
		*l = append(*l, cut{})[:n]
	}
	return &(*l)[:n+1][n]
}

// keep makes the next cut part of the list, unless it is there already.
func (l *cutList) keep() bool {
	c := l.next()
	for i := range *l {
		if k := &(*l)[i]; k.capacity == c.capacity && slices.Equal(k.weight, c.weight) {
			return false
		}
	}
	*l = (*l)[:len(*l)+1]
	return true
}
