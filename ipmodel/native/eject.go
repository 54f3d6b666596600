// SPDX-License-Identifier: BSD-3-Clause

package native

import (
	"math"
	"math/bits"
)

// Of 256 moves, so many are repaired before they are judged, and so many draw a column
// near the last exchange. Of 256 repairs, so many fill rows as well. That takes longer
// than all else, but where a large column went, many small ones may win it back.
const (
	repairOf = 64
	nearOf   = 128
	fillOf   = 128
)

// inTheWay fills k.out with the groups that have to go for column i to fit. Its own is first, if
// that has a column. It reports whether they are worth at most limit. In a row that several groups
// hold it is random who goes first. A required group never goes, unless for another that is
// required and missing.
func (s *worker) inTheWay(i int32, limit int64) bool {
	p, k := &s.p, &s.pack
	g := p.group[i]
	k.epoch++
	k.out = k.out[:0]
	k.mark[g] = k.epoch
	loss, bound := int64(0), true
	switch at := k.pick[g]; {
	case at >= 0:
		loss = p.worth[at]
		k.out = append(k.out, g)
	case p.required[g]:
		limit, bound = math.MaxInt64, false
	}
	if loss > limit {
		return false
	}
	s.work += 12
	runs := k.runs[k.colRun[i]:k.colRun[i+1]]
	for n := range runs {
		x := &runs[n]
		s.work += workPerRun
		for w := int(x.first >> 6); w <= int(x.last>>6); w++ {
			s.work++
			for b := k.lacking(x, w); b != 0; b &= b - 1 {
				r := int32(w<<6 + bits.TrailingZeros64(b))
				if loss = s.clearRow(r, x.coef, loss, limit, bound); loss > limit || loss < 0 {
					return false
				}
			}
		}
	}
	return true
}

// clearRow adds holders of row r to k.out until coef would fit there or the loss exceeds limit. It
// returns the new loss, or -1 if a required group is in the way that is bound to stay.
func (s *worker) clearRow(r int32, coef, loss, limit int64, bound bool) int64 {
	p, k := &s.p, &s.pack
	s.work += 4
	need := coef - k.rows[r].slack
	holders := k.holders(r)
	for _, h := range holders {
		if k.mark[h.group] == k.epoch {
			need -= h.coef
		}
	}
	if need <= 0 {
		return loss
	}
	n := 0
	if len(holders) > 1 {
		n = s.draw(len(holders))
	}
	for ; need > 0; n++ {
		if n == len(holders) {
			n = 0
		}
		h := holders[n]
		if k.mark[h.group] == k.epoch {
			continue
		}
		if bound && p.required[h.group] {
			return -1
		}
		k.mark[h.group] = k.epoch
		k.out = append(k.out, h.group)
		need -= h.coef
		if loss += p.worth[k.pick[h.group]]; loss > limit {
			return loss
		}
	}
	return loss
}

// exchange takes the groups of k.out out and puts column i in.
func (s *worker) exchange(i int32) {
	s.log = s.log[:0]
	for _, g := range s.pack.out {
		s.log = append(s.log, step{s.pack.take(&s.p, g), false})
		s.work += s.workOf(s.log[len(s.log)-1].col)
	}
	s.put(i)
}

func (s *worker) put(i int32) {
	s.pack.put(&s.p, i)
	s.log = append(s.log, step{i, true})
	s.work += s.workOf(i)
}

// repair gives the groups that an exchange took out another column each, if one fits,
// and may fill some of the rows that they left.
func (s *worker) repair() {
	p, k := &s.p, &s.pack
	gone := 0
	for ; gone < len(s.log) && !s.log[gone].put; gone++ {
	}
	for _, x := range s.log[:gone] {
		if g := p.group[x.col]; k.pick[g] < 0 {
			s.fill(p.start[g], p.start[g+1])
		}
	}
	if p.off.Fill || s.draw(256) >= fillOf {
		return
	}
	for range repairRows {
		if r := s.freedRow(gone); r >= 0 {
			s.fillRow(r)
		}
	}
}

// freedRow is a random row of the first gone columns of the log, -1 if it has no room.
func (s *worker) freedRow(gone int) int32 {
	if gone == 0 {
		return -1
	}
	p := &s.p
	c := s.log[s.draw(gone)].col
	n := int(p.col[c+1] - p.col[c])
	if n == 0 {
		return -1
	}
	r := p.row[int(p.col[c])+s.draw(n)]
	if s.pack.rows[r].open == 0 {
		return -1
	}
	return r
}

// fill puts in the most worthy of columns first..end-1, of one group, that fits.
func (s *worker) fill(first, end int32) {
	best := int32(-1)
	for i := first; i < end; i++ {
		s.work += workPerTry
		if (best < 0 || s.p.worth[i] > s.p.worth[best]) && s.pack.room(i) {
			best = i
		}
	}
	if best >= 0 {
		s.put(best)
	}
}

// fillRow puts in the most worthy column of row r that fits, of a group without one: of equals any.
func (s *worker) fillRow(r int32) {
	p, k := &s.p, &s.pack
	cols := k.columnsOf(r)
	best, from := int32(-1), s.draw(len(cols))
	for n := range cols {
		if n += from; n >= len(cols) {
			n -= len(cols)
		}
		i := cols[n]
		if k.pick[p.group[i]] >= 0 || (best >= 0 && p.worth[i] <= p.worth[best]) {
			s.work += 2
			continue
		}
		s.work += workPerTry
		if k.room(i) {
			best = i
		}
	}
	if best >= 0 {
		s.put(best)
	}
}

// undo takes the steps of the log back.
func (s *worker) undo() {
	for n := len(s.log) - 1; n >= 0; n-- {
		x := s.log[n]
		s.work += s.workOf(x.col)
		if x.put {
			s.pack.take(&s.p, s.p.group[x.col])
		} else {
			s.pack.put(&s.p, x.col)
		}
	}
	s.log = s.log[:0]
}

// workOf is the work of putting column i in or taking it out.
func (s *worker) workOf(i int32) int64 {
	return workPerEntry * int64(s.p.col[i+1]-s.p.col[i])
}
