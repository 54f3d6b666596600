// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"math/bits"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

// preferences are the nodes on which jobs of a cycle would rather be, as masks of requests.
type preferences struct {
	nodes *nodeset.Table
	words []uint64 // of the masks made in this cycle
	made  map[bothKey]nodeset.Mask
}

// bothKey is two masks, told apart as in an answers.Key.
type bothKey struct {
	prefer, eligible           *uint64
	preferWords, eligibleWords int
}

// reset begins a cycle on the machine of t.
func (p *preferences) reset(t *nodeset.Table) {
	if p.made == nil {
		p.made = make(map[bothKey]nodeset.Mask)
	}
	clear(p.made)
	p.nodes, p.words = t, p.words[:0]
}

// first is the job's request r on those of its nodes alone that the job prefers: a further way to meet it,
// liked better. It reports false where that can't be met now, and where the job can have no other nodes now.
func (p *preferences) first(job *Job, r *bids.Request) (preferred bids.Request, ok bool) {
	if job.Prefer == nil {
		return bids.Request{}, false
	}
	preferred = *r
	preferred.Eligible = p.both(job.Prefer, r.Eligible)
	return preferred, p.tells(&preferred, r) && p.room(&preferred)
}

// both are the nodes of both masks. Jobs with the same masks have the same, at the same address.
func (p *preferences) both(prefer, eligible nodeset.Mask) nodeset.Mask {
	if eligible == nil || len(prefer) == 0 {
		return prefer
	}
	k := bothKey{&prefer[0], nil, len(prefer), len(eligible)}
	if len(eligible) > 0 {
		k.eligible = &eligible[0]
	}
	mask, ok := p.made[k]
	if !ok {
		from := len(p.words)
		for w := range prefer {
			p.words = append(p.words, prefer[w]&eligible.Word(w))
		}
		mask = nodeset.Mask(p.words[from:len(p.words):len(p.words)])
		p.made[k] = mask
	}
	return mask
}

// tells reports whether r could have nodes now that are not preferred.
func (p *preferences) tells(preferred, r *bids.Request) bool {
	for w, usable := range p.nodes.Usable(r.MinGPUs) {
		if usable&r.Eligible.Word(w)&^preferred.Eligible.Word(w) != 0 {
			return true
		}
	}
	return false
}

// room reports whether the nodes that r may use have as much free as it needs, wherever that is. If it says
// yes, there need not be a place.
func (p *preferences) room(r *bids.Request) bool {
	least, most, err := r.PerNode()
	if err != nil {
		return false
	}
	nodes, cores := max(r.MinNodes, 1), r.LeastCores()
	for w, usable := range p.nodes.Usable(r.MinGPUs) {
		for left := usable & r.Eligible.Word(w); left != 0; left &= left - 1 {
			free := int(p.nodes.FreeCores()[w*64+bits.TrailingZeros64(left)])
			if free < least {
				continue
			}
			nodes, cores = nodes-1, cores-int64(min(free, most))
			if nodes <= 0 && cores <= 0 {
				return true
			}
		}
	}
	return false
}
