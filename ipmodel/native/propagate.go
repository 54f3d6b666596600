// SPDX-License-Identifier: BSD-3-Clause

package native

// propagate bans columns that do not fit beside the groups that are decided. It returns the
// number of groups that are still open, 0 if the node is closed: because nothing
// is left that is feasible, or because everything is decided, which is then looked at.
func (s *worker) propagate() int {
	t := &s.tree
	l, p := &t.lp, &s.p
	for {
		copy(t.slack, p.cap)
		open, decided := 0, 0
		t.order = t.order[:0]
		for g := range l.g {
			only, left := t.left(g)
			switch {
			case left == 0:
				return 0
			case left > 1:
				open++
			case int(only) < l.n:
				decided++
				t.order = append(t.order, only)
				for k := p.col[only]; k < p.col[only+1]; k++ {
					if t.slack[p.row[k]] -= p.coef[k]; t.slack[p.row[k]] < 0 {
						return 0
					}
				}
			}
		}
		if open == 0 {
			s.cur.clear(p)
			for _, i := range t.order {
				s.cur.add(p, i)
			}
			s.keepCurrent()
			return 0
		}
		if decided == 0 || !t.banMisfits() {
			return open
		}
	}
}

// left counts the variables of group g that are not banned, and returns one.
func (t *tree) left(g int) (only int32, left int) {
	l := &t.lp
	only = -1
	if none := int32(l.n + g); !l.ban[none] {
		only, left = none, 1
	}
	for i := l.p.start[g]; i < l.p.start[g+1]; i++ {
		if !l.ban[i] {
			only = i
			left++
		}
	}
	return only, left
}

// banMisfits bans the columns of open groups that do not fit into slack, and reports
// whether a group has come down to one variable.
func (t *tree) banMisfits() (narrowed bool) {
	l := &t.lp
	p := l.p
	for g := range l.g {
		_, before := t.left(g)
		if before == 1 {
			continue
		}
		after := before
		for i := p.start[g]; i < p.start[g+1]; i++ {
			if l.ban[i] {
				continue
			}
			for k := p.col[i]; k < p.col[i+1]; k++ {
				if p.coef[k] > t.slack[p.row[k]] {
					l.ban[i] = true
					after--
					break
				}
			}
		}
		narrowed = narrowed || (after < before && after <= 1)
	}
	l.work += int64(len(p.row)) / 2
	return narrowed
}
