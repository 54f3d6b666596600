// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"slices"

	"github.com/aucsched/aucsched/nodeset"
)

// offer is what a start costs on a node.
type offer struct {
	node  int32
	cores uint16 // free there
	cost  int64
}

// before reports whether x is cheaper than y, or the node has fewer free cores, or is the first.
func (x offer) before(y offer) bool {
	switch {
	case x.cost != y.cost:
		return x.cost < y.cost
	case x.cores != y.cores:
		return x.cores < y.cores
	}
	return x.node < y.node
}

// mostRanked is how many nodes are remembered of a request.
const mostRanked = 64

// ranks remember which nodes are the cheapest for a request while nothing has been taken. A window
// places each of its jobs many times, and most nodes are then as they were.
type ranks struct {
	known  map[rankKey]ranked
	offers []offer
}

// rankKey is all of a request that costs depend on.
type rankKey struct {
	eligible       *nodeset.Mask
	least, cores   int
	gpus, mostEach int
	limit          int64
}

// ranked are offers[first:last]; all: there is no other node.
type ranked struct {
	first, last int32
	all         bool
}

func (r *ranks) reset() {
	if r.known == nil {
		r.known = make(map[rankKey]ranked)
	}
	clear(r.known)
	r.offers = r.offers[:0]
}

// cheapest is the node of t where s costs least, of equals the one with the fewest free cores, of
// these the first. Nodes that are as in p.prices.base have their rank; the others are asked.
func (p *Placer) cheapest(s *Spec, t *nodeset.Table, gpus int) (node int, ok bool) {
	list := p.rank(s, gpus)
	var best offer
	for _, o := range p.prices.ranks.offers[list.first:list.last] {
		if t.Free(int(o.node)) == p.prices.base.Free(int(o.node)) {
			best, ok = o, true
			break
		}
	}
	if !ok && !list.all {
		return p.cheapestOfAll(s, t, gpus)
	}
	usable, base, mask := t.Usable(gpus), p.prices.base, s.Mask()
	for w := range usable {
		from, to := w*64, min(w*64+64, t.Len())
		if slices.Equal(t.FreeCores()[from:to], base.FreeCores()[from:to]) &&
			slices.Equal(t.FreeGPUs()[from:to], base.FreeGPUs()[from:to]) {
			continue
		}
		for n := from; n < to; n++ {
			if t.Free(n) == base.Free(n) || usable[w]&mask.Word(w)>>(n&63)&1 == 0 || !p.holds(s, t, n) {
				continue
			}
			if o := p.offer(s, t, n, gpus); !ok || o.before(best) {
				best, ok = o, true
			}
		}
	}
	return int(best.node), ok
}

// cheapestOfAll asks all nodes of p.sets.
func (p *Placer) cheapestOfAll(s *Spec, t *nodeset.Table, gpus int) (node int, ok bool) {
	var best offer
	for _, set := range p.sets {
		for n := int(set.First); n <= int(set.Last); n++ {
			if !p.holds(s, t, n) {
				continue
			}
			if o := p.offer(s, t, n, gpus); !ok || o.before(best) {
				best, ok = o, true
			}
		}
	}
	return int(best.node), ok
}

// holds reports whether a node with enough GPUs has the cores for s.
func (p *Placer) holds(s *Spec, t *nodeset.Table, n int) bool {
	free := t.FreeCores()[n]
	return int(free) >= s.Cores.PerNode.Min && s.most(free) >= s.Cores.On(1)
}

func (p *Placer) offer(s *Spec, t *nodeset.Table, n, gpus int) offer {
	has := t.Free(n)
	return offer{int32(n), has.Cores, p.prices.Cost(n, has, s.Cores.On(1), gpus, p.limit)}
}

// rank are the cheapest nodes while nothing has been taken, in order.
func (p *Placer) rank(s *Spec, gpus int) ranked {
	r := &p.prices.ranks
	key := rankKey{s.Eligible, s.Cores.PerNode.Min, s.Cores.On(1), gpus, s.Cores.PerNode.Max, p.limit}
	if list, ok := r.known[key]; ok {
		return list
	}
	t, from, all := p.prices.base, len(r.offers), true
	p.ranking = t.Scan(p.ranking[:0], s.Query(gpus))
	for _, set := range p.ranking {
		for n := int(set.First); n <= int(set.Last); n++ {
			if p.holds(s, t, n) {
				all = r.insert(from, p.offer(s, t, n, gpus)) && all
			}
		}
	}
	list := ranked{int32(from), int32(len(r.offers)), all}
	r.known[key] = list
	return list
}

// insert puts o among the offers from the given one on, which are in order. It reports false if one
// of them had to go, o perhaps.
func (r *ranks) insert(from int, o offer) bool {
	full := len(r.offers)-from == mostRanked
	if full && !o.before(r.offers[len(r.offers)-1]) {
		return false
	}
	if !full {
		r.offers = append(r.offers, o)
	}
	at := len(r.offers) - 1
	for ; at > from && o.before(r.offers[at-1]); at-- {
		r.offers[at] = r.offers[at-1]
	}
	r.offers[at] = o
	return !full
}
