// SPDX-License-Identifier: BSD-3-Clause

package layout

import (
	"math"
	"slices"
)

// prices are Lagrange multipliers of the program's rows (5) and (6): of a core, and a GPU, of each
// table at each cell. At given prices a job by itself takes the bid that is worth most net of
// the cheapest layout, and the sum of that and of what is for sale bounds the program; the volume
// algorithm (Barahona and Anbil 2000) lowers this bound. At the best prices a cut by them
// makes the packing model's relaxation as tight as that of the whole program. The
// arithmetic here is floating point; bound.go makes the bound in integers.
type prices struct {
	core, gpu         [][]float64 // the best
	atCore, atGPU     [][]float64 // those that are tried
	useCore, useGPU   [][]float64 // what jobs take at these
	meanCore, meanGPU [][]float64 // and on average
	wholeCore         [][]int64   // the best, rounded
	wholeGPU          [][]int64
	value             float64 // of the best
	pays              []offer
	work              int64
}

// offer is what nodes of a bid cost a core, and how much more than the least they give.
type offer struct {
	price, most float64
	part        int32
}

func floats(s [][]float64, p *problem) [][]float64 {
	for len(s) < p.tables() {
		s = append(s, nil)
	}
	for k := range p.tables() {
		s[k] = append(s[k][:0], make([]float64, len(p.cells))...)
	}
	return s
}

// begin takes the packing model's prices for the first.
func (x *prices) begin(p *problem, r *relaxed, rows []float64) {
	x.core, x.gpu = floats(x.core, p), floats(x.gpu, p)
	x.atCore, x.atGPU = floats(x.atCore, p), floats(x.atGPU, p)
	x.useCore, x.useGPU = floats(x.useCore, p), floats(x.useGPU, p)
	x.meanCore, x.meanGPU = floats(x.meanCore, p), floats(x.meanGPU, p)
	if len(rows) != len(r.model.Cap) {
		return
	}
	cells := len(p.cells)
	cuts := len(rows) - len(r.cuts)
	for k := range p.tables() {
		for i, c := range p.cells {
			if row := r.row[2*k*cells+i]; row >= 0 {
				x.core[k][i] = rows[row] / float64(c.nodes)
			}
			if row := r.row[(2*k+1)*cells+i]; row >= 0 {
				x.gpu[k][i] = rows[row] / float64(c.nodes)
			}
			for n := range r.cuts {
				x.core[k][i] += float64(rows[cuts+n] * float64(r.cuts[n].y[k*cells+i]))
			}
		}
	}
}

const (
	volumeMean = 0.1 // of the last step in the average
	patience   = 8   // steps without a better value after which they become shorter
)

// descend lowers the bound for some steps, low being what some choice is worth.
func (x *prices) descend(p *problem, low float64, steps int, over func() bool) {
	for k := range p.core() {
		copy(x.atCore[k], x.core[k])
		copy(x.atGPU[k], x.gpu[k])
	}
	x.value = x.evaluate(p)
	for k := range p.core() {
		copy(x.meanCore[k], x.useCore[k])
		copy(x.meanGPU[k], x.useGPU[k])
	}
	scale, failed := 1.0, 0
	for range steps {
		if over() || x.value <= low || !x.step(p, scale*(x.value-low)) {
			return
		}
		if v := x.evaluate(p); v < x.value {
			for k := range p.core() {
				copy(x.core[k], x.atCore[k])
				copy(x.gpu[k], x.atGPU[k])
			}
			x.value, failed, scale = v, 0, min(1.1*scale, 2)
		} else if failed++; failed == patience {
			failed, scale = 0, 0.5*scale
		}
		for k := range p.core() {
			blend(x.meanCore[k], x.useCore[k])
			blend(x.meanGPU[k], x.useGPU[k])
		}
	}
}

func blend(mean, last []float64) {
	for i, v := range last {
		mean[i] += float64(volumeMean * (v - mean[i]))
	}
}

// core ranges over the tables.
func (p *problem) core() [][]int64 { return p.free[:p.tables()] }

// step moves from the best prices towards what is too much in demand on average.
func (x *prices) step(p *problem, gain float64) bool {
	norm := 0.0
	each := func(do func(price, at *float64, excess float64)) {
		for k, free := range p.core() {
			gpus := p.table(k).FreeGPUs()
			for i, c := range p.cells {
				n := float64(c.nodes)
				do(&x.core[k][i], &x.atCore[k][i], x.meanCore[k][i]-n*float64(free[i]))
				do(&x.gpu[k][i], &x.atGPU[k][i], x.meanGPU[k][i]-n*float64(gpus[c.first]))
			}
		}
	}
	each(func(price, _ *float64, excess float64) {
		if *price > 0 || excess > 0 {
			norm += float64(excess * excess)
		}
	})
	if norm == 0 {
		return false
	}
	t := gain / norm
	each(func(price, at *float64, excess float64) { *at = max(0, *price+float64(t*excess)) })
	return true
}

// evaluate is the bound at the prices that are tried. It sets what the jobs take.
func (x *prices) evaluate(p *problem) float64 {
	sum := 0.0
	for k, free := range p.core() {
		gpus := p.table(k).FreeGPUs()
		clear(x.useCore[k])
		clear(x.useGPU[k])
		for i, c := range p.cells {
			n := float64(c.nodes)
			sum += float64(x.atCore[k][i] * n * float64(free[i]))
			sum += float64(x.atGPU[k][i] * n * float64(gpus[c.first]))
		}
	}
	start := p.w.Fixed.GroupStart
	for j := range p.jobs() {
		best, most := int32(-1), 0.0
		if p.w.Fixed.IsRequired(j) {
			most = math.Inf(-1)
		}
		for b := start[j]; b < start[j+1]; b++ {
			worth := float64(p.w.Fixed.Value[b])
			if net := worth - x.cost(p, b, x.atCore, x.atGPU, worth-most); net > most {
				best, most = b, net
			}
		}
		if best >= 0 {
			sum += most
			x.take(p, best)
		}
	}
	return sum
}

// priceLevels is how finely prices are told apart in a cut.
const priceLevels = 1 << 10

// weigh sets w to the prices of cores, as whole numbers. It reports false if all are 0.
func (x *prices) weigh(p *problem, w *weights) bool {
	w.reset(p)
	most := 0.0
	for k := range p.core() {
		most = max(most, slices.Max(x.core[k]))
	}
	if most == 0 {
		return false
	}
	for k := range p.core() {
		for i, v := range x.core[k] {
			w.y[k][i] = int32(v/most*priceLevels + 0.5)
		}
	}
	return true
}
