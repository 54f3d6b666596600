// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/nodeset"
)

// Tiers are those of their definition, the last of them left out, and the first number that will do
// is found wherever it is, with few questions.
func TestTiersAreTheirTwin(t *testing.T) {
	var x Tiers // one for all, so that stale scratch would show
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.SampledFrom([]uint16{0, 1, 30, MaxGrades - 1}).Draw(t, "most")
		grades := rapid.SliceOfN(rapid.Uint16Range(0, most), 1, 300).Draw(t, "grades")
		there := slices.Compact(slices.Sorted(slices.Values(grades)))
		require.Equal(t, len(there) > 1, x.Set(grades))
		require.Equal(t, len(there)-1, x.Count())
		for k, mask := range x.upto {
			for n, grade := range grades {
				require.Equal(t, grade <= there[k], mask.Has(n), "mask %d, node %d", k, n)
			}
			require.Len(t, mask, (len(grades)+63)/64)
		}
		n := rapid.IntRange(0, 300).Draw(t, "numbers")
		first, asked := rapid.IntRange(0, n).Draw(t, "first"), 0
		require.Equal(t, first, FirstOf(n, func(k int) bool {
			require.Less(t, k, n)
			asked++
			return k >= first
		}))
		require.LessOrEqual(t, asked, 2*bits.Len(uint(first))+1)
	})
}

// A job gets all usable nodes of the lighter tiers before it gets one of the next, and no more of
// that than it lacks, whatever the machine and the tiers are.
func TestLightestTiersFirst(t *testing.T) {
	var p Placer
	split := 0
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 90).Draw(t, "nodes")
		grades := rapid.SliceOfN(rapid.Uint16Range(0, 4), n, n).Draw(t, "grades")
		table, err := nodeset.NewUniform(n, nodeset.Capacity{Cores: 8})
		require.NoError(t, err)
		usable := make([]int, 5)
		for i := range n {
			free := uint16(rapid.IntRange(0, 8).Draw(t, "free"))
			require.NoError(t, table.SetFree(i, nodeset.Capacity{Cores: free}))
			if free >= 3 {
				usable[grades[i]]++
			}
		}
		var x Tiers
		wide := rapid.IntRange(1, 12).Draw(t, "wide")
		s := Spec{Nodes: Range{wide, wide}, Cores: Amount{Range{3, 3}, 3 * wide}, NodesGiven: true}
		if x.Set(grades) {
			s.Tiers = &x
		}
		segs, ok := p.PlaceAs(nil, table, &s, 0, Level)
		got, lacks := make([]int, 5), wide
		for _, seg := range segs {
			for n := seg.First; n <= seg.Last; n++ {
				got[grades[n]]++
			}
		}
		if !ok {
			require.Empty(t, segs)
			return
		}
		for g := range usable {
			take := min(usable[g], lacks)
			require.Equal(t, take, got[g], "grade %d of %v", g, usable)
			if lacks -= take; lacks > 0 && take > 0 {
				split++
			}
		}
	})
	require.Greater(t, split, 20)
}

// A range of nodes is met by the fewest that hold the job, in a run of these where there is one.
func TestFewestNodesOfARange(t *testing.T) {
	var p Placer
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "nodes")
		free := rapid.SliceOfN(rapid.IntRange(0, 8), n, n).Draw(t, "free")
		table, err := nodeset.NewUniform(n, nodeset.Capacity{Cores: 8})
		require.NoError(t, err)
		for i, c := range free {
			require.NoError(t, table.SetFree(i, nodeset.Capacity{Cores: uint16(c)}))
		}
		least, most := rapid.IntRange(1, 3).Draw(t, "least"), rapid.IntRange(4, 8).Draw(t, "most")
		s := Spec{Nodes: Range{least, most}, Cores: Amount{Range{1, 8}, rapid.IntRange(most, 30).Draw(t, "cores")}, NodesGiven: true}
		s.Contiguous = rapid.Bool().Draw(t, "contiguous")
		fewest, inRun := 0, false
		for set := range 1 << n {
			sum, k, last := 0, 0, -1
			run := true
			for i := range n {
				if set>>i&1 == 1 {
					run = run && (last < 0 || last == i-1) && free[i] > 0
					sum, k, last = sum+free[i], k+1, i
				}
			}
			if k < least || k > most || sum < s.Cores.Total || s.Contiguous && !run || bits.OnesCount(uint(set)) != k ||
				slices.ContainsFunc(chosen(free, set), func(c int) bool { return c == 0 }) {
				continue
			}
			if fewest == 0 || k < fewest {
				fewest, inRun = k, run
			}
			inRun = inRun || k == fewest && run
		}
		segs, ok := p.PlaceAs(nil, table, &s, 0, Level)
		require.Equal(t, fewest > 0, ok)
		if ok {
			require.Equal(t, fewest, nodeset.Nodes(segs))
			if inRun {
				require.Equal(t, 1, nodeset.Blocks(segs))
			}
		}
	})
}

func chosen(free []int, set int) (of []int) {
	for i, c := range free {
		if set>>i&1 == 1 {
			of = append(of, c)
		}
	}
	return of
}

// Of leaves with as much room that one is taken which is below the fullest row.
func TestBrokenRowsFirst(t *testing.T) {
	const leaves, perLeaf = 12, 3
	var p Placer
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.IntRange(1, 4).Draw(t, "rows")
		leaf, row := make([]int32, leaves*perLeaf), make([]int32, leaves*perLeaf)
		for n := range leaf {
			leaf[n] = int32(n / perLeaf)
			row[n] = leaf[n] % int32(rows)
		}
		var switches []nodeset.Switch
		for r := range rows {
			switches = append(switches, nodeset.Switch{Name: fmt.Sprint("row", r), Parent: -1})
		}
		for k := range leaves {
			switches = append(switches, nodeset.Switch{Name: fmt.Sprint("leaf", k), Parent: k % rows})
		}
		at := make([]int32, len(leaf))
		for n := range at {
			at[n] = leaf[n] + int32(rows)
		}
		tree, err := nodeset.NewTopology(at, switches)
		require.NoError(t, err)
		table, err := nodeset.NewUniform(leaves*perLeaf, nodeset.Capacity{Cores: 4})
		require.NoError(t, err)
		free := make([]int, leaves)
		left := make([]int, rows)
		for n := range leaf {
			if rapid.IntRange(0, 2).Draw(t, "busy") == 0 {
				require.NoError(t, table.SetFree(n, nodeset.Capacity{}))
				continue
			}
			free[leaf[n]]++
			left[row[n]]++
		}
		wide := rapid.IntRange(2, perLeaf).Draw(t, "wide")
		s := Spec{Nodes: Range{wide, wide}, Cores: Amount{Range{4, 4}, 4 * wide}, NodesGiven: true, Below: &Below{Tree: tree}}
		segs, ok := p.PlaceAs(nil, table, &s, 0, Level)
		best := [2]int{99, 99}
		for k, f := range free {
			if at := [2]int{f, left[k%rows]}; f >= wide && slices.Compare(at[:], best[:]) < 0 {
				best = at
			}
		}
		if best[0] == 99 {
			return
		}
		require.True(t, ok)
		k := leaf[segs[0].First]
		require.Equal(t, best, [2]int{free[k], left[row[segs[0].First]]})
		require.Equal(t, k, leaf[segs[len(segs)-1].Last])
	})
}
