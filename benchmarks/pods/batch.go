// SPDX-License-Identifier: BSD-3-Clause

package pods

import (
	"math/rand/v2"
)

// seat is a pod of the batch that is being decided.
type seat struct {
	at    int // its arrival
	kind  int // of request
	node  int // by rank; -1: none
	taken Taken
}

// decider decides batch after batch.
type decider struct {
	x       *cluster
	policy  string
	rng     *rand.Rand
	batch   []seat
	auction *auction // nil for other policies
}

func newDecider(o Options, x *cluster) (d *decider, err error) {
	d = &decider{x: x, policy: o.Policy, rng: rand.New(rand.NewPCG(o.Seed, 2))}
	if o.Policy == Auction {
		d.auction, err = newAuction(x)
	}
	return d, err
}

// decide places the batch's pods. The paper's policies take them one by one, as they come.
func (d *decider) decide() error {
	if d.auction != nil {
		return d.auction.decide(d.batch)
	}
	for i := range d.batch {
		d.seat(&d.batch[i])
	}
	return nil
}

// seat places a pod where the policy wants it; it stays without a place if it fits nowhere.
func (d *decider) seat(b *seat) {
	var gpu int
	if d.policy == random {
		b.node, gpu = d.x.anywhere(b.kind, d.rng)
	} else {
		b.node, gpu = d.x.best(b.kind)
	}
	if b.node < 0 {
		return
	}
	if c, ok := d.x.scorer.(*clustering); ok {
		c.put(b.node, &d.x.kinds[b.kind])
	}
	b.taken = d.x.put(b.kind, b.node, gpu)
}
