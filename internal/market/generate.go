// SPDX-License-Identifier: BSD-3-Clause

package market

import (
	"cmp"
	"slices"

	"github.com/aucsched/aucsched/internal/place"
)

// Generate fills book with the bids of the variants, which are in queue order.
// Those without a valid Spec, or that nothing suits, have no bids. Describe speaks of
// the same window until the next call.
func (g *Generator) Generate(space *Space, variants []Variant, o Options, book *Book) {
	g.space, g.variants, g.opts, g.book = space, variants, o, book
	book.reset()
	g.specs = g.specs[:0]
	for i := range variants {
		s := variants[i].Spec
		s.Contiguous = s.Contiguous || o.ContiguousOnly // in drafts as well
		if s.Blocks > 0 {
			s.Blocks++
		}
		if o.FixedOnly && len(variants[i].Fixed) == 0 {
			s = place.Spec{}
		}
		narrow(&space.Quotas, &s, variants[i].Crosses)
		g.specs = append(g.specs, s)
	}
	g.findJobs()
	g.rest.Reset(space.Now, space.Left)
	g.rest.Limit(&space.Quotas)
	g.scans.scans.Reset()
	if g.nodes == nil {
		g.nodes = make(nodeSets)
	}
	clear(g.nodes)
	g.makeDrafts(min(o.Drafts, o.MaxBidsPerJob), o.BestDraft)
	g.makeBids(!o.BestDraft)
}

// narrow has s ask for no more nodes and GPUs than some allocation within the quotas has by itself;
// with none s becomes the zero Spec, which makes no bid.
func narrow(q *place.Quotas, s *place.Spec, crosses int) {
	if s.Charges == nil || !s.Valid() {
		return
	}
	if s.GPUs.PerNode.Max = q.MostGPUs(s, crosses); !q.Narrow(s, crosses, s.GPUs.PerNode.Min) {
		*s = place.Spec{}
	}
	s.MixedGPUs = s.MixedGPUs && s.GPUs.PerNode.Min < s.GPUs.PerNode.Max
}

// makeBids bids what jobs get in drafts, and with all what they have from elsewhere and, as long as there
// is time, what they bid by themselves.
func (g *Generator) makeBids(all bool) {
	alone := all
	for j := range g.variants {
		g.cheapest = g.cheapest[:0]
		if g.specs[j].Nodes.Min > 0 {
			if all {
				g.bidKept(j)
				g.bidOffer(j)
			}
			g.bidDrafts(j)
			if alone = alone && (j == 0 || !g.opts.stopped()); alone {
				g.bidAlone(j)
			}
		}
		if alone {
			g.book.Asked = j + 1
		}
		if all && len(g.book.Bids) > int(g.book.JobStart[j]) {
			g.prefer(j)
		}
		g.book.JobStart = append(g.book.JobStart, int32(len(g.book.Bids)))
	}
	g.book.NodeSets = len(g.nodes)
}

// bidKept bids what the job's Variant says. Book.Kept lists these bids.
func (g *Generator) bidKept(j int) {
	if keep := g.variants[j].Fixed; len(keep) > 0 {
		from := len(g.book.Segs)
		g.book.Segs = append(g.book.Segs, keep...)
		g.book.Kept = append(g.book.Kept, g.add(j, from))
	}
}

// bidOffer bids what was offered to job j, unless a reservation is in the way.
func (g *Generator) bidOffer(j int) {
	offer := g.variants[j].Offer
	if len(offer) == 0 || !g.rest.View(g.variants[j].Crosses).FitsWith(offer, g.specs[j].More()) {
		return
	}
	from := len(g.book.Segs)
	g.book.Segs = append(g.book.Segs, offer...)
	if !g.nameBins(j, g.book.Segs[from:]) {
		g.book.Segs = g.book.Segs[:from]
		return
	}
	if b := g.add(j, from); b >= 0 {
		g.book.Bids[b].Class = ClassS
	}
}

