// SPDX-License-Identifier: BSD-3-Clause

package native

// takeWhole makes the relaxation's solution the best choice if it is whole and better.
func (s *worker) takeWhole() {
	l, p := &s.tree.lp, &s.p
	if !l.whole01() {
		return
	}
	s.cur.clear(p)
	take := func(v int32, x float64) {
		if int(v) < l.n && x > 0.5 && s.cur.pick[p.group[v]] < 0 && s.cur.fits(p, v) {
			s.cur.add(p, v)
		}
	}
	for g, key := range l.key {
		take(key, l.xkey[g])
	}
	for q, v := range l.bas {
		take(v, l.x[q])
	}
	l.work += int64(l.g + l.m)
	s.keepCurrent()
}

// keepCurrent makes the current choice the best if it is better.
func (s *worker) keepCurrent() {
	if s.cur.better(&s.best) {
		s.best.copyFrom(&s.cur)
	}
}
