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
	// BestDraft has the book hold the best draft only: of each job the bid that this consists of. It
	// is for those who only want to know where the jobs could be, and takes a part of the time.
	BestDraft bool
	// FixedOnly is for when nobody but those with a Fixed allocation can start: others make no bids.
	FixedOnly bool
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

	rest     place.Residual // what a draft leaves; all that is free when none is made
	placer   place.Placer
	drafts   []draft
	favoured []bool     // by job: those that a draft has moved to the front
	jobs     []job      // those with a valid request
	all      int        // how many there are in all
	out      []bool     // by variant: no draft has a place for it
	turn     []int32    // a job's variants in the order in which a draft tries them
	raising  bool       // bids get all free GPUs of their nodes
	part     place.Spec // scratch
	scans    scanCache
	nodes    nodeSets
	spans    []place.Span
	sprawl   place.Sprawl
	spots    []place.Spot
	berths   []berth // scratch
	tier     int     // up to which the scans go that bids are made of

	standings, better []place.Standing // of a variant's bids: by bid, and in order
	cheapest          []int32          // its bids that start at the least cost, where prices say so
}

// job is a job of the window: its variants, and the valid one with the fewest special wishes. That
// one says when a draft that serves the hard jobs first comes to it.
type job struct {
	first, to, easy int32
	density         float64 // its priority for what it needs at least
}

// A draft is a schedule of the whole window made job after job, each on what the earlier ones left.
// The papers' "SLURM bids" (aucsched1, section 5) come from one draft in queue order. Others move a
// job that came off badly to the front (squeaky wheel optimisation, Joslin and Clements 1999).
type draft struct {
	order []int32 // jobs
	// got[j] is what variant j got, at most one of a job: segs[got[j].first:got[j].last].
	got   []share
	segs  []nodeset.Segment
	worth int64
	lost  int // jobs that got nothing
}

type share struct{ first, last int32 }

func (s share) empty() bool { return s.first == s.last }

// berth is a place for a share of a GPU.
type berth struct {
	node  int32
	bin   uint8
	spare int64 // shares that are left over there; of a GPU that is whole all that it has
	nth   int   // of the GPUs of the node that are whole, from 1; 0: it is in shared use
}

// bidsLeft is how many bids variant j may still make.
func (g *Generator) bidsLeft(j int) int {
	return g.opts.MaxBidsPerJob - (len(g.book.Bids) - int(g.book.JobStart[j]))
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

// ownLayout is how a job spreads over its nodes when it bids alone: evenly if it named their
// number, otherwise over as few as possible.
func ownLayout(s *place.Spec, packed place.Layout) place.Layout {
	if s.NodesGiven {
		return place.Level
	}
	return packed
}

// add makes a bid of job j from the segments at the end of the book, unless the job has that bid
// already, and returns its index. It returns -1 if the bid passes a quota by itself, or the job has
// all its bids, as when it keeps an allocation and there are MaxBidsPerJob drafts.
func (g *Generator) add(j, from int) int32 {
	b, segs := g.book, g.book.Segs[from:]
	if g.raising {
		b.Segs = g.placer.RaiseGPUs(b.Segs, from, g.viewOf(j), &g.specs[j], nil, 0)
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
	g.nodes.add(segs)
	bid.Job, bid.First, bid.Last = int32(j), int32(from), int32(len(b.Segs))
	b.Bids = append(b.Bids, bid)
	return int32(len(b.Bids) - 1)
}

// nameBins has an allocation of variant j name the GPU of its share, if it asks for one and none is
// named.
func (g *Generator) nameBins(j int, segs []nodeset.Segment) bool {
	uses, view := g.specs[j].More(), g.rest.View(g.variants[j].Crosses)
	if g.space.Now.ShareOf(uses) == 0 {
		return true
	}
	return place.ChooseBins(view, segs, uses, nil) && view.FitsWith(segs, uses)
}

// Describe is the bid of a variant with a valid Spec for an allocation that suits it, as if it were
// the variant's only one: Class, GPUs and Preference only. The variant need not be of the window.
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
	sets := g.scans.get(keyOf(a, s, gpus), g.rest.For(s, a.Crosses))
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

// lowerBySpare lowers the preference f of a bid for a share by what is left over of its GPU. It
// goes down to a quarter where a whole GPU is taken.
func (g *Generator) lowerBySpare(f float64, s nodeset.Segment, share int64) float64 {
	t := g.space.Now
	resource, ok := t.Shares()
	if !ok || int(s.Bin) > len(t.BinsLeft(int(s.First))) {
		return f
	}
	loose := 1.0
	if free, inUse := t.BinFree(int(s.First), s.Bin); inUse {
		loose = float64(max(free-share, 0)) / float64(t.TotalOf(resource)[s.First])
	}
	return f * (1 - float64(0.75*loose))
}

// viewOf is what job j may take of all that is free.
func (g *Generator) viewOf(j int) *nodeset.Table {
	return g.rest.For(&g.specs[j], g.variants[j].Crosses)
}

// setsOf are the nodesets that job j may use with k GPUs a node, on its tiers up to g.tier.
func (g *Generator) setsOf(j, k int) *scan {
	return g.scans.get(g.tierKey(j, k), g.viewOf(j))
}

// cutSets is the scan of a key, cut where the leaf changes.
func (g *Generator) cutSets(key scanKey, a *Variant, s *place.Spec) *scan {
	key.tree = s.Tree()
	return g.scans.get(key, g.rest.For(s, a.Crosses))
}

func (g *Generator) tierKey(j, k int) scanKey {
	key := keyOf(&g.variants[j], &g.specs[j], k)
	if tiers := g.specs[j].Tiers; g.tier < tiers.Count() {
		key.tiers, key.tier = tiers, g.tier
	}
	return key
}
