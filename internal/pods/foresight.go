// SPDX-License-Identifier: BSD-3-Clause

package pods

import (
	"math"

	"github.com/aucsched/aucsched/internal/frag"
)

// futures are what foresight expects to come to a node. A sequence of 70 asks for some 50 GPUs,
// several times what a node has: the last of it only tells small holes that get filled from those
// that don't.
var futures = frag.FillOptions{Sequences: 64, Length: 70, Seed: 1}

const (
	grain      = 20 // thousandths of a GPU: costs that differ by less are equal
	priceEvery = 32 // arrivals after which prices are looked at anew
)

// outlook is foresight's scorer. A start costs what the node is expected to lose by it, and the
// prices of the model and of the holes that it takes.
type outlook struct {
	fill   *frag.Fill
	models *frag.Prices
	holes  *frag.Holes
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
		known:  make([]frag.State, len(c.Nodes)),
		before: make([]float64, len(c.Nodes)),
	}
}

func (o *outlook) changed(node int, s *frag.State) {
	loss, was := o.fill.After(s), &o.known[node]
	o.supply[s.Kind] += float64(s.Idle()-was.Idle()) - (loss - o.before[node])
	o.holes.Move(was, s)
	o.before[node], *was = loss, *s
}

func (o *outlook) score(node int, s *frag.State, r *frag.Request) (float64, int) {
	gpu, cost := o.fill.Start(s, r, o.before[node])
	return math.Floor(-cost / grain), gpu
}

func (o *outlook) breaks(s *frag.State, r *frag.Request, gpu int) frag.Broken {
	return o.holes.Breaks(s, r, gpu)
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
	for b, p := range o.holes.Prices(all) {
		x.broken[b] = float32(-p / grain)
	}
}
