// SPDX-License-Identifier: BSD-3-Clause

package native

import (
	"cmp"
	"math"
	"slices"
)

// rowRank orders rows by how much a solution violates them.
type rowRank struct {
	row  int32
	over float64
}

// addRow makes a row part of the working basis, with its slack basic.
func (l *lp) addRow(row int32) {
	l.grow()
	m, rows := l.m, int32(l.p.rows())
	last := l.inv[m*l.wide : m*l.wide+m+1]
	clear(last)
	x := l.capacity(row)
	for q, v := range l.bas {
		l.inv[q*l.wide+m] = 0
		if int(v) >= l.n+l.g {
			continue
		}
		c := 0.0
		if int(v) < l.n {
			c = l.coef(v, row, rows)
		}
		if key := l.key[l.groupOf(v)]; int(key) < l.n {
			c -= l.coef(key, row, rows)
		}
		if c == 0 {
			continue
		}
		for r, f := range l.inv[q*l.wide : q*l.wide+m] {
			last[r] -= float64(c * f)
		}
		x -= float64(c * l.x[q])
	}
	for _, key := range l.key {
		if int(key) < l.n {
			x -= l.coef(key, row, rows)
		}
	}
	last[m] = 1
	slack := l.slackOf(row)
	l.where[slack] = int32(m)
	l.act, l.bas = append(l.act, row), append(l.bas, slack)
	l.x, l.y, l.norm = append(l.x, x), append(l.y, 0), append(l.norm, 1)
	l.m++
	l.norm[m] = l.lengthOf(l.inv[m*l.wide:m*l.wide+l.m], -1)
	l.work += int64(m*m)/2 + 1
}

// grow makes room for one more working row.
func (l *lp) grow() {
	if l.m < l.wide {
		return
	}
	wide := max(32, 2*l.wide)
	inv := make([]float64, wide*wide)
	for q := range l.m {
		copy(inv[q*wide:], l.inv[q*l.wide:q*l.wide+l.m])
	}
	l.inv, l.wide = inv, wide
}

// dropSlackRows drops the rows whose slack is basic and well above 0.
func (l *lp) dropSlackRows() {
	for q := l.m - 1; q >= 0; q-- {
		if v := l.bas[q]; int(v) >= l.n+l.g && v < artificial && l.x[q] > 0.5 {
			l.dropRow(q)
		}
	}
}

// dropRow drops the row whose slack is basic at position q.
func (l *lp) dropRow(q int) {
	row := l.bas[q] - int32(l.n+l.g)
	r, last := slices.Index(l.act, row), l.m-1
	l.where[l.bas[q]] = idle
	if q != last { // the last position takes q's place
		copy(l.inv[q*l.wide:q*l.wide+l.m], l.inv[last*l.wide:last*l.wide+l.m])
		l.bas[q], l.x[q], l.norm[q] = l.bas[last], l.x[last], l.norm[last]
		if l.bas[q] < artificial {
			l.where[l.bas[q]] = int32(q)
		}
	}
	if r != last {
		for i := range last {
			l.inv[i*l.wide+r] = l.inv[i*l.wide+last]
		}
		l.act[r], l.y[r] = l.act[last], l.y[last]
	}
	l.m--
	l.act, l.bas, l.x, l.y, l.norm = l.act[:last], l.bas[:last], l.x[:last], l.y[:last], l.norm[:last]
}

// addViolated lets the rows enter that the solution violates most, and reports whether
// there are any. Neighbours with the same load are mostly the same row.
func (l *lp) addViolated(most int) bool {
	l.setLoad()
	l.rank = l.rank[:0]
	prev := 0.0
	for r, c := range l.p.cap {
		over := l.load[r] - float64(c)
		if over > rowTol && math.Abs(over-prev) > rowTol && l.where[l.slackOf(int32(r))] == idle {
			l.rank = append(l.rank, rowRank{int32(r), over / float64(c+1)})
		}
		prev = over
	}
	rows := int32(l.p.rows())
	for c := range l.cuts.count() {
		if row := rows + int32(c); l.where[l.slackOf(row)] == idle {
			if over := l.cutLoad(c) - l.cuts.right[c]; over > rowTol {
				l.rank = append(l.rank, rowRank{row, over})
			}
		}
	}
	if len(l.rank) == 0 {
		return false
	}
	slices.SortFunc(l.rank, func(a, b rowRank) int {
		return cmp.Or(cmp.Compare(b.over, a.over), cmp.Compare(a.row, b.row))
	})
	for _, r := range l.rank[:min(len(l.rank), most)] {
		l.addRow(r.row)
	}
	return true
}

// setLoad computes what the solution takes of each capacity row.
func (l *lp) setLoad() {
	l.prefix = resize(l.prefix, l.p.rows()+1)
	for g, key := range l.key {
		l.addLoad(key, l.xkey[g])
	}
	for q, v := range l.bas {
		l.addLoad(v, l.x[q])
	}
	sum := 0.0
	for r := range l.load {
		sum += l.prefix[r]
		l.load[r] = sum
	}
	l.work += int64(len(l.load))
}

func (l *lp) addLoad(v int32, x float64) {
	if int(v) >= l.n || x == 0 {
		return
	}
	for k := l.p.run[v]; k < l.p.run[v+1]; k++ {
		f := float64(x * l.p.runCoef[k])
		l.prefix[l.p.runFirst[k]] += f
		l.prefix[l.p.runEnd[k]] -= f
	}
}

func (l *lp) cutLoad(c int) float64 {
	sum := dot(l.xkey, l.cuts.atKeys(c, l.key))
	for q, v := range l.bas {
		sum += float64(l.cuts.at(c, v) * l.x[q])
	}
	l.work += int64(l.g + l.m)
	return sum
}

// addFirstRow is addRow while all basic variables are slacks or artificial.
func (l *lp) addFirstRow(row int32) {
	l.grow()
	for q := range l.m {
		l.inv[q*l.wide+l.m] = 0
	}
	last := l.inv[l.m*l.wide : l.m*l.wide+l.m+1]
	clear(last)
	last[l.m] = 1
	slack := l.slackOf(row)
	l.where[slack] = int32(l.m)
	l.act, l.bas = append(l.act, row), append(l.bas, slack)
	l.x, l.y, l.norm = append(l.x, 0), append(l.y, 0), append(l.norm, 1)
	l.m++
	l.work += int64(l.m)
}
