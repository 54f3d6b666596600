package native

import (
	"cmp"
	"slices"

	"github.com/aucsched/aucsched/internal/ablation"
)

// round makes a choice of the relaxation's solution: its variables by falling value as
// far as they fit, then what fits of the other groups by reduced cost.
func (s *hand) round() {
	t := &s.tree
	l, p := &t.lp, &s.p
	if p.off.Has(ablation.LPRounding) {
		return
	}
	s.cur.clear(p)
	t.order = append(append(t.order[:0], l.key...), l.bas...)
	t.order = slices.DeleteFunc(t.order, func(v int32) bool { return int(v) >= l.n || l.at(v) <= feasTol })
	slices.SortFunc(t.order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(l.at(b), l.at(a)), cmp.Compare(l.worth(b), l.worth(a)), cmp.Compare(a, b))
	})
	for _, i := range t.order {
		if s.cur.pick[p.group[i]] < 0 && s.cur.fits(p, i) {
			s.cur.add(p, i)
		}
	}
	t.order = t.order[:0]
	for g, at := range s.cur.pick {
		if at < 0 {
			for i := p.start[g]; i < p.start[g+1]; i++ {
				if s.cur.fits(p, i) {
					t.order = append(t.order, i)
				}
			}
		}
	}
	slices.SortFunc(t.order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(l.d[b], l.d[a]), cmp.Compare(l.worth(b), l.worth(a)), cmp.Compare(a, b))
	})
	for _, i := range t.order {
		if s.cur.pick[p.group[i]] < 0 && s.cur.fits(p, i) {
			s.cur.add(p, i)
		}
	}
	l.work += int64(len(p.row)/2 + len(t.order))
	s.keepCurrent()
}

// keepCurrent makes the current choice the best if it is better.
func (s *hand) keepCurrent() {
	if s.cur.better(&s.best) {
		s.best.copyFrom(&s.cur)
	}
}
