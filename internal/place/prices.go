// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"cmp"
	"math"
	"math/bits"
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
// makes little useless. What is shared counts the rest of its GPU. A start that never ends costs what the
// outlook says, where GPUs are shared or not all will do for all. All is in integers.
//
// Reset, Hold, Ask and Settle fill it, in this order; its memory is reused.
type Prices struct {
	now    int64
	base   *nodeset.Table // what is free now
	holds  []hold
	bins   []sharedGPU       // GPUs in shared use, by node and number
	whole  []nodeset.Segment // what comes free of them
	frees  []free
	first  []int32 // by node: one more than the index in frees of what comes free there first; 0: nothing does
	kinds  []Kind
	weight int64       // of all kinds
	sums   []sumOfKind // by GPUs

	asks    []ask
	run     int // of asks, the first: what runs
	masks   Masks
	number  map[*nodeset.Mask]int32
	apart   []*nodeset.Mask // those of asks, by number
	outlook outlook
	sees    bool // the outlook knows what endless starts cost
}

// sumOfKind is what all requests for nodes of so many GPUs ask for.
type sumOfKind struct{ nodes, cores float64 }

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

// Reset begins at second now, when so much is free and nothing has been told. base must not change
// while p is used; Up of its nodes must be as in all tables that jobs are placed on.
func (p *Prices) Reset(now int64, base *nodeset.Table) {
	p.now, p.base, p.holds, p.bins, p.asks, p.run = now, base, p.holds[:0], p.bins[:0], p.asks[:0], 0
	p.sees = false
	p.sums = append(p.sums[:0], make([]sumOfKind, base.MaxGPUs()+1)...)
	p.masks.Reset()
	if p.apart = p.apart[:0]; p.number == nil {
		p.number = make(map[*nodeset.Mask]int32)
	}
	clear(p.number)
}

// Hold says what a job holds until second end, with these uses of further resources, and which nodes
// it could have used; nil: any. The slices stay the caller's, and are not kept beyond Settle.
func (p *Prices) Hold(segs []nodeset.Segment, uses nodeset.Uses, eligible *nodeset.Mask, end int64) {
	end = max(end, p.now+1)
	if end-p.now < farthest { // while it counts
		p.holds = append(p.holds, hold{end, segs})
	}
	for _, s := range segs {
		if s.Bin != 0 {
			p.bins = append(p.bins, sharedGPU{s.First, s.Bin, end})
		}
		p.count(int(s.GPUs), s.Len(), s.Len()*int(s.Cores))
		p.ask(int(s.Cores), int(s.GPUs), p.thousandths(uses, int(s.First)), eligible, s.Len())
	}
	p.run = len(p.asks)
}

// Ask says what a waiting job asks for, of one part, and for how long.
func (p *Prices) Ask(s *Spec, limit int64) {
	p.sees = p.sees || limit >= Endless
	p.count(s.GPUs.PerNode.Min, s.Nodes.Min, int(s.LeastCores()))
	p.ask(int(s.LeastCores())/max(s.Nodes.Min, 1), s.GPUs.PerNode.Min, p.thousandths(s.More(), -1), s.Eligible, s.Nodes.Min)
}

func (p *Prices) count(gpus, nodes, cores int) {
	if gpus > 0 && gpus < len(p.sums) {
		p.sums[gpus].nodes += float64(nodes)
		p.sums[gpus].cores += float64(cores)
	}
}

func (p *Prices) ask(cores, gpus, share int, eligible *nodeset.Mask, nodes int) {
	a := ask{request{int32(min(cores, math.MaxUint16+1)), uint16(min(gpus, math.MaxUint8)), uint16(share)}, 0, int32(nodes)}
	if eligible != nil {
		m := p.masks.Of(eligible)
		if a.mask = p.number[m]; a.mask == 0 {
			p.apart = append(p.apart, m)
			a.mask = int32(len(p.apart))
			p.number[m] = a.mask
		}
	}
	p.asks = append(p.asks, a)
}

// thousandths are those of a GPU of node n that uses take a share of, or of the largest one; 0: none.
func (p *Prices) thousandths(uses nodeset.Uses, n int) int {
	share := p.base.ShareOf(uses)
	if share == 0 {
		return 0
	}
	r, _ := p.base.Shares()
	size := p.base.TotalOf(r)
	of := size[max(n, 0)]
	if n < 0 {
		of = slices.Max(size)
	}
	return int(min((share*whole+of-1)/max(of, 1), whole))
}

