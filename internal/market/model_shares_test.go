// SPDX-License-Identifier: BSD-3-Clause

package market_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/nodeset"
)

// drawShares draws a machine with GPUs in shared use, one reservation or none, and bids for shares
// and whole GPUs: a job's are all on one node, so that a choice is one of GPUs.
func drawShares(t *rapid.T) (*market.Space, []market.Variant, *market.Book) {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 53))
	now, err := nodeset.NewUniform(2, nodeset.Capacity{Cores: 40, GPUs: uint8(1 + rng.IntN(3))})
	require.NoError(t, err)
	_, err = now.AddShares("share", []int64{10, 10})
	require.NoError(t, err)
	fill := func(table *nodeset.Table) {
		for n := range 2 {
			for bin := 1 + rng.IntN(2); bin <= 3; bin += 1 + rng.IntN(3) {
				_ = table.SetBin(n, uint8(bin), 1+rng.Int64N(9))
			}
			c := table.Free(n)
			c.GPUs -= uint8(rng.IntN(int(c.GPUs) + 1))
			require.NoError(t, table.SetFree(n, c))
		}
	}
	later := new(nodeset.Table)
	later.CopyFrom(now)
	fill(now)
	space := &market.Space{Now: now}
	if rng.IntN(3) > 0 {
		fill(later)
		space.Left = append(space.Left, later)
	}
	var variants []market.Variant
	book := &market.Book{JobStart: []int32{0}}
	for j := range 2 + rng.IntN(5) {
		r := bids.Request{Cores: 1, MinNodes: 1, MaxNodes: 1}
		if rng.IntN(3) == 0 {
			r.MinGPUs = 1 + rng.IntN(2)
		} else {
			r.Uses = nodeset.Uses{{PerNode: 1 + rng.Int64N(10)}}
		}
		r.MaxGPUs = r.MinGPUs
		spec, err := place.SpecOf(&r)
		require.NoError(t, err)
		variants = append(variants, market.Variant{Spec: spec, Priority: 1, Crosses: rng.IntN(len(space.Left) + 1)})
		for range 1 + rng.IntN(3) {
			n := int32(rng.IntN(2))
			s := nodeset.Segment{First: n, Last: n, Cores: 1, GPUs: uint8(r.MinGPUs)}
			if r.Uses != nil {
				s.Bin = uint8(1 + rng.IntN(min(4, len(now.BinsLeft(int(n))))))
			}
			at := int32(len(book.Segs))
			book.Segs = append(book.Segs, s)
			book.Bids = append(book.Bids, market.Bid{Job: int32(j), First: at, Last: at + 1})
		}
		book.JobStart = append(book.JobStart, int32(len(book.Bids)))
	}
	return space, variants, book
}

// feasible allocates a choice on copies of what is free. ordered: of the GPUs that are not in use
// now it takes the first ones on which anyone bids.
func feasible(space *market.Space, variants []market.Variant, book *market.Book, chosen []int32) (fits, ordered bool) {
	ordered = true
	var now nodeset.Table
	now.CopyFrom(space.Now)
	left := make([]nodeset.Table, len(space.Left))
	for k := range left {
		left[k].CopyFrom(space.Left[k])
	}
	for _, i := range chosen {
		v := &variants[book.Bids[i].Job]
		if now.Allocate(book.Allocation(int(i)), v.Spec.More()...) != nil {
			return false, false
		}
		for k := range v.Crosses {
			if left[k].Allocate(book.Allocation(int(i)), v.Spec.More()...) != nil {
				return false, false
			}
		}
	}
	for i := range book.Bids {
		s := book.Allocation(i)[0]
		if s.Bin == 0 {
			continue
		}
		if _, used := now.BinFree(int(s.First), s.Bin); used {
			continue
		}
		for bin := int(s.Bin) + 1; bin <= len(now.BinsLeft(int(s.First))); bin++ {
			_, before := space.Now.BinFree(int(s.First), uint8(bin))
			_, after := now.BinFree(int(s.First), uint8(bin))
			ordered = ordered && before == after
		}
	}
	return true, ordered
}

// The model has no choice that can't be allocated, now and at the reservation. It has all that can be,
// take GPUs in order and have no share run into the reservation: there the model may leave out more.
func TestSharesAreExact(t *testing.T) {
	crossing, refused := 0, 0
	check := func(t *rapid.T) {
		space, variants, book := drawShares(t)
		var b market.Builder
		var m ipmodel.Model
		require.NoError(t, b.Build(space, variants, book, nil, &m))
		require.NoError(t, m.Validate())
		crossingShare := func(i int32) bool {
			return book.Allocation(int(i))[0].Bin > 0 && variants[book.Bids[i].Job].Crosses > 0
		}
		var try func(j int, chosen []int32)
		try = func(j int, chosen []int32) {
			if j < len(variants) {
				try(j+1, chosen)
				for i := book.JobStart[j]; i < book.JobStart[j+1]; i++ {
					try(j+1, append(chosen[:len(chosen):len(chosen)], i))
				}
				return
			}
			fits, ordered := feasible(space, variants, book, chosen)
			_, err := m.Check(chosen)
			if !fits {
				refused++
				require.Error(t, err)
			} else if ordered && !slices.ContainsFunc(chosen, crossingShare) {
				require.NoError(t, err)
				for _, i := range chosen {
					crossing += variants[book.Bids[i].Job].Crosses
				}
			}
		}
		try(0, nil)
	}
	// How many of a run's draws cross a reservation is chance.
	for round := 0; round < 20 && (crossing <= 50 || refused <= 1000); round++ {
		rapid.Check(t, check)
	}
	require.Greater(t, crossing, 50)
	require.Greater(t, refused, 1000)
}
