package native

// ruin and recreate (Schrimpf et al. 2000): take a few chosen columns out, let all
// groups without one try again in a shuffled order, keep the outcome if it is
// about as good. The shuffle prefers groups worth much net of prices.

const (
	// firstHeat is the most loss that is accepted at first, in worths of a mean
	// column.
	firstHeat = 1.2
	// wildShare is the share of groups that get a random column back instead of the
	// one that looks best.
	wildShare = 0.1
)

// improve spends limit units of work on rounds of ruin and recreate from s.best, which
// accept less and less loss, and leaves the best choice in s.best.
func (s *Solver) improve(limit int64) {
	p := &s.p
	s.cur.copyFrom(&s.best)
	s.unit = firstHeat * s.cur.meanWorth()
	end := s.work + limit
	begin := s.work
	for s.work < end && !s.stopped() && !s.proven() {
		s.trial.copyFrom(&s.cur)
		s.work += int64(p.rows()+p.groups())/8 + 1
		s.ruin(&s.trial)
		s.shuffle(&s.trial)
		s.recreate(&s.trial, wildShare)
		if s.accept(float64(s.work-begin) / float64(limit)) {
			s.cur, s.trial = s.trial, s.cur
			if s.cur.better(&s.best) {
				s.best.copyFrom(&s.cur)
			}
		}
	}
}

// accept says whether the trial replaces the current choice: always if it is no
// worse, and early in the search (progress near 0) also if it is worse by part of
// what a chosen column is worth.
func (s *Solver) accept(progress float64) bool {
	if s.trial.missing != s.cur.missing {
		return s.trial.missing < s.cur.missing
	}
	loss := s.cur.worth - s.trial.worth
	if loss <= 0 {
		return true
	}
	cold := 1 - progress
	heat := s.unit * cold * cold * s.rng.Float64()
	return float64(loss) < heat
}

// ruin makes room: half the time for a random column of a group that has none, if one is
// hit upon, otherwise by taking out a random one and some that share a row with it.
func (s *Solver) ruin(c *choice) {
	p := &s.p
	g := int32(s.rng.IntN(p.groups()))
	if s.rng.IntN(2) == 0 {
		for range 8 { // a few tries to hit a group without a column
			if c.pick[g] < 0 {
				break
			}
			g = int32(s.rng.IntN(p.groups()))
		}
	}
	if c.pick[g] >= 0 {
		s.ruinAround(c, g)
		return
	}
	i := p.start[g] + int32(s.rng.IntN(int(p.start[g+1]-p.start[g])))
	s.makeRoom(c, i)
	if c.fits(p, i) {
		c.add(p, i)
	}
}

// makeRoom removes chosen columns that stand in column i's way, in random order,
// until it fits.
func (s *Solver) makeRoom(c *choice, i int32) {
	p := &s.p
	s.epoch++
	lacks := false
	for k := p.col[i]; k < p.col[i+1]; k++ {
		if r := p.row[k]; p.coef[k] > c.slack[r] {
			s.mark[r] = s.epoch
			lacks = true
		}
	}
	if !lacks {
		return
	}
	s.pool = s.pool[:0]
	for g, at := range c.pick {
		if at >= 0 && s.touches(at) {
			s.pool = append(s.pool, int32(g))
		}
	}
	for n := len(s.pool); n > 0 && !c.fits(p, i); n-- {
		k := s.rng.IntN(n)
		g := s.pool[k]
		s.pool[k] = s.pool[n-1]
		if s.touchesLack(c, c.pick[g], i) {
			c.remove(p, g)
		}
	}
}

// touches reports whether column at has an entry in a marked row.
func (s *Solver) touches(at int32) bool {
	p := &s.p
	s.work += int64(p.col[at+1] - p.col[at])
	for k := p.col[at]; k < p.col[at+1]; k++ {
		if s.mark[p.row[k]] == s.epoch {
			return true
		}
	}
	return false
}

// touchesLack reports whether column at uses a row that column i still lacks.
func (s *Solver) touchesLack(c *choice, at, i int32) bool {
	p := &s.p
	a, b := p.col[at], p.col[i]
	for a < p.col[at+1] && b < p.col[i+1] {
		switch {
		case p.row[a] < p.row[b]:
			a++
		case p.row[a] > p.row[b]:
			b++
		default:
			if p.coef[b] > c.slack[p.row[b]] {
				return true
			}
			a++
			b++
		}
	}
	return false
}

// ruinAround removes group g's column and up to three more that share a row with
// it.
func (s *Solver) ruinAround(c *choice, g int32) {
	p := &s.p
	s.epoch++
	at := c.pick[g]
	for k := p.col[at]; k < p.col[at+1]; k++ {
		s.mark[p.row[k]] = s.epoch
	}
	c.remove(p, g)
	s.pool = s.pool[:0]
	for h, at := range c.pick {
		if at >= 0 && s.touches(at) {
			s.pool = append(s.pool, int32(h))
		}
	}
	for n := min(len(s.pool), 1+s.rng.IntN(3)); n > 0; n-- {
		k := s.rng.IntN(len(s.pool))
		c.remove(p, s.pool[k])
		s.pool[k] = s.pool[len(s.pool)-1]
		s.pool = s.pool[:len(s.pool)-1]
	}
}

// shuffle fills s.order with the groups without a column and gives them keys:
// their worth per unit of what their cheapest column costs at the prices, blurred
// at random.
func (s *Solver) shuffle(c *choice) {
	p := &s.p
	s.order = s.order[:0]
	blur := s.rng.Float64()
	for g, at := range c.pick {
		if at >= 0 {
			continue
		}
		s.order = append(s.order, int32(g))
		s.key[g] = s.density[g] * (1 - float64(blur*s.rng.Float64()))
		if p.required[g] {
			s.key[g] = requiredKey
		}
	}
}
