// SPDX-License-Identifier: BSD-3-Clause

package bids

import "github.com/aucsched/aucsched/nodeset"

// leastGPUs is the least number of GPUs that a node of an allocation gives.
func leastGPUs(segs []nodeset.Segment) uint8 {
	least := segs[0].GPUs
	for _, s := range segs[1:] {
		least = min(least, s.GPUs)
	}
	return least
}

// RaiseGPUs appends to dst the allocation segs of r, which is still free on t, with as many
// GPUs of each node as are free there, up to r.MaxGPUs, and at least those that segs has.
// It is for requests with MixedGPUs: all others get the same number on each node.
func RaiseGPUs(dst []nodeset.Segment, t *nodeset.Table, r *Request, segs []nodeset.Segment) []nodeset.Segment {
	return appendRaised(dst, segs, t.FreeGPUs(), r.MaxGPUs)
}

// appendRaised is RaiseGPUs, given the free GPUs of each node.
func appendRaised(dst, segs []nodeset.Segment, free []uint8, most int) []nodeset.Segment {
	own := len(dst)
	for _, s := range segs {
		for n := s.First; n <= s.Last; n++ {
			dst = giveNode(dst, own, n, s.Cores, max(s.GPUs, uint8(min(int(free[n]), most))))
		}
	}
	return dst
}

// giveNode appends a node to the allocation that begins at own.
func giveNode(dst []nodeset.Segment, own int, n int32, cores uint16, gpus uint8) []nodeset.Segment {
	s := nodeset.Segment{First: n, Last: n, Cores: cores, GPUs: gpus}
	if len(dst) == own {
		return append(dst, s)
	}
	return nodeset.Append(dst, s)
}

// raiseAtOnce raises what ask of shape s got at dst[from:], before it is taken off t.
func (g *Generator) raiseAtOnce(dst []nodeset.Segment, from int, t *nodeset.Table, s *shape) []nodeset.Segment {
	if !s.mixed {
		return dst
	}
	g.raised = appendRaised(g.raised[:0], dst[from:], t.FreeGPUs(), s.maxGPUs)
	return append(dst[:from], g.raised...)
}

// raiseMixed gives ask j, node by node, the GPUs that nobody took.
func (g *Generator) raiseMixed(d *draft, j int) {
	sh, most, crosses := &d.got[j], g.shapes[j].maxGPUs, g.asks[j].Crosses
	old := d.segs[sh.first:sh.last]
	own := len(d.segs)
	for _, s := range old {
		for n := s.First; n <= s.Last; n++ {
			more := min(int(g.rest.View(crosses).FreeGPUs()[n]), most-int(s.GPUs))
			if more > 0 {
				node := [1]nodeset.Segment{{First: n, Last: n}}
				g.rest.takeGPUs(node[:], crosses, more)
			}
			d.segs = giveNode(d.segs, own, n, s.Cores, s.GPUs+uint8(max(more, 0)))
		}
	}
	sh.first, sh.last = int32(own), int32(len(d.segs))
	sh.gpus = leastGPUs(d.segs[own:])
}
