// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"cmp"
	"math"
	"slices"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/place"
)

// Order is an order of jobs that wait. Of a job, r is its time limit in seconds and n the least
// cores that it asks for. s is the second of its submission and w how many seconds it has waited.
type Order uint8

// The orders: the job with the least value first, equals as the queue has them.
const (
	QueueOrder Order = iota // the queue's own
	// ShortestFirst (SJF) is by r.
	ShortestFirst
	// SmallestFirst (SAF) is by r n.
	SmallestFirst
	// F1 is by log10(r) n + 870 log10(s), fitted to simulations: Carastan-Santos and de Camargo,
	// "Obtaining Dynamic Scheduling Policies with Simulation and Machine Learning" (SC'17).
	F1
	// WFP3 is by -(w/r)^3 n: Tang et al., "Fault-aware, utility-based job scheduling on Blue
	// Gene/P systems" (CLUSTER'09).
	WFP3
	orders
)

var orderNames = [orders]string{"queue", "sjf", "saf", "f1", "wfp3"}

// String is the order's short name: queue, sjf, saf, f1 or wfp3.
func (o Order) String() string { return orderNames[o] }

// Orders are all orders there are.
func Orders() []Order {
	out := make([]Order, orders)
	for o := range orders {
		out[o] = o
	}
	return out
}

// key is the value of a job of the least of which comes first. The conversions keep processors from
// rounding once where others round twice.
func (o Order) key(j *core.Job, now int64) float64 {
	r, n := float64(j.TimeLimit), float64(place.LeastCores(&j.Request))
	switch o {
	case ShortestFirst:
		return r
	case SmallestFirst:
		return r * n
	case F1:
		return float64(math.Log10(r)*n) + float64(870*math.Log10(float64(max(j.Since, 1))))
	case WFP3:
		w := float64(max(now-j.Since, 0)) / r
		return -float64(w*w*w) * n
	}
	return 0
}

// ranked is a job's value in an order, and its place in the queue.
type ranked struct {
	key   float64
	place int
}

// sortRanked puts those of least value first.
func sortRanked(jobs []ranked) {
	slices.SortFunc(jobs, func(a, b ranked) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.place, b.place)) })
}
