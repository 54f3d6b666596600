// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"cmp"
	"math"
	"slices"

	"github.com/aucsched/aucsched/nodeset"
)

// sharedGPU is a GPU in shared use, and when the last of those who share it now will have ended.
type sharedGPU struct {
	node int32
	bin  uint8
	end  int64
}

func compareGPUs(a, b sharedGPU) int {
	return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.bin, b.bin))
}

// settleBins leaves of each GPU the last end, and has it come free as a whole then.
func (p *Prices) settleBins() {
	slices.SortFunc(p.bins, func(a, b sharedGPU) int { return cmp.Or(compareGPUs(a, b), cmp.Compare(b.end, a.end)) })
	p.bins = slices.CompactFunc(p.bins, func(a, b sharedGPU) bool { return compareGPUs(a, b) == 0 })
	p.whole = p.whole[:0]
	for _, g := range p.bins {
		p.whole = append(p.whole, nodeset.Segment{First: g.node, Last: g.node, GPUs: 1})
	}
	for i := range p.bins {
		p.holds = append(p.holds, hold{p.bins[i].end, p.whole[i : i+1]})
	}
}

// ShareCost is Cost for a share of one GPU. spare is how much is left over of the GPU in shared use
// in which it fits tightest, math.MaxInt32 where it takes one that nobody shares. While others share
// the GPU it uses what was of no use; then it has the GPU for itself, and the rest is useless.
func (p *Prices) ShareCost(n int, has nodeset.Capacity, cores int, share int64, spare int32, limit int64) int64 {
	over := p.now
	if spare != math.MaxInt32 {
		over = p.sharedUntil(n, share, int64(spare))
	}
	r, _ := p.base.Shares()
	limit = min(limit, farthest)
	beside, all := min(over-p.now, limit), p.weight[p.every]
	used := all * share / p.base.TotalOf(r)[n]
	return p.costFrom(n, has, cores, 1, limit, over) + (all-used)*(limit-beside) - used*beside
}

// sharedUntil is when those end who share the GPU of node n on which a share leaves over so much,
// and no less is left over on any; never where such a GPU is shared only since this cycle.
func (p *Prices) sharedUntil(n int, share, spare int64) int64 {
	bin := p.base.ChooseBin(n, share, nil)
	if bin == 0 {
		return p.now + farthest
	}
	if free, inUse := p.base.BinFree(n, bin); !inUse || free-share != spare {
		return p.now + farthest
	}
	at, known := slices.BinarySearchFunc(p.bins, sharedGPU{node: int32(n), bin: bin}, compareGPUs)
	if !known {
		return p.now + farthest
	}
	return p.bins[at].end
}
