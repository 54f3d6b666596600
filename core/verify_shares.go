// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"fmt"

	"github.com/aucsched/aucsched/nodeset"
)

// bin is a GPU of a node that jobs share, by its number.
type bin struct {
	node   int
	number uint8
}

// shareOf is which share of a GPU uses ask for on a machine, 0 if none.
func shareOf(t *nodeset.Table, uses nodeset.Uses) (share int64) {
	r, shared := t.Shares()
	for _, u := range uses {
		if shared && u.Row == r {
			share += u.PerNode
		}
	}
	return share
}

// verifyShares reports a GPU of which more is taken than is free, and adds those that begin to be
// shared to the GPUs that are taken.
func verifyShares(t *nodeset.Table, used map[bin]int64, gpus []int) error {
	r, shared := t.Shares()
	for at, amount := range used {
		if !shared || at.number == 0 || int(at.number) > t.Bins(at.node) {
			return fmt.Errorf("node %d: a share is on GPU %d: nodes number those in shared use from 1", at.node, at.number)
		}
		free, inUse := t.BinFree(at.node, at.number)
		if !inUse {
			free = t.TotalOf(r)[at.node]
			gpus[at.node]++
		}
		if amount > free {
			return fmt.Errorf("node %d, shared GPU %d: %d %s taken, %d free", at.node, at.number, amount, t.ResourceName(r), free)
		}
	}
	return nil
}
