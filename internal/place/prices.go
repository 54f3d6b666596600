// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"cmp"
	"math"
	"slices"

	"github.com/aucsched/aucsched/nodeset"
)

// Kind is a kind of request that is usual: what it asks of one node, and how much it counts.
type Kind struct {
	GPUs, Cores int
	Weight      int64 // from 0; those of all kinds add up to MaxWeight at most
}

// MaxKinds is how many kinds there may be.
const MaxKinds = 8

// MaxWeight bounds the sum of weights, so that costs are exact.
const MaxWeight = 1 << 16

// farthest bounds the seconds for which a start counts. With it, MaxWeight and 255 GPUs a cost has
// 56 bits.
const farthest = 1 << 32

// Prices says what the start of a job on a node makes useless to the usual requests: GPU seconds,
// in units of 1/MaxWeight. A kind of request can use as many of a node's idle GPUs as there are
// cores and GPUs for whole requests, much as in F of Weng et al. ("Beware of Fragmentation", USENIX
// ATC'23). Theirs is of one moment, this one of the whole time for which the job holds its node.
// What the node's other jobs hold comes free during that time: a start that does not outlast them
// makes little useless. All is in integers.
//
// Reset, Hold and Settle fill it, in this order; its memory is reused.
type Prices struct {
	now    int64
	base   *nodeset.Table // what is free now
	holds  []hold
	bins   []sharedGPU       // GPUs in shared use, by node and number
	whole  []nodeset.Segment // what comes free of them
	frees  []free
	first  []int32 // by node: one more than the index in frees of what comes free there first; 0: nothing does
	kinds  []Kind
	weight int64 // of all kinds
}

// hold is what a running job has.
type hold struct {
	end  int64
	segs []nodeset.Segment
}

// free is what comes free on a node.
type free struct {
	end   int64
	cores uint16
	gpus  uint8
	next  int32 // as Prices.first
}

// Reset begins at second now, when so much is free and nothing has been told to run. base must not
// change while p is used; Up of its nodes must be as in all tables that jobs are placed on. There
// are at most MaxKinds kinds, in any order.
func (p *Prices) Reset(now int64, base *nodeset.Table, kinds []Kind) {
	p.now, p.base, p.holds, p.bins = now, base, p.holds[:0], p.bins[:0]
	p.kinds, p.weight = append(p.kinds[:0], kinds...), 0
	for i := range p.kinds {
		k := &p.kinds[i]
		k.Cores = min(k.Cores, math.MaxUint16+1) // more than any node has
		p.weight += k.Weight
	}
}

// Hold says what a job holds until second end, the share of a GPU that its segments name included.
// The slice stays the caller's, and is not kept beyond Settle.
func (p *Prices) Hold(segs []nodeset.Segment, end int64) {
	end = max(end, p.now+1)
	p.holds = append(p.holds, hold{end, segs})
	for _, s := range segs {
		if s.Bin != 0 {
			p.bins = append(p.bins, sharedGPU{s.First, s.Bin, end})
		}
	}
}

// Settle is called when all running jobs have been told.
func (p *Prices) Settle() {
	p.settleBins()
	slices.SortStableFunc(p.holds, func(a, b hold) int { return cmp.Compare(a.end, b.end) })
	p.frees, p.first = p.frees[:0], append(p.first[:0], make([]int32, p.base.Len())...)
	for _, h := range slices.Backward(p.holds) {
		for _, s := range h.segs {
			for n := s.First; n <= s.Last; n++ {
				p.frees = append(p.frees, free{h.end, s.Cores, s.GPUs, p.first[n]})
				p.first[n] = int32(len(p.frees))
			}
		}
	}
	clear(p.holds)
}

// Cost is what a start for limit seconds on node n makes useless, if it takes cores and gpus of
// what the node has free. It is negative where the start uses what was of no use.
func (p *Prices) Cost(n int, has nodeset.Capacity, cores, gpus int, limit int64) int64 {
	return p.costFrom(n, has, cores, gpus, limit, p.now)
}

// costFrom is Cost for a start that takes the GPUs from second from on, and the cores at once.
func (p *Prices) costFrom(n int, has nodeset.Capacity, cores, gpus int, limit, from int64) int64 {
	c, g, at, taken := int(has.Cores), int(has.GPUs), p.now, 0
	if from <= at {
		taken = gpus
	}
	end := at + min(limit, farthest)
	sum := int64(0)
	for i := p.first[n]; i > 0 && p.frees[i-1].end < end; i = p.frees[i-1].next {
		f := &p.frees[i-1]
		if f.end > at { // of what comes free at once the GPUs may be the last
			sum += p.lost(c, g, cores, taken) * (f.end - at)
		}
		if c, g, at = c+int(f.cores), g+int(f.gpus), f.end; at >= from {
			taken = gpus
		}
	}
	return sum + p.lost(c, g, cores, taken)*(end-at)
}

// lost is how many GPUs of a node become useless when it gives some of its free cores and GPUs, as
// a mean over the kinds in units of 1/MaxWeight.
func (p *Prices) lost(c, g, cores, gpus int) int64 {
	return p.useless(c-cores, g-gpus) - p.useless(c, g)
}

func (p *Prices) useless(c, g int) (sum int64) {
	for i := range p.kinds {
		k := &p.kinds[i]
		n := g / k.GPUs
		if n*k.Cores > c {
			n = c / k.Cores
		}
		sum += k.Weight * int64(g-n*k.GPUs)
	}
	return sum
}

// By has the next places of jobs on one node be those where a start for limit seconds costs least
// by prices; nil: those that Place prefers.
func (p *Placer) By(prices *Prices, limit int64) { p.prices, p.limit = prices, limit }

// Priced reports whether prices say where s is placed.
func (p *Prices) Priced(s *Spec) bool { return p != nil && s.Nodes.Max == 1 }

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
	beside, all := min(over-p.now, limit), p.weight
	used := all * share / p.base.TotalOf(r)[n]
	return p.costFrom(n, has, cores, 1, limit, over) + (all-used)*(limit-beside) - used*beside
}

// sharedUntil is when those end who share the GPU of node n on which a share leaves the least over.
// It is never if such a GPU is shared only since this cycle.
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
