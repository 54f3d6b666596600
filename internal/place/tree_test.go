// SPDX-License-Identifier: BSD-3-Clause

package place_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/test/draw"
	"github.com/aucsched/aucsched/nodeset"
)

// drawTree draws a topology of two or three levels, of leaves that are runs or not.
func drawTree(t *rapid.T, n int) *nodeset.Topology {
	k, rows := rapid.IntRange(1, 8).Draw(t, "leaves"), rapid.IntRange(1, 3).Draw(t, "rows")
	switches := make([]draw.Switch, 0, k+rows+1)
	for i := range k {
		switches = append(switches, draw.Switch{Name: fmt.Sprint("leaf", i), Parent: k + i%rows, Nodes: nodeset.NewMask(n)})
	}
	for i := range rows {
		switches = append(switches, draw.Switch{Name: fmt.Sprint("row", i), Parent: k + rows})
	}
	switches = append(switches, draw.Switch{Name: "root", Parent: -1})
	if rapid.Bool().Draw(t, "flat") {
		for i := range switches[:k] {
			switches[i].Parent = k + rows
		}
	}
	runs := rapid.IntRange(0, 2).Draw(t, "runs") > 0
	for node := range n {
		leaf := node * k / n
		if !runs {
			leaf = rapid.IntRange(0, k).Draw(t, "leaf") // k: none
		}
		if leaf < k {
			switches[leaf].Nodes.Set(node)
		}
	}
	tree, err := draw.Topology(n, switches)
	require.NoError(t, err)
	return tree
}

// drawShape draws a request without demands.
func drawShape(t *rapid.T, n int) place.Spec {
	s := place.Spec{Nodes: place.Range{Min: rapid.IntRange(1, min(n, 9)).Draw(t, "nodes"), Max: n},
		Cores: place.Amount{PerNode: place.Range{Min: 1, Max: 1 << 15}}}
	switch rapid.IntRange(0, 2).Draw(t, "type") {
	case 0:
		s.Nodes.Min = 1
		s.Cores.Total = rapid.IntRange(1, 30).Draw(t, "cores")
	case 1:
		s.NodesGiven = true
		s.Nodes.Max = s.Nodes.Min + rapid.IntRange(0, 2).Draw(t, "more")
		s.Cores.Total = s.Nodes.Max + rapid.IntRange(0, 20).Draw(t, "cores")
	default:
		c := rapid.IntRange(1, 4).Draw(t, "tasks")
		s.NodesGiven, s.Nodes.Max = true, s.Nodes.Min
		s.Cores = place.Amount{PerNode: place.Range{Min: c, Max: c}, Total: c * s.Nodes.Min}
	}
	return s
}

// eachMask visits the nodes below each switch of a level.
func eachMask(tree *nodeset.Topology, level int, visit func(*nodeset.Mask)) {
	for k := range tree.Switches(level) {
		m := nodeset.NewMask(tree.Len())
		for n, s := range tree.SwitchOf(level) {
			if int(s) == k {
				m.Set(n)
			}
		}
		visit(&m)
	}
}

// places is a dumb twin: whether s, without its tree, has a place below one switch of a level.
func places(tab *nodeset.Table, tree *nodeset.Topology, s place.Spec, level int) (found bool) {
	s.Below = nil
	eachMask(tree, level, func(m *nodeset.Mask) {
		one := s
		one.Eligible = m
		_, ok := new(place.Placer).Place(nil, tab, &one, 0)
		found = found || ok
	})
	return found
}

// A job that demands nothing has a place with a tree if it has one without, and then below the
// lowest level that has room.
func TestPlaceBelowLowest(t *testing.T) {
	low := 0
	var p place.Placer
	rapid.Check(t, func(t *rapid.T) {
		tab := draw.Table(t)
		tree, s := drawTree(t, tab.Len()), drawShape(t, tab.Len())
		s.Contiguous = rapid.IntRange(0, 3).Draw(t, "contiguous") == 0
		_, want := p.Place(nil, tab, &s, 0)
		s.Below = &place.Below{Tree: tree}
		segs, ok := p.Place(nil, tab, &s, 0)
		require.Equal(t, want, ok)
		if !ok {
			return
		}
		require.True(t, tab.FitsWith(segs, nil))
		require.GreaterOrEqual(t, nodeset.Nodes(segs), s.Nodes.Min)
		require.LessOrEqual(t, nodeset.Nodes(segs), s.Nodes.Max)
		if s.Cores.Total > 0 {
			require.Equal(t, s.Cores.Total, nodeset.Cores(segs))
		}
		if s.Nodes.Max > 1 && places(tab, tree, s, 1) {
			require.Equal(t, 1, new(place.Sprawl).Of(tree, 1, segs), "of the leaves one has room")
			low++
		}
	})
	require.Positive(t, low)
}

