// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"fmt"

	"github.com/aucsched/aucsched/nodeset"
)

// books are the referee's, of the GPUs of one node that are in shared use: what is taken of each.
type books map[uint8]int64

// takeShare books a share of a GPU, sign being 1, or its end, -1.
func (f *referee) takeShare(u nodeset.Use, segs []nodeset.Segment, sign int64) error {
	for _, s := range segs {
		n := int(s.First)
		switch {
		case s.First != s.Last:
			return fmt.Errorf("nodes %d-%d have a share of one GPU together", s.First, s.Last)
		case s.Bin == 0:
			return fmt.Errorf("node %d: no GPU is named for the share", n)
		}
		if f.shared[n] == nil {
			f.shared[n] = books{}
		}
		if f.shared[n][s.Bin] += sign * u.PerNode; f.shared[n][s.Bin] == 0 {
			delete(f.shared[n], s.Bin)
		}
		if taken, size := f.shared[n][s.Bin], f.more[u.Row].Total[n]; taken > size {
			return fmt.Errorf("node %d, GPU %d is over-allocated: %d of %d %s", n, s.Bin, taken, size, f.more[u.Row].Name)
		}
		if whole, all := f.gpus[n], int(f.nodes[n].GPUs); whole+len(f.shared[n]) > all {
			return fmt.Errorf("node %d is over-allocated: %d GPUs whole and %d in shared use, of %d", n, whole, len(f.shared[n]), all)
		}
	}
	return nil
}

// noShare reports a shared GPU that an allocation names though its request asks for no share.
func (f *referee) noShare(uses nodeset.Uses, segs []nodeset.Segment) error {
	for _, u := range uses {
		if u.Row >= 0 && u.Row < len(f.more) && f.more[u.Row].Shares {
			return nil
		}
	}
	for _, s := range segs {
		if s.Bin != 0 {
			return fmt.Errorf("node %d: GPU %d is named, but no share is asked for", s.First, s.Bin)
		}
	}
	return nil
}
