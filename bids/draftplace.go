// SPDX-License-Identifier: BSD-3-Clause

package bids

import "github.com/aucsched/aucsched/nodeset"

// placeInDraft appends the allocation of a job on what the jobs before it have left.
func (g *Generator) placeInDraft(dst []nodeset.Segment, j int32, style draftStyle) ([]nodeset.Segment, int, bool) {
	a, s := &g.asks[j], &g.shapes[j]
	t := g.rest.View(a.Crosses)
	if cores, _ := t.SumFree(); int64(s.cores) > cores {
		return dst, 0, false
	}
	if s.maxGPUs == 0 && style.spareGPUs && t.MaxGPUs() > 0 {
		if dst, ok := g.placeOffGPUs(dst, t, a, s, style.layout); ok {
			return dst, 0, true
		}
	}
	from := len(dst)
	if style.greedyGPUs {
		for k := min(s.maxGPUs, t.MaxGPUs()); k > s.minGPUs; k-- {
			if dst, ok := g.placeWith(dst, t, a, s, k, style.layout); ok {
				return g.raiseAtOnce(dst, from, t, s), k, true
			}
		}
	}
	dst, ok := g.placeWith(dst, t, a, s, s.minGPUs, style.layout)
	if ok && style.greedyGPUs {
		dst = g.raiseAtOnce(dst, from, t, s)
	}
	return dst, s.minGPUs, ok
}

// placeWith places a job with k GPUs a node on t, of which only ever more is taken.
func (g *Generator) placeWith(dst []nodeset.Segment, t *nodeset.Table, a *Ask, s *shape, k int, l layout) ([]nodeset.Segment, bool) {
	key := keyOf(a, s, k)
	if g.limits.bar(s, key) {
		return dst, false
	}
	dst, ok := g.placer.place(dst, t, s, a.Eligible, k, l)
	if !ok {
		g.limits.learn(key, g.placer.sets)
	}
	return dst, ok
}

// placeOffGPUs places a job on neighbouring nodes without free GPUs.
func (g *Generator) placeOffGPUs(dst []nodeset.Segment, t *nodeset.Table, a *Ask, s *shape, l layout) ([]nodeset.Segment, bool) {
	whole := *s
	whole.contiguous = true // better on nodes with GPUs than strewn over holes
	if g.limits.bar(&whole, keyOf(a, s, 0)) {
		return dst, false
	}
	g.noGPU = withoutGPUs(g.noGPU[:0], t, a.Eligible)
	return g.placer.place(dst, t, &whole, g.noGPU, 0, l)
}

// withoutGPUs appends the mask of the eligible nodes that have a free core and no
// free GPU.
func withoutGPUs(dst nodeset.Mask, t *nodeset.Table, eligible nodeset.Mask) nodeset.Mask {
	from := len(dst)
	dst = append(dst, t.Usable(0)...)
	off, gpu := dst[from:], t.Usable(1)
	for w := range off {
		off[w] &^= gpu[w]
	}
	if eligible != nil {
		for w := range off {
			off[w] &= eligible.Word(w)
		}
	}
	return dst
}