// bidDrafts bids what job j got in each draft.
func (g *Generator) bidDrafts(j int) {
	for i := range g.drafts {
		d := &g.drafts[i]
		if d.got[j].empty() {
			continue
		}
		from := len(g.book.Segs)
		g.book.Segs = append(g.book.Segs, d.segs[d.got[j].first:d.got[j].last]...)
		g.add(j, from)
	}
}

// bidAlone fills variant j's bids up by the papers' classes, the highest GPU count of
// its range first. If its nodes may give different numbers, each gives what it has free.
func (g *Generator) bidAlone(j int) {
	s := &g.specs[j]
	if s.Parts != nil {
		g.bidParts(j)
		return
	}
	all := s.Tiers.Count()
	g.tier = all
	if priced := g.opts.Prices.Priced(s); priced || s.Tiers.Differ(g.setsOf(j, s.GPUs.PerNode.Min).sets) {
		if g.bidBest(j); !priced {
			g.cheapest = g.cheapest[:0]
		}
	}
	light := place.FirstOf(all, func(k int) bool {
		g.tier = k
		return s.MayBeOn(g.setsOf(j, s.GPUs.PerNode.Min).sets)
	})
	if g.tier = light; light < all { // half of its bids are where they should be
		g.bidTiers(j, g.bidsLeft(j)-g.bidsLeft(j)/2)
	}
	g.tier = all
	g.bidTiers(j, g.bidsLeft(j))
}

// partTurns is how many bids a job of several parts makes by itself.
const partTurns = 8

// bidParts bids for variant j, a job of several parts, as if it were alone. Each part is last in
// its turn, or each switch is tried in turn, with the most GPUs and with the fewest.
func (g *Generator) bidParts(j int) {
	a, s := &g.variants[j], &g.specs[j]
	for turn := range min(g.bidsLeft(j), partTurns) {
		o := place.PartsOptions{Layout: ownLayout(s, place.PackUp), MostGPUs: turn%2 == 0, Turn: turn / 2, Fast: turn > 0}
		from := len(g.book.Segs)
		segs, ok := g.placer.PlaceParts(g.book.Segs, g.viewOf(j), s, o, g.rest.Quotas(), a.Crosses)
		if g.book.Segs = segs; ok {
			g.add(j, from)
		} else if turn == 0 {
			return
		}
	}
}

// bidBest bids for the place that the placer has for variant j, with each number of GPUs that it may
// have, the highest first.
func (g *Generator) bidBest(j int) {
	a, s := &g.variants[j], &g.specs[j]
	t := g.viewOf(j)
	if len(a.Fixed) > 0 && g.opts.Prices.Sees(a.Limit) { // by prices too, and beside others
		g.cheapest = append(g.cheapest, g.book.JobStart[j])
		return
	}
	g.placer.By(g.opts.Prices, a.Limit)
	for k := min(s.GPUs.PerNode.Max, t.MaxGPUs()); k >= s.GPUs.PerNode.Min; k-- {
		from, ok := len(g.book.Segs), false
		if g.book.Segs, ok = g.placer.PlaceAs(g.book.Segs, t, s, k, ownLayout(s, place.PackUp)); !ok {
			continue
		}
		if !g.nameBins(j, g.book.Segs[from:]) {
			g.book.Segs = g.book.Segs[:from]
			continue
		}
		g.cheapest = append(g.cheapest, g.add(j, from))
	}
}

// bidTiers makes so many bids of variant j at most on its tiers up to g.tier.
func (g *Generator) bidTiers(j, most int) {
	s := &g.specs[j]
	if g.space.Now.ShareOf(s.More()) > 0 {
		g.bidShares(j, most)
		return
	}
	end := len(g.book.Bids) + most
	room := func() int { return end - len(g.book.Bids) }
	high := min(s.GPUs.PerNode.Max, g.space.Now.MaxGPUs())
	if high < s.GPUs.PerNode.Min {
		return
	}
	rounds := high - s.GPUs.PerNode.Min + 1
	if s.MixedGPUs { // once more with the fewest, so that others can have the rest
		rounds++
	}
	for ; rounds > 0; rounds-- {
		k := s.GPUs.PerNode.Min + rounds - 1
		if g.raising = s.MixedGPUs && rounds > 1; g.raising {
			k--
		}
		// The counts still to come share what is left of the job's bids.
		g.bidCount(j, k, (room()+rounds-1)/rounds)
	}
	g.raising = false
}

