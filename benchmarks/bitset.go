// SPDX-License-Identifier: BSD-3-Clause

package benchmarks

import (
	"github.com/bits-and-blooms/bitset"

	"github.com/aucsched/aucsched/nodeset"
)

// bitsets are what the question of a scan needs for github.com/bits-and-blooms/bitset.
// Which nodes have the GPUs and which have the cores is worked out beforehand; the
// scan has to find that out.
type bitsets struct {
	usable, gpus, enough *bitset.BitSet
	cores                *bitset.BitSet // CoresPerNode bits a node, the free ones first
	suit                 *bitset.BitSet
}

func newBitsets(t *nodeset.Table, q nodeset.Query) *bitsets {
	n := uint(t.Len())
	b := &bitsets{bitset.New(n), bitset.New(n), bitset.New(n), bitset.New(n * CoresPerNode), bitset.New(n)}
	for i := range n {
		free := t.Free(int(i))
		b.usable.SetTo(i, t.Up(int(i)) && q.Eligible.Has(int(i)))
		b.gpus.SetTo(i, int(free.GPUs) >= q.GPUs)
		b.enough.SetTo(i, int(free.Cores) >= max(q.MinCores, 1))
		for c := range uint(free.Cores) {
			b.cores.Set(i*CoresPerNode + c)
		}
	}
	return b
}

func (b *bitsets) scan(dst []nodeset.Set) []nodeset.Set {
	b.usable.Copy(b.suit)
	b.suit.InPlaceIntersection(b.gpus)
	b.suit.InPlaceIntersection(b.enough)
	for from := uint(0); ; {
		first, ok := b.suit.NextSet(from)
		if !ok {
			return dst
		}
		next, ok := b.suit.NextClear(first)
		if !ok {
			next = b.suit.Len()
		}
		cores := b.cores.OnesBetween(first*CoresPerNode, next*CoresPerNode)
		dst = append(dst, nodeset.Set{First: int32(first), Last: int32(next) - 1, Cores: int64(cores)})
		from = next
	}
}

// Bitset finds the same nodesets with the calls of github.com/bits-and-blooms/bitset.
func Bitset(w *Window, q nodeset.Query) Stage {
	b := newBitsets(w.Snapshot.Nodes, q)
	return scanStage(w, q, b.scan)
}
