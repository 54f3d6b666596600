// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/nodeset"
)

// scene is a machine, what runs on it, and what is usual.
type scene struct {
	nodes *nodeset.Table
	holds []hold
	kinds []Kind
	now   int64
}

func drawScene(t *rapid.T) (s scene) {
	total := make([]nodeset.Capacity, rapid.IntRange(1, 12).Draw(t, "nodes"))
	for n := range total {
		total[n].Cores = uint16(rapid.SampledFrom([]int{4, 8}).Draw(t, "cores"))
		total[n].GPUs = uint8(rapid.SampledFrom([]int{0, 2, 4}).Draw(t, "GPUs"))
	}
	var err error
	s.nodes, err = nodeset.New(total)
	require.NoError(t, err)
	s.now = rapid.Int64Range(0, 50).Draw(t, "now")
	for range rapid.IntRange(0, 20).Draw(t, "jobs") {
		n := rapid.IntRange(0, len(total)-1).Draw(t, "node")
		last := rapid.IntRange(n, min(n+2, len(total)-1)).Draw(t, "last")
		segs := []nodeset.Segment{{
			First: int32(n), Last: int32(last), Cores: uint16(rapid.IntRange(1, 4).Draw(t, "takes")),
			GPUs: uint8(rapid.IntRange(0, 2).Draw(t, "takes GPUs")),
		}}
		if s.nodes.Allocate(segs) == nil {
			s.holds = append(s.holds, hold{s.now + rapid.Int64Range(-3, 30).Draw(t, "end"), segs})
		}
	}
	for range rapid.IntRange(0, 4).Draw(t, "kinds") {
		s.kinds = append(s.kinds, Kind{
			GPUs: rapid.IntRange(1, 4).Draw(t, "GPUs"), Cores: rapid.IntRange(0, 8).Draw(t, "cores"),
			Weight: rapid.Int64Range(0, MaxWeight/4).Draw(t, "weight"),
		})
	}
	return s
}

func (s *scene) prices(p *Prices) *Prices {
	p.Reset(s.now, s.nodes)
	for _, h := range s.holds {
		p.Hold(h.segs, nil, nil, h.end)
	}
	p.Settle()
	p.kinds, p.weight = append(p.kinds[:0], s.kinds...), 0
	for _, k := range s.kinds {
		p.weight += k.Weight
	}
	return p
}

// useless are the GPUs of a node that are of no use, kind by kind.
func (s *scene) useless(cores, gpus int) (sum int64) {
	for _, k := range s.kinds {
		used := 0 // by as many requests as there is room for
		for n := 1; n*k.GPUs <= gpus && n*k.Cores <= cores; n++ {
			used = n * k.GPUs
		}
		sum += k.Weight * int64(gpus-used)
	}
	return sum
}

// cost is Prices.Cost second by second.
func (s *scene) cost(n, cores, gpus int, limit int64) (sum int64) {
	for at := s.now; at < s.now+limit; at++ {
		has := s.nodes.Free(n)
		c, g := int(has.Cores), int(has.GPUs)
		for _, h := range s.holds {
			if seg := h.segs[0]; int(seg.First) <= n && n <= int(seg.Last) && max(h.end, s.now+1) <= at {
				c, g = c+int(seg.Cores), g+int(seg.GPUs)
			}
		}
		sum += s.useless(c-cores, g-gpus) - s.useless(c, g)
	}
	return sum
}

func single(cores, gpus int) Spec {
	return Spec{
		Nodes: Range{1, 1}, NodesGiven: true, GPUs: Amount{PerNode: Range{gpus, gpus}},
		Cores: Amount{PerNode: Range{1, cores}, Total: cores},
	}
}

func TestPlaceByPricesIsTheCheapestNode(t *testing.T) {
	var p Prices // used again
	rapid.Check(t, func(t *rapid.T) {
		s := drawScene(t)
		spec := single(rapid.IntRange(1, 8).Draw(t, "cores"), rapid.IntRange(0, 4).Draw(t, "GPUs"))
		limit := rapid.Int64Range(1, 40).Draw(t, "limit")
		best, least := -1, int64(0)
		for n := range s.nodes.Len() {
			has := s.nodes.Free(n)
			if spec.Room(has) < spec.Cores.Total {
				continue
			}
			c := s.cost(n, spec.Cores.Total, spec.GPUs.PerNode.Min, limit)
			require.Equal(t, c, s.prices(&p).Cost(n, has, spec.Cores.Total, spec.GPUs.PerNode.Min, limit))
			if best < 0 || c < least || c == least && has.Cores < s.nodes.Free(best).Cores {
				best, least = n, c
			}
		}
		var placer Placer
		_, fits := placer.Place(nil, s.nodes, &spec, spec.GPUs.PerNode.Min)
		placer.By(s.prices(&p), limit)
		segs, ok := placer.Place(nil, s.nodes, &spec, spec.GPUs.PerNode.Min)
		require.Equal(t, best >= 0, ok)
		require.Equal(t, fits, ok, "no place is lost by prices")
		if ok {
			require.NoError(t, s.nodes.Allocate(segs))
			require.Equal(t, best, int(segs[0].First))
		}
	})
}

