// SPDX-License-Identifier: BSD-3-Clause

package native

// dropDominatedRows drops rows that another one implies: a neighbour with the same
// columns or more, no smaller coefficients and no more capacity. Where columns are
// intervals of a line, few rows are left: between two of them a column begins and another ends.
func (p *problem) dropDominatedRows() {
	n := p.rows()
	if n == 0 {
		return
	}
	p.begins, p.ends = resize(p.begins, n+1), resize(p.ends, n+1)
	for i := range p.columns() {
		for k := p.col[i]; k < p.col[i+1]; k++ {
			r := p.row[k]
			if k == p.col[i] || p.row[k-1] != r-1 || p.coef[k-1] < p.coef[k] {
				p.begins[r] = true
			}
			if k+1 == p.col[i+1] || p.row[k+1] != r+1 || p.coef[k+1] < p.coef[k] {
				p.ends[r+1] = true
			}
		}
	}
	p.place = resize(p.place, n) // row -> its new number, or -1
	keep, begins, ends := 0, false, false
	for r := 1; r < n; r++ {
		begins, ends = begins || p.begins[r], ends || p.ends[r]
		switch {
		case !begins && p.cap[keep] <= p.cap[r]:
			p.place[r] = -1
			continue
		case !ends && p.cap[r] <= p.cap[keep]:
			p.place[keep] = -1
		}
		keep, begins, ends = r, false, false
	}
	p.renumberRows()
}

// renumberRows takes the rows out whose place is -1.
func (p *problem) renumberRows() {
	left := int32(0)
	for r, c := range p.cap {
		if p.place[r] >= 0 {
			p.cap[left], p.place[r] = c, left
			left++
		}
	}
	p.cap = p.cap[:left]
	to, from := int32(0), int32(0)
	for i := range p.columns() {
		end := p.col[i+1]
		for ; from < end; from++ {
			if r := p.place[p.row[from]]; r >= 0 {
				p.row[to], p.coef[to] = r, p.coef[from]
				to++
			}
		}
		p.col[i+1] = to
	}
	p.row, p.coef = p.row[:to], p.coef[:to]
	for m, r := range p.newRow {
		if r >= 0 {
			p.newRow[m] = p.place[r]
		}
	}
}