// bidCount adds at most quota bids of job j with k GPUs a node.
func (g *Generator) bidCount(j, k, quota int) {
	if quota <= 0 {
		return
	}
	end := len(g.book.Bids) + quota
	left := func() int { return end - len(g.book.Bids) }
	sets := g.setsOf(j, k)
	if s := &g.specs[j]; s.Below != nil && s.Nodes.Max > 1 {
		g.bidBelow(j, k, sets, (quota+1)/2)
		sets = g.setsBelow(j, k, sets)
	}
	g.bidAligned(j, k, sets, (left()+1)/2)
	if !g.specs[j].Contiguous {
		g.bidCombined(j, k, sets, min(left(), max(1, quota/4)))
	}
	g.bidInside(j, k, sets, min(left(), max(1, quota/4)))
	g.bidAligned(j, k, sets, left())
}

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

// bidAligned adds class A bids: both ends of the nodesets, the tightest first.
func (g *Generator) bidAligned(j, k int, sets *scan, quota int) {
	s, t := &g.specs[j], g.viewOf(j)
	end := len(g.book.Bids) + quota
	for i := sets.firstWith(int64(s.Cores.Total)); i < len(sets.bySize) && len(g.book.Bids) < end; i++ {
		set := sets.sets[sets.bySize[i]]
		if set.Len() < s.Nodes.Min {
			continue
		}
		if sp, ok := s.FitUp(t, int(set.First), int(set.Last)); ok {
			g.addSpan(j, k, sp, ownLayout(s, place.PackUp))
		} else {
			continue
		}
		if len(g.book.Bids) >= end {
			return
		}
		if sp, ok := s.FitDown(t.FreeCores(), int(set.First), int(set.Last)); ok {
			g.addSpan(j, k, sp, ownLayout(s, place.PackDown))
		}
	}
}

// bidInside adds class B bids at multiples of the job's own width, so that bids of
// jobs of one width lie edge to edge. Which multiples differs from job to job.
func (g *Generator) bidInside(j, k int, sets *scan, quota int) {
	s, t := &g.specs[j], g.viewOf(j)
	end := len(g.book.Bids) + quota
	for i := len(sets.bySize) - 1; i >= 0 && len(g.book.Bids) < end; i-- {
		set := sets.sets[sets.bySize[i]]
		if set.Cores < int64(s.Cores.Total) {
			return
		}
		sp, ok := s.FitUp(t, int(set.First), int(set.Last))
		if !ok {
			continue
		}
		width := sp.Last - sp.First + 1
		slots := set.Len() / width
		for m := 1; m < slots-1 && m <= quota && len(g.book.Bids) < end; m++ {
			at := int(set.First) + width*(1+(j+(m-1)*max(1, slots/quota))%max(1, slots-2))
			if sp, ok := s.FitUp(t, at, int(set.Last)); ok {
				g.addSpan(j, k, sp, ownLayout(s, place.PackUp))
			}
		}
	}
}

// bidCombined adds class C bids: runs of neighbouring nodesets from different
// beginnings, and the fewest nodesets that hold the job.
func (g *Generator) bidCombined(j, k int, sets *scan, quota int) {
	s, t := &g.specs[j], g.viewOf(j)
	n := len(sets.sets)
	end := len(g.book.Bids) + quota
	if n == 0 {
		return
	}
	if len(g.book.Bids) < end {
		if spans, ok := g.placer.Several(s, t, sets.sets); ok {
			g.addSpans(j, k, spans, ownLayout(s, place.PackUp))
		}
	}
	for m := 0; m < quota && len(g.book.Bids) < end; m++ {
		from := (j + m*max(1, n/max(1, quota))) % n
		if spans, ok := g.placer.Neighbours(s, t, sets.sets[from:]); ok {
			g.addSpans(j, k, spans, ownLayout(s, place.PackUp))
		}
	}
}

