// SPDX-License-Identifier: BSD-3-Clause

package market

import (
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// placeParts appends the allocation of a job of several parts on what the jobs before it have left.
func (g *Generator) placeParts(dst []nodeset.Segment, j int32, style draftStyle) ([]nodeset.Segment, bool) {
	a, s := &g.variants[j], &g.specs[j]
	if cores, _ := g.rest.View(a.Crosses).SumFree(); s.LeastCores() > cores {
		return dst, false
	}
	o := place.PartsOptions{Layout: style.layout, MostGPUs: style.greedyGPUs}
	return g.placer.PlaceParts(dst, g.rest.View(a.Crosses), s, o, g.rest.Quotas(), a.Crosses)
}

// partTurns is how many bids a job of several parts makes by itself.
const partTurns = 8

// bidParts bids for variant j, a job of several parts, as if it were alone: each part in its turn
// last, or below each switch in turn, with the most GPUs and with the fewest.
func (g *Generator) bidParts(j int) {
	a, s := &g.variants[j], &g.specs[j]
	for turn := range min(g.bidsLeft(j), partTurns) {
		o := place.PartsOptions{Layout: ownLayout(s, place.PackUp), MostGPUs: turn%2 == 0, Turn: turn / 2}
		from := len(g.book.Segs)
		segs, ok := g.placer.PlaceParts(g.book.Segs, g.viewOf(j), s, o, g.views.Quotas(), a.Crosses)
		if g.book.Segs = segs; ok {
			g.add(j, from)
		} else if turn == 0 {
			return
		}
	}
}

// rateParts is rate for a bid of a job of several parts: the mean of its parts' preferences, and
// the class of the part that comes last in the alphabet.
func (g *Generator) rateParts(a *Variant, s *place.Spec, segs []nodeset.Segment) Bid {
	one := Variant{Crosses: a.Crosses}
	bid := Bid{GPUs: place.LeastGPUs(segs)}
	for rest := segs; len(rest) > 0; {
		var part []nodeset.Segment
		part, rest = place.CutPart(rest)
		g.part = s.Parts.Specs[part[0].Part]
		g.part.Contiguous = g.part.Contiguous || s.Contiguous
		b := g.rate(&one, &g.part, part)
		b.Preference = one.raise(&g.part, b.Preference, part)
		bid.Class = max(bid.Class, b.Class)
		bid.Preference += b.Preference
	}
	bid.Preference /= float64(len(s.Parts.Specs))
	return bid
}
