package bids

import (
	"cmp"
	"slices"
)

// Flat are prices in a market where a core is a core wherever it is, and a GPU a GPU: a
// window is then a knapsack with a few capacities, those of the whole machine now and at the beginning
// of each of the first reservations. They ask nothing about nodes, take next to no time, and
// bound what any allocations of the window's jobs could be worth, bid or not. The zero
// Flat is ready; it keeps scratch memory.
type Flat struct {
	price  []float64 // by resource: cores and GPUs now, cores and GPUs at reservation 0, ...
	room   []float64
	jobs   []flatJob
	payers []payer
}

// flatJob is a job of the market: what it needs at least is the same at all times.
type flatJob struct {
	worth       float64
	cores, gpus float64
	levels      int // 1 + the reservations that it runs into
	required    bool
}

// payer is a job that can pay a price for a unit of a resource.
type payer struct{ price, units float64 }

const (
	flatReservations = 3 // reservations whose capacities are looked at
	flatSweeps       = 4
)

// Solve finds prices at which the bound is low, by setting one after the other to what is best
// given the others (coordinate descent). A job is worth its priority and alpha;
// required is nil or says of each ask whether it has to start. It returns the bound, in
// units of priority: the sum of prices times capacities, and of what the jobs are worth net of prices
// on the least that they ask for.
func (f *Flat) Solve(space *Space, asks []Ask, required []bool, alpha float64) float64 {
	f.reset(space, asks, required, alpha)
	for range flatSweeps {
		for r := range f.price {
			f.settle(r)
		}
	}
	return f.bound()
}

func (f *Flat) reset(space *Space, asks []Ask, required []bool, alpha float64) {
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
	for j := range asks {
		s, err := asks[j].shape()
		if err != nil {
			s = shape{}
		}
		f.jobs = append(f.jobs, flatJob{
			worth: float64(asks[j].Priority) + alpha,
			cores: float64(s.need(s.minNodes)), gpus: float64(s.minNodes * s.minGPUs),
			levels:   min(levels, 1+asks[j].Crosses),
			required: len(required) > 0 && required[j],
		})
		if s.minNodes == 0 {
			f.jobs[j] = flatJob{}
		}
	}
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

// cost is what job j pays at least.
func (f *Flat) cost(j int) float64 {
	x, sum := &f.jobs[j], 0.0
	for r, p := range f.price {
		sum += float64(p * x.units(r))
	}
	return sum
}

// settle sets the price of resource r to where those who would pay more just fill
// what there is of it.
func (f *Flat) settle(r int) {
	f.price[r] = 0
	f.payers = f.payers[:0]
	left := f.room[r]
	for j := range f.jobs {
		x := &f.jobs[j]
		units := x.units(r)
		if units == 0 {
			continue
		}
		if x.required {
			left -= units
		} else if net := x.worth - f.cost(j); net > 0 {
			f.payers = append(f.payers, payer{net / units, units})
		}
	}
	slices.SortFunc(f.payers, func(a, b payer) int { return cmp.Compare(b.price, a.price) })
	for _, x := range f.payers {
		if left -= x.units; left < 0 {
			f.price[r] = x.price
			return
		}
	}
}

func (f *Flat) bound() float64 {
	sum := 0.0
	for r, p := range f.price {
		sum += float64(p * f.room[r])
	}
	for j := range f.jobs {
		if net := f.jobs[j].worth - f.cost(j); net > 0 || f.jobs[j].required {
			sum += net
		}
	}
	return sum
}
