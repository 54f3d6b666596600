// SPDX-License-Identifier: BSD-3-Clause

package market

import (
	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// Admits says whether an allocation is what a request asks for, by the Spec from
// which bids are made.
func Admits(r *bids.Request, segs []nodeset.Segment) bool {
	s, err := place.SpecOf(r)
	if err != nil {
		return false
	}
	nodes, cores := nodeset.Nodes(segs), 0
	for i, seg := range segs {
		cores += seg.Len() * int(seg.Cores)
		each := int(seg.Cores) >= s.Cores.PerNode.Min && int(seg.Cores) <= s.Cores.PerNode.Max &&
			int(seg.GPUs) >= s.GPUs.PerNode.Min && int(seg.GPUs) <= s.GPUs.PerNode.Max
		if !each || (!s.MixedGPUs && seg.GPUs != segs[0].GPUs) || (s.Contiguous && i > 0 && seg.First != segs[i-1].Last+1) {
			return false
		}
		for n := seg.First; n <= seg.Last; n++ {
			if !s.Mask().Has(int(n)) {
				return false
			}
		}
	}
	return nodes >= s.Nodes.Min && nodes <= s.Nodes.Max && (s.Cores.Total == 0 || cores == s.Cores.Total)
}
