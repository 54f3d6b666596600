// SPDX-License-Identifier: BSD-3-Clause

package bids

import (
	"slices"

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
}

func (o *Options) stopped() bool { return o.Stop != nil && o.Stop() }

// Generator makes bids. The zero Generator is ready; it keeps scratch memory only,
// so that generating for windows of one size allocates nothing in steady state.
type Generator struct {
	asks   []Ask
	shapes []shape // minNodes 0 marks an invalid request
	space  *Space
	opts   Options
	book   *Book

	rest     Rest
	placer   Placer
	drafts   []draft
	limits   limits
	favoured []bool // by first ask: jobs that a draft has moved to the front
	easy     []int32
	turn     []int32           // a job's asks in the order in which a draft tries them
	raising  bool              // bids get all free GPUs of their nodes
	raised   []nodeset.Segment // scratch
	noGPU    nodeset.Mask
	views    Rest // never taken from: the full views of the space
	scans    scanCache
	nodes    nodeSetIndex
	spans    []span
	draftBid [][]int32 // by draft: the bid of each job in it, or -1
	flat     Flat
	dear     bool // flat prices are not all 0
}

// Generate fills book with the bids of the asks, which are in queue order. Asks
// whose request is not valid, or that nothing suits, have no bids. Describe speaks of
// the same window until the next call.
func (g *Generator) Generate(space *Space, asks []Ask, o Options, book *Book) {
	g.begin(space, asks, o, book)
	g.makeDrafts(min(o.Drafts, o.MaxBidsPerJob), false)
	g.makeBids(true)
}

// GenerateDraft is as Generate, save that book has the best draft only: of each job the bid that
// this consists of, and its offer. It is for those who only want to know where the jobs could be,
// and takes a part of the time.
func (g *Generator) GenerateDraft(space *Space, asks []Ask, o Options, book *Book) {
	g.begin(space, asks, o, book)
	g.makeDrafts(min(o.Drafts, o.MaxBidsPerJob), true)
	g.drafts = g.drafts[:min(1, len(g.drafts))]
	g.makeBids(false)
}

func (g *Generator) begin(space *Space, asks []Ask, o Options, book *Book) {
	g.space, g.asks, g.opts, g.book = space, asks, o, book
	book.reset()
	g.shapes = g.shapes[:0]
	for i := range asks {
		s, err := asks[i].shape()
		if err != nil {
			s = shape{}
		}
		s.contiguous = s.contiguous || o.ContiguousOnly // in drafts as well
		if b := asks[i].Blocks; b > 0 {
			s.blocks = b + 1
		}
		g.shapes = append(g.shapes, s)
	}
	g.findEasy()
	g.views.Reset(space)
	g.scans.reset()
	g.nodes.reset()
	g.flat.Solve(space, asks, nil, 0)
	g.dear = slices.Max(g.flat.price) > 0
}

