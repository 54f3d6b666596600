// SPDX-License-Identifier: BSD-3-Clause

package bids

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/nodeset"
)

// halfBusy is a machine of Tsubame's nodes on which jobs hold about half of all, in
// runs of up to 32 nodes, some with all cores and some with a part.
func halfBusy(t require.TestingT, n int) *nodeset.Table {
	tab, err := nodeset.NewUniform(n, nodeset.Capacity{Cores: 12, GPUs: 3})
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(uint64(n), 3))
	for i := 0; i < n; {
		run := min(1+rng.IntN(32), n-i)
		c := nodeset.Capacity{Cores: 12, GPUs: 3}
		switch rng.IntN(4) {
		case 0, 1:
			c = nodeset.Capacity{}
		case 2:
			c = nodeset.Capacity{Cores: 6, GPUs: 1}
		}
		for k := range run {
			require.NoError(t, tab.SetFree(i+k, c))
		}
		i += run
	}
	return tab
}

// tsubameAsks are jobs of the types A, B, C', D' and E of aucsched2, table 2, in
// turn, every second one contiguous, on up to a tenth of the machine.
func tsubameAsks(jobs, nodes int) []Ask {
	rng := rand.New(rand.NewPCG(uint64(jobs), uint64(nodes)))
	asks := make([]Ask, jobs)
	for j := range asks {
		y := 1 + rng.IntN(max(1, nodes/10))
		r := &Request{Cores: y * (3 + 3*rng.IntN(4)), Contiguous: j/5%2 == 1}
		if j%5 > 0 {
			r.MinNodes, r.MaxNodes = y, y
		}
		if r.MinGPUs = max(0, j%5-1); r.MinGPUs > 0 {
			r.MaxGPUs = 3
		}
		asks[j] = Ask{Request: r, Priority: 4294901759 - int64(j)}
	}
	return asks
}

func BenchmarkGenerate(b *testing.B) {
	for _, n := range []int{128, 1024, 10_000, 100_000} {
		s := &Space{Now: halfBusy(b, n)}
		for _, jobs := range []int{50, 200, 500} {
			asks := tsubameAsks(jobs, n)
			b.Run(fmt.Sprintf("nodes=%d/jobs=%d", n, jobs), func(b *testing.B) {
				var g Generator
				var book Book
				o := Options{MaxBidsPerJob: 15, Drafts: 7}
				for range 3 { // what a daemon sees: memory of earlier cycles is there
					g.Generate(s, asks, o, &book)
				}
				b.ReportAllocs()
				for b.Loop() {
					g.Generate(s, asks, o, &book)
				}
				b.ReportMetric(float64(len(book.Bids)), "bids")
			})
		}
	}
}

func BenchmarkPlace(b *testing.B) {
	for _, n := range []int{1024, 100_000} {
		tab := halfBusy(b, n)
		r := &Request{Cores: n, MinNodes: n / 4, MaxNodes: n / 2, MinGPUs: 1}
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) {
			var p Placer
			var segs []nodeset.Segment
			b.ReportAllocs()
			for b.Loop() {
				segs, _ = p.Place(segs[:0], tab, r, 1)
			}
		})
	}
}
