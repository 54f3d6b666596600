// SPDX-License-Identifier: BSD-3-Clause

package frag

import (
	"cmp"
	"math/bits"
	"slices"
)

// Prices says which models of GPU are short: it shares out the demand of the mix over the models
// that will do, so evenly that none could be relieved. It remembers the last answer as a place to
// begin with, so it is not for several goroutines at once.
type Prices struct {
	classes []class
	load    [MaxKinds]float64
}

// class are the requests that the same models will do for.
type class struct {
	kinds  uint64
	demand float64 // thousandths
	given  [MaxKinds]float64
}

// NewPrices counts the thousandths of GPUs that requests ask for, by the models that will do.
func NewPrices(requests []Request) *Prices {
	demand := map[uint64]float64{}
	for i := range requests {
		if r := &requests[i]; r.GPUs > 0 {
			demand[r.Kinds] += float64(r.Thousandths())
		}
	}
	p := &Prices{}
	for k, d := range demand {
		p.classes = append(p.classes, class{kinds: k, demand: d})
	}
	// Few models first: the others then flow round what these take.
	slices.SortFunc(p.classes, func(a, b class) int {
		few := bits.OnesCount64(a.kinds) - bits.OnesCount64(b.kinds)
		return cmp.Or(few, cmp.Compare(a.kinds, b.kinds))
	})
	return p
}

// rounds are enough to share out demand; each goes on where the last has ended.
const rounds = 8

// Of is the price of an idle GPU of each model, 0 to 1, given how many thousandths of each are
// idle. The pressure on a model is the demand for it, by its supply. The price is 1 less the
// least pressure of all, by the model's: 0 where any request could do as well elsewhere.
func (p *Prices) Of(idle *[MaxKinds]float64) (price [MaxKinds]float64) {
	for range rounds {
		for i := range p.classes {
			p.classes[i].spread(&p.load, idle)
		}
	}
	least := -1.0
	for k, supply := range idle {
		if supply > 0 && (least < 0 || p.load[k]/supply < least) {
			least = p.load[k] / supply
		}
	}
	for k, supply := range idle {
		if load := p.load[k]; load > 0 && supply > 0 {
			price[k] = max(0, 1-least*supply/load)
		}
	}
	return price
}

// spread shares out the class's demand so that the pressures it raises become equal.
func (c *class) spread(load, idle *[MaxKinds]float64) {
	for k, x := range c.given {
		load[k] -= x
	}
	c.given = [MaxKinds]float64{}
	open := c.kinds
	for k := range idle {
		if idle[k] <= 0 {
			open &^= 1 << k
		}
	}
	for open != 0 {
		demand, supply := c.demand, 0.0
		for m := open; m != 0; m &= m - 1 {
			k := bits.TrailingZeros64(m)
			demand += load[k]
			supply += idle[k]
		}
		level, low := demand/supply, uint64(0)
		for m := open; m != 0; m &= m - 1 {
			if k := bits.TrailingZeros64(m); load[k] < level*idle[k] {
				low |= 1 << k
			}
		}
		if low == open || low == 0 {
			for m := open; m != 0; m &= m - 1 {
				k := bits.TrailingZeros64(m)
				c.given[k] = max(0, level*idle[k]-load[k])
			}
			break
		}
		open = low
	}
	for k, x := range c.given {
		load[k] += x
	}
}
