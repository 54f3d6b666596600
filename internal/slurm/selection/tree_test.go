// SPDX-License-Identifier: BSD-3-Clause

package selection

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/test/draw"
	"github.com/aucsched/aucsched/nodeset"
)

// What topology/tree gives jobs of so many whole nodes on three leaves of four nodes of 16 cores.
func TestTreeSelection(t *testing.T) {
	const all = 16
	for name, x := range map[string]struct {
		free []uint16
		job  bids.Request
		want string
	}{
		"the leaf that has room": {[]uint16{0, 0, all, all, all, all, all, all, 0, 0, 0, 0},
			bids.Request{MinNodes: 3, TasksPerNode: all}, "4:16 5:16 6:16"},
		"the tightest leaf": {[]uint16{all, all, all, all, all, all, all, 0, 0, all, all, 0},
			bids.Request{MinNodes: 2, TasksPerNode: all}, "9:16 10:16"},
		"the roomiest leaf first, then the tightest": {[]uint16{all, all, 0, 0, all, all, all, all, 0, all, 0, 0},
			bids.Request{MinNodes: 5, TasksPerNode: all}, "4:16 5:16 6:16 7:16 9:16"},
		"cores alone: leaves of fewest nodes first": {[]uint16{all, all, all, all, all, all, 0, 0, 0, 0, all, 0},
			bids.Request{Cores: 3 * all}, "4:16 5:16 10:16"},
		"consecutive nodes: not by leaves": {[]uint16{0, 0, all, all, all, 0, all, all, all, all, 0, 0},
			bids.Request{MinNodes: 3, TasksPerNode: all, Contiguous: true}, "2:16 3:16 4:16"},
	} {
		t.Run(name, func(t *testing.T) {
			tree := draw.Tree(t, 12, 3)
			s := Selector{Tree: tree}
			segs, ok, err := s.Select(draw.CoresFree(t, x.free...), &x.job, nil, nil)
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, x.want, draw.Layout(segs))
		})
	}
}

// Without a root the job is below the last switch of those that have enough nodes, though another
// leaf fits it as well.
func TestForestSelection(t *testing.T) {
	leaf := func(name string, nodes ...int) draw.Switch {
		s := draw.Switch{Name: name, Parent: -1, Nodes: nodeset.NewMask(8)}
		for _, n := range nodes {
			s.Nodes.Set(n)
		}
		return s
	}
	tree, err := draw.Topology(8, []draw.Switch{leaf("s", 0, 1, 2, 3), leaf("r", 4, 5, 6, 7)})
	require.NoError(t, err)
	for _, x := range []struct {
		free  []uint16
		nodes int
		want  string
	}{
		{[]uint16{16, 16, 16, 16, 16, 16, 16, 16}, 1, "4:16"},
		{[]uint16{16, 16, 16, 16, 0, 16, 16, 16}, 4, "0:16 1:16 2:16 3:16"},
		{[]uint16{0, 16, 16, 0, 16, 16, 16, 16}, 2, "4:16 5:16"},
		{[]uint16{16, 16, 16, 0, 0, 16, 16, 16}, 4, ""},
	} {
		s := Selector{Tree: tree}
		segs, ok, err := s.Select(draw.CoresFree(t, x.free...), &bids.Request{MinNodes: x.nodes, TasksPerNode: 16}, nil, nil)
		require.NoError(t, err)
		require.Equal(t, x.want != "", ok)
		require.Equal(t, x.want, draw.Layout(segs))
	}
}

// Jobs of whole idle nodes start with topology/tree if there are as many below one root, and below
// one leaf if one has them.
func TestTreeSelectionBelowLeaves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 90).Draw(t, "nodes")
		tree := draw.Tree(t, n, rapid.IntRange(1, n).Draw(t, "leaves"))
		free, idle, below := make([]uint16, n), 0, map[int32]int{}
		for i := range free {
			if rapid.Bool().Draw(t, "idle") {
				free[i], idle = 16, idle+1
				below[tree.SwitchOf(1)[i]]++
			}
		}
		k := rapid.IntRange(1, n).Draw(t, "asked")
		s := Selector{Tree: tree}
		segs, ok, err := s.Select(draw.CoresFree(t, free...), &bids.Request{MinNodes: k, TasksPerNode: 16}, nil, nil)
		require.NoError(t, err)
		require.Equal(t, idle >= k, ok)
		if !ok {
			return
		}
		require.Equal(t, k, nodeset.Nodes(segs))
		leaves := map[int32]bool{}
		for _, g := range segs {
			for i := g.First; i <= g.Last; i++ {
				require.Equal(t, uint16(16), free[i])
				leaves[tree.SwitchOf(1)[i]] = true
			}
		}
		for _, has := range below {
			if has >= k {
				require.Len(t, leaves, 1)
			}
		}
	})
}
