package bids

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/internal/race"
	"github.com/aucsched/aucsched/nodeset"
)

// drawPrices draws prices that rise with the reservations, many of them 0.
func drawPrices(t *rapid.T, s *Space) *Prices {
	p := &Prices{Alpha: rapid.Float64Range(0, 5).Draw(t, "alpha")}
	alpha := p.Alpha
	p.Reset(s.Now.Len(), len(s.Left))
	p.Alpha = alpha
	price := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0, 60))
	for k := range p.Cores {
		for n := range p.Cores[k] {
			p.Cores[k][n], p.GPUs[k][n] = price.Draw(t, "core"), price.Draw(t, "gpu")
			if k > 0 {
				p.Cores[k][n] += p.Cores[k-1][n]
				p.GPUs[k][n] += p.GPUs[k-1][n]
			}
		}
	}
	return p
}

// netTwin is what an allocation is worth net of prices, node by node.
func netTwin(t require.TestingT, g *Generator, p *Prices, a *Ask, segs []nodeset.Segment) float64 {
	bid, err := g.Describe(a, segs)
	require.NoError(t, err)
	net := float64(a.Priority) + p.Alpha*bid.Preference
	nodes, cores, gpus := perNode(segs)
	for _, n := range nodes {
		net -= p.Cores[a.Crosses][n]*float64(cores[n]) + p.GPUs[a.Crosses][n]*float64(gpus[n])
	}
	return net
}

func TestPricedBidsAreFeasibleAndNew(t *testing.T) {
	var g Generator
	var b Book
	added := 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpace(t)
		asks, o := drawAsks(t, s), drawOptions(t)
		keepSome(t, s, asks)
		g.Generate(s, asks, o, &b)
		for range rapid.IntRange(1, 3).Draw(t, "rounds") {
			before := copyOf(&b)
			limit := o.MaxBidsPerJob + rapid.IntRange(0, 6).Draw(t, "more")
			moved := g.GeneratePriced(drawPrices(t, s), PricedOptions{MaxBidsPerJob: limit})
			added += len(b.Bids) - len(before.Bids)
			require.Len(t, moved, len(before.Bids))
			for i, at := range moved {
				require.Equal(t, before.Allocation(i), b.Allocation(int(at)), "a bid that was there is still")
				require.Equal(t, before.Bids[i].Job, b.Bids[at].Job)
			}
			require.Len(t, b.Drafts, len(before.Drafts)+1)
			for _, d := range b.Drafts {
				fitsTogether(t, s, asks, &b, d)
			}
			fitsTogether(t, s, asks, &b, b.Kept)
			require.Len(t, b.Kept, len(before.Kept))
			for j := range asks {
				require.LessOrEqual(t, len(b.Of(j)), max(limit, len(before.Of(j))))
				checkBids(t, s, &asks[j], &b, j)
			}
			checkNumbers(t, &b)
		}
	})
	require.Positive(t, added)
}

// checkBids checks that all bids of job j meet its request, fit, and differ.
func checkBids(t require.TestingT, s *Space, a *Ask, b *Book, j int) {
	for i := int(b.JobStart[j]); i < int(b.JobStart[j+1]); i++ {
		segs := b.Allocation(i)
		require.NoError(t, nodeset.CheckSegments(segs, s.Now.Len()))
		require.EqualValues(t, j, b.Bids[i].Job)
		meets(t, a.Request, segs)
		nodes, cores, gpus := perNode(segs)
		for _, n := range nodes {
			c, up := viewTwin(s, a.Crosses, n)
			require.True(t, up)
			require.LessOrEqual(t, cores[n], int(c.Cores))
			require.LessOrEqual(t, gpus[n], int(c.GPUs))
		}
		for k := int(b.JobStart[j]); k < i; k++ {
			require.NotEqual(t, b.Allocation(k), segs, "a job bids the same twice")
		}
	}
}

// checkNumbers checks that bids have the same number if and only if they have the same nodes.
func checkNumbers(t require.TestingT, b *Book) {
	number := map[string]int32{}
	for i, bid := range b.Bids {
		nodes, _, _ := perNode(b.Allocation(i))
		key := fmt.Sprint(nodes)
		if _, ok := number[key]; !ok {
			number[key] = int32(len(number))
		}
		require.Equal(t, number[key], bid.NodeSet)
	}
	require.Equal(t, len(number), b.NodeSets)
}

