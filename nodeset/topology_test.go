// SPDX-License-Identifier: BSD-3-Clause

package nodeset

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Leaves at different depths, a leaf that is no run, and a node without a leaf.
func TestTopology(t *testing.T) {
	tree, err := NewTopology([]int32{0, 1, 1, 0, -1, 2, 2}, []Switch{
		{Name: "a", Parent: 3},
		{Name: "b", Parent: 3},
		{Name: "c", Parent: 4},
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
	for name, x := range map[string]struct {
		leaf     []int32
		switches []Switch
		want     string
	}{
		"no such parent": {[]int32{0}, []Switch{{Name: "a", Parent: 2}}, "switch a: parent 2 of 1 switches"},
		"no leaf": {[]int32{-1, 0}, []Switch{{Name: "a", Parent: -1}, {Name: "b", Parent: 0}},
			"switch a has nodes of its own, and switches below it"},
		"circle": {[]int32{-1}, []Switch{{Name: "a", Parent: 1}, {Name: "b", Parent: 0}}, "switch a is below itself"},
	} {
		_, err := NewTopology(x.leaf, x.switches)
		require.EqualError(t, err, x.want, name)
	}
	_, err := NewTopology([]int32{0, 1}, []Switch{{Name: "a", Parent: -1}})
	require.EqualError(t, err, "node 1: leaf 1 of 1 switches")
	_, err = NewTopology(make([]int32, maxPlaces/2), treeOf(3, func(i int) int { return (i+2)%4 - 1 }))
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
		switches, leaf := make([]Switch, k, k+1), make([]int32, n)
		for i := range switches {
			switches[i] = Switch{Name: fmt.Sprint(i), Parent: k}
		}
		for node := range n {
			leaf[node] = int32(rapid.IntRange(0, k-1).Draw(t, "leaf"))
		}
		switches = append(switches, Switch{Name: "root", Parent: -1})
		one, err := NewTopology(leaf, switches)
		require.NoError(t, err)
		shift := rapid.IntRange(0, k).Draw(t, "shift")
		turned := make([]Switch, len(switches))
		for i, s := range switches {
			if s.Parent >= 0 {
				s.Parent = (s.Parent + shift) % len(switches)
			}
			turned[(i+shift)%len(switches)] = s
		}
		for node := range leaf {
			leaf[node] = (leaf[node] + int32(shift)) % int32(len(switches))
		}
		two, err := NewTopology(leaf, turned)
		require.NoError(t, err)
		require.Equal(t, one, two)
	})
}
