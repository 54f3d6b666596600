// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"fmt"

	"github.com/aucsched/aucsched/nodeset"
)

// gpuParts counts GPUs in parts, so that a share of one is a whole number of them. On all nodes
// that share GPUs one has as many shares.
type gpuParts struct {
	resource int   // the shares; -1 where there are none
	whole    int64 // parts of a GPU: its shares; 1 where none is shared
	shared   bool
}

func gpuPartsOf(t *nodeset.Table) gpuParts {
	p := gpuParts{whole: 1}
	if p.resource, p.shared = t.Shares(); p.shared {
		for _, size := range t.TotalOf(p.resource) {
			p.whole = max(p.whole, size)
		}
	}
	return p
}

// share is which share of a GPU a request asks for; 0: none.
func (p *gpuParts) share(uses nodeset.Uses) int64 {
	for _, u := range uses {
		if p.shared && u.Row == p.resource {
			return u.PerNode
		}
	}
	return 0
}

// of is how many parts an allocation with such uses has.
func (p *gpuParts) of(uses nodeset.Uses, segs []nodeset.Segment) int64 {
	return int64(nodeset.GPUs(segs))*p.whole + p.share(uses)*int64(nodeset.Nodes(segs))
}

// gpus is how many GPUs that are, a share counting as a part of one.
func (p *gpuParts) gpus(uses nodeset.Uses, segs []nodeset.Segment) float64 {
	return float64(p.of(uses, segs)) / float64(p.whole)
}

// check reports that nodes share GPUs in different numbers of parts.
func (p *gpuParts) check(t *nodeset.Table) error {
	if !p.shared {
		return nil
	}
	for n, size := range t.TotalOf(p.resource) {
		if size != 0 && size != p.whole {
			return fmt.Errorf("resource %s: node %d has %d of each GPU, others %d", t.ResourceName(p.resource), n, size, p.whole)
		}
	}
	return nil
}
