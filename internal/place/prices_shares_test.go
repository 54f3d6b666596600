// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/nodeset"
)

// sharesScene is a scene in which jobs share GPUs of 8 parts each. Weights are multiples of 8.
type sharesScene struct {
	scene
	shares []int64 // of each hold; 0: none
}

func drawSharesScene(t *rapid.T) (s sharesScene) {
	s.scene = drawScene(t)
	for i := range s.kinds {
		s.kinds[i].Weight *= 8
	}
	s.shares = make([]int64, len(s.holds))
	size := slices.Repeat([]int64{8}, s.nodes.Len())
	_, err := s.nodes.AddShares("share", size)
	require.NoError(t, err)
	for range rapid.IntRange(0, 20).Draw(t, "shares") {
		n, share := int32(rapid.IntRange(0, s.nodes.Len()-1).Draw(t, "node")), rapid.Int64Range(1, 7).Draw(t, "share")
		segs := []nodeset.Segment{{First: n, Last: n, Cores: 1}}
		uses := nodeset.Uses{{PerNode: share}}
		if ChooseBins(s.nodes, segs, uses, nil) && s.nodes.Allocate(segs, uses...) == nil {
			s.holds = append(s.holds, hold{s.now + rapid.Int64Range(-3, 30).Draw(t, "end"), segs})
			s.shares = append(s.shares, share)
		}
	}
	return s
}

// loss is what is of no use to the kinds on node n at a moment, if a share is on GPU bin too, and
// so many cores are taken. With a share of 0 nothing is.
func (s *sharesScene) loss(n int, at, share int64, bin uint8, cores int) (sum int64) {
	has := s.nodes.Total(n)
	c, g, shared := int(has.Cores), int(has.GPUs), map[uint8]int64{}
	for i, h := range s.holds {
		seg := h.segs[0]
		if int(seg.First) > n || int(seg.Last) < n || max(h.end, s.now+1) <= at {
			continue
		}
		c, g = c-int(seg.Cores), g-int(seg.GPUs)
		if seg.Bin != 0 {
			shared[seg.Bin] += s.shares[i]
		}
	}
	if share > 0 {
		shared[bin] += share
		c -= cores
	}
	g -= len(shared)
	for _, used := range shared {
		for _, k := range s.kinds {
			sum += k.Weight * (8 - used) / 8
		}
	}
	return sum + s.useless(c, g)
}

// A share starts where it costs least, second by second, on the GPU of the node where it fits
// tightest.
func TestPlaceSharesByPrices(t *testing.T) {
	var p Prices // used again
	beside := 0
	check := func(t *rapid.T) {
		s := drawSharesScene(t)
		share, cores := rapid.Int64Range(1, 8).Draw(t, "share asked for"), rapid.IntRange(1, 6).Draw(t, "cores")
		limit := rapid.Int64Range(1, 40).Draw(t, "limit")
		spec, uses := single(cores, 0), nodeset.Uses{{PerNode: share}}
		spec.Uses = &uses
		var limited Limited
		view := limited.Of(s.nodes, &spec)
		s.prices(&p)
		best, least := -1, int64(0)
		for n := range s.nodes.Len() {
			if int(view.Free(n).Cores) < cores {
				continue
			}
			bin, cost := s.nodes.ChooseBin(n, share, nil), int64(0)
			for at := s.now; at < s.now+limit; at++ {
				cost += s.loss(n, at, share, bin, cores) - s.loss(n, at, 0, 0, 0)
			}
			require.Equal(t, cost, p.ShareCost(n, view.Free(n), cores, share, spareOf(s.nodes, n, share), limit), "node %d", n)
			if best < 0 || cost < least {
				best, least = n, cost
			}
			if _, inUse := s.nodes.BinFree(n, bin); inUse {
				beside++
			}
		}
		var placer Placer
		placer.By(&p, limit)
		segs, ok := placer.Place(nil, view, &spec, 0)
		require.Equal(t, best >= 0, ok)
		if ok {
			n := int(segs[0].First)
			require.Equal(t, least, p.ShareCost(n, view.Free(n), cores, share, spareOf(s.nodes, n, share), limit))
		}
	}
	for beside < 100 {
		rapid.Check(t, check)
	}
}

// A GPU that has begun to be shared in this cycle is taken to be shared for ever, by any clock.
func TestPriceBesideAnUnknownShare(t *testing.T) {
	nodes, err := nodeset.NewUniform(1, nodeset.Capacity{Cores: 8, GPUs: 2})
	require.NoError(t, err)
	_, err = nodes.AddShares("share", []int64{8})
	require.NoError(t, err)
	for _, now := range []int64{-50, 0, 1 << 40} {
		s := scene{nodes: nodes, kinds: []Kind{{GPUs: 1, Weight: 80}}, now: now}
		var p Prices
		s.prices(&p)
		has := nodeset.Capacity{Cores: 8, GPUs: 1}
		require.Equal(t, int64(-80*3/8*100), p.ShareCost(0, has, 1, 3, 2, 100))
		require.Equal(t, int64(80*5/8*100), p.ShareCost(0, has, 1, 3, math.MaxInt32, 100))
	}
}

func TestSharePricesAllocateNothing(t *testing.T) {
	race.Allocates(t)
	nodes, err := nodeset.NewUniform(100, nodeset.Capacity{Cores: 8, GPUs: 4})
	require.NoError(t, err)
	_, err = nodes.AddShares("share", slices.Repeat([]int64{8}, 100))
	require.NoError(t, err)
	s := scene{nodes: nodes, kinds: []Kind{{GPUs: 4, Weight: 1}}}
	for n := range int32(100) {
		segs := []nodeset.Segment{{First: n, Last: n, Cores: 1, Bin: 1}}
		require.NoError(t, nodes.Allocate(segs, nodeset.Uses{{PerNode: 3}}...))
		s.holds = append(s.holds, hold{int64(n), segs})
	}
	var p Prices
	s.prices(&p)
	require.Zero(t, testing.AllocsPerRun(10, func() { s.prices(&p) }))
	require.NotZero(t, p.ShareCost(7, nodes.Free(7), 1, 3, 2, 100))
}
