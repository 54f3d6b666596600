// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// In a search, what is free at moments that rise, at starts of reservations between them and at
// moments that are over, is what it is when all is counted from the beginning.
func TestSearchRemembersWhatIsFree(t *testing.T) {
	kept, asked := 0, 0
	checkUntil(t, func() bool { return kept > 100 }, func(t *rapid.T) {
		s := drawShared(t, 4, 12)
		var p planner
		require.NoError(t, p.reset(s))
		for i, j := range s.Pending {
			spec, err := place.SpecOf(&j.Request)
			require.NoError(t, err)
			if _, ok := p.reserve(i, []market.Variant{{Spec: spec}}, j.TimeLimit); ok {
				kept++
			}
			if len(p.reserved) == 4 {
				break
			}
		}
		require.False(t, p.times.on)
		p.sortEnds()
		p.search()
		e := 0
		for at, ok := p.nextEvent(p.clock, &e); ok; at, ok = p.nextEvent(at, &e) {
			moments := []int64{at, p.clock} // which is over
			for _, r := range p.reserved {
				if r.Start > at {
					moments = append(moments, r.Start)
				}
			}
			for _, m := range moments {
				var got, want nodeset.Table
				p.freeAt(&got, m)
				p.addUp(&want, m)
				require.Equal(t, want.FreeCores(), got.FreeCores(), "at %d", m)
				require.Equal(t, want.FreeGPUs(), got.FreeGPUs())
				require.Equal(t, want.FreeOf(0), got.FreeOf(0))
				asked++
			}
		}
		p.times.on = false
	})
	require.Greater(t, asked, 100)
}

// With holes kept a share goes to those who share their GPU as long as it does, though it fits
// tighter elsewhere.
func TestSharesStayTogether(t *testing.T) {
	for _, c := range []struct {
		tight, loose int64 // when those end on the GPU where it fits tightest, and on another
		keep         bool
		want         int32
	}{
		{1000, 1000, true, 0}, {10, 1000, true, 1}, {1000, 10, true, 0}, {10, 1000, false, 0},
	} {
		nodes, err := nodeset.NewUniform(3, nodeset.Capacity{Cores: 64, GPUs: 2})
		require.NoError(t, err)
		_, err = nodes.AddShares("share", slices.Repeat([]int64{10}, 3))
		require.NoError(t, err)
		s := &Snapshot{Nodes: nodes, Pending: []*Job{shareJob("a", 1, 3, 0, 9, 1000)}, Recent: []Asked{{GPUs: 1, Nodes: 5}}}
		for n, share := range []int64{7, 5} {
			segs := []nodeset.Segment{{First: int32(n), Last: int32(n), Cores: 1, Bin: 1}}
			r := Running{ID: "r", End: []int64{c.tight, c.loose}[n], Segs: segs, Uses: nodeset.Uses{{PerNode: share}}}
			require.NoError(t, nodes.AllocateWith(segs, r.Uses))
			s.Running = append(s.Running, r)
		}
		d := planOf(t, keeping(func(o *AuctionOptions) { o.KeepHoles = c.keep }), s)
		require.Equal(t, c.want, d[0].Segs[0].First, "%+v", c)
		require.EqualValues(t, 1, d[0].Segs[0].Bin)
	}
}
