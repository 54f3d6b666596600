// SPDX-License-Identifier: BSD-3-Clause

package market

import (
	"cmp"
	"slices"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// scan is the outcome of one scan: the nodesets in node order, and their numbers
// by ascending cores.
type scan struct {
	sets   []nodeset.Set
	bySize []int32
}

// firstWith is the index in bySize of the first nodeset with that many cores.
func (s *scan) firstWith(cores int64) int {
	i, _ := slices.BinarySearchFunc(s.bySize, cores, func(k int32, c int64) int { return cmp.Compare(s.sets[k].Cores, c) })
	return i
}

// classify tells the class of an allocation and from how many blocks it comes.
func (s *scan) classify(segs []nodeset.Segment) (bids.Class, int) {
	blocks := nodeset.Blocks(segs)
	if blocks > 1 {
		return ClassC, blocks
	}
	first, last := segs[0].First, segs[len(segs)-1].Last
	i, ok := slices.BinarySearchFunc(s.sets, first, func(x nodeset.Set, n int32) int {
		return cmp.Compare(min(max(n, x.First), x.Last), n)
	})
	if ok && (s.sets[i].First == first || s.sets[i].Last == last) {
		return ClassA, 1
	}
	return ClassB, 1
}

// scanKey tells scans of one window apart.
type scanKey struct {
	crosses, gpus, lo int
	eligible          *nodeset.Mask
	uses              *nodeset.Uses
	// of all tiers if nil, or up to one
	tiers *place.Tiers
	tier  int
	// nodesets are cut where the leaf changes; nil: they are not
	tree *nodeset.Topology
}

// keyOf is the key of the nodesets that a variant may use with k GPUs a node, s being its Spec.
func keyOf(a *Variant, s *place.Spec, k int) scanKey {
	return scanKey{crosses: a.Crosses, gpus: k, lo: s.Cores.PerNode.Min, eligible: s.Eligible, uses: s.Uses}
}

// scanCache remembers the scans of one window: many jobs ask the same question.
type scanCache struct {
	scans place.Pool[scanKey, scan]
	whole []nodeset.Set // scratch
	mask  nodeset.Mask  // scratch
}

func (c *scanCache) get(k scanKey, t *nodeset.Table) *scan {
	s, isNew := c.scans.Of(k)
	if isNew {
		q := nodeset.Query{GPUs: k.gpus, MinCores: k.lo}
		if k.eligible != nil {
			q.Eligible = *k.eligible
		}
		if k.tiers != nil {
			c.mask = k.tiers.Between(c.mask[:0], q.Eligible, -1, k.tier)
			q.Eligible = c.mask
		}
		s.sets = t.Scan(s.sets[:0], q)
		if k.tree != nil {
			c.whole = append(c.whole[:0], s.sets...)
			s.sets = place.Cut(s.sets[:0], t, k.tree, c.whole)
		}
		s.bySize = s.bySize[:0]
		for n := range s.sets {
			s.bySize = append(s.bySize, int32(n))
		}
		key := func(n int32) int64 { return s.sets[n].Cores*nodeset.MaxNodes + int64(n) } // of equals the first
		slices.SortFunc(s.bySize, func(a, b int32) int { return cmp.Compare(key(a), key(b)) })
	}
	return s
}
