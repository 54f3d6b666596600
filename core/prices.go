// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"cmp"
	"slices"

	"github.com/aucsched/aucsched/internal/place"
)

// pricing is the stage that says what a start makes useless, by the requests that are usual.
type pricing struct {
	prices place.Prices
	sums   []sumOfKind // by GPUs
	kinds  []place.Kind
}

// sumOfKind is what all requests for nodes of so many GPUs ask for.
type sumOfKind struct{ nodes, cores float64 }

const (
	// wholeNode is which part of all weights the request for all GPUs of the largest node has at
	// least. Otherwise such a node is worth nothing until somebody asks for one.
	wholeNode = 1.0 / 32
)

// of are the prices of a cycle; nil where there are none, as in the papers' auction.
func (x *pricing) of(s *Snapshot, w *window) *place.Prices {
	if w.opts.Drafts == 0 || s.Nodes.MaxGPUs() == 0 || len(w.jobs) == 0 {
		return nil
	}
	x.count(s, w)
	x.weigh()
	x.prices.Reset(s.Now, s.Nodes, x.kinds)
	for i := range s.Running {
		x.prices.Hold(s.Running[i].Segs, s.Running[i].End)
	}
	x.prices.Settle()
	return &x.prices
}

// count adds up what jobs ask for: those that run and those of the window.
func (x *pricing) count(s *Snapshot, w *window) {
	most := s.Nodes.MaxGPUs()
	x.sums = append(x.sums[:0], make([]sumOfKind, most+1)...)
	for i := range s.Running {
		for _, seg := range s.Running[i].Segs {
			if seg.GPUs > 0 {
				x.add(int(seg.GPUs), float64(seg.Len()), float64(seg.Len()*int(seg.Cores)))
			}
		}
	}
	for j := range w.variants {
		if spec := &w.variants[j].Spec; w.variants[j].Rank == 0 && spec.GPUs.PerNode.Min > 0 {
			x.add(spec.GPUs.PerNode.Min, float64(spec.Nodes.Min), float64(spec.LeastCores()))
		}
	}
}

func (x *pricing) add(gpus int, nodes, cores float64) {
	x.sums[gpus].nodes += nodes
	x.sums[gpus].cores += cores
}

// weigh makes kinds of the sums. A kind counts as often as it comes, times its GPUs, which are idle
// elsewhere while it finds no place. It counts times these again: of a node as much is at stake.
// Otherwise the many small requests, which find places anywhere, drown the few large ones.
func (x *pricing) weigh() {
	x.kinds = x.kinds[:0]
	all, largest := 0.0, len(x.sums)-1
	for g := range x.sums {
		all += x.weight(g)
	}
	if all == 0 {
		all = 1
	}
	unit := place.MaxWeight / float64(all*(1+wholeNode))
	for g := 1; g <= largest; g++ {
		k, weight := place.Kind{GPUs: g}, x.weight(g)
		if n := x.sums[g].nodes; n > 0 {
			k.Cores = int(x.sums[g].cores / n)
		}
		if g == largest {
			weight += float64(all * wholeNode)
		}
		if k.Weight = int64(weight * unit); k.Weight > 0 {
			x.kinds = append(x.kinds, k)
		}
	}
	if len(x.kinds) > place.MaxKinds {
		slices.SortStableFunc(x.kinds, func(a, b place.Kind) int { return cmp.Compare(b.Weight, a.Weight) })
		x.kinds = x.kinds[:place.MaxKinds]
	}
}

func (x *pricing) weight(gpus int) float64 { return float64(gpus*gpus) * x.sums[gpus].nodes }
