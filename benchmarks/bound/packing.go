// SPDX-License-Identifier: BSD-3-Clause

package bound

import "slices"

// Bounds of the work of the linear programs.
const (
	// maxStates is the most combinations of cores and GPUs of a node. Beyond it
	// there are only the bounds of each resource.
	maxStates = 1 << 14
	// maxWork is the most steps in the knapsacks of a linear program, which is then
	// left with the best prices so far.
	maxWork = 1 << 26
	// sample is of how many jobs, spread evenly, the time of submission has a linear
	// program of its own. The prices of each are tried for all times.
	sample = 16
	// maxPrice is the greatest of the whole prices: sums over a machine stay in range.
	maxPrice = 1 << 26
	// accuracy is how near to its optimum the linear program is solved.
	accuracy = 1e-6
)

// packing bounds the runtime by patterns of pieces on nodes.
type packing struct {
	*machine
	classes *classes
	parts   []part // of all jobs, in the order of submission
	sack    *knapsack
	prices  []int64 // of the rows
}

func newPacking(m *machine, d demand, s *classes) *packing {
	p := &packing{machine: m, classes: s}
	for i := range d {
		p.parts = p.classes.parts(p.parts, &d[i])
	}
	p.sack = newKnapsack(m, p.classes)
	p.prices = make([]int64, p.classes.rows)
	return p
}

// bound is the best of prices that are good for what is submitted at or after each of the
// times, or each of a sample.
func (p *packing) bound(times ...int64) float64 {
	for i := range sample {
		times = append(times, p.parts[i*len(p.parts)/sample].submit)
	}
	slices.Sort(times)
	seconds := 0.0
	for _, t := range slices.Compact(times) {
		p.solve(t)
		seconds = max(seconds, p.certify())
	}
	return seconds
}

// certify is what follows from the prices, whatever they are: what all is worth, over the
// most that all nodes together do in a second.
func (p *packing) certify() float64 {
	p.sack.fill(p.prices)
	seconds, _ := best(p.earn(), len(p.parts), func(i int) work {
		a := &p.parts[i]
		row, perCore := p.classes.rowsOf(a.class)
		units := a.pieces * p.prices[row]
		if perCore >= 0 {
			units += a.cores * p.prices[perCore]
		}
		return work{a.submit, units, a.progress}
	})
	return seconds
}

// earn is the worth of the best patterns on all nodes, after fill.
func (p *packing) earn() int64 {
	sum := int64(0)
	for _, k := range p.kinds {
		sum += k.nodes * p.sack.value(k.cores, k.gpus)
	}
	return sum
}

// needed is what is submitted at or after t, by rows.
func (p *packing) needed(t int64) []float64 {
	sum := make([]float64, p.classes.rows)
	for i := range p.parts {
		a := &p.parts[i]
		if a.submit < t {
			continue
		}
		row, perCore := p.classes.rowsOf(a.class)
		sum[row] += float64(a.pieces) * float64(a.progress)
		if perCore >= 0 {
			sum[perCore] += float64(a.cores) * float64(a.progress)
		}
	}
	return sum
}

// solve sets the prices to those that bound what is submitted at or after t best, by
// column generation: the linear program has only patterns that its prices asked for.
func (p *packing) solve(t int64) {
	needs := p.needed(t)
	scale := slices.Max(needs)
	shares := make([]float64, len(p.kinds))
	for i, k := range p.kinds {
		shares[i] = float64(k.nodes) / float64(p.nodes)
	}
	for r := range needs {
		needs[r] /= scale
	}
	lp := newMaster(needs, shares)
	best, prices := 0.0, make([]int64, len(p.prices))
	column := make([]float64, len(needs))
	for work := 0; work <= maxWork && lp.tidy(); work += p.sack.work() {
		p.round(lp.prices())
		p.sack.fill(p.prices)
		worth := 0.0
		for r, v := range p.prices {
			worth += float64(v) * needs[r]
		}
		// In units of the linear program, of which the objective is T.
		if s := worth / (float64(p.earn()) / float64(p.nodes)); s > best {
			best = s
			copy(prices, p.prices)
		}
		if best >= lp.objective()*(1-accuracy) {
			break
		}
		entered := false
		for i, k := range p.kinds {
			clear(column)
			p.sack.pattern(k.cores, k.gpus, column)
			entered = lp.enter(i, column) || entered
		}
		if !entered {
			break
		}
	}
	copy(p.prices, prices)
}

// round makes whole prices.
func (p *packing) round(prices []float64) {
	most := slices.Max(prices)
	for r, v := range prices {
		if p.prices[r] = 0; v > 0 {
			p.prices[r] = int64(v / most * maxPrice)
		}
	}
}
