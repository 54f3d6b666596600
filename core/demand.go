// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"cmp"
	"math"
	"slices"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
)

// Asked is how much jobs have lately asked for nodes with so many GPUs.
type Asked struct {
	// GPUs is how many of each node, from 1.
	GPUs int
	// Cores is how many of each node, on average, from 0.
	Cores float64
	// Nodes is how many such nodes; of an older request less than was asked for. Above 0.
	Nodes float64
}

// Demand remembers what jobs ask for. What has been asked for counts half after demandHalfLife. The
// zero Demand is ready. It is not for several goroutines at once.
type Demand struct {
	kinds []Asked // by GPUs
	at    int64   // of the last request
}

// demandHalfLife is in seconds.
const demandHalfLife = 12 * 3600

// Come is told of each request once, when its job comes or when it starts by that request, at the
// second now, which never falls.
func (d *Demand) Come(r *bids.Request, now int64) {
	d.fade(now)
	for k := range r.Components {
		d.add(&r.Components[k])
	}
	own := *r
	own.Components = nil
	d.add(&own)
}

// add adds a request without components.
func (d *Demand) add(r *bids.Request) {
	gpus, nodes := leastPerNode(r)
	if gpus == 0 {
		return
	}
	at, known := slices.BinarySearchFunc(d.kinds, gpus, func(k Asked, gpus int) int { return cmp.Compare(k.GPUs, gpus) })
	if !known {
		d.kinds = slices.Insert(d.kinds, at, Asked{GPUs: gpus})
	}
	k, more := &d.kinds[at], float64(nodes)
	cores := float64(place.LeastCores(r))
	k.Cores = (float64(k.Cores*k.Nodes) + cores) / (k.Nodes + more)
	k.Nodes += more
}

// fade has what is known count less. Powers of two by the hour keep it the same on all machines.
func (d *Demand) fade(now int64) {
	if now <= d.at || len(d.kinds) == 0 {
		d.at = max(d.at, now)
		return
	}
	by := math.Exp2(-float64(now-d.at) / demandHalfLife)
	d.at = now
	for i := range d.kinds {
		d.kinds[i].Nodes *= by
	}
	d.kinds = slices.DeleteFunc(d.kinds, func(k Asked) bool { return k.Nodes < forgotten })
}

// forgotten is how many nodes of a kind are as good as none.
const forgotten = 1e-3

// Recent is for Snapshot.Recent, until the next Come.
func (d *Demand) Recent() []Asked { return d.kinds }

// leastPerNode is how many GPUs a job wants of each node at least, and of how many nodes.
func leastPerNode(r *bids.Request) (gpus, nodes int) {
	if r.MinGPUs == 0 {
		return 0, 0
	}
	return r.MinGPUs, max(1, int(leastGPUs(r))/r.MinGPUs)
}
