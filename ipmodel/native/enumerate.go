// SPDX-License-Identifier: BSD-3-Clause

package native

import (
	"cmp"
	"math"
	"slices"
)

const (
	noColumn       = -1
	noWorth        = math.MinInt64
	maxEnumeration = 1 << 22 // units of work after which it gives up
)

// enumerate goes on for turn units of work, and reports whether it has excluded all choices better
// than s.best.
func (s *worker) enumerate(turn int64) (settled bool) {
	e, from := &s.all, s.work
	defer func() { e.spent += s.work - from }()
	if !e.begun {
		e.begin(s)
		e.look(s)
	}
	for s.work < from+turn && !s.stopped() {
		if len(e.levels) == 0 {
			return true
		}
		if e.next(s) {
			e.look(s)
		}
	}
	return false
}

// begin takes the best prices, rounded as in their bound.
func (e *enumeration) begin(s *worker) {
	p := &s.p
	s.prices.exact(p)
	sums := s.prices.exactSum
	e.price, e.net = e.price[:0], e.net[:0]
	for r := range p.rows() {
		e.price = append(e.price, sums[r+1]-sums[r])
	}
	for i, v := range p.worth {
		for k := p.col[i]; k < p.col[i+1]; k++ {
			v -= p.coef[k] * e.price[p.row[k]]
		}
		e.net = append(e.net, v)
	}
	e.top, e.fit, e.fixed = resize(e.top, p.groups()), resize(e.fit, p.columns()), resize(e.fixed, p.groups())
	e.levels, e.cand, e.begun = e.levels[:0], e.cand[:0], true
	s.cur.clear(p)
	s.work += int64(len(p.row) + p.columns())
}

// look decides one group more, unless the choice so far leads to none that is better than the best.
func (e *enumeration) look(s *worker) {
	s.nodes++
	bound, least := e.bound(s), int64(-1)
	if best := &s.best; best.missing == 0 {
		least = best.value
	}
	if bound <= least {
		return
	}
	next, fewest := int32(-1), math.MaxInt
	for g := range int32(s.p.groups()) {
		if e.fixed[g] {
			continue
		}
		if n := e.candidates(s, g, bound-least, nil); n < fewest {
			next, fewest = g, n
		}
	}
	if next < 0 { // all are decided
		if s.cur.better(&s.best) {
			s.best.copyFrom(&s.cur)
		}
		return
	}
	first := int32(len(e.cand))
	e.candidates(s, next, bound-least, &e.cand)
	slices.SortFunc(e.cand[first:], func(a, b int32) int { return cmp.Or(cmp.Compare(e.netOf(b), e.netOf(a)), cmp.Compare(a, b)) })
	e.levels = append(e.levels, level{next, first, first})
	e.fixed[next] = true
}

// bound is what the choice so far can be worth at most with all that is still to be decided. Sums
// of worths and of prices are both bounded so that they do not overflow together.
func (e *enumeration) bound(s *worker) int64 {
	p, c := &s.p, &s.cur
	total := c.value
	for r, left := range c.slack {
		total = satAdd(total, e.price[r]*left)
	}
	s.work += int64(p.rows() + p.columns())
	for g := range p.groups() {
		if e.fixed[g] {
			continue
		}
		top := int64(0)
		if p.required[g] {
			top = noWorth
		}
		for i := p.start[g]; i < p.start[g+1]; i++ {
			if e.fit[i] = c.fits(p, i); e.fit[i] {
				top = max(top, e.net[i])
			}
			s.work += int64(p.run[i+1] - p.run[i])
		}
		if e.top[g] = top; top == noWorth {
			return noWorth
		}
		total = satAdd(total, top)
	}
	return total
}

// candidates counts the columns of a group with which the bound falls by less than gap, and adds
// them to dst unless that is nil.
func (e *enumeration) candidates(s *worker, g int32, gap int64, dst *[]int32) (n int) {
	add := func(i int32) {
		if e.top[g]-e.netOf(i) >= gap {
			return
		}
		if n++; dst != nil {
			*dst = append(*dst, i)
		}
	}
	if !s.p.required[g] {
		add(noColumn)
	}
	for i := s.p.start[g]; i < s.p.start[g+1]; i++ {
		if e.fit[i] {
			add(i)
		}
	}
	return n
}

func (e *enumeration) netOf(i int32) int64 {
	if i == noColumn {
		return 0
	}
	return e.net[i]
}

// next takes back what the last level has, and gives it its next candidate. It reports false if
// there was none, and ends the level.
func (e *enumeration) next(s *worker) bool {
	l := &e.levels[len(e.levels)-1]
	s.cur.drop(&s.p, l.group)
	s.work += workPerMove
	if int(l.at) == len(e.cand) {
		e.cand, e.fixed[l.group] = e.cand[:l.first], false
		e.levels = e.levels[:len(e.levels)-1]
		return false
	}
	if i := e.cand[l.at]; i != noColumn {
		s.cur.add(&s.p, i)
	}
	l.at++
	return true
}