// What is demanded is kept to, and found where a dumb twin finds it.
func TestPlaceAsDemanded(t *testing.T) {
	found, missed := 0, 0
	var p place.Placer
	rapid.Check(t, func(t *rapid.T) {
		tab := draw.Table(t)
		tree, s := drawTree(t, tab.Len()), drawShape(t, tab.Len())
		s.Below = &place.Below{Tree: tree}
		kind := rapid.IntRange(0, 3).Draw(t, "demand")
		want := false
		switch kind {
		case 0:
			s.Below.Switches = 1
			want = places(tab, tree, s, 1)
		case 1: // of nodes that are all alike the fewest leaves are those with most of them
			s.Cores = place.Amount{PerNode: place.Range{Min: 1, Max: 1}}
			s.Nodes.Max, s.NodesGiven = s.Nodes.Min, true
			s.Cores.Total = s.Nodes.Min
			s.Below.Switches = rapid.Int32Range(1, 4).Draw(t, "switches")
			want = nodesIn(tab, tree, int(s.Below.Switches), 1) >= s.Nodes.Min
		case 2:
			s.Below.Within = rapid.Int32Range(1, int32(tree.Levels())).Draw(t, "within")
			want = places(tab, tree, s, int(s.Below.Within))
		default:
			s.Cores = place.Amount{PerNode: place.Range{Min: 1, Max: 1}}
			s.Below.Segment = rapid.Int32Range(1, 4).Draw(t, "segment")
			s.Nodes.Min = int(s.Below.Segment) * rapid.IntRange(1, 4).Draw(t, "segments")
			s.Nodes.Max, s.NodesGiven = s.Nodes.Min, true
			s.Cores.Total = s.Nodes.Min
			want = nodesIn(tab, tree, tree.Switches(1), int(s.Below.Segment)) >= s.Nodes.Min
		}
		segs, ok := p.Place(nil, tab, &s, 0)
		if ok {
			found++
			require.True(t, tab.FitsWith(segs, nil))
			requireBelow(t, tree, &s, segs)
		}
		if ok != want {
			require.False(t, ok, "a place that the twin does not know")
			require.Equal(t, 2, kind, "only a switch with several leaves may be missed")
			missed++
		}
	})
	require.Greater(t, found, 10*missed)
}

// nodesIn is how many nodes with a free core so many leaves have at most, in segments of k.
func nodesIn(tab *nodeset.Table, tree *nodeset.Topology, leaves, k int) (sum int) {
	var has []int
	eachMask(tree, 1, func(m *nodeset.Mask) {
		n := 0
		for i := range tab.Len() {
			if m.Has(i) && tab.Up(i) && tab.Free(i).Cores > 0 {
				n++
			}
		}
		has = append(has, n/k*k)
	})
	slices.Sort(has)
	for _, n := range has[max(0, len(has)-leaves):] {
		sum += n
	}
	return sum
}

// requireBelow counts node by node.
func requireBelow(t require.TestingT, tree *nodeset.Topology, s *place.Spec, segs []nodeset.Segment) {
	leaves, above := map[int32]int{}, map[int32]int{}
	for _, g := range segs {
		for n := g.First; n <= g.Last; n++ {
			leaves[tree.SwitchOf(1)[n]]++
			above[tree.SwitchOf(max(int(s.Below.Within), 1))[n]]++
		}
	}
	if s.Below.Switches > 0 {
		require.LessOrEqual(t, len(leaves), int(s.Below.Switches))
	}
	if s.Below.Within > 0 {
		require.Len(t, above, 1)
	}
	if s.Below.Segment > 0 {
		for _, n := range leaves {
			require.Zero(t, n%int(s.Below.Segment))
		}
	}
	require.True(t, new(place.Sprawl).Meets(s, segs))
}

// Of allocations drawn at random Meets says what a count node by node says.
func TestMeets(t *testing.T) {
	said := map[bool]int{}
	var x place.Sprawl
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "nodes")
		tree := drawTree(t, n)
		s := place.Spec{Below: &place.Below{Tree: tree, Switches: rapid.Int32Range(0, 4).Draw(t, "switches"),
			Within: rapid.Int32Range(0, 3).Draw(t, "within"), Segment: rapid.Int32Range(0, 2).Draw(t, "segment")}}
		var segs []nodeset.Segment
		leaves, above := map[int32]int{}, map[int32]int{}
		for i := range n {
			if rapid.IntRange(0, 3).Draw(t, "taken") > 0 {
				continue
			}
			segs = nodeset.Append(segs, nodeset.Segment{First: int32(i), Last: int32(i), Cores: 1})
			leaves[tree.SwitchOf(1)[i]]++
			above[tree.SwitchOf(min(tree.Levels(), int(max(s.Below.Within, 1))))[i]]++
		}
		if len(segs) == 0 {
			return
		}
		want := (s.Below.Switches == 0 || len(leaves) <= int(s.Below.Switches)) && (s.Below.Within == 0 || len(above) == 1)
		for _, k := range leaves {
			want = want && (s.Below.Segment == 0 || k%int(s.Below.Segment) == 0)
		}
		require.Equal(t, want, x.Meets(&s, segs))
		require.Equal(t, len(leaves), x.Of(tree, 1, segs))
		said[want]++
	})
	require.Greater(t, min(said[true], said[false]), 5)
}
