// SPDX-License-Identifier: BSD-3-Clause

package benchmarks

import (
	"testing"

	"github.com/bits-and-blooms/bitset"
	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/nodeset"
)

// arrayScan finds nodesets by a loop over plain arrays of free cores and GPUs.
func arrayScan(w *Window, q nodeset.Query) Stage {
	t := w.Snapshot.Nodes
	cores, gpus := make([]uint16, t.Len()), make([]uint8, t.Len())
	for n := range cores {
		if free := t.Free(n); t.Up(n) {
			cores[n], gpus[n] = free.Cores, free.GPUs
		}
	}
	least, level := uint16(max(q.MinCores, 1)), uint8(q.GPUs)
	return scanStage(w, q, func(dst []nodeset.Set) []nodeset.Set {
		open := false
		var cur nodeset.Set
		for n := range cores {
			switch suits := cores[n] >= least && gpus[n] >= level && q.Eligible.Has(n); {
			case suits && !open:
				cur, open = nodeset.Set{First: int32(n), Last: int32(n), Cores: int64(cores[n])}, true
			case suits:
				cur.Last, cur.Cores = int32(n), cur.Cores+int64(cores[n])
			case open:
				dst, open = append(dst, cur), false
			}
		}
		if open {
			dst = append(dst, cur)
		}
		return dst
	})
}

// bitsetScan finds nodesets with a bitset of the nodes that have enough GPUs, and an array of free
// cores.
func bitsetScan(w *Window, q nodeset.Query) Stage {
	t := w.Snapshot.Nodes
	size := uint(t.Len())
	cores, usable, eligible, both := make([]uint16, size), bitset.New(size), bitset.New(size), bitset.New(size)
	for n := range t.Len() {
		free := t.Free(n)
		cores[n] = free.Cores
		usable.SetTo(uint(n), t.Up(n) && free.Cores > 0 && int(free.GPUs) >= q.GPUs)
		eligible.SetTo(uint(n), q.Eligible.Has(n))
	}
	least := uint16(max(q.MinCores, 1))
	return scanStage(w, q, func(dst []nodeset.Set) []nodeset.Set {
		set := usable
		if q.Eligible != nil {
			usable.CopyFull(both)
			both.InPlaceIntersection(eligible)
			set = both
		}
		for n, found := set.NextSet(0); found; n, found = set.NextSet(n) {
			end, found := set.NextClear(n)
			if !found {
				end = size
			}
			for n < end {
				if cores[n] < least {
					n++
					continue
				}
				cur := nodeset.Set{First: int32(n)}
				for ; n < end && cores[n] >= least; n++ {
					cur.Last, cur.Cores = int32(n), cur.Cores+int64(cores[n])
				}
				dst = append(dst, cur)
			}
		}
		return dst
	})
}

// All ways to scan find the same nodesets.
func TestRivals(t *testing.T) {
	for _, n := range []int{128, 1024} {
		w, err := NewWindow(n, 1, 1)
		require.NoError(t, err)
		for _, q := range Queries(n) {
			for _, s := range []Stage{Scan(w, q), NodeLoop(w, q), arrayScan(w, q), bitsetScan(w, q)} {
				require.NoError(t, s.Run())
				require.NoError(t, s.Check())
			}
		}
	}
}
