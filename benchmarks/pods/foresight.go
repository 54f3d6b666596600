// SPDX-License-Identifier: BSD-3-Clause

package pods

import (
	"github.com/aucsched/aucsched/benchmarks/frag"
)

// futures are what foresight expects to come to a node. A sequence of 70 asks for some 50 GPUs,
// several times what a node has: the last of it only tells small holes that get filled from those
// that don't.
var futures = frag.FillOptions{Sequences: 64, Length: 70, Seed: 1}

const (
	grain      = 20 // thousandths of a GPU: costs that differ by less are equal
	priceEvery = 32 // arrivals after which prices are looked at anew
)

// beyond is what is expected to come when the cluster is full, by its GPUs. Until then nothing
// has been refused; from then on what is left is filled by those that happen to fit.
const beyond = 0.2

// nodesPart is how much of what a node is expected to lose by a share counts. The price of the
// hole has most of it, but neither the node's cores nor its other GPUs.
const nodesPart = 0.25

// outlook is foresight's scorer. A start costs what the node is expected to lose by it, and the
// prices of the model, of the hole that a share is put into, and of the holes for several GPUs that
// it breaks.
type outlook struct {
	fill   *frag.Fill
	models *frag.Prices
	holes  *frag.Holes
	shares *frag.Shares
	total  float64 // the cluster's GPUs, in thousandths
	price  [frag.MaxKinds]float64
	// supply is what is idle of each model, less what is expected to be lost, in thousandths.
	supply [frag.MaxKinds]float64
	known  []frag.State // of each node, as last seen
	before []float64    // its loss
}

func newOutlook(c *Cluster, requests []frag.Request) *outlook {
	return &outlook{
		fill:   frag.NewFill(requests, futures),
		models: frag.NewPrices(requests),
		holes:  frag.NewHoles(requests),
		shares: frag.NewShares(requests),
		total:  float64(c.Thousandths()),
		known:  make([]frag.State, len(c.Nodes)),
		before: make([]float64, len(c.Nodes)),
	}
}

func (o *outlook) changed(node int, s *frag.State) {
	loss, was := o.fill.After(s), &o.known[node]
	o.supply[s.Kind] += float64(s.Idle()-was.Idle()) - (loss - o.before[node])
	o.holes.Move(was, s)
	o.shares.Move(was, s)
	o.before[node], *was = loss, *s
}

func (o *outlook) score(node int, s *frag.State, r *frag.Request, c *cell) {
	for gpu := range s.Ways(r) {
		after := *s
		after.Take(r, gpu)
		w := way{gpu: int8(gpu), breaks: o.holes.Breaks(s, r, gpu)}
		cost := o.fill.After(&after) - o.before[node]
		if r.Shared() {
			w.hole = frag.Hole(s.GPUs[gpu])
			cost *= nodesPart
		}
		w.score = float32(-cost / grain)
		c.add(w)
	}
}

// inHole is what the prices of holes take from a share's scores.
func (o *outlook) inHole(r *frag.Request, cost *[frag.Units + 1]float32) {
	for g, x := range o.shares.Costs(r.Share) {
		cost[g] = float32(x / grain)
	}
}

// onModel is what the price of a model adds to a score.
func (o *outlook) onModel(r *frag.Request, kind uint8) float64 {
	return -o.price[kind] * float64(r.Thousandths()) / grain
}

// reprice looks at what the cluster has left.
func (o *outlook) reprice(x *cluster) {
	o.price = o.models.Of(&o.supply)
	all := 0.0
	for _, s := range o.supply {
		all += s
	}
	o.shares.Look(all + beyond*o.total)
	for b, p := range o.holes.Prices(all) {
		x.broken[b] = float32(-p / grain)
	}
}
