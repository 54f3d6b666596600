// SPDX-License-Identifier: BSD-3-Clause

package pods

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/aucsched/aucsched/benchmarks/frag"
)

// seat is a pod of the batch that is being decided.
type seat struct {
	at    int // its arrival
	kind  int // of request
	node  int // by rank; -1: none
	taken frag.Taken
	cost  float64 // of a share in the best hole, before the batch
}

// whole is how many whole GPUs the pod asks for.
func (b *seat) whole(x *cluster) uint8 {
	if r := &x.kinds[b.kind]; !r.Shared() {
		return r.GPUs
	}
	return 0
}

// decider decides batch after batch.
type decider struct {
	x         *cluster
	policy    string
	rng       *rand.Rand
	batch     []seat
	foresight *outlook // nil for other policies
	since     int      // pods placed since prices were looked at
	auction   *auction // nil for other policies
}

func newDecider(o Options, x *cluster) (d *decider, err error) {
	d = &decider{x: x, policy: o.Policy, rng: rand.New(rand.NewPCG(o.Seed, 2))}
	if v, ok := x.scorer.(*outlook); ok {
		x.onModel, x.inHole = v.onModel, v.inHole
		d.foresight, d.since = v, priceEvery
	}
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
	if d.foresight != nil {
		d.together()
		return nil
	}
	for i := range d.batch {
		d.seat(&d.batch[i])
	}
	return nil
}

// sweeps are the times that every pod of a batch looks for a better place.
const sweeps = 2

// together places the batch's pods, those first that leave the least behind. Then each leaves its
// place and chooses again, now that the others have theirs. At last those without a place try once
// more, so that none is dropped that fits.
func (d *decider) together() {
	if len(d.batch) == 1 {
		d.foreseen(&d.batch[0])
		return
	}
	d.sort()
	for range 1 + sweeps {
		for i := range d.batch {
			d.foreseen(&d.batch[i])
		}
	}
	for i := range d.batch {
		if b := &d.batch[i]; b.node < 0 {
			d.foreseen(b)
		}
	}
}

// sort brings the batch into the order of decision. Whole GPUs leave nothing behind: those that ask
// for more of them come first, as they find a place less easily. Shares follow by what their price
// is in the best hole. When places run out within the batch, they run out for the last of it.
func (d *decider) sort() {
	costs := make(map[int16]float64)
	for i := range d.batch {
		b := &d.batch[i]
		b.cost = 0
		if r := &d.x.kinds[b.kind]; r.Shared() {
			cost, ok := costs[r.Share]
			if !ok {
				cost = max(0, d.foresight.shares.Least(r.Share))
				costs[r.Share] = cost
			}
			b.cost = cost
		}
	}
	slices.SortStableFunc(d.batch, func(a, b seat) int {
		r, s := &d.x.kinds[a.kind], &d.x.kinds[b.kind]
		return cmp.Or(cmp.Compare(b.whole(d.x), a.whole(d.x)), cmp.Compare(a.cost, b.cost),
			cmp.Compare(s.Thousandths(), r.Thousandths()))
	})
}

// foreseen places a pod by foresight, anew if it has a place.
func (d *decider) foreseen(b *seat) {
	if d.since++; d.since >= priceEvery {
		d.foresight.reprice(d.x)
		d.since = 0
	}
	if b.node >= 0 {
		d.x.remove(b.kind, b.node, b.taken)
		b.node = -1
	}
	d.seat(b)
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
