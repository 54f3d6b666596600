// SPDX-License-Identifier: BSD-3-Clause

package pods

import (
	"fmt"
	"time"
)

// Options are those of [Run].
type Options struct {
	Policy  string  // one of [Policies], or Auction
	Inflate float64 // how much is asked for, by the cluster's GPUs; above 0
	Batch   int     // pods that are decided together, from 1
	Seed    uint64
}

// Place is where a pod is. Node is an index into Cluster.Nodes; -1 if the pod was dropped.
type Place struct {
	Node int
	GPUs Taken
}

// Result is what a run did.
type Result struct {
	Order   []int   // pods in order of arrival, indices into the list
	Places  []Place // of the arrivals
	Failed  int     // arrivals that were dropped
	Decided time.Duration
	total   int
	asked   []int // thousandths asked for, up to and with each arrival
	given   []int // thousandths given to these
}

// At is the GPU allocation in % of all GPUs when the pods that have come ask for percent of them.
// It is the last one if they never do.
func (r *Result) At(percent float64) float64 {
	last := 0
	for k, asked := range r.asked {
		last = r.given[k]
		if float64(asked)*100 >= percent*float64(r.total) {
			break
		}
	}
	return 100 * float64(last) / float64(r.total)
}

// Run lets the pods of a list come to a cluster, and places them.
func Run(c *Cluster, pods []Pod, o Options) (*Result, error) {
	switch {
	case o.Batch < 1:
		return nil, fmt.Errorf("batch %d: must be at least 1", o.Batch)
	case !(o.Inflate > 0 && o.Inflate <= 100):
		return nil, fmt.Errorf("inflation %v: must be above 0 and at most 100", o.Inflate)
	}
	requests := make([]Request, len(pods))
	for i := range pods {
		requests[i] = pods[i].Request
	}
	order, ranks := Arrivals(c, pods, o.Inflate, o.Seed)
	kinds, of := distinct(pods)
	start := time.Now()
	s, err := scorerOf(o.Policy, c, requests)
	if err != nil {
		return nil, err
	}
	d, err := newDecider(o, newCluster(c, ranks, kinds, s))
	if err != nil {
		return nil, err
	}
	r := &Result{Order: order, Places: make([]Place, len(order)), total: c.Thousandths()}
	for from := 0; from < len(order); from += o.Batch {
		d.batch = d.batch[:0]
		for _, pod := range order[from:min(from+o.Batch, len(order))] {
			d.batch = append(d.batch, seat{kind: of[pod], node: -1, at: from + len(d.batch)})
		}
		if err := d.decide(); err != nil {
			return nil, err
		}
		for _, b := range d.batch {
			r.Places[b.at] = Place{-1, 0}
			if b.node >= 0 {
				r.Places[b.at] = Place{d.x.names[b.node], b.taken}
			}
		}
	}
	r.Decided = time.Since(start)
	r.count(pods)
	return r, nil
}

// count sums up.
func (r *Result) count(pods []Pod) {
	asked, given := 0, 0
	for k, pod := range r.Order {
		n := pods[pod].Thousandths()
		asked += n
		if r.Places[k].Node < 0 {
			r.Failed++
		} else {
			given += n
		}
		r.asked, r.given = append(r.asked, asked), append(r.given, given)
	}
}
