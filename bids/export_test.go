// SPDX-License-Identifier: BSD-3-Clause

package bids

import "github.com/aucsched/aucsched/nodeset"

// Admits says whether an allocation is what a request asks for, by the shape from which bids are made.
func (r *Request) Admits(segs []nodeset.Segment) bool {
	s, err := r.shape()
	if err != nil {
		return false
	}
	nodes, cores := nodeset.Nodes(segs), 0
	for i, seg := range segs {
		cores += seg.Len() * int(seg.Cores)
		each := int(seg.Cores) >= s.lo && int(seg.Cores) <= s.hi && int(seg.GPUs) >= s.minGPUs && int(seg.GPUs) <= s.maxGPUs
		if !each || (!s.mixed && seg.GPUs != segs[0].GPUs) || (s.contiguous && i > 0 && seg.First != segs[i-1].Last+1) {
			return false
		}
		for n := seg.First; n <= seg.Last; n++ {
			if !r.Eligible.Has(int(n)) {
				return false
			}
		}
	}
	return nodes >= s.minNodes && nodes <= s.maxNodes && (s.cores == 0 || cores == s.cores)
}
