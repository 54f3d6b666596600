// SPDX-License-Identifier: BSD-3-Clause

package market

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/test/draw"
	"github.com/aucsched/aucsched/internal/test/requests"
	"github.com/aucsched/aucsched/nodeset"
)

// tsubameVariants are jobs of the types A, B, C', D' and E of aucsched2, table 2, in
// turn, every second one contiguous, on up to a tenth of the machine.
func tsubameVariants(jobs, nodes int) []Variant {
	rng := rand.New(rand.NewPCG(uint64(jobs), uint64(nodes)))
	variants := make([]Variant, jobs)
	for j := range variants {
		y := 1 + rng.IntN(max(1, nodes/10))
		r := &bids.Request{Cores: y * (3 + 3*rng.IntN(4)), Contiguous: j/5%2 == 1}
		if j%5 > 0 {
			r.MinNodes, r.MaxNodes = y, y
		}
		if r.MinGPUs = max(0, j%5-1); r.MinGPUs > 0 {
			r.MaxGPUs = 3
		}
		variants[j] = Variant{Spec: requests.Spec(r), Priority: 4294901759 - int64(j)}
	}
	return variants
}

func BenchmarkGenerate(b *testing.B) {
	for _, n := range []int{128, 1024, 10_000, 100_000} {
		s := &Space{Now: draw.HalfBusy(b, n)}
		for _, jobs := range []int{50, 200, 500} {
			variants := tsubameVariants(jobs, n)
			b.Run(fmt.Sprintf("nodes=%d/jobs=%d", n, jobs), func(b *testing.B) {
				var g Generator
				var book Book
				o := Options{MaxBidsPerJob: 15, Drafts: 7}
				for range 3 { // what a daemon sees: memory of earlier cycles is there
					g.Generate(s, variants, o, &book)
				}
				b.ReportAllocs()
				for b.Loop() {
					g.Generate(s, variants, o, &book)
				}
				b.ReportMetric(float64(len(book.Bids)), "bids")
			})
		}
	}
}

func BenchmarkPlace(b *testing.B) {
	for _, n := range []int{1024, 100_000} {
		tab := draw.HalfBusy(b, n)
		spec := requests.Spec(&bids.Request{Cores: n, MinNodes: n / 4, MaxNodes: n / 2, MinGPUs: 1})
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) {
			var p place.Placer
			var segs []nodeset.Segment
			b.ReportAllocs()
			for b.Loop() {
				segs, _ = p.Place(segs[:0], tab, &spec, 1)
			}
		})
	}
}
