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

// EASYOrder is the order behind the head of a policy of that name, if there is one.
func EASYOrder(name string) (sim.Order, bool) {
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

// EASY are the options of such a policy.
func (f *Flags) EASY(behind sim.Order) sim.ListOptions {
	o := sim.DefaultList()
	o.Behind, o.Backfill.Estimates = behind, f.Estimates
	if f.Slurmctld {
		o.Backfill.Interval = slurmInterval
	}
	return o
}