// What is remembered of costs makes no difference, though nodes are taken meanwhile.
func TestMemoIsOfNoConsequence(t *testing.T) {
	var p Prices
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		nodes, err := nodeset.NewUniform(1+rng.IntN(200), nodeset.Capacity{Cores: 8, GPUs: 4})
		require.NoError(t, err)
		s := scene{nodes: nodes, kinds: []Kind{{4, 6, 100}, {2, 3, 500}, {1, 1, 900}}}
		for range rng.IntN(2 * nodes.Len()) {
			n := int32(rng.IntN(nodes.Len()))
			segs := []nodeset.Segment{{First: n, Last: n, Cores: uint16(1 + rng.IntN(3)), GPUs: uint8(rng.IntN(3))}}
			if nodes.Allocate(segs) == nil {
				s.holds = append(s.holds, hold{rng.Int64N(50), segs})
			}
		}
		s.prices(&p)
		var left nodeset.Table
		left.CopyFrom(nodes)
		var placer Placer
		specs := []Spec{single(1+rng.IntN(4), rng.IntN(3)), single(1+rng.IntN(8), rng.IntN(5))}
		limits := []int64{1 + rng.Int64N(60), 1 + rng.Int64N(60)}
		for range 100 {
			spec, limit := &specs[rng.IntN(2)], limits[rng.IntN(2)]
			gpus := spec.GPUs.PerNode.Min
			placer.By(&p, limit)
			segs, ok := placer.Place(nil, &left, spec, gpus)
			want, best := -1, offer{}
			for n := range left.Len() {
				has := left.Free(n)
				if spec.Room(has) < spec.Cores.Total {
					continue
				}
				o := offer{p.Cost(n, has, spec.Cores.Total, gpus, limit), 0, int32(has.Cores)}
				if want < 0 || o.before(best) {
					want, best = n, o
				}
			}
			require.Equal(t, want >= 0, ok)
			if !ok {
				continue
			}
			require.Equal(t, want, int(segs[0].First))
			require.NoError(t, left.Allocate(segs))
			if rng.IntN(3) == 0 { // as in the next draft
				require.NoError(t, left.Release(segs))
			}
		}
	})
}

func TestCostsOfVeryLongJobsAreExact(t *testing.T) {
	var p Prices
	has := nodeset.Capacity{Cores: 8, GPUs: 255}
	nodes, err := nodeset.NewUniform(1, has)
	require.NoError(t, err)
	s := scene{nodes: nodes, kinds: []Kind{{GPUs: 255, Weight: MaxWeight}}}
	s.prices(&p)
	require.Equal(t, int64(254)*MaxWeight*farthest, p.Cost(0, has, 1, 1, 1<<50))
}

func TestPricesAllocateNothing(t *testing.T) {
	race.Allocates(t)
	nodes, err := nodeset.NewUniform(100, nodeset.Capacity{Cores: 8, GPUs: 4})
	require.NoError(t, err)
	s := scene{nodes: nodes, kinds: []Kind{{GPUs: 4, Weight: 1}}}
	for n := range int32(100) {
		s.holds = append(s.holds, hold{int64(n), []nodeset.Segment{{First: n, Last: n, Cores: 1, GPUs: 1}}})
	}
	var p Prices
	s.prices(&p)
	require.Zero(t, testing.AllocsPerRun(10, func() { s.prices(&p) }))
}

// What a kind asks for may be of any size: costs are as for one core more than the largest node has.
func TestPricesOfRequestsBeyondAllNodes(t *testing.T) {
	nodes, err := nodeset.New([]nodeset.Capacity{{Cores: 4, GPUs: 2}, {Cores: 64, GPUs: 4}})
	require.NoError(t, err)
	var huge, least Prices
	for p, cores := range map[*Prices]int{&huge: 1 << 62, &least: 1 << 20} {
		p.Reset(0, nodes)
		for _, spec := range []Spec{single(cores, 1), single(8, 4)} {
			p.Ask(&spec, 60)
		}
		p.Settle()
	}
	for n := range nodes.Len() {
		has := nodes.Free(n)
		for cores := range int(has.Cores) + 1 {
			require.Equal(t, least.Cost(n, has, cores, 1, 60), huge.Cost(n, has, cores, 1, 60))
		}
	}
}