// makeBids bids what jobs have from elsewhere and from drafts, and with alone what they bid by
// themselves.
func (g *Generator) makeBids(alone bool) {
	g.resetDraftBids()
	for j := range g.asks {
		if g.shapes[j].minNodes > 0 {
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
		g.book.JobStart = append(g.book.JobStart, int32(len(g.book.Bids)))
	}
	g.book.NodeSets = g.nodes.count
	g.listDrafts()
}

func (g *Generator) resetDraftBids() {
	for len(g.draftBid) < len(g.drafts) {
		g.draftBid = append(g.draftBid, nil)
	}
	for i := range g.drafts {
		b := g.draftBid[i][:0]
		for range g.asks {
			b = append(b, -1)
		}
		g.draftBid[i] = b
	}
}

// bidKept bids what the job's Ask says. Book.Kept lists these bids.
func (g *Generator) bidKept(j int) {
	if keep := g.asks[j].Keep; len(keep) > 0 {
		from := len(g.book.Segs)
		g.book.Segs = append(g.book.Segs, keep...)
		g.book.Kept = append(g.book.Kept, g.add(j, from))
	}
}

// bidOffer bids what was offered to job j, unless a reservation is in the way.
func (g *Generator) bidOffer(j int) {
	offer := g.asks[j].Offer
	if len(offer) == 0 || !g.views.View(g.asks[j].Crosses).Fits(offer) {
		return
	}
	from := len(g.book.Segs)
	g.book.Segs = append(g.book.Segs, offer...)
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

// listDrafts tells the book which bids make up each draft.
func (g *Generator) listDrafts() {
	for i := range g.drafts {
		g.book.addDraft(g.draftBid[i])
	}
}

// bidAlone fills ask j's bids up by the papers' classes, the highest GPU count of
// its range first. If its nodes may give different numbers, each gives what it has free.
func (g *Generator) bidAlone(j int) {
	s := &g.shapes[j]
	start := int(g.book.JobStart[j])
	room := func() int { return g.opts.MaxBidsPerJob - (len(g.book.Bids) - start) }
	high := min(s.maxGPUs, g.space.Now.MaxGPUs())
	if high < s.minGPUs {
		return
	}
	rounds := high - s.minGPUs + 1
	if s.mixed { // once more with the fewest, so that others can have the rest
		rounds++
	}
	for ; rounds > 0; rounds-- {
		k := s.minGPUs + rounds - 1
		if g.raising = s.mixed && rounds > 1; g.raising {
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
	g.bidAligned(j, k, sets, (quota+1)/2)
	if !g.shapes[j].contiguous {
		g.bidCombined(j, k, sets, min(left(), max(1, quota/4)))
	}
	g.bidInside(j, k, sets, min(left(), max(1, quota/4)))
	g.bidAligned(j, k, sets, left())
}

// bidAligned adds class A bids: both ends of the nodesets, the tightest first.
func (g *Generator) bidAligned(j, k int, sets *scan, quota int) {
	s, t := &g.shapes[j], g.views.View(g.asks[j].Crosses)
	end := len(g.book.Bids) + quota
	for i := sets.firstWith(int64(s.cores)); i < len(sets.bySize) && len(g.book.Bids) < end; i++ {
		set := sets.sets[sets.bySize[i]]
		if set.Len() < s.minNodes {
			continue
		}
		if sp, ok := s.fitUp(t, int(set.First), int(set.Last)); ok {
			g.addSpans(j, k, append(g.spans[:0], sp), s.ownLayout(packUp))
		} else {
			continue
		}
		if len(g.book.Bids) >= end {
			return
		}
		if sp, ok := s.fitDown(t.FreeCores(), int(set.First), int(set.Last)); ok {
			g.addSpans(j, k, append(g.spans[:0], sp), s.ownLayout(packDown))
		}
	}
}

// ownLayout is how a job of this shape spreads over its nodes when it bids alone:
// evenly if it named their number, otherwise over as few as possible.
func (s *shape) ownLayout(packed layout) layout {
	if s.nodesGiven {
		return level
	}
	return packed
}

// bidInside adds class B bids at multiples of the job's own width, so that bids of
// jobs of one width lie edge to edge. Which multiples differs from job to job.
func (g *Generator) bidInside(j, k int, sets *scan, quota int) {
	s, t := &g.shapes[j], g.views.View(g.asks[j].Crosses)
	end := len(g.book.Bids) + quota
	for i := len(sets.bySize) - 1; i >= 0 && len(g.book.Bids) < end; i-- {
		set := sets.sets[sets.bySize[i]]
		if set.Cores < int64(s.cores) {
			return
		}
		sp, ok := s.fitUp(t, int(set.First), int(set.Last))
		if !ok {
			continue
		}
		width := sp.last - sp.first + 1
		slots := set.Len() / width
		for m := 1; m < slots-1 && m <= quota && len(g.book.Bids) < end; m++ {
			at := int(set.First) + width*(1+(j+(m-1)*max(1, slots/quota))%max(1, slots-2))
			if sp, ok := s.fitUp(t, at, int(set.Last)); ok {
				g.addSpans(j, k, append(g.spans[:0], sp), s.ownLayout(packUp))
			}
		}
	}
}

// bidCombined adds class C bids: runs of neighbouring nodesets from different
// beginnings, and the fewest nodesets that hold the job.
func (g *Generator) bidCombined(j, k int, sets *scan, quota int) {
	s, t := &g.shapes[j], g.views.View(g.asks[j].Crosses)
	n := len(sets.sets)
	end := len(g.book.Bids) + quota
	if n == 0 {
		return
	}
	g.placer.sets = append(g.placer.sets[:0], sets.sets...)
	if len(g.book.Bids) < end && g.placer.several(s, t) {
		g.addSpans(j, k, g.placer.spans, s.ownLayout(packUp))
	}
	for m := 0; m < quota && len(g.book.Bids) < end; m++ {
		if g.neighbours(s, t, sets.sets, (j+m*max(1, n/max(1, quota)))%n) {
			g.addSpans(j, k, g.spans, s.ownLayout(packUp))
		}
	}
}

// neighbours fills g.spans with nodesets from sets[from] on until they hold the
// job, and reports whether they do.
func (g *Generator) neighbours(s *shape, t *nodeset.Table, sets []nodeset.Set, from int) bool {
	g.spans = g.spans[:0]
	var y tally
	for _, set := range sets[from:] {
		if n := y.take(s, t, int(set.First), int(set.Last)); n > int(set.First) {
			g.spans = append(g.spans, span{int(set.First), n - 1})
		}
		if y.enough(s) {
			return s.together(g.spans)
		}
		if y.nodes >= s.maxNodes {
			return false
		}
	}
	return false
}

func (g *Generator) addSpans(j, k int, spans []span, l layout) {
	from := len(g.book.Segs)
	t, s := g.views.View(g.asks[j].Crosses), &g.shapes[j]
	g.book.Segs = g.placer.spread(g.book.Segs, t, s, spans, l, k)
	if g.raising {
		g.raised = appendRaised(g.raised[:0], g.book.Segs[from:], t.FreeGPUs(), s.maxGPUs)
		g.book.Segs = append(g.book.Segs[:from], g.raised...)
	}
	g.add(j, from)
}

// add makes a bid of job j from the segments at the end of the book, unless the
// job has that bid already, and returns its index; -1 if the job has all its bids, as
// when it keeps an allocation and there are MaxBidsPerJob drafts.
func (g *Generator) add(j, from int) int32 {
	b, segs := g.book, g.book.Segs[from:]
	for i := int(b.JobStart[j]); i < len(b.Bids); i++ {
		if slices.Equal(b.Allocation(i), segs) {
			b.Segs = b.Segs[:from]
			return int32(i)
		}
	}
	if len(b.Bids)-int(b.JobStart[j]) >= g.opts.MaxBidsPerJob {
		b.Segs = b.Segs[:from]
		return -1
	}
	bid := g.rate(&g.asks[j], &g.shapes[j], segs)
	bid.Job, bid.NodeSet = int32(j), g.nodes.of(b, segs)
	bid.First, bid.Last = int32(from), int32(len(b.Segs))
	b.Bids = append(b.Bids, bid)
	return int32(len(b.Bids) - 1)
}

// Describe is the bid of any job, of the window or not, for an allocation that suits
// it: Class, GPUs and Preference only. It fails for a request that is not valid.
func (g *Generator) Describe(a *Ask, segs []nodeset.Segment) (Bid, error) {
	s, err := a.shape()
	if err != nil {
		return Bid{}, err
	}
	return g.rate(a, &s, segs), nil
}

func (g *Generator) rate(a *Ask, s *shape, segs []nodeset.Segment) Bid {
	gpus := int(leastGPUs(segs))
	sets := g.sets(a, s, gpus)
	class, blocks := sets.classify(segs)
	f := Preference(s.nodesGiven, class, nodeset.Nodes(segs), g.space.Now.Len(), blocks, len(sets.sets))
	if s.mixed {
		f = raiseForMixed(f, segs, s.minGPUs, s.maxGPUs)
	} else {
		f = raiseForGPUs(f, gpus, s.minGPUs, s.maxGPUs)
	}
	return Bid{Class: class, GPUs: uint8(gpus), Preference: a.lowerByRank(f)}
}

// setsOf are the nodesets that job j may use with k GPUs a node.
func (g *Generator) setsOf(j, k int) *scan { return g.sets(&g.asks[j], &g.shapes[j], k) }

func (g *Generator) sets(a *Ask, s *shape, k int) *scan {
	return g.scans.get(keyOf(a, s, k), g.views.View(a.Crosses), a.Eligible)
}
