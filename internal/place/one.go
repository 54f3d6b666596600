// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"math"

	"github.com/aucsched/aucsched/nodeset"
)

// offer is what speaks against a node for a job of one: what a start makes useless there, what is left
// over of the GPU of which it takes a share, and how many cores are free.
type offer struct {
	cost         int64
	spare, cores int32
}

func (x offer) before(y offer) bool {
	switch {
	case x.cost != y.cost:
		return x.cost < y.cost
	case x.spare != y.spare:
		return x.spare < y.spare
	}
	return x.cores < y.cores
}

// one is the node of p.sets against which least speaks for s, of equals the first.
func (p *Placer) one(s *Spec, t *nodeset.Table, gpus int) (node int, ok bool) {
	var best offer
	free, spare := t.FreeCores(), t.Spare()
	a := ask{cores: s.Cores.On(1), gpus: gpus, limit: p.limit}
	if len(spare) > 0 && p.prices != nil {
		a.share = p.prices.base.ShareOf(s.More())
	}
	known := p.prices.known(a)
	for _, set := range p.sets {
		for n := int(set.First); n <= int(set.Last); n++ {
			if int(free[n]) < s.Cores.PerNode.Min || s.most(free[n]) < s.Cores.On(1) {
				continue
			}
			o := offer{cores: int32(free[n])}
			if len(spare) > 0 {
				o.spare = spare[n]
			}
			if p.prices != nil {
				o.cost = p.prices.costOf(a, known, t, n, o.spare)
			}
			if !ok || o.before(best) {
				best, node, ok = o, n, true
			}
		}
	}
	return node, ok
}

// ask is all of a request of one node that its costs depend on.
type ask struct {
	cores, gpus  int
	limit, share int64
}

// memo remembers what starts cost while nothing has been taken, by node. A window places each of its
// jobs many times, and most nodes are then as they were.
type memo struct {
	of     map[ask][]int64
	values []int64
}

// mostKnown bounds the values of a memo.
const mostKnown = 1 << 18

// unknown is the cost of a node that nobody has asked for.
const unknown = math.MinInt64

// known are the costs of a request by node, those that are not known unknown; nil where there are too
// many.
func (p *Prices) known(a ask) []int64 {
	if p == nil {
		return nil
	}
	m, nodes := &p.memo, p.base.Len()
	costs, ok := m.of[a]
	if from := len(m.values); !ok && from+nodes <= mostKnown {
		if cap(m.values) < from+nodes {
			m.values = append(make([]int64, 0, 2*from+nodes), m.values...)
		}
		m.values = m.values[:from+nodes]
		costs = m.values[from:]
		for n := range costs {
			costs[n] = unknown
		}
		m.of[a] = costs
	}
	return costs
}

func (m *memo) reset() {
	if m.of == nil {
		m.of = make(map[ask][]int64)
	}
	clear(m.of)
	m.values = m.values[:0]
}

// costOf is what a start makes useless on node n of t, and known of the node if it is as it was.
func (p *Prices) costOf(a ask, known []int64, t *nodeset.Table, n int, spare int32) int64 {
	has := t.Free(n)
	same := known != nil && a.share == 0 && has == p.base.Free(n)
	if same && known[n] != unknown {
		return known[n]
	}
	var cost int64
	if a.share > 0 {
		cost = p.ShareCost(n, has, a.cores, a.share, spare, a.limit)
	} else {
		cost = p.Cost(n, has, a.cores, a.gpus, a.limit)
	}
	if same {
		known[n] = cost
	}
	return cost
}
