// SPDX-License-Identifier: BSD-3-Clause

package market

import (
	"cmp"
	"slices"

	"github.com/aucsched/aucsched/internal/place"
)

// bidShares bids for so many places at most where variant j, which asks for a share of a GPU, fits: first the one
// where it fits tightest, then others, which differ from job to job. GPUs that no one shares yet
// come last, the first of a node before its second one: the model takes them in this order.
func (g *Generator) bidShares(j, room int) {
	g.findBerths(j)
	n := len(g.berths)
	for m := 0; m < n && room > 0; m++ {
		at := m
		if m > 0 && n > g.opts.MaxBidsPerJob {
			at = 1 + (j+m-1)%(n-1)
		}
		before := len(g.book.Bids)
		g.bidBerth(j, g.berths[at])
		room -= len(g.book.Bids) - before
	}
}

// bidBerth bids for one place.
func (g *Generator) bidBerth(j int, b berth) {
	from, n := len(g.book.Segs), int(b.node)
	g.spans = append(g.spans[:0], place.Span{First: n, Last: n})
	g.book.Segs = g.placer.Spread(g.book.Segs, g.viewOf(j), &g.specs[j], g.spans, place.Level, 0)
	g.book.Segs[from].Bin = b.bin
	g.add(j, from)
}

// findBerths sets g.berths to all places of variant j, the tightest first.
func (g *Generator) findBerths(j int) {
	s, a := &g.specs[j], &g.variants[j]
	share, r, t := g.space.Now.ShareOf(s.More()), g.views.View(a.Crosses), g.viewOf(j)
	resource, _ := r.Shares()
	g.berths = g.berths[:0]
	for _, set := range g.setsOf(j, 0).sets {
		for n := int(set.First); n <= int(set.Last); n++ {
			if s.Room(t.Free(n)) < s.Cores.On(1) {
				continue
			}
			nth, whole := 0, int(r.Free(n).GPUs)
			for bin := 1; bin <= r.Bins(n); bin++ {
				free, inUse := r.BinFree(n, uint8(bin))
				switch {
				case inUse && free >= share:
					g.berths = append(g.berths, berth{int32(n), uint8(bin), free - share, 0})
				case !inUse && nth < whole && share <= r.TotalOf(resource)[n]:
					nth++
					g.berths = append(g.berths, berth{int32(n), uint8(bin), r.TotalOf(resource)[n], nth})
				}
			}
		}
	}
	slices.SortStableFunc(g.berths, func(a, b berth) int {
		return cmp.Or(cmp.Compare(a.spare, b.spare), cmp.Compare(a.nth, b.nth))
	})
}
