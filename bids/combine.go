package bids

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/aucsched/aucsched/nodeset"
)

// rosterKey is a question to which the answer is a list of nodes by price.
type rosterKey struct{ crosses, gpus int }

// roster are the nodes that have gpus GPUs free for jobs that cross that many
// reservations, the cheapest first: by a core's share of the price of a node.
func (g *Generator) roster(crosses, gpus int) []int32 {
	p := &g.priced
	if i, ok := p.rosters[rosterKey{crosses, gpus}]; ok {
		return p.orders[i]
	}
	if p.used == len(p.orders) {
		p.orders = append(p.orders, nil)
	}
	i := p.used
	p.used++
	p.rosters[rosterKey{crosses, gpus}] = i
	t := g.views.View(crosses)
	order, tariff := p.orders[i][:0], &p.tariffs[crosses]
	for w, word := range t.Usable(gpus) {
		for ; word != 0; word &= word - 1 {
			order = append(order, int32(w<<6+bits.TrailingZeros64(word)))
		}
	}
	free := t.FreeCores()
	price := func(n int32) float64 {
		c := int(free[n])
		return tariff.node(int(n), c, gpus) / float64(c)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(price(a), price(b)), cmp.Compare(a, b)) })
	p.orders[i] = order
	return order
}

// combine appends an allocation of job j on the cheapest single nodes of t, if
// that is worth more than net, with what it is worth.
func (g *Generator) combine(dst []nodeset.Segment, j int, t *nodeset.Table, net float64) ([]nodeset.Segment, float64, bool) {
	a, s := &g.asks[j], &g.shapes[j]
	if s.contiguous || net >= float64(a.Priority) {
		return dst, net, false
	}
	from, found := len(dst), false
	for k := min(s.maxGPUs, t.MaxGPUs()); k >= s.minGPUs; k-- {
		if !g.cheapest(j, k, t) || !s.together(g.spans) {
			continue
		}
		at := len(dst)
		dst = g.placer.spread(dst, t, s, g.spans, s.ownLayout(packUp), k)
		if w := g.netWorth(j, dst[at:]); w > net {
			net, found = w, true
			dst = append(dst[:from], dst[at:]...)
		} else {
			dst = dst[:at]
		}
	}
	return dst, net, found
}

// netWorth is what an allocation is worth to job j net of prices.
func (g *Generator) netWorth(j int, segs []nodeset.Segment) float64 {
	a, p := &g.asks[j], &g.priced
	bid := g.rate(a, &g.shapes[j], segs)
	net := float64(a.Priority) + float64(p.prices.Alpha*bid.Preference)
	for _, s := range segs {
		net -= p.tariffs[a.Crosses].run(int(s.First), s.Len(), int(s.Cores), 0, int(s.GPUs))
	}
	return net
}

// cheapest fills g.spans with the cheapest nodes of t that hold job j: all of a
// node's cores of a job that names no nodes, an even share of one that does.
func (g *Generator) cheapest(j, k int, t *nodeset.Table) bool {
	a, s, p := &g.asks[j], &g.shapes[j], &g.priced
	free, usable := t.FreeCores(), t.Usable(k)
	least := s.lo
	if s.nodesGiven && !s.perNode {
		least = (s.cores + s.minNodes - 1) / s.minNodes
	}
	p.mark = append(p.mark[:0], make(nodeset.Mask, len(usable))...)
	y, sum := 0, 0
	for _, n := range g.roster(a.Crosses, k) {
		if y >= s.minNodes && sum >= s.cores || y == s.maxNodes {
			break
		}
		if usable.Has(int(n)) && a.Eligible.Has(int(n)) && int(free[n]) >= least && s.hi >= least {
			p.mark.Set(int(n))
			y++
			sum += s.most(free[n])
		}
	}
	if y < s.minNodes || sum < s.cores {
		return false
	}
	g.spans = appendSpans(g.spans[:0], p.mark)
	return true
}

// appendSpans appends the runs of nodes of a mask.
func appendSpans(dst []span, m nodeset.Mask) []span {
	for w, word := range m {
		for ; word != 0; word &= word - 1 {
			n := w<<6 + bits.TrailingZeros64(word)
			if k := len(dst) - 1; k >= 0 && dst[k].last == n-1 {
				dst[k].last = n
			} else {
				dst = append(dst, span{n, n})
			}
		}
	}
	return dst
}
