// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

// No second stands for another thing: a clock may begin anywhere, before 0 as well.
func TestClocksMayBeginAnywhere(t *testing.T) {
	for _, now := range []int64{-1000, -50, -20, 0, 7} {
		nodes, err := nodeset.NewUniform(2, nodeset.Capacity{Cores: 4})
		require.NoError(t, err)
		held := [][]nodeset.Segment{{{First: 0, Last: 0, Cores: 4}}, {{First: 1, Last: 1, Cores: 4}}}
		s := &Snapshot{Now: now, Nodes: nodes, Pending: queue(30, bids.Request{Cores: 4}, bids.Request{Cores: 8})}
		for i, segs := range held {
			require.NoError(t, nodes.Allocate(segs))
			s.Running = append(s.Running, Running{End: now + 20 + 30*int64(i), Segs: segs})
		}
		o := Preset("none")
		o.Estimates, o.Reservations = true, 2
		p := decide(t, o, s)
		for j, start := range []int64{20, 50} {
			require.True(t, p.Decisions[j].Kept, "at %d", now)
			require.Equal(t, now+start, p.Decisions[j].Expected)
		}
		x := explain(t, explainer(t, auctionOf(t, func(o *AuctionOptions) { o.Estimates = true }), s), 1, ExplainOptions{})
		require.True(t, x.Foreseen)
		require.Equal(t, now+50, x.Expected)
	}
}
