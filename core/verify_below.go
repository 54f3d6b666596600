// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"fmt"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

// checkBelow reports how an allocation fails to lie below switches as a request demands. It goes
// node by node, and knows of the topology only which switch each node is below.
func checkBelow(t *nodeset.Topology, job *bids.Request, segs []nodeset.Segment) error {
	switch {
	case t == nil:
		return nil
	case len(job.Components) > 0:
		return checkTogether(t, job, segs)
	}
	return checkPartBelow(t, job, segs)
}

// checkPartBelow is checkBelow for one part alone.
func checkPartBelow(t *nodeset.Topology, job *bids.Request, segs []nodeset.Segment) error {
	leaves, above := make(map[int32]int), make(map[int32]int) // nodes by switch
	within := min(job.Within, t.Levels())
	for _, s := range segs {
		for n := s.First; n <= s.Last; n++ {
			leaves[t.SwitchOf(1)[n]]++
			if within > 0 {
				above[t.SwitchOf(within)[n]]++
			}
		}
	}
	if job.Switches > 0 && len(leaves) > job.Switches {
		return fmt.Errorf("its nodes are below %d leaf switches, not %d at most", len(leaves), job.Switches)
	}
	if len(above) > 1 {
		return fmt.Errorf("its nodes are below %d switches of level %d, not one", len(above), within)
	}
	if job.Segment == 0 {
		return nil
	}
	for leaf, nodes := range leaves {
		if nodes%job.Segment != 0 {
			return fmt.Errorf("%d of its nodes are below leaf %s, no multiple of %d", nodes, t.Name(1, int(leaf)), job.Segment)
		}
	}
	return nil
}
