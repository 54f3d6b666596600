// SPDX-License-Identifier: BSD-3-Clause

package market

import (
	"slices"

	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// Options of a Generator.
type Options struct {
	// MaxBidsPerJob is the papers' MAXBIDSPERJOB, at least 1; of a job that can be met in
	// several ways each has as many.
	MaxBidsPerJob int
	// Drafts is how many drafts of the whole window add a bid to each job, part
	// of MaxBidsPerJob. 0 gives the papers' bids only.
	Drafts int
	// ContiguousOnly leaves class C out, as in aucsched1's "contigonlybids" runs.
	ContiguousOnly bool
	// Stop, if not nil, is asked once a job; when it says true, the generator makes
	// do with the bids that it has. The first job makes its bids in any case.
	Stop func() bool
	// Prices, if not nil, say on which node a job of one node starts at the least cost: it bids
	// for that one first, and drafts have it there.
	Prices *place.Prices
}

func (o *Options) stopped() bool { return o.Stop != nil && o.Stop() }

// Generator makes bids. The zero Generator is ready; it keeps scratch memory only,
// so that generating for windows of one size allocates nothing in steady state.
type Generator struct {
	variants []Variant
	specs    []place.Spec // minNodes 0 marks an invalid request
	space    *Space
	opts     Options
	book     *Book

	rest     place.Residual
	placer   place.Placer
	drafts   []draft
	limits   limits
	favoured []bool // by first variant: jobs that a draft has moved to the front
	easy     []int32
	turn     []int32           // a job's variants in the order in which a draft tries them
	raising  bool              // bids get all free GPUs of their nodes
	raised   []nodeset.Segment // scratch
	loose    place.Spec        // scratch
	part     place.Spec        // scratch
	views    place.Residual    // never taken from: the full views of the space
	scans    scanCache
	nodes    nodeSets
	spans    []place.Span
	draftBid [][]int32 // by draft: the bid of each job in it, or -1
	flat     flat
	dear     bool // flat prices are not all 0
	sprawl   place.Sprawl
	spots    []place.Spot
	berths   []berth // scratch
	tier     int     // up to which the scans go that bids are made of

	standings, better []place.Standing // of a variant's bids: by bid, and in order
	cheapest          []int32          // its bids that start at the least cost, where prices say so
}

// Generate fills book with the bids of the variants, which are in queue order.
// Those without a valid Spec, or that nothing suits, have no bids. Describe speaks of
// the same window until the next call.
func (g *Generator) Generate(space *Space, variants []Variant, o Options, book *Book) {
	g.begin(space, variants, o, book)
	g.makeDrafts(min(o.Drafts, o.MaxBidsPerJob), false)
	g.makeBids(true)
}

// GenerateDraft is as Generate, save that book has the best draft only: of each job the bid that
// this consists of, and its offer. It is for those who only want to know where the jobs could be,
// and takes a part of the time.
func (g *Generator) GenerateDraft(space *Space, variants []Variant, o Options, book *Book) {
	g.begin(space, variants, o, book)
	g.makeDrafts(min(o.Drafts, o.MaxBidsPerJob), true)
	g.drafts = g.drafts[:min(1, len(g.drafts))]
	g.makeBids(false)
}

func (g *Generator) begin(space *Space, variants []Variant, o Options, book *Book) {
	g.space, g.variants, g.opts, g.book = space, variants, o, book
	book.reset()
	g.specs = g.specs[:0]
	for i := range variants {
		s := variants[i].Spec
		s.Contiguous = s.Contiguous || o.ContiguousOnly // in drafts as well
		if s.Blocks > 0 {
			s.Blocks++
		}
		narrow(&space.Quotas, &s, variants[i].Crosses)
		g.specs = append(g.specs, s)
	}
	g.findEasy()
	g.views.Reset(space.Now, space.Left)
	g.views.Limit(&space.Quotas)
	g.scans.reset()
	if g.nodes == nil {
		g.nodes = make(nodeSets)
	}
	clear(g.nodes)
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

// makeBids bids what jobs have from elsewhere and from drafts, and with alone what they bid by
// themselves.
func (g *Generator) makeBids(alone bool) {
	g.resetDraftBids()
	all := alone
	for j := range g.variants {
		g.cheapest = g.cheapest[:0]
		if g.specs[j].Nodes.Min > 0 {
			g.bidKept(j)
			g.bidOffer(j)
			g.bidDrafts(j)
			if alone = alone && (j == 0 || !g.opts.stopped()); alone {
				g.bidAlone(j)
			}
		}
		if alone {
			g.book.Asked = j + 1
		}
		if all {
			g.prefer(j)
		}
		g.book.JobStart = append(g.book.JobStart, int32(len(g.book.Bids)))
	}
	g.book.NodeSets = len(g.nodes)
	for i := range g.drafts {
		g.book.addDraft(g.draftBid[i])
	}
}

func (g *Generator) resetDraftBids() {
	for len(g.draftBid) < len(g.drafts) {
		g.draftBid = append(g.draftBid, nil)
	}
	for i := range g.drafts {
		b := g.draftBid[i][:0]
		for range g.variants {
			b = append(b, -1)
		}
		g.draftBid[i] = b
	}
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
	if len(offer) == 0 || !g.views.Fits(&g.specs[j], offer, g.variants[j].Crosses) {
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
		g.draftBid[i][j] = g.add(j, from)
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

// bidBest bids for the place that the placer has for variant j, with each number of GPUs that it may
// have, the highest first.
func (g *Generator) bidBest(j int) {
	a, s := &g.variants[j], &g.specs[j]
	t := g.viewOf(j)
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

// bidsLeft is how many bids variant j may still make.
func (g *Generator) bidsLeft(j int) int {
	return g.opts.MaxBidsPerJob - (len(g.book.Bids) - int(g.book.JobStart[j]))
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

// ownLayout is how a job spreads over its nodes when it bids alone: evenly if it named their
// number, otherwise over as few as possible.
func ownLayout(s *place.Spec, packed place.Layout) place.Layout {
	if s.NodesGiven {
		return place.Level
	}
	return packed
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

func (g *Generator) addSpan(j, k int, sp place.Span, l place.Layout) {
	g.spans = append(g.spans[:0], sp)
	g.addSpans(j, k, g.spans, l)
}

func (g *Generator) addSpans(j, k int, spans []place.Span, l place.Layout) {
	from := len(g.book.Segs)
	t, s := g.viewOf(j), &g.specs[j]
	g.book.Segs = g.placer.Spread(g.book.Segs, t, s, spans, l, k)
	g.add(j, from)
}

// add makes a bid of job j from the segments at the end of the book, unless the
// job has that bid already, and returns its index; -1 if it passes a quota by itself, or the job
// has all its bids, as when it keeps an allocation and there are MaxBidsPerJob drafts.
func (g *Generator) add(j, from int) int32 {
	b, segs := g.book, g.book.Segs[from:]
	if g.raising {
		g.raised = place.RaiseGPUs(g.raised[:0], segs, g.viewOf(j).FreeGPUs(), g.specs[j].GPUs.PerNode.Max)
		b.Segs = append(b.Segs[:from], g.raised...)
		segs = b.Segs[from:]
	}
	if !g.sprawl.Meets(&g.specs[j], segs) {
		b.Segs = b.Segs[:from]
		return -1
	}
	for i := int(b.JobStart[j]); i < len(b.Bids); i++ {
		if slices.Equal(b.Allocation(i), segs) {
			b.Segs = b.Segs[:from]
			return int32(i)
		}
	}
	full := len(b.Bids)-int(b.JobStart[j]) >= g.opts.MaxBidsPerJob
	if full || !g.space.Quotas.Room(&g.specs[j], segs, g.variants[j].Crosses) {
		b.Segs = b.Segs[:from]
		return -1
	}
	bid := g.rate(&g.variants[j], &g.specs[j], segs)
	bid.Job, bid.NodeSet = int32(j), g.nodes.of(segs)
	bid.First, bid.Last = int32(from), int32(len(b.Segs))
	b.Bids = append(b.Bids, bid)
	return int32(len(b.Bids) - 1)
}

// Bound is an upper bound on what any allocations of the last window's jobs could be worth, bid or
// not, in units of priority. A job is worth its priority and alpha; required is nil or says of each
// job whether it has to start. It is that of a market where a core is a core wherever it is, and a
// GPU a GPU: it asks nothing about nodes, and takes next to no time.
func (g *Generator) Bound(required []bool, alpha float64) float64 {
	return g.flat.solve(g.space, g.variants, required, alpha)
}

// prefer sets the preferences of all bids of variant j: of those with as many GPUs the cheapest and then
// the better places are preferred, and of equals equation 12 decides.
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

// Describe is the bid of any variant with a valid Spec, of the window or not, for an allocation
// that suits it, as if it were the variant's only one: Class, GPUs and Preference only.
func (g *Generator) Describe(a *Variant, segs []nodeset.Segment) Bid {
	bid := g.rate(a, &a.Spec, segs)
	bid.Preference = a.raise(&a.Spec, bid.Preference, segs)
	return bid
}

// rate is the bid of an allocation, of which the preference is that of equation 12.
func (g *Generator) rate(a *Variant, s *place.Spec, segs []nodeset.Segment) Bid {
	if s.Parts != nil {
		return g.rateParts(a, s, segs)
	}
	gpus := int(place.LeastGPUs(segs))
	sets := g.scans.get(keyOf(a, s, gpus), g.views.For(s, a.Crosses))
	if s.Below != nil && g.sprawl.Of(s.Below.Tree, 1, segs) == 1 {
		sets = g.cutSets(keyOf(a, s, gpus), a, s)
	}
	class, blocks := sets.classify(segs)
	f := preference(s.NodesGiven, class, nodeset.Nodes(segs), g.space.Now.Len(), blocks, len(sets.sets))
	if segs[0].Bin > 0 {
		f = g.lowerBySpare(f, segs[0], g.space.Now.ShareOf(s.More()))
	}
	return Bid{Class: class, GPUs: uint8(gpus), Preference: f}
}

// viewOf is what job j may take of all that is free.
func (g *Generator) viewOf(j int) *nodeset.Table {
	return g.views.For(&g.specs[j], g.variants[j].Crosses)
}

// setsOf are the nodesets that job j may use with k GPUs a node, on its tiers up to g.tier.
func (g *Generator) setsOf(j, k int) *scan {
	return g.scans.get(g.tierKey(j, k), g.viewOf(j))
}

func (g *Generator) tierKey(j, k int) scanKey {
	key := keyOf(&g.variants[j], &g.specs[j], k)
	if tiers := g.specs[j].Tiers; g.tier < tiers.Count() {
		key.tiers, key.tier = tiers, g.tier
	}
	return key
}
