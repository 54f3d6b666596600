// SPDX-License-Identifier: BSD-3-Clause

package market

import (
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// raiseAtOnce raises what variant a, of shape s, got at dst[from:], before it is taken off t; not
// if that would pass a quota.
func (g *Generator) raiseAtOnce(dst []nodeset.Segment, from int, t *nodeset.Table, a *Variant, s *place.Spec) []nodeset.Segment {
	if !s.MixedGPUs {
		return dst
	}
	g.raised = place.RaiseGPUs(g.raised[:0], dst[from:], t.FreeGPUs(), s.GPUs.PerNode.Max)
	if !g.rest.Quotas().Room(s, g.raised, a.Crosses) {
		return dst
	}
	return append(dst[:from], g.raised...)
}

// raiseMixed gives variant j, node by node, the GPUs that nobody took.
func (g *Generator) raiseMixed(d *draft, j int) {
	sh, want, crosses := &d.got[j], &g.specs[j], g.variants[j].Crosses
	old := d.segs[sh.first:sh.last]
	own := len(d.segs)
	for _, s := range old {
		for n := s.First; n <= s.Last; n++ {
			more := min(int(g.rest.For(want, crosses).FreeGPUs()[n]), want.GPUs.PerNode.Max-int(s.GPUs))
			node := [1]nodeset.Segment{{First: n, Last: n}}
			if more = g.rest.MoreGPUs(want, node[:], crosses, more); more > 0 {
				g.rest.TakeGPUs(want, node[:], crosses, more)
			}
			d.segs = place.AppendNode(d.segs, own, n, s.Cores, s.GPUs+uint8(max(more, 0)))
		}
	}
	sh.first, sh.last = int32(own), int32(len(d.segs))
	sh.gpus = place.LeastGPUs(d.segs[own:])
}
