package native

import "math/bits"

// Simulated annealing (Kirkpatrick et al. 1983) by ejection: draw a column, take out
// whatever is in its way, put it in. A loss is accepted if it is less than a draw from
// an exponential distribution whose mean, the heat, falls geometrically. Most columns
// that are drawn lose too much, and are left as soon as that shows; so a move costs
// little, whatever the number of columns and nodes.

// The heat starts at firstHeat, in units of what the chosen columns are typically
// worth, and falls to a seventh of that in coolSteps: there the choice of groups
// settles. In the fineSteps that follow it falls to a thousandth of the rest, where
// only columns of one group are told apart, which may be worth nearly the same.
const (
	firstHeat = 0.2
	coolSteps = 48
	coolBy    = 0.96
	fineSteps = 16
	fineBy    = 0.62
)

// Of 256 moves, so many are repaired before they are judged, and so many draw a column
// near the last exchange.
const (
	repairOf = 32
	nearOf   = 128
)

// cooling is an annealing run, which goes on from turn to turn.
type cooling struct {
	length int64 // units of work of the whole run; 0: none has begun
	done   int64 // of these
	step   int64
	worth  float64 // what the chosen columns were typically worth as it began
	heat   float64
}

// firstRun is the length of the first annealing run, in units of work; each takes twice as
// long as the one before.
const firstRun = 1 << 21

// anneal spends turn units of work on annealing. A run begins with the best choice known.
func (s *hand) anneal(turn int64) {
	for end := s.work + turn; s.work < end && !s.stopped() && !s.proven(); {
		c := &s.cool
		if c.done >= c.length {
			worth := s.best.typicalWorth(&s.p)
			*c = cooling{length: max(2*c.length, firstRun), worth: worth, heat: firstHeat * worth}
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

// coolDown takes the steps that are due.
func (s *hand) coolDown(c *cooling) {
	for c.done > c.length/(coolSteps+fineSteps)*(c.step+1) {
		if c.step++; c.step < coolSteps {
			c.heat *= coolBy
		} else {
			c.heat *= fineBy
		}
	}
}

// move tries one exchange.
func (s *hand) move(heat, typical float64) {
	p, k := &s.p, &s.pack
	s.work += workPerMove
	i := s.drawColumn()
	if k.pick[p.group[i]] == i {
		return
	}
	accept := int64(heat * s.chance[s.draw(len(s.chance))])
	limit := p.worth[i] + accept
	repairs := s.draw(256) < repairOf
	if repairs {
		limit += int64(typical) // the repair may win that much back
	}
	if !s.inTheWay(i, limit) {
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
	if r := s.freedRow(len(k.out)); r >= 0 {
		s.near = r
	}
	if k.better(&s.best) {
		k.save(&s.best)
	}
}

// drawColumn is a random column: any, or one of the row that an exchange made room in.
func (s *hand) drawColumn() int32 {
	if s.near >= 0 && s.draw(256) < nearOf {
		cols := s.pack.columnsOf(s.near)
		return cols[s.draw(len(cols))]
	}
	return int32(s.draw(s.p.columns()))
}

// draw is a random integer of 0..n-1, n > 0.
func (s *hand) draw(n int) int {
	hi, _ := bits.Mul64(s.src.Uint64(), uint64(n))
	return int(hi)
}

// setChances makes a table of equally likely draws from the exponential distribution
// of mean 1: the mean order statistics of as many draws (Renyi 1953), which take
// divisions and sums only and are thus the same on every machine.
func (s *hand) setChances() {
	const n = 1024
	if len(s.chance) == n {
		return
	}
	s.chance = make([]float64, n)
	sum := 0.0
	for j := n; j > 0; j-- {
		sum += 1 / float64(j)
		s.chance[j-1] = sum
	}
}
