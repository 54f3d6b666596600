// SPDX-License-Identifier: BSD-3-Clause

package policy

import (
	"strings"

	"github.com/aucsched/aucsched/internal/sim"
)

// easyNames are the policies of one reservation: easy, and easy-ORDER for each other order of the
// jobs behind the head.
func easyNames() []string {
	names := []string{"easy"}
	for _, o := range sim.Orders() {
		if o != sim.QueueOrder {
			names = append(names, "easy-"+o.String())
		}
	}
	return names
}

// easyOrder is the order behind the head of a policy of that name, if there is one.
func easyOrder(name string) (sim.Order, bool) {
	if name == "easy" {
		return sim.QueueOrder, true
	}
	for _, o := range sim.Orders() {
		if rest, ok := strings.CutPrefix(name, "easy-"); ok && rest == o.String() && o != sim.QueueOrder {
			return o, true
		}
	}
	return 0, false
}

// easy are the options of such a policy.
func (f *Flags) easy(behind sim.Order) sim.ListOptions {
	o := sim.DefaultList()
	o.Behind, o.Backfill.Estimates = behind, f.Estimates
	if f.Slurmctld {
		o.Backfill.Interval = slurmInterval
	}
	return o
}

// orderMeanings say what the orders put first.
var orderMeanings = map[sim.Order]string{
	sim.QueueOrder:    "the queue's",
	sim.ShortestFirst: "least time limit r first",
	sim.SmallestFirst: "least r x cores n first",
	sim.F1:            "least log10(r) n + 870 log10(second of submission) first",
	sim.WFP3:          "greatest (wait / r)^3 n first",
}

func (f *Flags) easySettings(behind sim.Order) []Setting {
	o := f.easy(behind)
	return []Setting{
		{Name: "Order behind the head", Value: behind.String(), Meaning: orderMeanings[behind]},
		number("bf_interval", o.Backfill.Interval, "seconds from one pass of backfill to the next at least; 0: one in every cycle"),
		number("bf_max_job_test", int64(o.Backfill.MaxJobTest), "jobs that backfill looks at in a cycle"),
		number("bf_resolution", o.Backfill.Resolution, "seconds of a time slot of the reservation"),
	}
}
