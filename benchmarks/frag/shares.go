// SPDX-License-Identifier: BSD-3-Clause

package frag

import "math"

const (
	unit = 10 // thousandths of a GPU: shares are rounded up to it, what is idle down
	// Units is how many of these a GPU has.
	Units = Whole / unit
	// soft is by how much a filling of a hole may be worse than the best, in thousandths, to be
	// taken nearly as often: half of what can be told apart.
	soft = unit / 2
	// turns of the prices at each look; they go on where the last look has ended.
	turns = 20
)

// Shares knows what holes in shared GPUs are worth. No single node shows that: 190 thousandths
// beside 810 are worth nothing where more of them are left than small shares come, and 530 beside
// 470 are worth what the whole GPU is that would be taken otherwise.
//
// It is the cutting-stock problem of what will come, by its linear relaxation: fill the holes that
// there are with the requests that are expected, so that the most is given out. The dual prices
// are rents: what one more request of a size would add to that. A hole is worth the best filling,
// of sizes less their rents. Instead of the best filling it is the soft maximum over all, so that
// prices move smoothly (Gupta and Radovanović, "Interior-Point-Based Online Stochastic Bin
// Packing", Operations Research 68(5), 2020). Cores, memory and models are not looked at.
type Shares struct {
	asked [Units + 1]float64 // GPUs asked for by size in units, a request on average
	sizes []int              // those that are asked for, ascending
	each  float64            // thousandths of GPUs that a request asks for, on average
	least int32              // thousandths of cores that a request with GPUs asks for, at least
	holes [Units + 1]int     // idle GPUs by size
	rent  [Units + 1]float64 // of a size, thousandths
	worth [Units + 1]float64 // of a hole, thousandths
	step  [Units + 1]float64 // by which a rent moves
	last  [Units + 1]float64 // the way in which it has moved
}

// NewShares counts the requests by size.
func NewShares(requests []Request) *Shares {
	h := &Shares{least: math.MaxInt32}
	n := float64(len(requests))
	for i := range requests {
		r := &requests[i]
		h.each += float64(r.Thousandths()) / n
		if r.GPUs > 0 {
			h.asked[(r.Share+unit-1)/unit] += float64(r.GPUs) / n
			h.least = min(h.least, r.CPU)
		}
	}
	for s, x := range h.asked {
		h.step[s] = soft / 2.
		if x > 0 {
			h.sizes = append(h.sizes, s)
		}
	}
	return h
}

// Hole is the size of a hole in units.
func Hole(idle int16) uint8 { return uint8(idle / unit) }

// Move is told that a node has gone from one state to another. A node that has just been added
// comes from the zero State.
func (h *Shares) Move(from, to *State) {
	h.count(from, -1)
	h.count(to, 1)
}

// count leaves out nodes without the cores for any request.
func (h *Shares) count(s *State, by int) {
	if s.CPU >= h.least {
		for _, g := range s.GPUs[:s.Count] {
			h.holes[Hole(g)] += by
		}
	}
}

// Costs is what it costs to put a share into a hole of each size, beside the share itself, in
// thousandths of a GPU: the holes' worth before less that after. Holes too small cost nothing.
func (h *Shares) Costs(share int16) (cost [Units + 1]float64) {
	for g := int(Hole(share + unit - 1)); g <= Units; g++ {
		left := Hole(int16(g*unit) - share)
		cost[g] = h.worth[g] - h.worth[left] - float64(share)
	}
	return cost
}

// Least is what a share costs in the best hole that there is.
func (h *Shares) Least(share int16) float64 {
	best := math.Inf(1)
	for g, c := range h.Costs(share) {
		if g*unit >= int(share) && h.holes[g] > 0 {
			best = min(best, c)
		}
	}
	return best
}

// Look moves the prices to where what is expected to come, in thousandths of GPUs, fills the
// holes.
func (h *Shares) Look(coming float64) {
	if h.each == 0 {
		return
	}
	var f filling
	for range turns {
		f.of(h)
		used := f.used(h)
		for _, s := range h.sizes {
			h.move(s, used[s], h.asked[s]*max(0, coming)/h.each)
		}
	}
	f.of(h)
	for g, z := range f.ways {
		h.worth[g] = soft * math.Log(z)
	}
}

// move raises the rent of a size that is used more than it comes, and lowers that of one that is
// used less. A rent of soft more makes use e times less, and that of many in a hole many times
// less: steps grow while they lead the same way, and shrink when they have gone too far.
func (h *Shares) move(s int, used, come float64) {
	by := math.Log((used + 1e-9) / (come + 1e-9))
	if by*h.last[s] < 0 {
		h.step[s] = max(h.step[s]/2, soft/100.)
	} else {
		h.step[s] = min(h.step[s]*1.2, 2*soft)
	}
	h.last[s] = by
	h.rent[s] = min(max(0, h.rent[s]+h.step[s]*by), float64(2*s*unit))
}

// filling is the weight of all fillings of the holes.
type filling struct {
	size [Units + 1]float64 // a request's
	ways [Units + 1]float64 // the sum over the fillings of a hole
}

func (f *filling) of(h *Shares) {
	for _, s := range h.sizes {
		f.size[s] = math.Exp((float64(s*unit) - h.rent[s]) / soft)
	}
	for g := range f.ways {
		f.ways[g] = 1
		for _, s := range h.sizes {
			if s > g {
				break
			}
			f.ways[g] += f.size[s] * f.ways[g-s]
		}
	}
}

// used is how many requests of each size all holes together take.
func (f *filling) used(h *Shares) (used [Units + 1]float64) {
	var weight [Units + 1]float64 // of the fillings that come to what is left
	for g := Units; g > 0; g-- {
		weight[g] += float64(h.holes[g]) / f.ways[g]
		for _, s := range h.sizes {
			if s > g {
				break
			}
			x := weight[g] * f.size[s]
			weight[g-s] += x
			used[s] += x * f.ways[g-s]
		}
	}
	return used
}