// alignmentsTwin lists the allocations that are appraised, from their definition: all
// even and all filled runs of nodes.
func alignmentsTwin(s *Space, a *Ask, sh *shape) (all [][]nodeset.Segment) {
	n := s.Now.Len()
	most := func(i, k int) int {
		c, up := viewTwin(s, a.Crosses, i)
		if !up || !a.Eligible.Has(i) || int(c.GPUs) < k || int(c.Cores) < sh.lo || c.Cores == 0 {
			return 0
		}
		return min(int(c.Cores), sh.hi)
	}
	for k := sh.minGPUs; k <= sh.maxGPUs; k++ {
		top := 0
		for i := range n {
			top = max(top, most(i, k))
		}
		if top == 0 {
			continue
		}
		for _, m := range sh.nodeCounts(nil, top) {
			for first := 0; first+m <= n; first++ {
				need := sh.need(m)
				var segs []nodeset.Segment
				for i := range m {
					c := need / m
					if i < need%m {
						c++
					}
					if most(first+i, k) < (need+m-1)/m {
						segs = nil
						break
					}
					segs = appendNode(segs, first+i, c, k)
				}
				if segs != nil {
					all = append(all, segs)
				}
			}
		}
		for first := 0; first < n && !sh.perNode; first++ {
			left := sh.cores
			var segs []nodeset.Segment
			for i := first; i < n && left > 0 && most(i, k) > 0; i++ {
				c := min(left, most(i, k))
				segs = appendNode(segs, i, c, k)
				left -= c
			}
			if y := nodeset.Nodes(segs); left == 0 && y >= sh.minNodes && y <= sh.maxNodes {
				all = append(all, segs)
			}
		}
	}
	return all
}

func appendNode(segs []nodeset.Segment, n, cores, gpus int) []nodeset.Segment {
	x := nodeset.Segment{First: int32(n), Last: int32(n), Cores: uint16(cores), GPUs: uint8(gpus)}
	if len(segs) == 0 {
		return append(segs, x)
	}
	return nodeset.Append(segs, x)
}

func TestTheBestAlignmentIsBid(t *testing.T) {
	var g Generator
	var b Book
	paid := 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpace(t)
		asks := drawAsks(t, s)
		g.Generate(s, asks, Options{MaxBidsPerJob: 1}, &b)
		p := drawPrices(t, s)
		g.GeneratePriced(p, PricedOptions{MaxBidsPerJob: 9})
		for j := range asks {
			sh, err := asks[j].shape()
			if err != nil {
				continue
			}
			best, got := 0.0, 0.0 // only what pays is bid
			for _, segs := range alignmentsTwin(s, &asks[j], &sh) {
				best = max(best, netTwin(t, &g, p, &asks[j], segs))
			}
			for i := int(b.JobStart[j]); i < int(b.JobStart[j+1]); i++ {
				got = max(got, netTwin(t, &g, p, &asks[j], b.Allocation(i)))
			}
			if best > 0 {
				paid++
			}
			require.GreaterOrEqual(t, got, best-1e-6*math.Abs(best)-1e-6, "job %d", j)
		}
	})
	require.Positive(t, paid)
}

// A job that can be anywhere finds the nodes that are free of charge.
func TestCheapNodesAreCombined(t *testing.T) {
	s := &Space{Now: coresFree(t, 8, 8, 8, 8, 8, 8)}
	asks := []Ask{{Request: &Request{MinNodes: 3, TasksPerNode: 8}, Priority: 10}}
	var g Generator
	var b Book
	g.Generate(s, asks, Options{MaxBidsPerJob: 1}, &b)
	var p Prices
	p.Reset(6, 0)
	p.Cores[0] = []float64{9, 0, 9, 0, 9, 0}
	g.GeneratePriced(&p, PricedOptions{MaxBidsPerJob: 9})
	want := []nodeset.Segment{{First: 1, Last: 1, Cores: 8}, {First: 3, Last: 3, Cores: 8}, {First: 5, Last: 5, Cores: 8}}
	require.True(t, slices.ContainsFunc(b.Of(0), func(x Bid) bool { return slices.Equal(b.Segs[x.First:x.Last], want) }))
}

func TestGeneratePricedStops(t *testing.T) {
	s := &Space{Now: halfBusy(t, 128)}
	asks := tsubameAsks(20, 128)
	var g Generator
	var b Book
	var p Prices
	p.Reset(128, 0)
	g.Generate(s, asks, Options{MaxBidsPerJob: 5}, &b)
	n := len(b.Bids)
	g.GeneratePriced(&p, PricedOptions{MaxBidsPerJob: 9, Stop: func() bool { return true }})
	require.Len(t, b.Bids, n)
	g.GeneratePriced(&p, PricedOptions{MaxBidsPerJob: 9})
	require.Greater(t, len(b.Bids), n)
}

func TestGeneratePricedAllocatesNothing(t *testing.T) {
	race.Allocates(t)
	s := &Space{Now: halfBusy(t, 512)}
	asks := tsubameAsks(50, 512)
	var g Generator
	var b Book
	var p Prices
	p.Reset(512, 0)
	for n := range p.Cores[0] {
		p.Cores[0][n], p.GPUs[0][n] = float64(n%7)/8, float64(n%5)/2
	}
	run := func() {
		g.Generate(s, asks, Options{MaxBidsPerJob: 15, Drafts: 7}, &b)
		g.GeneratePriced(&p, PricedOptions{MaxBidsPerJob: 20})
	}
	for range 20 {
		run()
	}
	require.Zero(t, testing.AllocsPerRun(10, run))
}
