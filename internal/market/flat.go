// SPDX-License-Identifier: BSD-3-Clause

package market

import (
	"cmp"
	"math"
	"slices"
)

// flat are prices in a market where a core is a core wherever it is, and a GPU a GPU: a window is
// then a knapsack with a few capacities, those of the whole machine now and at the beginning of
// each of the first reservations. They ask nothing about nodes, take next to no time, and bound
// what any allocations of the window's jobs could be worth, bid or not. The zero flat is ready; it
// keeps scratch memory.
type flat struct {
	price  []float64 // by resource: cores and GPUs now, cores and GPUs at reservation 0, ...
	room   []float64
	jobs   []flatJob // by variant
	payers []payer
	offers []flatOffer
}

// flatJob is a variant of the market: what it needs at least is the same at all times.
type flatJob struct {
	worth       float64
	cores, gpus float64
	levels      int // 1 + the reservations that it runs into
	end         int // behind the last variant of the same job
	required    bool
	valid       bool
}

// flatOffer is what a variant is worth net of prices if resource r costs nothing, and what it needs
// of r; the zero flatOffer is not to start.
type flatOffer struct{ net, units float64 }

// payer is a job that can pay a price for a unit of a resource.
type payer struct{ price, units float64 }

const (
	flatReservations = 3 // reservations whose capacities are looked at
	flatSweeps       = 4
)

// solve finds prices at which the bound is low, by setting one after the other to what is best
// given the others (coordinate descent). A job is worth its priority and alpha; required is nil or
// says of each job whether it has to start. It returns the bound, in units of priority: the sum of
// prices times capacities, and of what the jobs are worth net of prices on the least that they ask
// for, each by the request with which it is worth most.
func (f *flat) solve(space *Space, variants []Variant, required []bool, alpha float64) float64 {
	f.reset(space, variants, required, alpha)
	for sweep, changed := 0, true; changed && sweep < flatSweeps; sweep++ {
		changed = false
		for r, was := range f.price {
			f.settle(r)
			changed = changed || f.price[r] != was
		}
	}
	return f.bound()
}

func (f *flat) reset(space *Space, variants []Variant, required []bool, alpha float64) {
	f.price, f.room, f.jobs = f.price[:0], f.room[:0], f.jobs[:0]
	levels := 1 + min(len(space.Left), flatReservations)
	for k := range levels {
		t := space.Now
		if k > 0 {
			t = space.Left[k-1]
		}
		cores, gpus := t.SumFree()
		f.price, f.room = append(f.price, 0, 0), append(f.room, float64(cores), float64(gpus))
	}
	for j, job := 0, 0; j < len(variants); job++ {
		end := NextJob(variants, j)
		for ; j < end; j++ {
			f.addAsk(&variants[j], alpha, levels, end, len(required) > 0 && required[job])
		}
	}
}

func (f *flat) addAsk(a *Variant, alpha float64, levels, end int, required bool) {
	x := flatJob{end: end}
	if s := &a.Spec; s.Valid() {
		x.worth = float64(a.Priority) + alpha
		x.cores, x.gpus = float64(s.LeastCores()), float64(s.LeastGPUs())
		x.levels, x.required, x.valid = min(levels, 1+a.Crosses), required, true
	}
	f.jobs = append(f.jobs, x)
}

// units is what the job needs of resource r.
func (x *flatJob) units(r int) float64 {
	switch {
	case r/2 >= x.levels:
		return 0
	case r%2 == 1:
		return x.gpus
	}
	return x.cores
}

// cost is what variant j pays at least.
func (f *flat) cost(j int) float64 {
	x, sum := &f.jobs[j], 0.0
	for r, p := range f.price {
		sum += float64(p * x.units(r))
	}
	return sum
}

// settle sets the price of resource r to where those who would pay more just fill
// what there is of it.
func (f *flat) settle(r int) {
	f.price[r] = 0
	f.payers = f.payers[:0]
	left, most := f.room[r], 0.0
	for j := range f.jobs {
		most += f.jobs[j].units(r)
	}
	if most <= left { // whatever they pay for other resources
		return
	}
	for j := 0; j < len(f.jobs); j = f.jobs[j].end {
		left -= f.demand(j, r)
	}
	slices.SortFunc(f.payers, func(a, b payer) int { return cmp.Compare(b.price, a.price) })
	for _, x := range f.payers {
		if left -= x.units; left < 0 {
			f.price[r] = x.price
			return
		}
	}
}

// demand adds what the job whose first variant is j would pay for resource r: as its price rises
// the job goes over to variants that need less of it, and to none at last. It returns what the
// job takes at any price.
func (f *flat) demand(j, r int) (taken float64) {
	f.offers = f.offers[:0]
	required := false
	for k := j; k < f.jobs[j].end; k++ {
		if x := &f.jobs[k]; x.valid {
			f.offers, required = append(f.offers, flatOffer{x.worth - f.cost(k), x.units(r)}), required || x.required
		}
	}
	if !required {
		f.offers = append(f.offers, flatOffer{})
	}
	if len(f.offers) == 0 {
		return 0
	}
	now := slices.MaxFunc(f.offers, func(a, b flatOffer) int { return cmp.Or(cmp.Compare(a.net, b.net), cmp.Compare(b.units, a.units)) })
	for now.units > 0 {
		next, at := now, math.Inf(1) // the price from which on less is worth more
		for _, o := range f.offers {
			if o.units >= now.units {
				continue
			}
			if p := (now.net - o.net) / (now.units - o.units); p < at || p == at && o.units < next.units {
				next, at = o, p
			}
		}
		if next == now {
			break
		}
		f.payers = append(f.payers, payer{at, now.units - next.units})
		now = next
	}
	return now.units
}

// bound is the sum that solve returns. Where jobs that have to start are worth next to nothing
// beside others, its terms cancel each other out, and what they are rounded by is added. Callers
// see to rounding by a small part of the sum itself.
func (f *flat) bound() float64 {
	sum, terms := 0.0, 0.0
	for r, p := range f.price {
		sum += float64(p * f.room[r])
		terms += float64(p * f.room[r])
	}
	for j := 0; j < len(f.jobs); j = f.jobs[j].end {
		net := f.net(j)
		sum += net
		terms += math.Abs(net)
	}
	if terms > manyTimes*sum {
		sum += termsRounding * terms
	}
	return sum
}

const (
	manyTimes     = 1e4   // how many times the sum its terms are where they cancel each other out
	termsRounding = 1e-13 // more than the part of all terms that a sum of them is off by
)

// net is what the job whose first variant is j is worth net of prices at most.
func (f *flat) net(j int) float64 {
	most, required := math.Inf(-1), false
	for k := j; k < f.jobs[j].end; k++ {
		if x := &f.jobs[k]; x.valid {
			most, required = max(most, x.worth-f.cost(k)), required || x.required
		}
	}
	if required || most > 0 {
		return most
	}
	return 0
}
