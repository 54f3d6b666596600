// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// What is free at moments that rise, at starts of reservations between them and at
// moments that are over, is what it is when all is counted from the beginning.
func TestSearchRemembersWhatIsFree(t *testing.T) {
	kept, asked := 0, 0
	checkUntil(t, func() bool { return kept > 100 }, func(t *rapid.T) {
		s := drawShared(t, 4, 12)
		var p claims
		p.reset(s, nil)
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
		for at, ok := p.nextEnd(len(p.ends), p.clock); ok; at, ok = p.nextEnd(len(p.ends), at) {
			moments := []int64{at, p.clock} // which is over
			for _, r := range p.reserved {
				if r.Start > at {
					moments = append(moments, r.Start)
				}
			}
			for _, m := range moments {
				var got, want view
				p.freeAt(got.own(), m)
				q := p
				q.recalled = recalled{}
				q.forget(true)
				q.freeAt(want.own(), m)
				require.Equal(t, want.nodes.FreeCores(), got.nodes.FreeCores(), "at %d", m)
				require.Equal(t, want.nodes.FreeGPUs(), got.nodes.FreeGPUs())
				require.Equal(t, want.nodes.FreeOf(0), got.nodes.FreeOf(0))
				asked++
			}
		}
	})
	require.Greater(t, asked, 100)
}

// What ends is in order of time, however much of it the last cycle knew.
func TestEndsAreInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, nodes := claims{}, uniformNodes(t, 1, nodeset.Capacity{Cores: 1})
		ends := rapid.SliceOfN(rapid.Int64Range(0, 20), 0, 12)
		s := &Snapshot{Nodes: nodes}
		for range 4 {
			s.Running = s.Running[:min(len(s.Running), rapid.IntRange(0, 12).Draw(t, "stay"))]
			for _, end := range ends.Draw(t, "ends") {
				s.Running = append(s.Running, Running{End: end})
			}
			p.reset(s, nil)
			require.Len(t, p.ends, len(s.Running))
			for _, e := range p.ends {
				require.Equal(t, s.Running[e.of].End, e.end)
			}
			for range rapid.IntRange(0, 3).Draw(t, "starts") {
				require.NoError(t, p.start(claim{End: rapid.Int64Range(1, 30).Draw(t, "end")}))
			}
			require.True(t, slices.IsSortedFunc(p.ends, func(a, b ending) int { return cmp.Compare(a.end, b.end) }))
		}
	})
}

// A share goes to those who share their GPU as long as it does, though it fits
// tighter elsewhere.
func TestSharesStayTogether(t *testing.T) {
	for _, c := range []struct {
		tight, loose int64 // when those end on the GPU where it fits tightest, and on another
		want         int32
	}{
		{1000, 1000, 0}, {10, 1000, 1}, {1000, 10, 0},
	} {
		nodes, err := nodeset.NewUniform(3, nodeset.Capacity{Cores: 64, GPUs: 2})
		require.NoError(t, err)
		_, err = nodes.AddShares("share", slices.Repeat([]int64{10}, 3))
		require.NoError(t, err)
		s := &Snapshot{Nodes: nodes, Pending: []*Job{shareJob("a", 1, 3, 0, 9, 1000)}}
		for n, share := range []int64{7, 5} {
			segs := []nodeset.Segment{{First: int32(n), Last: int32(n), Cores: 1, Bin: 1}}
			r := Running{ID: "r", End: []int64{c.tight, c.loose}[n], Segs: segs, Uses: nodeset.Uses{{PerNode: share}}}
			require.NoError(t, nodes.Allocate(segs, r.Uses...))
			s.Running = append(s.Running, r)
		}
		d := planOf(t, keeping(nil), s)
		require.Equal(t, c.want, d[0].Segs[0].First, "%+v", c)
		require.EqualValues(t, 1, d[0].Segs[0].Bin)
	}
}

// Nobody waits for the end of a job without a limit: a place that comes free only then is none, and
// keeps nobody off what is idle. With a limit, it is one.
func TestNoEndNoPromise(t *testing.T) {
	for _, limit := range []int64{NoTimeLimit, 500} {
		nodes := uniformNodes(t, 2, nodeset.Capacity{Cores: 8})
		held := []nodeset.Segment{{First: 0, Last: 0, Cores: 8}}
		require.NoError(t, nodes.Allocate(held))
		s := &Snapshot{Now: 100, Nodes: nodes, Running: []Running{{ID: "x", End: 90 + limit, Segs: held}}, Pending: []*Job{
			{ID: "wide", Request: bids.Request{MinNodes: 2, TasksPerNode: 8}, Priority: 9, TimeLimit: 1000},
			{ID: "long", Request: bids.Request{MinNodes: 1, TasksPerNode: 8}, Priority: 1, TimeLimit: 1000},
		}}
		d := planOf(t, keeping(func(o *AuctionOptions) { o.Reservations = 1 }), s)
		require.Equal(t, limit == NoTimeLimit, d[1].Start)
		require.Equal(t, limit != NoTimeLimit, d[0].Kept)
	}
}

// A job that waits for a quota has a place kept in all: nodes and quota alike. A job that would be
// on these nodes then does not start.
func TestQuotaWithNodes(t *testing.T) {
	for _, limit := range []int64{1000, 50} {
		nodes := uniformNodes(t, 2, nodeset.Capacity{Cores: 8})
		held := []nodeset.Segment{{First: 0, Last: 0, Cores: 1}}
		require.NoError(t, nodes.Allocate(held))
		charges := nodeset.Uses{{PerCore: 1}}
		s := &Snapshot{Nodes: nodes, Quotas: []Quota{{Name: "cores", Left: 15}},
			Running: []Running{{ID: "x", End: 100, Segs: held, Charges: charges}}, Pending: []*Job{
				{ID: "wide", Request: bids.Request{MinNodes: 2, TasksPerNode: 8, Charges: charges}, Priority: 9, TimeLimit: 1000},
				{ID: "other", Request: bids.Request{MinNodes: 1, TasksPerNode: 8}, Priority: 1, TimeLimit: limit},
			}}
		d := planOf(t, keeping(func(o *AuctionOptions) { o.Reservations = 1 }), s)
		require.True(t, d[0].Kept)
		require.EqualValues(t, 100, d[0].Expected)
		require.Equal(t, OverQuota, d[0].Why)
		require.Equal(t, limit == 50, d[1].Start)
	}
}
