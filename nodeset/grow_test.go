// SPDX-License-Identifier: BSD-3-Clause

package nodeset

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// dumbNode is what a table should say of a node, for a twin that keeps nothing else.
type dumbNode struct {
	total, free Capacity
	up          bool
}

// dumbTable is the table of these nodes, made from scratch.
func dumbTable(r *rapid.T, nodes []dumbNode) *Table {
	var totals []Capacity
	for _, n := range nodes {
		totals = append(totals, n.total)
	}
	t, err := New(totals)
	require.NoError(r, err)
	for i, n := range nodes {
		require.NoError(r, t.SetFree(i, n.free))
		t.SetUp(i, n.up)
	}
	return t
}

// A table that grows and changes is that which has been so from the beginning, whatever runs on it.
func TestGrowingIsAsMadeAnew(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var twin []dumbNode
		tab := drawTable(r)
		for n := range tab.Len() {
			twin = append(twin, dumbNode{tab.Total(n), tab.Free(n), tab.Up(n)})
		}
		capacity := rapid.Custom(func(r *rapid.T) Capacity {
			return Capacity{rapid.Uint16Range(0, 300).Draw(r, "cores"), rapid.Uint8Range(0, 5).Draw(r, "gpus")}
		})
		for range rapid.IntRange(1, 5).Draw(r, "steps") {
			copied := &Table{}
			copied.CopyFrom(tab)
			before := state(copied)
			if rapid.Bool().Draw(r, "append") {
				more := rapid.SliceOfN(capacity, 0, 70).Draw(r, "more")
				first, err := tab.Append(more...)
				require.NoError(r, err)
				require.Equal(r, len(twin), first)
				for _, c := range more {
					twin = append(twin, dumbNode{c, c, true})
				}
			} else {
				n, c := rapid.IntRange(0, len(twin)-1).Draw(r, "node"), capacity.Draw(r, "total")
				x := &twin[n]
				cores, gpus := int(c.Cores)-int(x.total.Cores-x.free.Cores), int(c.GPUs)-int(x.total.GPUs-x.free.GPUs)
				err := tab.SetTotal(n, c)
				require.Equal(r, cores >= 0 && gpus >= 0, err == nil, "%v", err)
				if err == nil {
					x.total, x.free = c, Capacity{uint16(cores), uint8(gpus)}
				}
			}
			require.Equal(r, dumbTable(r, twin), tab)
			require.Equal(r, before, state(copied), "a copy is independent")
		}
	})
}

func TestGrowingRefusals(t *testing.T) {
	tab := &Table{}
	first, err := tab.Append(Capacity{8, 2}, Capacity{8, 0})
	require.NoError(t, err)
	require.Zero(t, first)
	before := state(tab)
	_, err = tab.Append(make([]Capacity, MaxNodes)...)
	require.ErrorContains(t, err, "at most")
	require.ErrorContains(t, tab.SetTotal(2, Capacity{}), "node 2 is outside 0-1")
	require.ErrorContains(t, tab.SetTotal(-1, Capacity{}), "node -1 is outside 0-1")
	require.Equal(t, before, state(tab))
}

func TestNumbersThatAreNoNodes(t *testing.T) {
	tab, err := NewUniform(2, Capacity{8, 2})
	require.NoError(t, err)
	require.PanicsWithValue(t, "nodeset: node 2 is outside 0-1", func() { tab.SetUp(2, false) })
	require.Panics(t, func() { tab.Free(2) })
	require.Panics(t, func() { NewMask(64).Set(64) })
}
