// SPDX-License-Identifier: BSD-3-Clause

package market

import (
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// Space is what the jobs of a window may take.
type Space struct {
	// Now is the machine as it is free now.
	Now *nodeset.Table
	// Left[k] is what reservation k leaves, at the moment when it begins, to jobs
	// that start now and run into it. Reservations are in the order in which
	// they begin.
	Left []*nodeset.Table
	// Quotas are what is left of them now, and at each reservation of Left. The zero Quotas has
	// none; then no request has Charges.
	Quotas place.Quotas
}

// Variant is one way to meet a job of a window. Those of a job come one after the other,
// the one that it likes best first; at most one of them wins. They differ in Spec, Rank,
// Fixed and Offer only.
type Variant struct {
	// Spec is what is asked for; the zero Spec makes no bid. Its Eligible is compared by
	// address: two variants with the same mask should have the same pointer. Of its Blocks, if
	// not 0, bids may have one more.
	Spec place.Spec
	// Rank is 0 for the first variant of a job, and k for the k-th further one. Of is how many
	// variants the job has, where that is more than one: the preference of a bid is spread over
	// them, so that any bid of an earlier one is preferred.
	Rank, Of int
	// Priority is P_j, at least 1.
	Priority int64
	// Limit is the job's time limit in seconds; Options.Prices alone look at it.
	Limit int64
	// Crosses is how many of the space's reservations the job would run into if
	// it started now: the first Crosses of Space.Left bind it.
	Crosses int
	// Fixed is an allocation that the job bids before all others, or nil: one that
	// is known to fit together with those that other jobs have fixed.
	Fixed []nodeset.Segment
	// Offer is an allocation that suits the job, from elsewhere: what Slurm's own selection
	// would give it (the "SLURM bids" of aucsched1, section 4). It is bid if the job may
	// take it; nil: none.
	Offer []nodeset.Segment
}

// NextJob is the index of the first variant of the job after that of variant j, len(variants) for
// the last job.
func NextJob(variants []Variant, j int) int {
	for j++; j < len(variants) && variants[j].Rank > 0; j++ {
	}
	return j
}

func must(err error) {
	if err != nil {
		panic("market: " + err.Error())
	}
}
