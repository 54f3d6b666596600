// SPDX-License-Identifier: BSD-3-Clause

package nodeset

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func maskOfNodes(n int, nodes ...int) Mask {
	m := NewMask(n)
	for _, i := range nodes {
		m.Set(i)
	}
	return m
}

// Leaves at different depths, a leaf that is no run, and a node without a leaf.
func TestTopology(t *testing.T) {
	tree, err := NewTopology(7, []Switch{
		{Name: "a", Parent: 3, Nodes: maskOfNodes(7, 0, 3)},
		{Name: "b", Parent: 3, Nodes: maskOfNodes(7, 1, 2)},
		{Name: "c", Parent: 4, Nodes: maskOfNodes(7, 5, 6)},
		{Name: "ab", Parent: 4},
		{Name: "root", Parent: -1},
	})
	require.NoError(t, err)
	require.Equal(t, 3, tree.Levels())
	names := func(level int) (list []string) {
		for _, s := range tree.SwitchOf(level) {
			list = append(list, tree.Name(level, int(s)))
		}
		return list
	}
	require.Equal(t, []string{"a", "b", "b", "a", "", "c", "c"}, names(1))
	require.Equal(t, []string{"ab", "ab", "ab", "ab", "", "c", "c"}, names(2), "c is below the root itself")
	require.Equal(t, []string{"root", "root", "root", "root", "", "root", "root"}, names(3))
	require.Equal(t, []int32{0, 2, 2, 3, 4, 6, 6}, tree.RunEnds())
	require.Equal(t, []int32{0, 0, 1, 2}, tree.Above(1))
	require.Nil(t, tree.Above(3))
	for nodes, want := range []int{0, 1, 1, 2, 2, 3, 3, 4} {
		require.Equal(t, want, tree.Fewest(1, nodes), nodes)
	}
	require.Equal(t, 2, tree.Fewest(2, 5))
}

func TestTopologyFaults(t *testing.T) {
	ten := maskOfNodes(10, 9)
	for name, x := range map[string]struct {
		switches []Switch
		want     string
	}{
		"no such node":   {[]Switch{{Name: "a", Parent: -1, Nodes: ten}}, "switch a: node 9 of 4"},
		"no such parent": {[]Switch{{Name: "a", Parent: 2}}, "switch a: parent 2 of 1 switches"},
		"twice": {[]Switch{{Name: "a", Parent: -1, Nodes: maskOfNodes(4, 1)}, {Name: "b", Parent: -1, Nodes: maskOfNodes(4, 1)}},
			"switch b: node 1 is below a already"},
		"no leaf": {[]Switch{{Name: "a", Parent: -1, Nodes: maskOfNodes(4, 1)}, {Name: "b", Parent: 0}},
			"switch a has nodes of its own, and switches below it"},
		"circle": {[]Switch{{Name: "a", Parent: 1}, {Name: "b", Parent: 0}}, "switch a is below itself"},
	} {
		_, err := NewTopology(4, x.switches)
		require.EqualError(t, err, x.want, name)
	}
	_, err := NewTopologyOf([]int32{0, 1}, []Switch{{Name: "a", Parent: -1}})
	require.EqualError(t, err, "node 1: leaf 1 of 1 switches")
	_, err = NewTopologyOf(make([]int32, maxPlaces/2), treeOf(3, func(i int) int { return (i+2)%4 - 1 }))
	require.EqualError(t, err, "3 levels of switches: at most 2 for 8388608 nodes")
}

// Levels are those of a twin that walks up from each switch, circles included.
func TestHeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(t, "switches")
		switches := treeOf(n, func(int) int { return rapid.IntRange(-1, n-1).Draw(t, "parent") })
		want, circle := make([]int, n), -1
		for i := n - 1; i >= 0; i-- {
			for s, height := i, 1; s >= 0 && height <= n+1; s, height = switches[s].Parent, height+1 {
				want[s] = max(want[s], height)
				if height > 1 && s == i {
					circle = i
				}
			}
		}
		heights, err := heightsOf(switches)
		if circle >= 0 {
			require.EqualError(t, err, "switch "+switches[circle].Name+" is below itself")
			return
		}
		require.NoError(t, err)
		require.Equal(t, want, heights)
	})
}

// The order in which switches are given makes no difference.
func TestTopologyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, k := rapid.IntRange(1, 80).Draw(t, "nodes"), rapid.IntRange(1, 9).Draw(t, "leaves")
		switches := make([]Switch, k, k+1)
		for i := range switches {
			switches[i] = Switch{Name: fmt.Sprint(i), Parent: k, Nodes: NewMask(n)}
		}
		for node := range n {
			switches[rapid.IntRange(0, k-1).Draw(t, "leaf")].Nodes.Set(node)
		}
		switches = append(switches, Switch{Name: "root", Parent: -1})
		one, err := NewTopology(n, switches)
		require.NoError(t, err)
		shift := rapid.IntRange(0, k).Draw(t, "shift")
		turned := make([]Switch, len(switches))
		for i, s := range switches {
			if s.Parent >= 0 {
				s.Parent = (s.Parent + shift) % len(switches)
			}
			turned[(i+shift)%len(switches)] = s
		}
		two, err := NewTopology(n, turned)
		require.NoError(t, err)
		require.Equal(t, one, two)
	})
}