// prefer sets the preferences of all bids of variant j. Of those with as many GPUs the cheapest,
// then the better places are preferred; of equals equation 12 decides.
func (g *Generator) prefer(j int) {
	a, s, own := &g.variants[j], &g.specs[j], g.book.Bids[g.book.JobStart[j]:]
	g.standings, g.better = g.standings[:0], g.better[:0]
	g.tier = s.Tiers.Count()
	g.placer.Survey(s, g.viewOf(j), g.setsOf(j, s.GPUs.PerNode.Min).sets)
	for i := range own {
		g.standings = append(g.standings, g.placer.Standing(s, g.book.Segs[own[i].First:own[i].Last]))
	}
	g.better = append(g.better, g.standings...)
	slices.SortFunc(g.better, place.Standing.Compare)
	g.better = slices.Compact(g.better)
	for i := range own {
		worse, _ := slices.BinarySearchFunc(g.better, g.standings[i], place.Standing.Compare)
		first := min(len(g.cheapest), 1)
		if worse += first; slices.Contains(g.cheapest, g.book.JobStart[j]+int32(i)) {
			worse = 0
		}
		f := lowerByPlace(own[i].Preference, worse, len(g.better)+first)
		own[i].Preference = a.raise(s, f, g.book.Segs[own[i].First:own[i].Last])
	}
}

// bidShares bids for at most so many places where variant j, which asks for a share of a GPU, fits.
// The tightest comes first, then others, which differ from job to job. GPUs that no one shares yet
// come last, a node's first before its second: the model takes them in this order.
func (g *Generator) bidShares(j, room int) {
	g.findBerths(j)
	n := len(g.berths)
	for m := 0; m < n && room > 0; m++ {
		at := m
		if m > 0 && n > g.opts.MaxBidsPerJob {
			at = 1 + (j+m-1)%(n-1)
		}
		from, before, b := len(g.book.Segs), len(g.book.Bids), g.berths[at]
		g.spans = append(g.spans[:0], place.Span{First: int(b.node), Last: int(b.node)})
		g.book.Segs = g.placer.Spread(g.book.Segs, g.viewOf(j), &g.specs[j], g.spans, place.Level, 0)
		g.book.Segs[from].Bin = b.bin
		g.add(j, from)
		room -= len(g.book.Bids) - before
	}
}

// findBerths sets g.berths to all places of variant j, the tightest first.
func (g *Generator) findBerths(j int) {
	s, a := &g.specs[j], &g.variants[j]
	share, r, t := g.space.Now.ShareOf(s.More()), g.rest.View(a.Crosses), g.viewOf(j)
	resource, _ := r.Shares()
	g.berths = g.berths[:0]
	for _, set := range g.setsOf(j, 0).sets {
		for n := int(set.First); n <= int(set.Last); n++ {
			if s.Room(t.Free(n)) < s.Cores.On(1) {
				continue
			}
			nth, whole := 0, int(r.Free(n).GPUs)
			for i, free := range r.BinsLeft(n) {
				switch bin, size := uint8(i+1), r.TotalOf(resource)[n]; {
				case int64(free) >= share:
					g.berths = append(g.berths, berth{int32(n), bin, int64(free) - share, 0})
				case free < 0 && nth < whole && share <= size:
					nth++
					g.berths = append(g.berths, berth{int32(n), bin, size, nth})
				}
			}
		}
	}
	slices.SortFunc(g.berths, func(a, b berth) int {
		return cmp.Or(cmp.Compare(a.spare, b.spare), a.nth-b.nth, int(a.node-b.node), int(a.bin)-int(b.bin))
	})
}
