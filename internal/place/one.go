// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"math"

	"github.com/aucsched/aucsched/nodeset"
)

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

// one is the node of p.sets against which least speaks for s, of equals the first. bin is the GPU that
// is to be shared there; 0: none, or where the share fits tightest.
func (p *Placer) one(s *Spec, t *nodeset.Table, gpus int) (node int, bin uint8, ok bool) {
	var best offer
	free, of := t.FreeCores(), t.Unlimited()
	share := of.ShareOf(s.More())
	r := request{int32(s.Cores.On(1)), uint16(gpus), 0}
	var cells []cell // of the outlook, where it sees
	if p.prices.Sees(p.limit) {
		r.share = uint16(p.prices.thousandths(s.More(), -1))
		cells = p.prices.outlook.cells(r)
	}
	for _, set := range p.sets {
		for n := int(set.First); n <= int(set.Last); n++ {
			if int(free[n]) < s.Cores.PerNode.Min || s.most(free[n]) < s.Cores.On(1) {
				continue
			}
			o, on := offer{cores: int32(free[n])}, uint8(0)
			switch {
			case cells != nil:
				o.cost, on = p.prices.outlook.start(cells, of, n, r, share)
			case share > 0:
				o.spare = spareOf(of, n, share)
				if p.prices != nil {
					o.cost = p.prices.ShareCost(n, t.Free(n), s.Cores.On(1), share, o.spare, p.limit)
				}
			case p.prices != nil:
				o.cost = p.prices.Cost(n, t.Free(n), s.Cores.On(1), gpus, p.limit)
			}
			if !ok || o.before(best) {
				best, node, bin, ok = o, n, on, true
			}
		}
	}
	return node, bin, ok
}

// spareOf is what the GPU in shared use of node n has left over on which a share fits tightest,
// math.MaxInt32 if none has as much.
func spareOf(t *nodeset.Table, n int, share int64) int32 {
	if bin := t.ChooseBin(n, share, nil); bin > 0 {
		if left, inUse := t.BinFree(n, bin); inUse {
			return int32(left - share)
		}
	}
	return math.MaxInt32
}
