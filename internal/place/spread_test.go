// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/internal/test/draw"
	"github.com/aucsched/aucsched/nodeset"
)

// spreadTwin deals cores one by one: to every node the fewest that it may give,
// the others to the first node with room (PackUp), to the last (PackDown) or to
// the first of those that have least (level).
func spreadTwin(s *Spec, free []uint16, nodes []int, l Layout) map[int]int {
	out := map[int]int{}
	left := s.Cores.Total
	for _, n := range nodes {
		out[n] = s.Cores.PerNode.Min
		left -= s.Cores.PerNode.Min
	}
	for ; left > 0; left-- {
		at := -1
		for _, n := range nodes {
			switch {
			case out[n] >= min(int(free[n]), s.Cores.PerNode.Max):
			case at < 0, l == PackDown, l == Level && out[n] < out[at]:
				at = n
			}
		}
		out[at]++
	}
	return out
}

func TestSpreadIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Spec{Cores: Amount{PerNode: Range{Min: 1, Max: rapid.IntRange(1, 12).Draw(t, "most a node")}}}
		exact := rapid.IntRange(0, 3).Draw(t, "type 3") == 0
		if exact {
			s.Cores.PerNode.Min = s.Cores.PerNode.Max
		}
		var free []uint16
		var nodes []int
		var spans []Span
		room := 0
		for n := range rapid.IntRange(1, 12).Draw(t, "nodes") {
			f := rapid.SampledFrom([]int{s.Cores.PerNode.Min, min(s.Cores.PerNode.Min+1, 14),
				rapid.IntRange(s.Cores.PerNode.Min, 14).Draw(t, "any"), 14}).Draw(t, "free")
			free = append(free, uint16(f))
			if rapid.IntRange(0, 3).Draw(t, "left out") == 0 {
				continue
			}
			nodes = append(nodes, n)
			room += min(f, s.Cores.PerNode.Max)
			if k := len(spans); k > 0 && spans[k-1].Last == n-1 && rapid.Bool().Draw(t, "same span") {
				spans[k-1].Last = n
			} else {
				spans = append(spans, Span{n, n})
			}
		}
		if len(nodes) == 0 {
			return
		}
		s.Cores.Total = rapid.IntRange(len(nodes), room).Draw(t, "cores")
		if exact {
			s.Cores.Total = len(nodes) * s.Cores.PerNode.Min
		}
		l := Layout(rapid.IntRange(0, 2).Draw(t, "layout"))
		want := spreadTwin(&s, free, nodes, l)
		if exact && rapid.Bool().Draw(t, "cores not given") {
			s.Cores.Total = 0
		}
		before := []nodeset.Segment{{First: 0, Last: 0, Cores: 99}}
		all := s.spread(before, s.pieces(nil, draw.CoresFree(t, free...), spans), l, 3)
		require.Equal(t, before, all[:1], "what is in the slice stays as it is")
		require.NoError(t, nodeset.CheckSegments(all[1:], len(free)))
		got, cores, gpus := draw.PerNode(all[1:])
		require.Equal(t, nodes, got)
		require.Equal(t, want, cores)
		for _, n := range nodes {
			require.Equal(t, 3, gpus[n])
		}
	})
}
