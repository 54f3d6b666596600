// SPDX-License-Identifier: BSD-3-Clause

package pods

import (
	"cmp"
	"slices"
)

// Typical is a request with its frequency.
type Typical struct {
	Request
	Weight float64 // share of all requests; those of a Mix add up to 1
}

// Mix are the typical requests. It is read by many, and never changed.
type Mix []Typical

// NewMix counts requests. Memory makes no difference between them, as in the paper. The most
// frequent ones are kept until they are the given part of all, 0 to 1; the paper has 0.95.
func NewMix(requests []Request, part float64) Mix {
	counts := map[Request]int{}
	for _, r := range requests {
		r.Memory = 0
		counts[r]++
	}
	m := make(Mix, 0, len(counts))
	for r, n := range counts {
		m = append(m, Typical{r, float64(n)})
	}
	slices.SortFunc(m, func(a, b Typical) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(b.CPU, a.CPU),
			cmp.Compare(b.Share, a.Share), cmp.Compare(b.GPUs, a.GPUs),
			cmp.Compare(b.Kinds, a.Kinds))
	})
	sum, kept := 0.0, 0
	for kept < len(m) && sum < part*float64(len(requests)) {
		sum += m[kept].Weight
		kept++
	}
	m = m[:kept:kept]
	for i := range m {
		m[i].Weight /= sum
	}
	return m
}

// Unusable is the paper's F: the idle thousandths that a request of the mix can't use, on
// average. That is all of them if the request has no GPU, can't use the model, or finds too few
// cores or GPUs; else those on GPUs that are too full for it.
func (m Mix) Unusable(s *State) float64 {
	idle := s.Idle()
	if idle == 0 {
		return 0
	}
	sum := 0.0
	for i := range m {
		t := &m[i]
		lost := idle
		if t.GPUs > 0 && s.CPU >= t.CPU && t.On(s.Kind) {
			places, used := 0, 0
			for _, g := range s.GPUs[:s.Count] {
				if g >= t.Share {
					places++
					used += int(g)
				}
			}
			if places >= int(t.GPUs) {
				lost -= used
			}
		}
		sum += t.Weight * float64(lost)
	}
	return sum
}
