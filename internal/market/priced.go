// SPDX-License-Identifier: BSD-3-Clause

package market

import "github.com/aucsched/aucsched/internal/place"

// bidPriced bids for the node on which a start of variant j, a job of one node, costs least by
// Options.Prices, with each number of GPUs that it may have, the highest first.
func (g *Generator) bidPriced(j int) {
	a, s := &g.variants[j], &g.specs[j]
	t := g.viewOf(j)
	g.placer.By(g.opts.Prices, a.Limit)
	for k := min(s.GPUs.PerNode.Max, t.MaxGPUs()); k >= s.GPUs.PerNode.Min; k-- {
		from, ok := len(g.book.Segs), false
		if g.book.Segs, ok = g.placer.PlaceAs(g.book.Segs, t, s, k, place.Level); !ok {
			continue
		}
		if !g.nameBins(j, g.book.Segs[from:]) {
			g.book.Segs = g.book.Segs[:from]
			continue
		}
		g.add(j, from)
	}
}
