// SPDX-License-Identifier: BSD-3-Clause

package market_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/test/requests"
	"github.com/aucsched/aucsched/nodeset"
)

// What bids are made from means what requests mean. On a machine that has an allocation free and
// nothing else, a job finds a place if the allocation meets it, and no place that does not.
func TestBidsMeanWhatRequestsMean(t *testing.T) {
	judge := func(t require.TestingT, c requests.Case) {
		require.Equal(t, c.OK, market.Admits(&c.Request, c.Segs), "%s: %+v on %+v", c.Name, c.Request, c.Segs)
		table := onlyFree(t, c.Nodes, c.Segs)
		found := false
		for g := c.Request.MinGPUs; g <= max(c.Request.MinGPUs, c.Request.MaxGPUs); g++ {
			segs, ok := requests.Place(table, &c.Request, g)
			if ok {
				require.True(t, requests.Met(&c.Request, segs), "%s: %+v on %+v", c.Name, c.Request, segs)
			}
			found = found || ok
		}
		require.True(t, found || !c.OK, "%s: %+v on %+v", c.Name, c.Request, c.Segs)
	}
	for _, c := range requests.Cases() {
		judge(t, c)
	}
	rapid.Check(t, func(r *rapid.T) { judge(r, requests.Draw(r)) })
}

// onlyFree is a machine on which what segs are is free, and nothing else.
func onlyFree(t require.TestingT, nodes int, segs []nodeset.Segment) *nodeset.Table {
	total := make([]nodeset.Capacity, nodes)
	for n := range total {
		total[n] = nodeset.Capacity{Cores: 16, GPUs: 8}
	}
	table, err := nodeset.New(total)
	require.NoError(t, err)
	_, err = table.AddResource("disk", slices.Repeat([]int64{1}, nodes))
	require.NoError(t, err)
	for n := range total {
		require.NoError(t, table.SetFreeOf(0, n, 0))
	}
	for n := range total {
		require.NoError(t, table.SetFree(n, nodeset.Capacity{}))
	}
	for _, s := range segs {
		for n := s.First; n <= s.Last; n++ {
			require.NoError(t, table.SetFree(int(n), nodeset.Capacity{Cores: s.Cores, GPUs: s.GPUs}))
			require.NoError(t, table.SetFreeOf(0, int(n), 1))
		}
	}
	return table
}
