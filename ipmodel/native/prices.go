package native

import "math"

// prices are Lagrange multipliers of the capacity rows. With prices l >= 0
//
//	L(l) = sum_r l_r cap_r + sum_g max(0, max_i (w_i - sum_r l_r a_ri))
//
// bounds the worth of every feasible choice from above (a required group's maximum
// is not cut off at 0). Subgradient steps lower L. Products are converted to
// float64 by themselves, lest a machine with fused multiply-add go another way.
type prices struct {
	l, best  []float64 // current multipliers, and those of the least bound
	use      []float64 // by row: what the relaxed choice takes
	turn     []float64 // by row: by how much more than of the row before
	sum      []float64 // by row: of the prices before
	rc       []float64 // by column: worth net of prices
	at       []int32   // by group: the relaxed choice, -1 for none
	bound    int64     // proven by exact(best)
	exactL   []int64   // best, rounded to whole units
	exactRC  []int64   // by column: worth net of exactL
	top      []int64   // by group: its share of the bound
	stepSize float64
}

func (s *prices) clear(p *problem) {
	s.l = append(s.l[:0], make([]float64, p.rows())...)
	s.best = append(s.best[:0], s.l...)
	s.use = append(s.use[:0], s.l...)
	s.turn, s.sum = resize(s.turn, p.rows()+1), resize(s.sum, p.rows()+1)
	s.rc = append(s.rc[:0], make([]float64, p.columns())...)
	s.at = append(s.at[:0], make([]int32, p.groups())...)
	s.exactL = append(s.exactL[:0], make([]int64, p.rows())...)
	s.exactRC = append(s.exactRC[:0], make([]int64, p.columns())...)
	s.top = append(s.top[:0], make([]int64, p.groups())...)
	s.stepSize = 2
	s.bound = s.exact(p) // all prices 0: the sum of the groups' greatest worths
}

// relax computes the relaxed choice and L at the current prices.
func (s *prices) relax(p *problem) float64 {
	total, sum := 0.0, 0.0
	for r, c := range p.cap {
		total += float64(s.l[r] * float64(c))
		s.sum[r] = sum
		sum += s.l[r]
	}
	s.sum[len(p.cap)] = sum
	clear(s.turn)
	for g := range p.groups() {
		top, at := 0.0, int32(-1)
		if p.required[g] {
			top = math.Inf(-1)
		}
		for i := p.start[g]; i < p.start[g+1]; i++ {
			v := float64(p.worth[i])
			for k := p.run[i]; k < p.run[i+1]; k++ {
				v -= float64((s.sum[p.runEnd[k]] - s.sum[p.runFirst[k]]) * p.runCoef[k])
			}
			s.rc[i] = v
			if v > top {
				top, at = v, i
			}
		}
		total += top
		if s.at[g] = at; at >= 0 {
			for k := p.run[at]; k < p.run[at+1]; k++ {
				s.turn[p.runFirst[k]] += p.runCoef[k]
				s.turn[p.runEnd[k]] -= p.runCoef[k]
			}
		}
	}
	sum = 0
	for r := range s.use {
		sum += s.turn[r]
		s.use[r] = sum
	}
	return total
}

// descend takes at most steps subgradient steps towards lower bounds, aiming at the
// worth of the best choice known. It ends early when stop says so.
func (s *prices) descend(p *problem, steps int, target int64, stop func(work int) bool) {
	least, stale := math.Inf(1), 0
	copy(s.l, s.best)
	for range steps {
		bound := s.relax(p)
		if bound < least-float64(1e-9*math.Abs(least)) || math.IsInf(least, 1) {
			least, stale = bound, 0
			copy(s.best, s.l)
		} else if stale++; stale >= 10 {
			s.stepSize, stale = s.stepSize*0.6, 0
			copy(s.l, s.best)
			if s.stepSize < 1e-4 {
				break
			}
			continue
		}
		norm := 0.0
		for r, c := range p.cap {
			if d := s.use[r] - float64(c); d > 0 || s.l[r] > 0 {
				norm += float64(d * d)
			}
		}
		if norm == 0 || bound <= float64(target) || stop(len(p.runFirst)+p.columns()+p.rows()) {
			break
		}
		step := s.stepSize * math.Max(bound-float64(target), 1) / norm
		for r, c := range p.cap {
			s.l[r] = math.Max(0, s.l[r]+float64(step*(s.use[r]-float64(c))))
		}
	}
	s.bound = min(s.bound, s.exact(p))
}

// exact returns the bound of the best prices, rounded to whole units, in integer
// arithmetic, and leaves exactRC and top for the tree. Prices that would overflow
// are cut, which keeps the bound valid.
func (s *prices) exact(p *problem) int64 {
	var total int64
	budget := int64(1) << 62
	for r, c := range p.cap {
		l := int64(math.Min(s.best[r], 1<<60))
		if c > 0 && l > (budget-total)/c {
			l = 0
		}
		s.exactL[r] = l
		total += l * c
	}
	for g := range p.groups() {
		top := int64(0)
		if p.required[g] {
			top = math.MinInt64
		}
		for i := p.start[g]; i < p.start[g+1]; i++ {
			s.exactRC[i] = s.netWorth(p, i)
			top = max(top, s.exactRC[i])
		}
		s.top[g] = top
		total = satAdd(total, top)
	}
	return total
}

// netWorth is column i's worth net of the exact prices, at least -2^62.
func (s *prices) netWorth(p *problem, i int32) int64 {
	v := p.worth[i]
	for k := p.col[i]; k < p.col[i+1]; k++ {
		l, a := s.exactL[p.row[k]], p.coef[k]
		if l > 0 && a > math.MaxInt64/2/l {
			return -1 << 62
		}
		if v -= l * a; v < -1<<62 {
			return -1 << 62
		}
	}
	return v
}

func satAdd(a, b int64) int64 {
	if b > 0 && a > math.MaxInt64-b {
		return math.MaxInt64
	}
	if b < 0 && a < math.MinInt64-b {
		return math.MinInt64
	}
	return a + b
}
