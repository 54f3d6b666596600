// SPDX-License-Identifier: BSD-3-Clause

package native

import (
	"cmp"
	"math/bits"
	"slices"
)

// Simulated annealing (Kirkpatrick et al. 1983) by ejection: draw a column, take out whatever is in
// its way, put it in. A loss is accepted if it is less than a draw from an exponential distribution
// whose mean, the heat, falls geometrically. Most columns that are drawn lose too much, and are
// left as soon as that shows; so a move costs little, whatever the number of columns and nodes.

// The heat starts at firstHeat or twice that, in units of what the chosen columns are typically
// worth. It falls to a seventh of that in coolSteps, where the choice of groups settles. In the
// fineSteps that follow it falls to a thousandth of the rest, where only columns of one group are
// told apart, which may be worth nearly the same.
const (
	firstHeat = 0.1
	coolSteps = 48
	coolBy    = 0.96
	fineSteps = 16
	fineBy    = 0.62
)

// firstRun is the length of the first pair of annealing runs, in units of work each; those of the
// next pair take twice as long.
const firstRun = 1 << 21

// anneal spends turn units of work on annealing. A run begins with the best choice known.
func (s *worker) anneal(turn int64) {
	if s.p.off.Annealing {
		s.work += turn
		return
	}
	for end := s.work + turn; s.work < end && !s.stopped() && !s.proven(); {
		c := &s.cool
		if c.done >= c.length {
			c.next(s.best.typicalWorth(&s.p))
			s.rankColumns()
			s.pack.become(&s.p, &s.best)
			s.near = -1
		}
		begin := s.work
		for range 64 {
			s.move(c.heat, c.worth)
		}
		c.done += s.work - begin
		s.coolDown(c)
	}
}

// rankColumns brings the ranking up to date with s.prices.best, and with it the columns of
// each row of the packing. A column's rank is by how much less than its group's best it is worth
// net of prices. By that much the bound falls if the column has to be chosen.
// Without prices the order is random, as that of worth alone favours the bulky.
func (s *worker) rankColumns() {
	p, k := &s.p, &s.rank
	if !k.stale {
		return
	}
	k.stale = false
	k.cols = k.cols[:0]
	for i := range p.columns() {
		k.cols = append(k.cols, int32(i))
	}
	if p.off.Rank || !slices.ContainsFunc(s.prices.best, func(l float64) bool { return l > 0 }) {
		s.shuffle(k.cols)
		return
	}
	copy(s.prices.l, s.prices.best)
	s.prices.relax(p)
	k.setMisses(p, s.prices.rc)
	slices.SortFunc(k.cols, func(i, j int32) int {
		return cmp.Or(cmp.Compare(k.miss[j], k.miss[i]), cmp.Compare(i, j))
	})
	k.place = s.pack.sortRowCols(p, k.cols, k.place)
	s.work += int64(len(p.runFirst) + len(p.row) + p.rows() + 3*p.columns()*bits.Len(uint(p.columns())))
}

// shuffle brings cols into a random order.
func (s *worker) shuffle(cols []int32) {
	s.work += 4 * int64(len(cols))
	for n := len(cols) - 1; n > 0; n-- {
		m := s.draw(n + 1)
		cols[n], cols[m] = cols[m], cols[n]
	}
}

// next begins another run, where the chosen columns are typically worth that much. Windows of few
// jobs need more heat to come away from where they are, and others less. So runs come in pairs of
// one length, and the second begins at twice the heat.
func (c *cooling) next(worth float64) {
	again := cooling{length: max(2*c.length, firstRun), worth: worth, heat: firstHeat * worth}
	if c.length > 0 && !c.hot {
		again.length, again.heat, again.hot = c.length, 2*again.heat, true
	}
	*c = again
}

// coolDown takes the steps that are due.
func (s *worker) coolDown(c *cooling) {
	for c.done > c.length/(coolSteps+fineSteps)*(c.step+1) {
		if c.step++; c.step < coolSteps {
			c.heat *= coolBy
		} else {
			c.heat *= fineBy
		}
	}
}

// move tries one exchange.
func (s *worker) move(heat, typical float64) {
	p, k := &s.p, &s.pack
	s.work += workPerMove
	dice := s.src.Uint64()
	i, at := s.columnOf(dice)
	if k.pick[p.group[i]] == i {
		return
	}
	accept := int64(heat * s.chance[dice>>16%chances])
	limit := p.worth[i] + accept
	repairs := dice%256 < repairOf && !p.off.Repair
	if repairs {
		limit += int64(typical)/2 + p.worth[i]/2 // the repair may win that much back
	}
	if !s.inTheWay(i, limit) {
		s.rank.demote(at)
		return
	}
	worth, missing := k.worth, k.missing
	s.exchange(i)
	if repairs {
		s.repair()
		if k.missing > missing || (k.missing == missing && k.worth < worth-accept) {
			s.undo()
			return
		}
	}
	if len(k.out) != 1 || k.out[0] != p.group[i] {
		s.rank.promote(at)
	}
	if r := s.freedRow(len(k.out)); r >= 0 {
		s.near = r
	}
	if k.better(&s.best) {
		k.save(&s.best)
	}
}

// columnOf is the column of a throw of dice, and its place in the ranking. It is any column, or
// with place -1 one of the row that an exchange made room in. Promising ones come more often.
func (s *worker) columnOf(dice uint64) (i int32, at int) {
	if s.near >= 0 && dice>>8%256 < nearOf && !s.p.off.Near {
		cols := s.pack.columnsOf(s.near)
		return cols[early(dice>>32, len(cols))], -1
	}
	at = early(dice>>32, len(s.rank.cols))
	if s.p.off.Promotion {
		return s.rank.cols[at], -1
	}
	return s.rank.cols[at], at
}

// early is an integer of 0..n-1 for each u of 0..2^32-1: where u is random, i or less has
// the chance of the square root of (i+1)/n.
func early(u uint64, n int) int {
	return int((u * u >> 32) * uint64(n) >> 32)
}

// chances is how many draws setChances makes a table of.
const chances = 1 << 10

// setChances makes a table of equally likely draws from the exponential distribution of mean 1.
// They are the mean order statistics of as many draws (Renyi 1953), by divisions and sums alone,
// and so the same on every machine.
func (s *worker) setChances() {
	if len(s.chance) == chances {
		return
	}
	s.chance = make([]float64, chances)
	sum := 0.0
	for j := chances; j > 0; j-- {
		sum += 1 / float64(j)
		s.chance[j-1] = sum
	}
}
