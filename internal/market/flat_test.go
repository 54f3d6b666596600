// SPDX-License-Identifier: BSD-3-Clause

package market

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/test/draw"
	"github.com/aucsched/aucsched/internal/test/requests"
)

// What fits together is worth no more than the bound.
func TestFlatBoundHolds(t *testing.T) {
	var g Generator
	var b Book
	var f flat
	tight := 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpace(t)
		variants := drawVariants(t, s)
		keepSome(t, s, variants)
		job := jobsOf(variants)
		required := make([]bool, len(variants)) // as many as jobs, or more
		for j := range variants {
			required[job[j]] = required[job[j]] || len(variants[j].Fixed) > 0
		}
		g.Generate(s, variants, Options{MaxBidsPerJob: 16, Drafts: 12}, &b)
		alpha := rapid.Float64Range(0, 5).Draw(t, "alpha")
		bound := f.solve(s, variants, required, alpha)
		var all float64
		for _, d := range append(b.Drafts, b.Kept) {
			worth, kept := 0.0, 0
			for _, i := range d {
				j := b.Bids[i].Job
				worth += float64(variants[j].Priority) + alpha*b.Bids[i].Preference
				if required[job[j]] {
					kept++
				}
			}
			if kept == len(b.Kept) {
				require.LessOrEqual(t, worth, bound*(1+1e-9)+1e-9)
			}
		}
		valid := map[int]bool{}
		for j := range variants {
			if variants[j].Spec.Valid() && !valid[job[j]] {
				valid[job[j]] = true
				all += float64(variants[j].Priority) + alpha
			}
		}
		require.LessOrEqual(t, bound, all*(1+1e-9)+1e-9, "never worse than no prices at all")
		if bound < 0.99*all {
			tight++
		}
	})
	require.Positive(t, tight, "prices lower the bound of some windows")
}

func TestFlatPrices(t *testing.T) {
	for _, c := range []struct {
		name     string
		required []bool
		bound    float64
		price    float64
	}{
		// 8 cores: 3 jobs of 4 cores for 12, 8 and 4. Two can start; the third would pay 1 a core.
		{"two of three", nil, 20, 1},
		// The last must start: then one of the others can.
		{"one must start", []bool{false, false, true}, 16, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &bids.Request{Cores: 4}
			variants := []Variant{{Spec: requests.Spec(r), Priority: 12}, {Spec: requests.Spec(r), Priority: 8}, {Spec: requests.Spec(r), Priority: 4}}
			s := &Space{Now: draw.CoresFree(t, 4, 4)}
			var f flat
			require.InDelta(t, c.bound, f.solve(s, variants, c.required, 0), 1e-9)
			require.Equal(t, []float64{c.price, 0}, f.price)
		})
	}
}

// What a reservation leaves is a capacity of its own for the jobs that run into it.
func TestFlatPricesOfReservations(t *testing.T) {
	r := &bids.Request{Cores: 4}
	s := &Space{Now: draw.CoresFree(t, 8, 8)}
	s.Left = append(s.Left, draw.CoresFree(t, 4, 0))
	variants := []Variant{{Spec: requests.Spec(r), Priority: 12, Crosses: 1},
		{Spec: requests.Spec(r), Priority: 8, Crosses: 1}, {Spec: requests.Spec(r), Priority: 4}}
	var f flat
	require.InDelta(t, 16, f.solve(s, variants, nil, 0), 1e-9, "one of those that run into it, and the other")
	require.Equal(t, []float64{0, 0, 2, 0}, f.price)
}

// Many small jobs are worth more than the large one before them.
func TestADraftGoesByTheWorthOfACore(t *testing.T) {
	s := &Space{Now: draw.CoresFree(t, 8, 8)}
	variants := []Variant{{Spec: requests.Spec(&bids.Request{Cores: 16}), Priority: 9}}
	for range 4 {
		variants = append(variants, Variant{Spec: requests.Spec(&bids.Request{Cores: 4}), Priority: 8})
	}
	var g Generator
	var b Book
	g.Generate(s, variants, Options{MaxBidsPerJob: 15, Drafts: 3}, &b)
	require.EqualValues(t, 9, worthOf(variants, &b, b.Drafts[0]))
	g.Generate(s, variants, Options{MaxBidsPerJob: 15, Drafts: 4}, &b)
	require.EqualValues(t, 32, worthOf(variants, &b, b.Drafts[0]))
}

// Drafts after the first hold all that is kept.
func TestDraftsHoldWhatIsKept(t *testing.T) {
	var g Generator
	var b Book
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpace(t)
		variants := drawVariants(t, s)
		keepSome(t, s, variants)
		g.Generate(s, variants, Options{MaxBidsPerJob: 16, Drafts: 7}, &b)
		whole := 0
		for _, d := range b.Drafts {
			kept := 0
			for _, i := range d {
				if len(variants[b.Bids[i].Job].Fixed) > 0 {
					kept++
				}
			}
			if kept == len(b.Kept) {
				whole++
			}
		}
		require.GreaterOrEqual(t, whole, len(b.Drafts)-1)
	})
}
