// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"errors"
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

// ofPart are the segments for one part of a job.
func ofPart(segs []nodeset.Segment, k int) (part []nodeset.Segment) {
	for _, s := range segs {
		if int(s.Part) == k {
			part = append(part, s)
		}
	}
	return part
}

// checkParts is CheckAllocation for a request with Components: each part is met exactly by what it
// has alone, the parts come in their order, and a part that is to be apart shares no node.
func checkParts(job *bids.Request, segs []nodeset.Segment, n int) error {
	for i, s := range segs {
		if int(s.Part) > len(job.Components) {
			return fmt.Errorf("segment %d: part %d of a job of %d", i, s.Part, 1+len(job.Components))
		}
		if i > 0 && s.Part < segs[i-1].Part {
			return fmt.Errorf("segment %d: part %d comes after part %d", i, s.Part, segs[i-1].Part)
		}
	}
	users := make(map[int32][]int) // by node: parts
	for k := range 1 + len(job.Components) {
		own := ofPart(segs, k)
		if err := checkPart(job.Part(k), own, n); err != nil {
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
			if job.Part(k).Apart && len(parts) > 1 {
				return fmt.Errorf("parts %v share node %d, and part %d is to be apart", parts, i, k)
			}
		}
	}
	return nil
}

// checkTogether reports how the parts of a request fail to lie below one switch.
func checkTogether(t *nodeset.Topology, job *bids.Request, segs []nodeset.Segment) error {
	for k := range 1 + len(job.Components) {
		if err := checkPartBelow(t, job.Part(k), ofPart(segs, k)); err != nil {
			return fmt.Errorf("part %d: %w", k, err)
		}
	}
	level := min(job.AllWithin, t.Levels())
	if level == 0 {
		return nil
	}
	above := make(map[int32]bool)
	for _, s := range segs {
		for n := s.First; n <= s.Last; n++ {
			above[t.SwitchOf(level)[n]] = true
		}
	}
	if len(above) > 1 {
		return fmt.Errorf("the nodes of its parts are below %d switches of level %d, not one", len(above), level)
	}
	return nil
}

// verifyUses reports further resources of a decision that are not those of the request.
func verifyUses(asked *bids.Request, d *Decision) error {
	if len(asked.Components) == 0 {
		if len(d.PartUses) > 0 {
			return errors.New("it uses something by part, and has no components")
		}
		if !slices.Equal(d.Uses, asked.Uses) {
			return fmt.Errorf("it uses %v instead of %v", d.Uses, asked.Uses)
		}
		return nil
	}
	if len(d.PartUses) != 1+len(asked.Components) || len(d.Uses) > 0 {
		return fmt.Errorf("it uses something in %d parts instead of %d", len(d.PartUses), 1+len(asked.Components))
	}
	for k, uses := range d.PartUses {
		if !slices.Equal(uses, asked.Part(k).Uses) {
			return fmt.Errorf("part %d uses %v instead of %v", k, uses, asked.Part(k).Uses)
		}
	}
	return nil
}
