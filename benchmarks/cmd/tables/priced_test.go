package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/benchmarks"
	"github.com/aucsched/aucsched/core"
)

func TestPricedRow(t *testing.T) {
	x := func(started, gap float64, ms int) benchmarks.Worth {
		return benchmarks.Worth{Started: started, Gap: gap, Elapsed: time.Duration(ms) * time.Millisecond}
	}
	r := pricedRow{Worths: [][]benchmarks.Worth{{x(100, 0.02, 10), x(200, 0.04, 30)}, {x(103, 0, 40), x(198, 0, 40)}}}
	mean, least := r.gain(1)
	require.InDelta(t, 1, mean, 1e-9)
	require.InDelta(t, -1, least, 1e-9)
	require.InDelta(t, 3, r.gap(0), 1e-9)
	require.InDelta(t, 2, r.time(1), 1e-9)
}

// The page's figures are those of the plans: one window, decided here once more.
func TestPricedMeasures(t *testing.T) {
	r := pricedRow{Nodes: 64, Jobs: 20, Worths: make([][]benchmarks.Worth, len(biddings))}
	o := core.DefaultAuctionOptions()
	o.Work = 100_000
	require.NoError(t, r.measure(t.Context(), o, 1))
	for i, b := range biddings {
		require.Len(t, r.Worths[i], 1)
		require.Positive(t, r.Worths[i][0].Started, b)
		require.GreaterOrEqual(t, r.Worths[i][0].Gap, 0.0, b)
	}
	require.Equal(t, "15 bids, 0 drafts, 18 by price in 3 rounds", biddings[7].String())
}