// Settle is called when all has been told.
func (p *Prices) Settle() {
	p.weigh()
	p.settleBins()
	slices.SortStableFunc(p.holds, func(a, b hold) int { return cmp.Compare(a.end, b.end) })
	p.frees, p.first = p.frees[:0], append(p.first[:0], make([]int32, p.base.Len())...)
	for i, h := range slices.Backward(p.holds) {
		for _, s := range h.segs {
			for n := s.First; n <= s.Last; n++ {
				p.frees = append(p.frees, free{h.end, s.Cores, s.GPUs, p.first[n]})
				p.first[n] = int32(len(p.frees))
			}
		}
		p.holds[i] = hold{}
	}
	p.look()
}

// A mix of so many requests that run is enough: of more it is the first 2^k, so that it stays as it is
// for a while. What waits is part of it unless it is less than a part of that.
const enough, few = 64, 16

// Endless is from how many seconds on a job is taken never to end: 50 years.
const Endless = 50 * 365 * 24 * 3600

// look has the outlook look at the machine, if a job never ends and GPUs are not all the same to all.
func (p *Prices) look() {
	if !p.sees {
		return
	}
	run, waits := p.asks[:p.run], p.asks[p.run:]
	if len(run) >= enough {
		run = run[:1<<(bits.Len(uint(len(run)))-1)]
	}
	asks := run
	if len(waits)*few >= len(run) {
		n := len(run)
		copy(p.asks[n:], waits)
		asks = p.asks[:n+len(waits)]
	}
	p.sees = slices.ContainsFunc(asks, func(a ask) bool {
		return a.share > 0 || a.gpus > 0 && a.mask > 0 && p.partly(a.mask)
	})
	if p.sees {
		p.outlook.begin(p.base, asks, p.apart)
		p.outlook.settle(p.base)
	}
}

// Sees reports whether the outlook says what a start for limit seconds costs.
func (p *Prices) Sees(limit int64) bool { return p != nil && p.sees && limit >= Endless }

// partly reports whether a mask leaves out nodes with GPUs.
func (p *Prices) partly(mask int32) bool {
	m := *p.apart[mask-1]
	for n := range p.base.Len() {
		if p.base.Total(n).GPUs > 0 && !m.Has(n) {
			return true
		}
	}
	return false
}

// wholeNode is which part of all weights the request for all GPUs of the largest node has at least.
// Otherwise such a node is worth nothing until somebody asks for one.
const wholeNode = 1.0 / 32

// weigh makes kinds of the sums. A kind counts as often as it comes, times its GPUs, which are idle
// elsewhere while it finds no place. It counts times these again: of a node as much is at stake.
// Otherwise the many small requests, which find places anywhere, drown the few large ones.
func (p *Prices) weigh() {
	p.kinds, p.weight = p.kinds[:0], 0
	all, largest := 0.0, len(p.sums)-1
	for g := range p.sums {
		all += p.often(g)
	}
	if all == 0 {
		all = 1
	}
	unit := MaxWeight / float64(all*(1+wholeNode))
	for g := 1; g <= largest; g++ {
		k, weight := Kind{GPUs: g}, p.often(g)
		if n := p.sums[g].nodes; n > 0 {
			k.Cores = int(min(p.sums[g].cores/n, math.MaxUint16+1)) // more than any node has
		}
		if g == largest {
			weight += float64(all * wholeNode)
		}
		if k.Weight = int64(weight * unit); k.Weight > 0 {
			p.kinds = append(p.kinds, k)
		}
	}
	if len(p.kinds) > MaxKinds {
		slices.SortStableFunc(p.kinds, func(a, b Kind) int { return cmp.Compare(b.Weight, a.Weight) })
		p.kinds = p.kinds[:MaxKinds]
	}
	for i := range p.kinds {
		p.weight += p.kinds[i].Weight
	}
}

// often is the weight of the requests for so many GPUs.
func (p *Prices) often(gpus int) float64 { return float64(gpus*gpus) * p.sums[gpus].nodes }

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
	if len(p.holds) == 0 { // all are shared for ever
		p.bins = p.bins[:0]
	}
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
	at, known := slices.BinarySearchFunc(p.bins, sharedGPU{node: int32(n), bin: bin}, compareGPUs)
	if known {
		if free, _ := p.base.BinFree(n, bin); free-share == spare {
			return p.bins[at].end
		}
	}
	return p.now + farthest
}
