// SPDX-License-Identifier: BSD-3-Clause

package native

import (
	"cmp"
	"slices"
)

// loadStart makes c the given columns of the model, and reports whether they are a
// feasible choice of the reduced problem.
func (s *worker) loadStart(c *solution, start []int32) bool {
	p := &s.p
	c.clear(p)
	for _, i := range start {
		if i < 0 || int(i) >= len(p.newCol) {
			return false
		}
		col := p.newCol[i]
		if col < 0 {
			continue // worth nothing
		}
		if c.pick[p.group[col]] >= 0 || !c.fits(p, col) {
			return false
		}
		c.add(p, col)
	}
	return true
}

// construct completes c greedily: required groups first, then by worth net of
// prices, each with its best column that fits.
func (s *worker) construct(c *solution) {
	p := &s.p
	s.order = s.order[:0]
	for g := range p.groups() {
		if c.pick[g] < 0 {
			s.order = append(s.order, int32(g))
		}
		best := s.prices.rc[p.start[g]]
		for i := p.start[g] + 1; i < p.start[g+1]; i++ {
			best = max(best, s.prices.rc[i])
		}
		s.key[g] = best
		if p.required[g] {
			s.key[g] = requiredKey
		}
	}
	s.recreate(c)
}

// requiredKey puts required groups before all others.
const requiredKey = 1e300

// recreate gives every group in s.order, by falling s.key, its best column that fits.
func (s *worker) recreate(c *solution) {
	slices.SortFunc(s.order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(s.key[b], s.key[a]), cmp.Compare(a, b))
	})
	for _, g := range s.order {
		if i := s.bestFit(c, g); i >= 0 {
			c.add(&s.p, i)
		}
	}
}

// bestFit is the column of group g that is worth most net of prices among those that
// fit, ties to the more worthy; -1 if none fits.
func (s *worker) bestFit(c *solution, g int32) int32 {
	p := &s.p
	best := int32(-1)
	for i := p.start[g]; i < p.start[g+1]; i++ {
		s.work += int64(p.col[i+1]-p.col[i]) + 1
		if best >= 0 && !s.prefers(i, best) {
			continue
		}
		if c.fits(p, i) {
			best = i
		}
	}
	return best
}

func (s *worker) prefers(i, j int32) bool {
	if s.prices.rc[i] != s.prices.rc[j] {
		return s.prices.rc[i] > s.prices.rc[j]
	}
	return s.p.worth[i] > s.p.worth[j]
}
