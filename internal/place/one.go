// SPDX-License-Identifier: BSD-3-Clause

package place

import "github.com/aucsched/aucsched/nodeset"

// offer is what speaks against a node for a job of one node. A start makes GPUs useless there,
// leaves over so much of a shared GPU, and takes of so many free cores.
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
	share := int64(0)
	if len(spare) > 0 && p.prices != nil {
		share = p.prices.base.ShareOf(s.More())
	}
	for _, set := range p.sets {
		for n := int(set.First); n <= int(set.Last); n++ {
			if int(free[n]) < s.Cores.PerNode.Min || s.most(free[n]) < s.Cores.On(1) {
				continue
			}
			o := offer{cores: int32(free[n])}
			if len(spare) > 0 {
				o.spare = spare[n]
			}
			switch {
			case share > 0:
				o.cost = p.prices.ShareCost(n, t.Free(n), s.Cores.On(1), share, o.spare, p.limit)
			case p.prices != nil:
				o.cost = p.prices.Cost(n, t.Free(n), s.Cores.On(1), gpus, p.limit)
			}
			if !ok || o.before(best) {
				best, node, ok = o, n, true
			}
		}
	}
	return node, ok
}
