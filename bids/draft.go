// SPDX-License-Identifier: BSD-3-Clause

package bids

import (
	"cmp"
	"slices"

	"github.com/aucsched/aucsched/nodeset"
)

// A draft is a schedule of the whole window made job after job, each on what the
// earlier ones left. The papers' "SLURM bids" (aucsched1, section 5) come from one
// draft in queue order; several orders, and moving a job that came off badly to
// the front of the next one (squeaky wheel optimisation, Joslin and Clements
// 1999), find allocations that leave room for each other.
type draft struct {
	order []int32 // jobs, by their first asks
	// got[j] is what ask j got, at most one of a job: segs[got[j].first:got[j].last].
	got   []share
	segs  []nodeset.Segment
	worth int64
	lost  int // jobs that got nothing
}

type share struct {
	first, last int32
	gpus        uint8
}

func (s share) empty() bool { return s.first == s.last }

// draftStyle are the choices that one draft makes throughout.
type draftStyle struct {
	greedyGPUs bool   // take the most GPUs of a range at once, not at the end
	thrifty    bool   // try a job's cheapest ask first, not the one that it likes best
	spareGPUs  bool   // jobs without GPUs keep off nodes with free ones if they can
	layout     layout // of jobs that name their number of nodes
	keep       bool   // jobs that keep an allocation have it
}

// makeDrafts fills g.drafts with at most n drafts, the one worth most first. With bestOnly it
// makes none after one that serves all jobs, for none is worth more.
func (g *Generator) makeDrafts(n int, bestOnly bool) {
	for cap(g.drafts) < n {
		g.drafts = append(g.drafts[:cap(g.drafts)], draft{})
	}
	g.drafts = g.drafts[:0]
	g.favoured = append(g.favoured[:0], make([]bool, len(g.asks))...)
	best := 0
	for i := range n {
		g.drafts = g.drafts[:i+1]
		enough := i > 0 && bestOnly && g.drafts[best].lost == 0
		if enough || (i > 0 && g.opts.stopped()) || !g.orderDraft(i, best) {
			g.drafts = g.drafts[:i]
			break
		}
		d := &g.drafts[i]
		style := draftStyle{greedyGPUs: i%2 == 0, thrifty: i%2 == 1, spareGPUs: i > 0, layout: level, keep: i > 0}
		if i > 3 && i%3 == 1 {
			style.layout = packUp
		}
		g.runDraft(d, style)
		if d.worth > g.drafts[best].worth {
			best = i
		}
	}
	if len(g.drafts) > 0 {
		g.drafts[0], g.drafts[best] = g.drafts[best], g.drafts[0]
	}
}

// orderDraft sets the order of draft i: queue order as Slurm goes, then two that
// serve the jobs with most special wishes first, then the best draft so far with
// its first loser that has not had its turn moved to the front. It reports false when
// nobody lost.
func (g *Generator) orderDraft(i, best int) bool {
	d := &g.drafts[i]
	d.order = d.order[:0]
	if i < 4 {
		d.order = g.appendJobs(d.order)
		switch i {
		case 1:
			slices.SortStableFunc(d.order, g.flexibleLast)
		case 2:
			slices.SortStableFunc(d.order, g.hardestFirst)
		case 3:
			slices.SortStableFunc(d.order, g.densestFirst)
		}
		return true
	}
	from := &g.drafts[best]
	if from.lost == 0 {
		return false
	}
	front, ok := g.loser(from)
	if !ok { // all losers have had their turn: go on from the last draft
		clear(g.favoured)
		from = &g.drafts[i-1]
		if front, ok = g.loser(from); !ok {
			return false
		}
	}
	g.favoured[front] = true
	d.order = append(d.order, front)
	for _, j := range from.order {
		if j != front {
			d.order = append(d.order, j)
		}
	}
	return true
}

// loser is the first job in queue order that got nothing in d and has not been
// moved to the front before.
func (g *Generator) loser(d *draft) (int32, bool) {
	for j := 0; j < len(g.asks); j = NextJob(g.asks, j) {
		if !g.favoured[j] && g.shapes[g.easy[j]].minNodes > 0 && !g.served(d, int32(j)) {
			return int32(j), true
		}
	}
	return 0, false
}

// flexibleLast puts jobs that name nodes or GPUs before those that only want to be
// contiguous, and these before those that can be anywhere.
func (g *Generator) flexibleLast(a, b int32) int {
	return cmp.Compare(g.flexibility(g.easy[a]), g.flexibility(g.easy[b]))
}

