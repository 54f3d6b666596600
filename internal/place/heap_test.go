// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/internal/test/draw"
	"github.com/aucsched/aucsched/nodeset"
)

func TestHeapHandsOutInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sets []nodeset.Set
		for i, cores := range rapid.SliceOf(rapid.Int64Range(1, 9)).Draw(t, "cores") {
			sets = append(sets, nodeset.Set{First: int32(2 * i), Last: int32(2 * i), Cores: cores})
		}
		want := slices.Clone(sets)
		slices.SortStableFunc(want, func(a, b nodeset.Set) int { return cmp.Compare(b.Cores, a.Cores) })
		var got []nodeset.Set
		before := slices.Clone(sets)
		h := setHeap{{Cores: 7}, {Cores: 8}}
		for h.fill(sets); len(h) > 0; {
			got = append(got, h.pop())
		}
		require.Equal(t, want, got)
		require.Equal(t, before, sets)
	})
}

// A tally is one node after the other until there are enough.
func TestTallyCountsNodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		free := rapid.SliceOfN(rapid.SampledFrom([]uint16{1, 1, 1, 2, 5, 9}), 1, 100).Draw(t, "free")
		var s Spec
		s.Cores.PerNode.Max = rapid.IntRange(1, 9).Draw(t, "most")
		s.Nodes.Min = rapid.IntRange(1, 80).Draw(t, "least nodes")
		s.Nodes.Max = s.Nodes.Min + rapid.IntRange(0, 80).Draw(t, "more nodes")
		s.Cores.Total = rapid.IntRange(0, 300).Draw(t, "cores")
		first := rapid.IntRange(0, len(free)-1).Draw(t, "first")
		last := rapid.IntRange(first, len(free)-1).Draw(t, "last")
		var got, want tally
		n := first
		for ; n <= last && want.nodes < s.Nodes.Max && (want.nodes < s.Nodes.Min || want.cores < s.Cores.Total); n++ {
			want.nodes++
			want.cores += min(int(free[n]), s.Cores.PerNode.Max)
		}
		require.Equal(t, n, got.take(&s, draw.CoresFree(t, free...), first, last))
		require.Equal(t, want, got)
	})
}
