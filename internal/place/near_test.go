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

// Whatever a job asks for, its two blocks are near each other, and it has one where one holds it.
func TestTwoBlocksAreNear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tab := draw.Table(t)
		r := requests.DrawAny(t, tab.Len())
		var p place.Placer
		spec := requests.Spec(&r)
		spec.Blocks = 2
		segs, ok := p.Place(nil, tab, &spec, r.MinGPUs)
		if !ok {
			return
		}
		require.True(t, requests.Met(&r, segs))
		require.NoError(t, nodeset.CheckSegments(segs, tab.Len()))
		require.True(t, tab.FitsWith(segs, nil))
		require.LessOrEqual(t, nodeset.Blocks(segs), 2)
		if nodeset.Blocks(segs) == 2 {
			require.LessOrEqual(t, reachOf(segs), place.MaxReach*nodeset.Nodes(segs))
			spec.Contiguous = true
			_, one := p.Place(nil, tab, &spec, r.MinGPUs)
			require.False(t, one, "one block would have held it")
		}
	})
}

func reachOf(segs []nodeset.Segment) int { return int(segs[len(segs)-1].Last-segs[0].First) + 1 }

// On nodes that are free or not a job of whole nodes gets the two blocks that a search of all pairs
// finds: those that lie nearest, or none where all are too far apart.
func TestNearestOfAllPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 40).Draw(t, "nodes")
		all := make([]nodeset.Capacity, n)
		for i := range all {
			all[i] = nodeset.Capacity{Cores: 4}
		}
		tab, err := nodeset.New(all)
		require.NoError(t, err)
		free := rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "free")
		for i, f := range free {
			if !f {
				require.NoError(t, tab.Allocate([]nodeset.Segment{{First: int32(i), Last: int32(i), Cores: 4}}))
			}
		}
		nodes := rapid.IntRange(1, n).Draw(t, "asked")
		r := bids.Request{Cores: 4 * nodes, MinNodes: nodes, MaxNodes: nodes}
		var p place.Placer
		spec := requests.Spec(&r)
		spec.Blocks = 2
		segs, ok := p.Place(nil, tab, &spec, 0)
		least := leastReach(free, nodes)
		require.Equal(t, least > 0 && least <= place.MaxReach*nodes, ok, "least reach is %d", least)
		if ok {
			require.Equal(t, least, reachOf(segs))
		}
	})
}

// leastReach is over how many nodes that many free ones in at most two blocks extend at least; 0:
// there are none. It tries all that there are.
func leastReach(free []bool, nodes int) int {
	least := 0
	run := func(first, k int) bool { // k free nodes from first on
		for i := first; i < first+k; i++ {
			if i >= len(free) || !free[i] {
				return false
			}
		}
		return true
	}
	for first := range free {
		for k := 1; k <= nodes; k++ {
			for second := first + k; second < len(free); second++ {
				if run(first, k) && run(second, nodes-k) {
					if e := second + nodes - k - first; k < nodes && (least == 0 || e < least) {
						least = e
					}
				}
			}
			if k == nodes && run(first, k) && (least == 0 || k < least) {
				least = k
			}
		}
	}
	return least
}