func (g *Generator) flexibility(j int32) int {
	s := &g.shapes[j]
	switch {
	case s.nodesGiven || s.minGPUs > 0:
		return 0
	case s.contiguous:
		return 1
	}
	return 2
}

// hardestFirst orders by GPUs a node, then contiguity, then size.
func (g *Generator) hardestFirst(a, b int32) int { return g.harder(g.easy[a], g.easy[b]) }

// harder is negative if ask a has more special wishes than ask b.
func (g *Generator) harder(a, b int32) int {
	x, y := &g.shapes[a], &g.shapes[b]
	return cmp.Or(
		cmp.Compare(g.flexibility(a), g.flexibility(b)),
		cmp.Compare(y.minGPUs, x.minGPUs),
		-compareBool(x.contiguous, y.contiguous),
		cmp.Compare(y.minNodes, x.minNodes),
		cmp.Compare(y.need(y.minNodes), x.need(x.minNodes)),
	)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

func (g *Generator) runDraft(d *draft, style draftStyle) {
	g.rest.Reset(g.space)
	g.limits = g.limits[:0]
	d.got = append(d.got[:0], make([]share, len(g.asks))...)
	d.segs, d.worth, d.lost = d.segs[:0], 0, len(d.order)
	if style.keep {
		g.keepInDraft(d)
	}
	for _, j := range d.order {
		if g.shapes[g.easy[j]].minNodes == 0 || g.served(d, j) { // no valid request, or kept
			continue
		}
		if g.opts.stopped() {
			break // what has been placed so far is a draft as well
		}
		for _, k := range g.turns(j, style) {
			if g.shapes[k].minNodes > 0 && g.tryInDraft(d, k, style) {
				break
			}
		}
	}
	g.raiseGPUs(d)
}

// tryInDraft gives ask j a place on what is left, if there is one.
func (g *Generator) tryInDraft(d *draft, j int32, style draftStyle) bool {
	a, from := &g.asks[j], int32(len(d.segs))
	segs, gpus, ok := g.placeInDraft(d.segs, j, style)
	if d.segs = segs; !ok {
		return false
	}
	must(g.rest.Take(d.segs[from:], a.Crosses))
	d.got[j] = share{from, int32(len(d.segs)), uint8(gpus)}
	d.worth += a.Priority
	d.lost--
	return true
}

// keepInDraft gives the jobs that keep an allocation just that.
func (g *Generator) keepInDraft(d *draft) {
	for j := range g.asks {
		a := &g.asks[j]
		if len(a.Keep) == 0 || g.shapes[j].minNodes == 0 {
			continue
		}
		from := int32(len(d.segs))
		d.segs = append(d.segs, a.Keep...)
		must(g.rest.Take(a.Keep, a.Crosses))
		d.got[j] = share{from, int32(len(d.segs)), leastGPUs(a.Keep)}
		d.worth += a.Priority
		d.lost--
	}
}

// raiseGPUs gives jobs with a GPU range, in queue order, the GPUs that nobody took.
func (g *Generator) raiseGPUs(d *draft) {
	for j := range g.asks {
		sh, s := &d.got[j], &g.shapes[j]
		if sh.empty() || int(sh.gpus) >= s.maxGPUs {
			continue
		}
		if s.mixed {
			g.raiseMixed(d, j)
			continue
		}
		segs := d.segs[sh.first:sh.last]
		t := g.rest.View(g.asks[j].Crosses)
		more := s.maxGPUs - int(sh.gpus)
		for _, seg := range segs {
			for n := seg.First; n <= seg.Last && more > 0; n++ {
				more = min(more, int(t.FreeGPUs()[n]))
			}
		}
		if more > 0 {
			g.rest.takeGPUs(segs, g.asks[j].Crosses, more)
			for i := range segs {
				segs[i].GPUs += uint8(more)
			}
			sh.gpus += uint8(more)
		}
	}
}

// densestFirst orders by falling priority for what a job needs, at flat prices.
func (g *Generator) densestFirst(a, b int32) int {
	return cmp.Compare(float64(float64(g.asks[b].Priority)*g.leastCost(a)), float64(float64(g.asks[a].Priority)*g.leastCost(b)))
}

// flatCost is what ask j pays at flat prices; its cores where there is enough of everything.
func (g *Generator) flatCost(j int32) float64 {
	if g.dear {
		return g.flat.cost(int(j))
	}
	return g.flat.jobs[j].cores
}
