// SPDX-License-Identifier: BSD-3-Clause

package market

import (
	"cmp"
	"math"
	"slices"

	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// makeDrafts fills g.drafts with at most n drafts. With bestOnly it leaves the one worth most alone,
// and makes none after one that serves all jobs, for none is worth more.
func (g *Generator) makeDrafts(n int, bestOnly bool) {
	for cap(g.drafts) < n {
		g.drafts = append(g.drafts[:cap(g.drafts)], draft{})
	}
	g.drafts, g.out = g.drafts[:0], g.out[:0]
	g.favoured = append(g.favoured[:0], make([]bool, len(g.jobs))...)
	for j := range g.variants {
		s := &g.specs[j]
		g.out = append(g.out, n > 0 && (s.Nodes.Min == 0 || g.placer.Lacks(g.rest.View(g.variants[j].Crosses), s)))
	}
	best := 0
	for i := range n {
		g.drafts = g.drafts[:i+1]
		if i > 0 && (bestOnly && g.drafts[best].lost == 0 || g.opts.stopped()) || !g.orderDraft(i, best) {
			g.drafts = g.drafts[:i]
			break
		}
		g.runDraft(&g.drafts[i], i%2 == 1)
		if g.drafts[i].worth > g.drafts[best].worth {
			best = i
		}
	}
	if bestOnly && len(g.drafts) > 0 {
		g.drafts[0], g.drafts[best] = g.drafts[best], g.drafts[0]
		g.drafts = g.drafts[:1]
	}
}

// orderDraft sets the order of draft i: queue order as Slurm goes, the jobs with most special
// wishes first, or those worth most for what they need first. Later ones are the best draft so far,
// with its first loser that has not had its turn in front. It reports false when nobody lost.
func (g *Generator) orderDraft(i, best int) bool {
	d := &g.drafts[i]
	if d.order = d.order[:0]; i < 3 {
		for j := range g.jobs {
			d.order = append(d.order, int32(j))
		}
		switch i {
		case 1:
			slices.SortStableFunc(d.order, func(a, b int32) int { return g.flexibility(g.jobs[a].easy) - g.flexibility(g.jobs[b].easy) })
		case 2:
			slices.SortFunc(d.order, func(a, b int32) int { return cmp.Or(cmp.Compare(g.jobs[b].density, g.jobs[a].density), int(a-b)) })
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
	for j := range g.jobs {
		x := &g.jobs[j]
		served := slices.ContainsFunc(d.got[x.first:x.to], func(s share) bool { return !s.empty() })
		if !g.favoured[j] && !served {
			return int32(j), true
		}
	}
	return 0, false
}

// flexibility is 0 of a variant that names nodes or GPUs, 1 of one that only wants to be contiguous,
// and 2 of one that can be anywhere.
func (g *Generator) flexibility(j int32) int {
	switch s := &g.specs[j]; {
	case s.NodesGiven || s.GPUs.PerNode.Min > 0:
		return 0
	case s.Contiguous:
		return 1
	}
	return 2
}

// findJobs sets g.jobs, and counts those with no valid request too.
func (g *Generator) findJobs() {
	g.jobs, g.all = g.jobs[:0], 0
	for j := 0; j < len(g.variants); {
		x, least := job{first: int32(j), to: int32(NextJob(g.variants, j)), easy: int32(j)}, math.Inf(1)
		for k := x.first; k < x.to; k++ {
			if g.specs[k].Nodes.Min == 0 {
				continue
			}
			if least = min(least, g.needs(k)); g.specs[x.easy].Nodes.Min == 0 || g.flexibility(k) > g.flexibility(x.easy) {
				x.easy = k
			}
		}
		if x.density = float64(g.variants[j].Priority) / least; g.specs[x.easy].Nodes.Min > 0 {
			g.jobs = append(g.jobs, x)
		}
		g.all, j = g.all+1, int(x.to)
	}
}

// runDraft gives each job in the draft's order a place on what those before it have left. It is met in
// the way that it likes best, with the most GPUs of a range that there are; in a thrifty draft in the
// cheapest way. At last all is given back.
func (g *Generator) runDraft(d *draft, thrifty bool) {
	d.got = append(d.got[:0], make([]share, len(g.variants))...)
	d.segs, d.worth, d.lost = d.segs[:0], 0, g.all
	for _, j := range d.order {
		if g.opts.stopped() {
			break // what has been placed so far is a draft as well
		}
		for _, k := range g.turns(j, thrifty) {
			if !g.out[k] && g.tryInDraft(d, k, !thrifty) {
				break
			}
		}
	}
	g.raiseGPUs(d)
	for j, x := range d.got {
		if !x.empty() { // the next draft, and bids, begin with all again
			g.rest.Return(&g.variants[j].Spec, d.segs[x.first:x.last], g.variants[j].Crosses)
		}
	}
}

// tryInDraft gives variant j a place on what is left, if there is one.
func (g *Generator) tryInDraft(d *draft, j int32, greedy bool) bool {
	a, from := &g.variants[j], int32(len(d.segs))
	segs, ok := g.placeInDraft(d.segs, j, greedy)
	if d.segs = segs; !ok {
		return false
	}
	if err := g.rest.Take(&a.Spec, d.segs[from:], a.Crosses); err != nil {
		panic("market: " + err.Error())
	}
	d.got[j] = share{from, int32(len(d.segs))}
	d.worth += a.Priority
	d.lost--
	return true
}

// turns are the variants of job j in the order in which a draft tries them.
func (g *Generator) turns(j int32, thrifty bool) []int32 {
	g.turn = g.turn[:0]
	for k := g.jobs[j].first; k < g.jobs[j].to; k++ {
		g.turn = append(g.turn, k)
	}
	if len(g.turn) > 1 && thrifty {
		slices.SortStableFunc(g.turn, func(a, b int32) int { return cmp.Compare(g.needs(a), g.needs(b)) })
	}
	return g.turn
}

// raiseGPUs gives jobs with a GPU range, in queue order, the GPUs that nobody took.
func (g *Generator) raiseGPUs(d *draft) {
	for j := range g.variants {
		a, s, sh := &g.variants[j], &g.specs[j], &d.got[j]
		if sh.empty() || int(place.LeastGPUs(d.segs[sh.first:sh.last])) >= s.GPUs.PerNode.Max {
			continue
		}
		segs := d.segs[sh.first:sh.last:sh.last]
		g.rest.Return(s, segs, a.Crosses)
		if t := g.rest.For(s, a.Crosses); s.MixedGPUs {
			sh.first = int32(len(d.segs))
			d.segs = g.placer.RaiseGPUs(append(d.segs, segs...), int(sh.first), t, s, g.rest.Quotas(), a.Crosses)
			sh.last = int32(len(d.segs))
			segs = d.segs[sh.first:sh.last]
		} else {
			setGPUs(segs, s.GPUs.PerNode.Max)
			for !t.FitsWith(segs, nil) || !g.rest.Quotas().Room(s, segs, a.Crosses) {
				setGPUs(segs, int(segs[0].GPUs)-1)
			}
		}
		if err := g.rest.Take(s, segs, a.Crosses); err != nil {
			panic("market: " + err.Error())
		}
	}
}

func setGPUs(segs []nodeset.Segment, gpus int) {
	for i := range segs {
		segs[i].GPUs = uint8(gpus)
	}
}

// needs is which part of all free cores and GPUs variant j needs.
func (g *Generator) needs(j int32) float64 {
	cores, gpus := g.space.Now.SumFree()
	s := &g.specs[j]
	return float64(s.LeastCores())/float64(max(cores, 1)) + float64(s.LeastGPUs())/float64(max(gpus, 1))
}

// placeInDraft appends the allocation of a job on what the jobs before it have left. A place that
// pays no heed to further resources mostly has enough of them, and is found far sooner; where there
// is none, there is none at all.
func (g *Generator) placeInDraft(dst []nodeset.Segment, j int32, greedy bool) ([]nodeset.Segment, bool) {
	a, s := &g.variants[j], &g.specs[j]
	view, quotas, most := g.rest.View(a.Crosses), g.rest.Quotas(), s.GPUs.PerNode.Min
	if greedy {
		most = s.GPUs.PerNode.Max
	}
	if g.placer.Lacks(view, s) {
		return dst, false
	}
	if s.Parts != nil {
		o := place.PartsOptions{Layout: place.Level, MostGPUs: greedy, Fast: true}
		return g.placer.PlaceParts(dst, view, s, o, quotas, a.Crosses)
	}
	g.placer.By(g.opts.Prices, a.Limit)
	if s.Uses != nil && g.space.Now.ShareOf(*s.Uses) == 0 && !s.Coreless() { // a share wants to be where it fits tightest
		g.part = *s
		g.part.Uses = nil
		found, ok := g.placer.PlaceMost(dst, view, &g.part, most, quotas, a.Crosses)
		if !ok || view.FitsWith(found[len(dst):], s.More()) {
			return found, ok
		}
	}
	return g.placer.PlaceMost(dst, g.rest.For(s, a.Crosses), s, most, quotas, a.Crosses)
}
