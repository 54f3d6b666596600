// SPDX-License-Identifier: BSD-3-Clause

package pods

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/aucsched/aucsched/internal/frag"
)

// seat is a pod of the batch that is being decided.
type seat struct {
	at    int // its arrival
	kind  int // of request
	node  int // by rank; -1: none
	taken frag.Taken
}

// decider decides batch after batch.
type decider struct {
	x         *cluster
	policy    string
	rng       *rand.Rand
	batch     []seat
	foresight *outlook // nil for other policies
	since     int      // arrivals since prices were looked at
}

func newDecider(o Options, x *cluster) *decider {
	d := &decider{x: x, policy: o.Policy, rng: rand.New(rand.NewPCG(o.Seed, 2))}
	if v, ok := x.scorer.(*outlook); ok {
		x.onModel = v.onModel
		d.foresight, d.since = v, priceEvery
	}
	return d
}

// decide places the batch's pods. The paper's policies take them one by one, as they come.
func (d *decider) decide() {
	if d.foresight != nil {
		d.together()
		return
	}
	for i := range d.batch {
		d.seat(&d.batch[i])
	}
}

// sweeps are the times that every pod of a batch looks for a better place.
const sweeps = 2

// together places the batch's pods, those that ask for more GPUs first. Then each leaves its place
// and chooses again, now that the others have theirs. At last those without a place try once more,
// so that none is dropped that fits.
func (d *decider) together() {
	if d.since += len(d.batch); d.since >= priceEvery {
		d.foresight.reprice(d.x)
		d.since = 0
	}
	slices.SortStableFunc(d.batch, func(a, b seat) int {
		return cmp.Compare(d.x.kinds[b.kind].Thousandths(), d.x.kinds[a.kind].Thousandths())
	})
	for i := range d.batch {
		d.seat(&d.batch[i])
	}
	if len(d.batch) == 1 {
		return
	}
	for range sweeps {
		for i := range d.batch {
			if b := &d.batch[i]; b.node >= 0 {
				d.unseat(b)
			}
			d.seat(&d.batch[i])
		}
	}
	for i := range d.batch {
		if b := &d.batch[i]; b.node < 0 {
			d.seat(b)
		}
	}
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

func (d *decider) unseat(b *seat) {
	d.x.remove(b.kind, b.node, b.taken)
	b.node = -1
}
