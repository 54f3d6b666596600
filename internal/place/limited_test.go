// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/nodeset"
)

// drawResidual is a machine with further resources, and what reservations leave of it.
func drawResidual(t *rapid.T, rng *rand.Rand) (now *nodeset.Table, left []*nodeset.Table) {
	n := 1 + rng.IntN(130)
	now, err := nodeset.NewUniform(n, nodeset.Capacity{Cores: 8, GPUs: 3})
	require.NoError(t, err)
	for _, name := range []string{"memory", "a100"} {
		total := make([]int64, n)
		for i := range total {
			total[i] = rng.Int64N(50)
		}
		_, err := now.AddResource(name, total)
		require.NoError(t, err)
	}
	for range rng.IntN(3) {
		l := new(nodeset.Table)
		l.CopyFrom(now)
		for range rng.IntN(9) {
			first := rng.IntN(n)
			_ = l.Allocate([]nodeset.Segment{{First: int32(first), Last: int32(min(first+rng.IntN(20), n-1)), Cores: 2}}, nodeset.Uses{{PerNode: rng.Int64N(9)}}...) // where there is room
		}
		left = append(left, l)
	}
	return now, left
}

// What a request sees of a residual is at any time what it would see if that were made anew,
// however few views may be kept.
func TestViewsFollow(t *testing.T) {
	taken := 0
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		now, left := drawResidual(t, rng)
		var r Residual
		r.Reset(now, left)
		var specs []Spec
		for range 6 {
			uses := nodeset.Uses{{Row: 0, PerNode: rng.Int64N(9), PerCore: rng.Int64N(5)}, {Row: 1, PerGPU: rng.Int64N(3)}}
			specs = append(specs, Spec{Uses: &uses})
			if rng.IntN(3) == 0 { // no core
				specs[len(specs)-1].Nodes = Range{1, 9}
			}
			if rng.IntN(6) == 0 {
				specs = append(specs, Spec{Nodes: Range{1, 9}})
			}
		}
		for range 40 {
			s, crosses := &specs[rng.IntN(len(specs))], rng.IntN(len(left)+1)
			seen := r.For(s, crosses)
			var anew nodeset.Table
			anew.CopyFreeFrom(r.View(crosses))
			if s.Coreless() {
				anew.LimitFrom(r.View(crosses), 0, anew.Len()-1, s.More(), 0, true)
			} else {
				anew.LimitFrom(r.View(crosses), 0, anew.Len()-1, *s.Uses, 0, false)
			}
			for n := range anew.Len() {
				require.Equal(t, anew.Free(n), seen.Free(n), "node %d", n)
			}
			require.Equal(t, anew.Scan(nil, nodeset.Query{MinCores: 2}), seen.Scan(nil, nodeset.Query{MinCores: 2}))
			var l Limited
			require.Equal(t, anew.FreeCores(), l.Of(r.View(crosses), s).FreeCores())
			n := rng.IntN(anew.Len())
			seg := []nodeset.Segment{{First: int32(n), Last: int32(min(n+rng.IntN(4), anew.Len()-1)), Cores: 1, GPUs: uint8(rng.IntN(2))}}
			fits := seen.FitsWith(seg, nil) // a seat, of what takes no core
			if s.Coreless() {
				seg[0].Cores = 0
			}
			require.Equal(t, fits, r.Take(s, seg, crosses) == nil)
			if fits {
				taken++
			}
		}
	})
	require.Greater(t, taken, 200)
}

// What lacks something has no place on what it sees, and what may be on any nodes has one otherwise.
func TestLacksIsCertain(t *testing.T) {
	lacking, placed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 11))
		now, left := drawResidual(t, rng)
		var r Residual
		var p Placer
		r.Reset(now, left)
		for range 20 {
			uses := nodeset.Uses{{Row: 0, PerNode: rng.Int64N(40), PerCore: rng.Int64N(9)}, {Row: 1, PerGPU: rng.Int64N(20)}}
			least, nodes, gpus := 1+rng.IntN(8), 1+rng.IntN(9), rng.IntN(3)
			s := Spec{Uses: &uses, Nodes: Range{nodes, nodes + rng.IntN(2)*20}, Cores: Amount{PerNode: Range{least, 8}},
				GPUs: Amount{PerNode: Range{gpus, gpus}}, Contiguous: rng.IntN(4) == 0}
			if least < 8 && rng.IntN(2) == 0 {
				s.Cores.Total = nodes * (least + rng.IntN(8-least))
			}
			if rng.IntN(2) == 0 {
				mask := nodeset.NewMask(now.Len())
				for n := range now.Len() {
					if rng.IntN(3) > 0 {
						mask.Set(n)
					}
				}
				s.Eligible = &mask
			}
			crosses := rng.IntN(len(left) + 1)
			rooms := s.Rooms(nil, r.For(&s, crosses))
			slices.SortFunc(rooms, func(a, b int) int { return b - a })
			have, cores := 0, 0
			for _, room := range rooms[:min(s.Nodes.Max, len(rooms))] {
				have, cores = have+min(room, 1), cores+room
			}
			lacks := p.Lacks(r.View(crosses), &s)
			require.Equal(t, have < s.Nodes.Min || cores < s.Cores.Total, lacks)
			if lacks {
				lacking++
			}
			segs, ok := p.PlaceAs(nil, r.For(&s, crosses), &s, gpus, PackUp)
			require.True(t, ok != lacks || !ok && !s.Loose(r.View(crosses)))
			if ok {
				require.NoError(t, r.Take(&s, segs, crosses))
				placed++
			}
		}
	})
	require.Greater(t, lacking, 100)
	require.Greater(t, placed, 100)
}

// Views are as many as there is room for, and those that were given up are made anew.
func TestViewsAreBounded(t *testing.T) {
	var l limited
	l.reset(nodesSeen/leastSeen + 1)
	uses := make([]nodeset.Uses, 3*leastSeen)
	for i := range uses {
		l.at(lens{uses: &uses[i]})
	}
	require.LessOrEqual(t, len(l.tables.memory), leastSeen+1)
	for i := range uses {
		_, fresh := l.at(lens{uses: &uses[i]})
		require.True(t, fresh)
		_, fresh = l.at(lens{uses: &uses[i]})
		require.False(t, fresh)
	}
}

// Equal Uses have one pointer, until all are forgotten.
func TestUsesHaveOnePointer(t *testing.T) {
	var m Masks
	a, b, c := nodeset.Uses{{PerNode: 1}}, nodeset.Uses{{PerNode: 1}}, nodeset.Uses{{PerCore: 1}}
	first := m.OfUses(&a)
	require.Equal(t, a, *first)
	require.Same(t, first, m.OfUses(&b))
	require.NotSame(t, first, m.OfUses(&c))
	more := append(b, nodeset.Use{Row: 1, PerNode: 1})
	require.Equal(t, more, *m.OfUses(&more))
	require.Equal(t, a, *first)
	m.Reset()
	b[0].PerNode = 2
	require.Equal(t, b, *m.OfUses(&b))
}
