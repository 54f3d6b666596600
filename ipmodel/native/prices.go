// SPDX-License-Identifier: BSD-3-Clause

package native

import (
	"math"
)

// prices are Lagrange multipliers of the capacity rows. With prices l >= 0
//
//	L(l) = sum_r l_r cap_r + sum_g max(0, max_i (w_i - sum_r l_r a_ri))
//
// bounds the worth of every feasible choice from above (a required group's maximum
// is not cut off at 0). Steps along subgradients lower L. Products are converted to
// float64 by themselves, as a machine with fused multiply-add would go another way.
type prices struct {
	l, best  []float64 // current multipliers, and those of the least bound
	use      []float64 // by row: what the relaxed choice takes
	turn     []float64 // by row: by how much more than of the row before
	sum      []float64 // by row: of the prices before
	rc       []float64 // by column: worth net of prices
	at       []int32   // by group: the relaxed choice, -1 for none
	bound    int64     // proven by exact(best)
	exactSum []int64   // by row: best, rounded to whole units, of the rows before
	mean     []float64 // by row: of use
	recent   float64   // share of the last in it
	fresh    bool      // no step has been taken yet
	least    float64   // bound of best
	gains    int       // steps in a row that have lowered it
	losses   int       // steps that have not, since
	lowered  bool      // a step has ever
	stepSize float64
	longest  float64 // step since
}

func (s *prices) clear(p *problem) {
	s.l = append(s.l[:0], make([]float64, p.rows())...)
	s.best = append(s.best[:0], s.l...)
	s.use = append(s.use[:0], s.l...)
	s.turn, s.sum = resize(s.turn, p.rows()+1), resize(s.sum, p.rows()+1)
	s.rc = append(s.rc[:0], make([]float64, p.columns())...)
	s.at = append(s.at[:0], make([]int32, p.groups())...)
	s.exactSum = append(s.exactSum[:0], make([]int64, p.rows()+1)...)
	s.mean = append(s.mean[:0], s.l...)
	s.fresh, s.lowered, s.least = true, false, math.Inf(1)
	s.gains, s.losses, s.recent, s.stepSize, s.longest = 0, 0, recentFirst, firstStep, 0
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

// descend takes at most steps steps of the volume algorithm (Barahona and Anbil 2000) towards lower
// bounds, aiming at the worth of the best choice known. A step leads from the best prices along the
// mean of what the relaxed choices take, where late ones count most. It ends early when stop says
// so, and reports whether more steps are of use.
func (s *prices) descend(p *problem, steps int, target int64, stop func(work int) bool) (more bool) {
	if p.off.Prices {
		return false
	}
	defer func() { s.bound = min(s.bound, s.exact(p)) }()
	for range steps {
		bound := s.relax(p)
		if !s.keep(bound) {
			return false
		}
		norm := s.average(p)
		if norm == 0 || bound <= float64(target) {
			return false
		}
		if stop(len(p.runFirst) + p.columns() + p.rows()) {
			return true
		}
		aim := math.Max(float64(target), float64(boldest*s.least))
		step := s.stepSize * math.Max(bound-aim, 1) / norm
		for r, c := range p.cap {
			s.l[r] = math.Max(0, s.best[r]+float64(step*(s.mean[r]-float64(c))))
		}
	}
	return true
}

// keep notes the bound of the current prices, which sets the length of the next step, and reports
// whether there is to be one.
func (s *prices) keep(bound float64) bool {
	if bound < s.least-float64(1e-9*math.Abs(s.least)) || math.IsInf(s.least, 1) {
		s.gains++
		up := stepUp
		if s.gains > patience {
			up = stepFar
		}
		s.lowered = !math.IsInf(s.least, 1)
		s.least, s.losses = bound, 0
		s.stepSize = math.Min(s.stepSize*up, mostStep)
		s.longest = math.Max(s.longest, s.stepSize)
		copy(s.best, s.l)
		return true
	}
	s.gains = 0
	if s.losses++; s.losses < patience {
		return true
	}
	s.losses = 0
	if !s.lowered {
		s.stepSize *= stepBack
		s.recent = recentLast // at ties no direction but that of many steps leads down
		s.longest = s.stepSize
		return s.stepSize > tinyStep
	}
	s.stepSize *= stepDown
	return s.stepSize > leastStep*s.longest
}

// average takes the relaxed choice into the mean, and returns the squared length of the direction.
func (s *prices) average(p *problem) (norm float64) {
	share := 1.0
	if !s.fresh {
		share = s.recent
		s.recent = math.Max(s.recent*recentBy, recentLast)
	}
	s.fresh = false
	for r, c := range p.cap {
		s.mean[r] += float64(share * (s.use[r] - s.mean[r]))
		if d := s.mean[r] - float64(c); d > 0 || s.best[r] > 0 {
			norm += float64(d * d)
		}
	}
	return norm
}

const (
	recentFirst = 0.3 // of the mean: the share of the last relaxed choice, which falls
	recentBy    = 0.98
	recentLast  = 0.05
	boldest     = 0.98 // of the least bound: what is aimed at, at least
	firstStep   = 0.1
	stepUp      = 1.1  // after a step that lowers the bound,
	stepFar     = 1.5  // after more than patience of these in a row,
	stepDown    = 0.66 // after patience steps that do not,
	stepBack    = 0.25 // and if none ever has
	patience    = 5
	mostStep    = 2
	leastStep   = 2e-3 // the end, times the longest
	tinyStep    = 1e-9 // the end if no step lowers the bound
)

// exact returns the bound of the best prices, rounded to whole units, in integer
// arithmetic. Prices that would overflow are cut, which keeps the bound valid.
func (s *prices) exact(p *problem) int64 {
	var total int64
	budget := int64(1) << 62
	s.exactSum[0] = 0
	for r, c := range p.cap {
		l := int64(math.Min(s.best[r], 1<<60))
		if l > (budget-total)/max(c, 1) {
			l = 0
		}
		s.exactSum[r+1] = s.exactSum[r] + l
		total += l * c
	}
	for g := range p.groups() {
		top := int64(0)
		if p.required[g] {
			top = math.MinInt64
		}
		for i := p.start[g]; i < p.start[g+1]; i++ {
			v := p.worth[i]
			for k := p.run[i]; k < p.run[i+1]; k++ {
				// as columns fit, no more than all rows' capacities cost
				v -= int64(p.runCoef[k]) * (s.exactSum[p.runEnd[k]] - s.exactSum[p.runFirst[k]])
			}
			top = max(top, v)
		}
		total = satAdd(total, top)
	}
	return total
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
