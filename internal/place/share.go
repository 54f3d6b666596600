// SPDX-License-Identifier: BSD-3-Clause

package place

import "github.com/aucsched/aucsched/nodeset"

// placeShare is PlaceAs for a share of one GPU, on the nodesets of p.sets: where it fits tightest,
// so that GPUs stay whole, and of these where a start costs least, where fewest cores are free, and
// on the first node. With prices what they say comes first, for the GPU where it fits tightest.
func (p *Placer) placeShare(dst []nodeset.Segment, t *nodeset.Table, s *Spec, l Layout) ([]nodeset.Segment, bool) {
	best, found := shareOffer{}, false
	for _, set := range p.sets {
		for n := int(set.First); n <= int(set.Last); n++ {
			if !p.holds(s, t, n) {
				continue
			}
			if o := p.offerShare(s, t, n); !found || o.before(best) {
				best, found = o, true
			}
		}
	}
	if !found {
		return dst, false
	}
	n := int(best.node)
	p.spans = append(p.spans[:0], Span{n, n})
	return p.Spread(dst, t, s, p.spans, l, 0), true
}

// shareOffer is what a start on a node costs, where a share is left over.
type shareOffer struct {
	offer
	spare int32
}

func (x shareOffer) before(y shareOffer) bool {
	if x.cost == y.cost && x.spare != y.spare {
		return x.spare < y.spare
	}
	return x.offer.before(y.offer)
}

func (p *Placer) offerShare(s *Spec, t *nodeset.Table, n int) shareOffer {
	has := t.Free(n)
	o := shareOffer{offer{node: int32(n), cores: has.Cores}, t.Spare()[n]}
	if p.prices.Priced(s) {
		o.cost = p.prices.ShareCost(n, has, s.Cores.On(1), p.prices.base.ShareOf(s.More()), o.spare, p.limit)
	}
	return o
}
