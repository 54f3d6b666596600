// SPDX-License-Identifier: BSD-3-Clause

package native

import "math"

// swapKey makes another basic variable of the group its key and returns the position
// where the old key now is, -1 if there is no other.
func (l *lp) swapKey(g int32) int {
	pos := -1
	for q, v := range l.bas {
		if int(v) < l.n+l.g && l.groupOf(v) == g && (pos < 0 || l.x[q] > l.x[pos]) {
			pos = q
		}
	}
	if pos < 0 {
		return -1
	}
	// The columns of the group's others were relative to the old key: position pos
	// turns its sign, and the others lose pos's.
	row := l.inv[pos*l.wide : pos*l.wide+l.m]
	for q, v := range l.bas {
		if q == pos || int(v) >= l.n+l.g || l.groupOf(v) != g {
			continue
		}
		for r, f := range l.inv[q*l.wide : q*l.wide+l.m] {
			row[r] += f
		}
	}
	for r := range row {
		row[r] = -row[r]
	}
	l.norm[pos], l.knorm[g] = l.knorm[g], l.norm[pos]
	old, now := l.key[g], l.bas[pos]
	l.key[g], l.bas[pos] = now, old
	l.where[now], l.where[old] = isKey, int32(pos)
	l.x[pos], l.xkey[g] = l.xkey[g], l.x[pos]
	return pos
}

// replaceKey puts the best other variable in the place of a key that has to leave and is
// the only basic variable of its group. It reports whether there is one.
func (l *lp) replaceKey(g int32) bool {
	key := int32(-1)
	consider := func(v int32) {
		if !l.ban[v] && v != l.key[g] && (key < 0 || l.d[v] > l.d[key]) {
			key = v
		}
	}
	consider(int32(l.n) + g)
	for i := l.p.start[g]; i < l.p.start[g+1]; i++ {
		consider(i)
	}
	if key < 0 {
		return false
	}
	l.makeKey(g, key)
	return true
}

// makeKey puts a variable in the place of its group's key, the only basic one.
func (l *lp) makeKey(g, key int32) {
	down := l.d[key]
	for i := l.p.start[g]; i < l.p.start[g+1]; i++ {
		l.d[i] -= down
	}
	l.d[int32(l.n)+g] -= down
	old := l.key[g]
	l.where[old], l.where[key], l.key[g] = nonbasic, isKey, key
	l.d[key] = 0
	// The basic variables make room for the new key.
	l.vec, l.tau, l.col = resize(l.vec, l.m), resize(l.tau, l.m), resize(l.col, l.m)
	l.addColumn(old, 1)
	l.multiply(l.tau, l.vec)
	l.addColumn(key, -1)
	l.multiply(l.col, l.vec)
	for q, c := range l.col {
		l.x[q] += c
	}
	l.setKeys()
	l.updateForKey()
}

// exchange puts variable enter, whose column is col, into the basis at pos.
func (l *lp) exchange(pos int, enter int32) {
	row := l.inv[pos*l.wide : pos*l.wide+l.m]
	f := 1 / l.col[pos]
	for r := range row {
		row[r] *= f
	}
	l.x[pos] *= f
	l.filled = l.filled[:0]
	for r, v := range row {
		if math.Abs(v) > tiny {
			l.filled = append(l.filled, int32(r))
		} else {
			row[r] = 0
		}
	}
	for q := range l.m {
		c := l.col[q]
		if q == pos || math.Abs(c) <= tiny {
			continue
		}
		to := l.inv[q*l.wide : q*l.wide+l.m]
		for _, r := range l.filled {
			to[r] -= float64(c * row[r])
		}
		l.x[q] -= float64(c * l.x[pos])
		l.work += int64(len(l.filled))
	}
	l.work += int64(l.m)
	if l.bas[pos] < artificial {
		l.where[l.bas[pos]] = nonbasic
	}
	l.bas[pos] = enter
	l.where[enter] = int32(pos)
	l.setKeys()
}

// renew computes the inverse and all that follows from it anew, to be rid of rounding errors.
func (l *lp) renew() {
	m := l.m
	l.keep = append(append(append(l.keep[:0], l.key...), l.act...), l.bas...)
	l.refactor(l.keep[:l.g], l.keep[l.g:l.g+m], l.keep[l.g+m:])
	l.lowerAll()
}

// refactor makes the basis of these keys, working rows and basic variables, and computes
// everything anew. Where that basis is singular, slacks stand in.
func (l *lp) refactor(key, act, bas []int32) {
	for v := range l.where {
		l.where[v] = nonbasic
		if v >= l.n+l.g {
			l.where[v] = idle
		}
	}
	l.m = len(act)
	if l.wide < l.m {
		l.wide = 2 * l.m
		l.inv = make([]float64, l.wide*l.wide)
	}
	l.key = append(l.key[:0], key...)
	l.act = append(l.act[:0], act...)
	l.bas = l.bas[:0]
	l.x, l.y = resize(l.x, l.m), resize(l.y, l.m)
	for _, v := range l.key {
		l.where[v] = isKey
	}
	for q, row := range l.act {
		v := l.slackOf(row)
		l.bas = append(l.bas, v)
		l.where[v] = int32(q)
		clear(l.inv[q*l.wide : q*l.wide+l.m])
		l.inv[q*l.wide+q] = 1
	}
	l.stay = resize(l.stay, l.m)
	for _, v := range bas {
		if v >= artificial {
			slack := l.slackOf(v - artificial)
			q := l.where[slack]
			l.where[slack], l.bas[q], l.stay[q] = nonbasic, v, true
		} else if int(v) >= l.n+l.g {
			l.stay[l.where[v]] = true
		}
	}
	for _, v := range bas {
		if int(v) >= l.n+l.g {
			continue
		}
		l.forward(v)
		pos, most := -1, 1e-7
		for q, c := range l.col {
			if !l.stay[q] && max(c, -c) > most {
				pos, most = q, max(c, -c)
			}
		}
		if pos >= 0 {
			l.stay[pos] = true
			l.exchange(pos, v)
		}
	}
	l.setX()
	l.setD()
	l.setNorms()
	l.fresh = l.pivots
}

// copyFrom makes b a copy of o.
func (b *basis) copyFrom(o *basis) {
	if b.wide != o.wide {
		b.wide = o.wide
		b.inv = make([]float64, o.wide*o.wide)
	}
	b.m = o.m
	for q := range o.m {
		copy(b.inv[q*b.wide:q*b.wide+b.m], o.inv[q*o.wide:q*o.wide+o.m])
	}
	b.act = append(b.act[:0], o.act...)
	b.bas = append(b.bas[:0], o.bas...)
	b.key = append(b.key[:0], o.key...)
	b.where = append(b.where[:0], o.where...)
	b.x = append(b.x[:0], o.x...)
	b.xkey = append(b.xkey[:0], o.xkey...)
	b.d = append(b.d[:0], o.d...)
	b.y = append(b.y[:0], o.y...)
	b.norm, b.knorm = append(b.norm[:0], o.norm...), append(b.knorm[:0], o.knorm...)
	b.shift, b.shifted = append(b.shift[:0], o.shift...), o.shifted
}
