// SPDX-License-Identifier: BSD-3-Clause

package frag

import "math"

// Holes watches the places for requests of several whole GPUs. No single node shows how many of
// these are left in the cluster.
type Holes struct {
	asked [MaxGPUs + 1]float64 // requests for so many GPUs, as a part of all
	cpu   [MaxGPUs + 1]float64 // thousandths of a core that they ask for, on average
	each  float64              // thousandths of GPUs that a request asks for, on average
	left  [MaxGPUs + 1]int     // nodes with a hole of so many GPUs
}

// Broken are the sizes of holes that a start takes from a node: bit n-1 stands for n GPUs.
type Broken uint8

// NewHoles counts requests for several GPUs.
func NewHoles(requests []Request) *Holes {
	h := &Holes{}
	for i := range requests {
		r := &requests[i]
		h.each += float64(r.Thousandths()) / float64(len(requests))
		if r.GPUs > 1 {
			h.asked[r.GPUs]++
			h.cpu[r.GPUs] += float64(r.CPU)
		}
	}
	for n := range h.asked {
		if h.asked[n] > 0 {
			h.cpu[n] /= h.asked[n]
			h.asked[n] /= float64(len(requests))
		}
	}
	return h
}

// of are the sizes of holes that a node has.
func (h *Holes) of(s *State) (b Broken) {
	whole := 0
	for _, g := range s.GPUs {
		if g == Whole {
			whole++
		}
	}
	for n := 2; n <= whole; n++ {
		if h.asked[n] > 0 && float64(s.CPU) >= h.cpu[n] {
			b |= 1 << (n - 1)
		}
	}
	return b
}

// Move is told that a node has gone from one state to another. A node that has just been added
// comes from the zero State.
func (h *Holes) Move(from, to *State) {
	a, b := h.of(from), h.of(to)
	for n := 2; n <= MaxGPUs; n++ {
		h.left[n] += int(b>>(n-1)&1) - int(a>>(n-1)&1)
	}
}

// Breaks are the holes larger than r itself that a node loses if r starts there.
func (h *Holes) Breaks(s *State, r *Request, gpu int) Broken {
	had := h.of(s) >> r.GPUs << r.GPUs
	if had == 0 {
		return 0
	}
	after := *s
	after.Take(r, gpu)
	return had &^ h.of(&after)
}

// Prices is what each set of broken holes costs, in thousandths of a GPU. A hole of n GPUs costs
// n of them, times the probability that more requests for it come than there are holes until the
// supply, in thousandths, is used up. Their number is taken as normal, with Poisson's variance.
func (h *Holes) Prices(supply float64) (price [1 << MaxGPUs]float64) {
	var hole [MaxGPUs]float64
	for n := 2; n <= MaxGPUs; n++ {
		if h.asked[n] > 0 {
			come := h.asked[n] * max(0, supply) / h.each
			spare := float64(h.left[n]) - come
			short := 0.5 * math.Erfc(spare/math.Sqrt(2*(come+1)))
			hole[n-1] = float64(n) * Whole * short
		}
	}
	for b := range price {
		for n, p := range hole {
			if b>>n&1 == 1 {
				price[b] = max(price[b], p)
			}
		}
	}
	return price
}
