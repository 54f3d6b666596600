// SPDX-License-Identifier: BSD-3-Clause

package market

import (
	"slices"

	"github.com/aucsched/aucsched/internal/place"
)

// bidBelow adds bids below single switches of the lowest level at which job j has room: of the
// tightest, and then of others, which differ from job to job.
func (g *Generator) bidBelow(j, k int, sets *scan, quota int) {
	s, t := &g.specs[j], g.viewOf(j)
	if s.Contiguous {
		return // what it bids in nodesets is below few
	}
	g.spots = append(g.spots[:0], g.placer.Spots(s, t, sets.sets)...)
	end := len(g.book.Bids) + quota
	for m := 0; m < len(g.spots) && m < 2*quota && len(g.book.Bids) < end; m++ {
		at := m
		if m > 0 {
			at = 1 + (j+m-1)%(len(g.spots)-1)
		}
		from := len(g.book.Segs)
		segs, ok := g.placer.At(g.book.Segs, t, s, g.spots[at], ownLayout(s, place.PackUp), k)
		if !ok {
			continue
		}
		g.book.Segs = segs
		if g.raising {
			g.raised = place.RaiseGPUs(g.raised[:0], g.book.Segs[from:], t.FreeGPUs(), s.GPUs.PerNode.Max)
			g.book.Segs = append(g.book.Segs[:from], g.raised...)
		}
		g.add(j, from)
	}
}

// setsBelow are sets cut where the leaf changes, if job j has room in one of the parts.
func (g *Generator) setsBelow(j, k int, sets *scan) *scan {
	s := &g.specs[j]
	cut := g.cutSets(g.tierKey(j, k), &g.variants[j], s)
	large := cut.bySize[cut.firstWith(int64(s.Cores.Total)):]
	if slices.ContainsFunc(large, func(i int32) bool { return cut.sets[i].Len() >= s.Nodes.Min }) {
		return cut
	}
	return sets
}

// cutSets is the scan of a key, cut where the leaf changes.
func (g *Generator) cutSets(key scanKey, a *Variant, s *place.Spec) *scan {
	key.tree = s.Tree()
	return g.scans.get(key, g.views.For(s, a.Crosses))
}
