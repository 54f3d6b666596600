// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The bound on all allocations holds for many times the bids.
func TestGlobalBoundHoldsForMoreBids(t *testing.T) {
	lower := 0 // where it says more than that all jobs start
	checkUntil(t, func() bool { return lower > 0 }, func(t *rapid.T) {
		s := drawSnapshot(t)
		few := decide(t, withBids(1, 0, 100_000), s)
		many := decide(t, withBids(60, 20, 600_000), s)
		require.LessOrEqual(t, few.Objective, few.Stats.GlobalBound)
		if few.Stats.Bids == 0 {
			return
		}
		require.LessOrEqual(t, many.Objective, few.Stats.GlobalBound)
		all := 0.0
		for _, job := range s.Pending {
			all += float64(job.Priority)
		}
		if few.Stats.GlobalBound < all {
			lower++
		}
	})
}

// withBids are the papers' options with so many bids.
func withBids(bids, drafts int, work int64) AuctionOptions {
	o := Preset("paper")
	o.MaxBidsPerJob, o.Drafts, o.Work = bids, drafts, work
	return o
}
