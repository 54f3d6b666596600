// SPDX-License-Identifier: BSD-3-Clause

package window

import (
	"fmt"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/format"
	"github.com/aucsched/aucsched/nodeset"
)

// Bounds on what lists of nodes cost, beside the length of their text.
const (
	maxListed = 1 << 26 // nodes in all lists
	maxMasked = 1 << 32 // bits of all masks
)

// mask is a list of nodes that a waiting job names, and where the set of them goes.
type mask struct {
	at    int64
	what  string
	nodes string
	set   func(nodeset.Mask)
}

// namedNodes defers the lists of nodes of a job but for those of its alternatives.
func (p *parser) namedNodes(what string, j *format.Job, job *core.Job) {
	if j.Eligible != nil {
		p.deferEligible(what, *j.Eligible, func(m nodeset.Mask) { job.Eligible = m })
	}
	if j.Prefer != "" {
		set := func(m nodeset.Mask) { job.Prefer = m }
		p.masks = append(p.masks, mask{p.at, what + ": prefer", j.Prefer, set})
	}
}

func (p *parser) deferEligible(what, nodes string, set func(nodeset.Mask)) {
	p.masks = append(p.masks, mask{p.at, what + ": eligible", nodes, set})
}

// setMasks turns the deferred lists into masks, now that all nodes are known. Jobs that name the
// same nodes share a mask, by which policies see that they are alike.
func (p *parser) setMasks() error {
	known := make(map[string]nodeset.Mask)
	for _, m := range p.masks {
		set, ok := known[m.nodes]
		if !ok {
			p.at = m.at
			nodes, err := p.find(m.nodes)
			if err != nil {
				return p.fail("%s: %v", m.what, err)
			}
			if p.masked += int64(len(p.names)); p.masked > maxMasked {
				return p.fail("%s: %d different lists of nodes are too many for %d nodes", m.what, len(known)+1, len(p.names))
			}
			set = nodeset.NewMask(len(p.names))
			for _, n := range nodes {
				set.Set(n)
			}
			known[m.nodes] = set
		}
		m.set(set)
	}
	return nil
}

// find is the numbers of the nodes of a hostlist, each of which may be there once. The empty list
// has none.
func (p *parser) find(list string) ([]int, error) {
	if list == "" {
		return nil, nil
	}
	names, err := p.expand(list)
	if err != nil {
		return nil, err
	}
	if p.listed += len(names); p.listed > maxListed {
		return nil, fmt.Errorf("the window's lists of nodes have more than %d in all", maxListed)
	}
	if p.inList == nil {
		p.inList = nodeset.NewMask(len(p.names))
	}
	nodes := make([]int, 0, len(names))
	defer func() {
		for _, n := range nodes {
			p.inList.Clear(n)
		}
	}()
	for _, name := range names {
		n, ok := p.index[name]
		if !ok {
			return nil, fmt.Errorf("there is no node %s", name)
		}
		if p.inList.Has(n) {
			return nil, fmt.Errorf("node %s is there twice", name)
		}
		p.inList.Set(n)
		nodes = append(nodes, n)
	}
	return nodes, nil
}
