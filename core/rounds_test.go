package core

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// startedWorth is the sum of the priorities of the jobs that start.
func startedWorth(s *Snapshot, p *Plan) (sum int64) {
	for _, d := range p.Decisions {
		if d.Start {
			sum += s.Pending[d.Job].Priority
		}
	}
	return sum
}

// With rounds a window that is solved to optimality is worth no less, and some are
// worth more. Drafts are left out, and so is what is given to those who lost.
func TestPricedRoundsNeverLose(t *testing.T) {
	gained := 0
	checkUntil(t, func() bool { return gained > 0 }, func(t *rapid.T) {
		s := drawSnapshot(t)
		o := AuctionOptions{Window: 200, MaxBidsPerJob: rapid.IntRange(1, 5).Draw(t, "bids"), Work: 1_000_000}
		plain := decide(t, o, s)
		o.PricedRounds, o.MaxPricedBids = rapid.IntRange(1, 3).Draw(t, "rounds"), 6
		priced := decide(t, o, s)
		require.GreaterOrEqual(t, priced.Stats.Bids, plain.Stats.Bids)
		if plain.Stats.Status != "optimal" || priced.Stats.Status != "optimal" {
			return
		}
		alpha := 1.0 // equation 10: all preferences together are worth less than the least priority
		for _, d := range plain.Decisions {
			alpha = max(alpha, float64(s.Pending[d.Job].Priority))
		}
		alpha /= float64(priced.Stats.Bids + 1)
		before, after := startedWorth(s, plain), startedWorth(s, priced)
		require.GreaterOrEqual(t, float64(after), float64(before)-alpha*float64(len(plain.Decisions)))
		if after > before {
			gained++
		}
	})
}

// The bound on all allocations holds for many times the bids.
func TestBoundAllHoldsForMoreBids(t *testing.T) {
	lower := 0 // where it says more than that all jobs start
	checkUntil(t, func() bool { return lower > 0 }, func(t *rapid.T) {
		s := drawSnapshot(t)
		few := decide(t, AuctionOptions{Window: 200, MaxBidsPerJob: 1, Work: 100_000}, s)
		many := decide(t, AuctionOptions{Window: 200, MaxBidsPerJob: 60, Drafts: 20, Work: 300_000, PricedRounds: 1, MaxPricedBids: 9}, s)
		require.LessOrEqual(t, few.Objective, few.Stats.BoundAll)
		if few.Stats.Bids == 0 {
			return
		}
		require.LessOrEqual(t, many.Objective, few.Stats.BoundAll)
		all := 0.0
		for _, job := range s.Pending {
			all += float64(job.Priority)
		}
		if few.Stats.BoundAll < all {
			lower++
		}
	})
}

// Rounds share the limit on work and repeat bit for bit.
func TestPricedRoundsShareTheWork(t *testing.T) {
	s := manyEquals(3)
	o := DefaultAuctionOptions()
	o.Work, o.PricedRounds, o.MaxPricedBids = 200_000, 3, 9
	first, again := decide(t, o, s), decide(t, o, s)
	require.Equal(t, first.Decisions, again.Decisions)
	require.Less(t, first.Stats.Work, int64(2*o.Work), "the last step of each solve may go beyond")
}

func TestPricedOptionsAreChecked(t *testing.T) {
	for _, c := range []struct {
		rounds, bids int
		want         string
	}{
		{-1, 0, "priced rounds -1: must be 0 to 64"},
		{65, 0, "priced rounds 65: must be 0 to 64"},
		{1, -1, "priced bids per job -1: must be 0 to 4096"},
		{1, 5000, "priced bids per job 5000: must be 0 to 4096"},
	} {
		o := DefaultAuctionOptions()
		o.PricedRounds, o.MaxPricedBids = c.rounds, c.bids
		require.EqualError(t, o.Validate(), c.want)
	}
}
