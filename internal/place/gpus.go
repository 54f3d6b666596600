// SPDX-License-Identifier: BSD-3-Clause

package place

import "github.com/aucsched/aucsched/nodeset"

// LeastGPUs is the least number of GPUs that a node of an allocation gives.
func LeastGPUs(segs []nodeset.Segment) uint8 {
	least := segs[0].GPUs
	for _, s := range segs[1:] {
		least = min(least, s.GPUs)
	}
	return least
}

// RaiseGPUs appends to dst the allocation segs with as many GPUs of each node as are free there, up
// to most, and at least those that segs has. It is for Specs with MixedGPUs: all others get the
// same number on each node. free is by node.
func RaiseGPUs(dst, segs []nodeset.Segment, free []uint8, most int) []nodeset.Segment {
	own := len(dst)
	for _, s := range segs {
		for n := s.First; n <= s.Last; n++ {
			dst = AppendNode(dst, own, n, s.Cores, max(s.GPUs, uint8(min(int(free[n]), most))))
		}
	}
	return dst
}

// AppendNode appends a node to the allocation that begins at dst[own].
func AppendNode(dst []nodeset.Segment, own int, n int32, cores uint16, gpus uint8) []nodeset.Segment {
	s := nodeset.Segment{First: n, Last: n, Cores: cores, GPUs: gpus}
	if len(dst) == own {
		return append(dst, s)
	}
	return nodeset.Append(dst, s)
}
