// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/race"
	"github.com/aucsched/aucsched/nodeset"
)

// A job that names two nodes takes as much of the one as of the other in AUCSCHED2. In AUCSCHED1
// the program gives it one core of the one and three of the other, if that lets another
// in (aucsched1, equations 4 and 7).
func TestLayoutsMakeRoom(t *testing.T) {
	nodes, err := nodeset.NewUniform(2, nodeset.Capacity{Cores: 4})
	require.NoError(t, err)
	s := &Snapshot{Nodes: nodes, Pending: queue(100,
		bids.Request{Cores: 4, MinNodes: 2, MaxNodes: 2},
		bids.Request{Cores: 3, MinNodes: 1, MaxNodes: 1},
		bids.Request{MinNodes: 1, TasksPerNode: 1},
	)}
	o := PaperAuctionOptions()
	require.Equal(t, 2, started(decide(t, o, s)), "J2 finds two cores on each node")
	o.Determiner = layouts
	p := decide(t, o, s)
	require.Equal(t, 3, started(p))
	require.Equal(t, "optimal", p.Stats.Status)
	require.ElementsMatch(t, []uint16{1, 3}, []uint16{p.Decisions[0].Segs[0].Cores, p.Decisions[0].Segs[1].Cores})
	a, err := NewAuction(o, nil)
	require.NoError(t, err)
	require.Equal(t, "auction1", a.Name())
}

// With the same bids and the same work AUCSCHED1's answer is worth at least AUCSCHED2's, optimal or
// not, and on some windows more.
func TestLayoutsAreWorthAtLeastFixedOnes(t *testing.T) {
	race.Slow(t)
	more := 0
	checkUntil(t, func() bool { return more > 0 }, func(t *rapid.T) {
		s, o := drawSnapshot(t), PaperAuctionOptions()
		s.Pending = slices.DeleteFunc(s.Pending, (*Job).mayBeCoreless)
		o.Work = rapid.SampledFrom([]int64{1, 100, 1000, 10_000_000}).Draw(t, "work")
		fixed := decide(t, o, s)
		o.Determiner = layouts
		free := decide(t, o, s)
		require.GreaterOrEqual(t, free.Objective, fixed.Objective)
		require.GreaterOrEqual(t, free.Bound, free.Objective)
		require.Equal(t, fixed.Stats.Bids, free.Stats.Bids)
		if math.Floor(free.Objective) > math.Floor(fixed.Objective) {
			more++
		}
	})
}
