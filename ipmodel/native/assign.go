// SPDX-License-Identifier: BSD-3-Clause

package native

// assign improves s.best for so many units of work, or until it is proven that no choice is better,
// which it reports. The gains of the rows are the prices that prove it. It does nothing with other models.
func (s *worker) assign(work int64) (settled bool) {
	x, p := &s.flow, &s.p
	if s.best.missing > 0 || !x.isAssignment(p) {
		return false
	}
	for end := s.work + work; s.work < end && !s.stopped(); {
		at := x.chains(s)
		if at < 0 {
			for r, need := range x.need {
				s.prices.best[r] = float64(x.gain[r]) / float64(max(need, 1))
			}
			s.prices.bound = s.best.value
			return true
		}
		if !x.turn(p, &s.best, at) {
			return false
		}
	}
	return false
}

// isAssignment reports whether p is one, and notes what columns take.
func (x *assignment) isAssignment(p *problem) bool {
	x.need = resize(x.need, p.rows())
	for i := range p.columns() {
		k := p.col[i]
		if k == p.col[i+1] {
			continue
		}
		need := &x.need[p.row[k]]
		if *need == 0 {
			*need = p.coef[k]
		}
		if p.col[i+1] != k+1 || *need != p.coef[k] {
			return false
		}
	}
	return true
}

// chains finds the chains that gain most (Bellman 1958), and returns a place on one that leads in a circle;
// -1 if none does.
func (x *assignment) chains(s *worker) (circle int32) {
	p := &s.p
	places := p.rows() + 2
	out := int32(places - 1)
	x.gain, x.who, x.col = resize(x.gain, places), resize(x.who, places), resize(x.col, places)
	x.from = resize(x.from, places)
	for a := range x.from { // whoever leaves, what it had stays empty
		x.from[a], x.who[a], x.col[a] = out, -1, -1
	}
	for round := 0; ; round++ {
		s.work += int64(p.columns() + p.rows())
		switch last := x.round(p, &s.best); {
		case x.gain[out] > 0:
			return out
		case last < 0 || round >= places:
			return last
		}
	}
}

// round lengthens all chains by a group. It returns the last place where that gains, -1 if none does.
func (x *assignment) round(p *problem, c *solution) (last int32) {
	last = -1
	all := int32(p.rows())
	out := all + 1
	move := func(from, to int32, gain int64, who, col int32) {
		if gain += x.gain[from]; gain > x.gain[to] {
			x.gain[to], x.from[to], x.who[to], x.col[to] = gain, from, who, col
			last = to
		}
	}
	for g, has := range c.pick {
		at, worth := out, int64(0)
		if has >= 0 {
			at, worth = p.placeOf(has), p.worth[has]
			if !p.required[g] {
				move(at, out, -worth, int32(g), -1)
			}
		}
		for i := p.start[g]; i < p.start[g+1]; i++ {
			move(at, p.placeOf(i), p.worth[i]-worth, int32(g), i)
		}
	}
	for r, left := range c.slack {
		if left >= x.need[r] {
			move(int32(r), out, 0, -1, -1)
		}
	}
	move(all, out, 0, -1, -1)
	return last
}

// placeOf is the row of a column of an assignment, or the place behind them.
func (p *problem) placeOf(i int32) int32 {
	if k := p.col[i]; k < p.col[i+1] {
		return p.row[k]
	}
	return int32(p.rows())
}

// turn has the groups of the circle that the chain to place at leads from move in c. It reports whether
// any does.
func (x *assignment) turn(p *problem, c *solution, at int32) (moved bool) {
	x.seen = resize(x.seen, len(x.from))
	for ; !x.seen[at]; at = x.from[at] {
		x.seen[at] = true
	}
	circle := func(do func(who, col int32)) {
		for a, begun := at, false; a != at || !begun; a, begun = x.from[a], true {
			if x.who[a] >= 0 {
				do(x.who[a], x.col[a])
			}
		}
	}
	circle(func(who, _ int32) { c.drop(p, who) })
	circle(func(_, col int32) {
		if moved = true; col >= 0 {
			c.add(p, col)
		}
	})
	return moved
}
