// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"math/bits"
	"sort"

	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// preferences are the nodes on which jobs of a cycle would rather be, as masks of requests.
type preferences struct {
	nodes *nodeset.Table
	// of these, of which nothing is taken; once a job asks that does not see them as they are
	whole place.Residual
	ready bool
	masks *place.Masks                       // of the cycle
	words []uint64                           // of the masks made in this cycle
	made  map[[2]*nodeset.Mask]*nodeset.Mask // by preferred and eligible nodes
	both  []nodeset.Mask                     // these
	// tiers[k]: the nodes of the k+1 lowest, never all nodes
	tiers []nodeset.Mask
}

// reset begins a cycle on a machine whose nodes are of these tiers.
func (p *preferences) reset(t *nodeset.Table, tiers []uint8, masks *place.Masks) {
	if p.made == nil {
		p.made = make(map[[2]*nodeset.Mask]*nodeset.Mask)
	}
	clear(p.made)
	p.nodes, p.masks, p.words, p.both = t, masks, p.words[:0], p.both[:0]
	p.setTiers(tiers)
	p.ready = false
}

// seenBy is what s sees of the nodes.
func (p *preferences) seenBy(s *place.Spec) *nodeset.Table {
	if s.Plain() {
		return p.nodes
	}
	if !p.ready {
		p.whole.Reset(p.nodes, nil)
		p.ready = true
	}
	return p.whole.For(s, 0)
}

// setTiers makes the masks of the lowest tiers, ever more of them together. Time is in the nodes,
// and in words of a mask for each tier that there is.
func (p *preferences) setTiers(tiers []uint8) {
	masks, words := p.tiers[:cap(p.tiers)], (len(tiers)+63)/64
	p.tiers = p.tiers[:0]
	var place [1 << 8]int // by tier: one more than that of its mask
	for _, tier := range tiers {
		place[tier] = 1
	}
	for tier, there := range place {
		if there == 0 {
			continue
		}
		var mask nodeset.Mask
		if k := len(p.tiers); k < len(masks) {
			mask = masks[k][:0]
		}
		p.tiers = append(p.tiers, append(mask, make(nodeset.Mask, words)...))
		place[tier] = len(p.tiers)
	}
	if len(p.tiers) < 2 { // it would have all nodes, as the last always has
		p.tiers = p.tiers[:0]
		return
	}
	for n, tier := range tiers {
		p.tiers[place[tier]-1].Set(n)
	}
	for k := 1; k < len(p.tiers); k++ {
		for w, lower := range p.tiers[k-1] {
			p.tiers[k][w] |= lower
		}
	}
	p.tiers = p.tiers[:len(p.tiers)-1]
}

// first is the job's request s on those of its nodes alone that the job prefers, or else on the
// lowest tiers that have room: a further way to meet it, liked better. It reports false where that
// can't be met now, and where the job can have no other nodes now.
func (p *preferences) first(job *Job, s *place.Spec) (preferred place.Spec, ok bool) {
	if !s.Valid() || s.Parts != nil {
		return place.Spec{}, false
	}
	preferred = *s
	if job.Prefer != nil {
		preferred.Eligible = p.within(p.masks.Of(&job.Prefer), s.Eligible)
		return preferred, p.tells(&preferred, s) && p.room(&preferred)
	}
	// more tiers have more room, and leave fewer other nodes
	enough := func(k int) bool {
		preferred.Eligible = p.within(&p.tiers[k], s.Eligible)
		return p.room(&preferred)
	}
	k := firstOf(len(p.tiers), enough)
	if k == len(p.tiers) {
		return place.Spec{}, false
	}
	preferred.Eligible = p.within(&p.tiers[k], s.Eligible)
	return preferred, p.tells(&preferred, s)
}

// firstOf is the first of n numbers that will do, n if none does. All behind one that does do too;
// mostly one of the first does.
func firstOf(n int, does func(k int) bool) int {
	low, high := 0, 1 // those before low do not
	for high <= n && !does(high-1) {
		low, high = high, 2*high
	}
	return low + sort.Search(min(high, n+1)-1-low, func(k int) bool { return does(low + k) })
}

// within are the nodes of both masks. Jobs with the same masks have the same.
func (p *preferences) within(prefer, eligible *nodeset.Mask) *nodeset.Mask {
	if eligible == nil || len(*prefer) == 0 {
		return prefer
	}
	k := [2]*nodeset.Mask{prefer, eligible}
	mask, ok := p.made[k]
	if !ok {
		from := len(p.words)
		for w := range *prefer {
			p.words = append(p.words, (*prefer)[w]&eligible.Word(w))
		}
		p.both = append(p.both, p.words[from:len(p.words):len(p.words)])
		mask = &p.both[len(p.both)-1]
		p.made[k] = mask
	}
	return mask
}

// tells reports whether s could have nodes now that are not preferred.
func (p *preferences) tells(preferred, s *place.Spec) bool {
	t := p.nodes
	if s.Coreless() {
		t = p.seenBy(s)
	}
	for w, usable := range t.Usable(s.GPUs.PerNode.Min) {
		if usable&s.Mask().Word(w)&^preferred.Mask().Word(w) != 0 {
			return true
		}
	}
	return false
}

// room reports whether the nodes that s may use have as much free as it needs, wherever that is. If
// it says yes, there need not be a place.
func (p *preferences) room(s *place.Spec) bool {
	nodes, cores, mask, t := s.Nodes.Min, s.LeastCores(), s.Mask(), p.seenBy(s)
	for w, usable := range t.Usable(s.GPUs.PerNode.Min) {
		for left := usable & mask.Word(w); left != 0; left &= left - 1 {
			free := int(t.FreeCores()[w*64+bits.TrailingZeros64(left)])
			if free < s.Cores.PerNode.Min {
				continue
			}
			nodes, cores = nodes-1, cores-int64(min(free, s.Cores.PerNode.Max))
			if nodes <= 0 && cores <= 0 {
				return true
			}
		}
	}
	return false
}
