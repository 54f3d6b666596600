// SPDX-License-Identifier: BSD-3-Clause

package place_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/test/draw"
	"github.com/aucsched/aucsched/internal/test/requests"
	"github.com/aucsched/aucsched/nodeset"
)

// canRun tries every set of nodes of a tiny idle machine.
func canRun(tab *nodeset.Table, r *bids.Request, sh *place.Spec) (fewest int) {
	for set := 1; set < 1<<tab.Len(); set++ {
		nodes, first, last, room, ok := 0, -1, -1, 0, true
		for n := range tab.Len() {
			if set>>n&1 == 0 {
				continue
			}
			if first < 0 {
				first = n
			}
			last = n
			nodes++
			c := tab.Total(n)
			ok = ok && r.Eligible.Has(n) && int(c.GPUs) >= sh.GPUs.PerNode.Min && int(c.Cores) >= sh.Cores.PerNode.Min
			room += min(int(c.Cores), sh.Cores.PerNode.Max)
		}
		ok = ok && nodes >= sh.Nodes.Min && nodes <= sh.Nodes.Max && room >= sh.Cores.Total
		if ok && !(r.Contiguous && last-first+1 != nodes) && (fewest == 0 || nodes < fewest) {
			fewest = nodes
		}
	}
	return fewest
}

func TestFewestNodesIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := make([]nodeset.Capacity, rapid.IntRange(1, 8).Draw(t, "nodes"))
		for i := range total {
			total[i] = nodeset.Capacity{Cores: uint16(rapid.IntRange(0, 8).Draw(t, "cores")),
				GPUs: uint8(rapid.IntRange(0, 2).Draw(t, "gpus"))}
		}
		tab := draw.Machine(t, total, nil)
		r := requests.DrawAny(t, tab.Len())
		sh, err := place.SpecOf(&r)
		if err != nil {
			require.Error(t, place.CanEverRun(tab, &r))
			return
		}
		n, err := place.FewestNodes(tab, &r)
		require.Equal(t, canRun(tab, &r, &sh), n)
		require.Equal(t, n == 0, err != nil)
	})
}

func TestCanEverRunSaysWhy(t *testing.T) {
	tab := draw.Machine(t, []nodeset.Capacity{{Cores: 8, GPUs: 2}, {Cores: 8}, {Cores: 4, GPUs: 1}, {Cores: 8}}, nil)
	only := nodeset.NewMask(4)
	only.Set(2)
	for _, c := range []struct {
		req  bids.Request
		want string
	}{
		{bids.Request{Cores: 28, MinNodes: 4}, ""},
		{bids.Request{Cores: 9, MaxNodes: 1}, "can never run: needs 9 cores on a node, largest has 8"},
		{bids.Request{MinNodes: 1, TasksPerNode: 9}, "can never run: needs 9 cores on a node, largest has 8"},
		{bids.Request{MinNodes: 4, TasksPerNode: 5}, "can never run: needs 4 nodes that can serve it, there are 3"},
		{bids.Request{MinNodes: 3, TasksPerNode: 5, Contiguous: true},
			"can never run: needs 3 consecutive nodes that can serve it, there are 2"},
		{bids.Request{Cores: 1, MinGPUs: 3}, "can never run: needs 3 or more GPUs on a node, most has 2"},
		{bids.Request{Cores: 29}, "can never run: needs 29 cores, its nodes have at most 28"},
		{bids.Request{Cores: 17, MinNodes: 2, MaxNodes: 2}, "can never run: needs 17 cores, its 2 nodes have at most 16"},
		{bids.Request{Cores: 5, Eligible: only}, "can never run: needs 5 cores, its nodes have at most 4"},
		{bids.Request{Cores: 1, Eligible: nodeset.NewMask(4)}, "can never run: it may use no node at all"},
		{bids.Request{Cores: -1}, "cores: -1: must not be negative"},
	} {
		err := place.CanEverRun(tab, &c.req)
		if c.want == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, c.want)
		}
	}
	tab.SetUp(0, false)
	require.NoError(t, place.CanEverRun(tab, &bids.Request{Cores: 1, MinGPUs: 2}), "a node that is down comes back")
}
