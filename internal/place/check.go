// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"fmt"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

// CheckSegments reports how an allocation on a machine of n nodes fails to meet a request exactly:
// cores in all, number of nodes, cores on each node, GPUs on each node (in the range, and the same
// on all unless they may be mixed), contiguity and eligible nodes. Each node gives a core at least,
// or none if the request is for none. No allocation meets a request that is not valid.
//
// Of a request with Components each part is met by the segments for it, part after part.
func CheckSegments(job *bids.Request, segs []nodeset.Segment, n int) error {
	s, err := SpecOf(job)
	if err != nil {
		return err
	}
	if s.Parts != nil {
		return s.Parts.check(segs, n)
	}
	return s.check(segs, n)
}

// check is CheckSegments for one part alone.
func (s *Spec) check(segs []nodeset.Segment, n int) error {
	if err := nodeset.CheckSegments(segs, n); err != nil {
		return err
	}
	if len(segs) == 0 {
		return fmt.Errorf("no node at all")
	}
	last := -1
	for _, seg := range segs {
		for i := int(seg.First); i <= int(seg.Last); i++ {
			if !s.Mask().Has(i) {
				return fmt.Errorf("node %d is not eligible", i)
			}
			if s.Contiguous && last >= 0 && i != last+1 {
				return fmt.Errorf("nodes %d and %d are not contiguous", last, i)
			}
			last = i
		}
		if err := s.checkEach(seg, segs[0]); err != nil {
			return err
		}
	}
	if nodes := nodeset.Nodes(segs); nodes < s.Nodes.Min || nodes > s.Nodes.Max {
		return fmt.Errorf("%d nodes instead of %d to %d", nodes, s.Nodes.Min, s.Nodes.Max)
	}
	if cores := nodeset.Cores(segs); s.Cores.Total > 0 && cores != s.Cores.Total {
		return fmt.Errorf("%d cores instead of %d", cores, s.Cores.Total)
	}
	return nil
}

// checkEach reports what is wrong with what a segment's nodes give, each of them.
func (s *Spec) checkEach(seg, first nodeset.Segment) error {
	if seg.GPUs != first.GPUs && !s.MixedGPUs {
		return fmt.Errorf("node %d gives %d GPUs, others %d", seg.First, seg.GPUs, first.GPUs)
	}
	if g, r := int(seg.GPUs), s.GPUs.PerNode; g < r.Min || g > r.Max {
		return fmt.Errorf("%d GPUs a node instead of %d to %d", g, r.Min, r.Max)
	}
	switch cores, r := int(seg.Cores), s.Cores.PerNode; {
	case s.Coreless() && cores > 0:
		return fmt.Errorf("node %d gives %d cores, and the job takes none", seg.First, cores)
	case !s.Coreless() && cores == 0:
		return fmt.Errorf("node %d gives no core", seg.First)
	case s.Exact() && cores != r.Min:
		return fmt.Errorf("node %d gives %d cores instead of %d", seg.First, cores, r.Min)
	case cores > r.Max:
		return fmt.Errorf("node %d gives %d cores, more than %d tasks per node", seg.First, cores, r.Max)
	}
	return nil
}

// check is CheckSegments for several parts: each is met exactly by what it has alone, the parts come in
// their order, and a part that is to be apart shares no node.
func (x *Parts) check(segs []nodeset.Segment, n int) error {
	for i, s := range segs {
		if int(s.Part) >= len(x.Specs) {
			return fmt.Errorf("segment %d: part %d of a job of %d", i, s.Part, len(x.Specs))
		}
		if i > 0 && s.Part < segs[i-1].Part {
			return fmt.Errorf("segment %d: part %d comes after part %d", i, s.Part, segs[i-1].Part)
		}
	}
	users := make(map[int32][]int) // by node: parts
	for k := range x.Specs {
		own := OfPart(segs, k)
		if err := x.Specs[k].check(own, n); err != nil {
			return fmt.Errorf("part %d: %w", k, err)
		}
		for _, s := range own {
			for i := s.First; i <= s.Last; i++ {
				users[i] = append(users[i], k)
			}
		}
	}
	for i, parts := range users {
		for _, k := range parts {
			if x.Apart>>k&1 == 1 && len(parts) > 1 {
				return fmt.Errorf("parts %v share node %d, and part %d is to be apart", parts, i, k)
			}
		}
	}
	return nil
}

// OfPart are the segments for one part of a job.
func OfPart(segs []nodeset.Segment, k int) (part []nodeset.Segment) {
	for _, s := range segs {
		if int(s.Part) == k {
			part = append(part, s)
		}
	}
	return part
}
