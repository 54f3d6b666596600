// SPDX-License-Identifier: BSD-3-Clause

package market

import (
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// placeInDraft appends the allocation of a job on what the jobs before it have left. A place that
// pays no heed to further resources mostly has enough of them, and is found far sooner; where there
// is none, there is none at all.
func (g *Generator) placeInDraft(dst []nodeset.Segment, j int32, style draftStyle) ([]nodeset.Segment, int, bool) {
	a, s := &g.variants[j], &g.specs[j]
	if s.Parts != nil {
		dst, ok := g.placeParts(dst, j, style)
		return dst, 0, ok
	}
	if style.anywhere && s.Below != nil && !s.Demands() {
		g.loose = *s
		g.loose.Below = nil
		s = &g.loose
	}
	if g.rest.Quotas().Lacks(s, a.Crosses) >= 0 {
		return dst, 0, false
	}
	if s.Uses == nil {
		return g.placeOn(dst, g.rest.For(s, a.Crosses), a, s, style)
	}
	if g.space.Now.ShareOf(*s.Uses) > 0 || s.Coreless() { // a share wants to be where it fits tightest
		return g.placeOn(dst, g.rest.For(s, a.Crosses), a, s, style)
	}
	if g.rest.Lacks(s, a.Crosses) {
		return dst, 0, false
	}
	plain := *s
	plain.Uses = nil
	found, gpus, ok := g.placeOn(dst, g.rest.View(a.Crosses), a, &plain, style)
	if !ok || g.rest.Fits(s, found[len(dst):], a.Crosses) {
		return found, gpus, ok
	}
	return g.placeOn(found[:len(dst)], g.rest.For(s, a.Crosses), a, s, style)
}

// placeOn appends the allocation of a job on t, what it sees of what is left.
func (g *Generator) placeOn(
	dst []nodeset.Segment, t *nodeset.Table, a *Variant, s *place.Spec, style draftStyle,
) ([]nodeset.Segment, int, bool) {
	if cores, _ := t.SumFree(); int64(s.Cores.Total) > cores {
		return dst, 0, false
	}
	from := len(dst)
	if style.greedyGPUs {
		for k := min(s.GPUs.PerNode.Max, t.MaxGPUs()); k > s.GPUs.PerNode.Min; k-- {
			if dst, ok := g.placeWith(dst, t, a, s, k, style.layout); ok {
				return g.raiseAtOnce(dst, from, t, a, s), k, true
			}
		}
	}
	dst, ok := g.placeWith(dst, t, a, s, s.GPUs.PerNode.Min, style.layout)
	if ok && style.greedyGPUs {
		dst = g.raiseAtOnce(dst, from, t, a, s)
	}
	return dst, s.GPUs.PerNode.Min, ok
}

// placeWith places a job with k GPUs a node on t, of which only ever more is taken.
func (g *Generator) placeWith(
	dst []nodeset.Segment, t *nodeset.Table, a *Variant, s *place.Spec, k int, l place.Layout,
) ([]nodeset.Segment, bool) {
	key := keyOf(a, s, k)
	if g.limits.bar(s, key) {
		return dst, false
	}
	own := *s
	if !g.rest.Quotas().Narrow(&own, a.Crosses, k) {
		return dst, false
	}
	g.placer.By(g.opts.Prices, a.Limit)
	dst, ok := g.placer.PlaceAs(dst, t, &own, k, l)
	if !ok {
		g.limits.learn(key, g.placer.Sets())
	}
	return dst, ok
}
