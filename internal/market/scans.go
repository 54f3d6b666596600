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
	index map[scanKey]int
	scans []scan
	used  int
	whole []nodeset.Set // scratch
	mask  nodeset.Mask  // scratch
}

func (c *scanCache) reset() {
	if c.index == nil {
		c.index = make(map[scanKey]int)
	}
	clear(c.index)
	c.used = 0
}

func (c *scanCache) get(k scanKey, t *nodeset.Table) *scan {
	i, ok := c.index[k]
	if !ok {
		i = c.used
		c.used++
		c.index[k] = i
		if i == len(c.scans) {
			c.scans = append(c.scans, scan{})
		}
		s := &c.scans[i]
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
		slices.SortFunc(s.bySize, func(a, b int32) int {
			return cmp.Or(cmp.Compare(s.sets[a].Cores, s.sets[b].Cores), cmp.Compare(a, b))
		})
	}
	return &c.scans[i]
}

// maxLimits bounds the memory of limits, and the time to ask them.
const maxLimits = 32

// limits remember what was left when a job found no place, as long as nothing is given
// back: a job that needs more than that of the same nodes, or of fewer, need not look.
type limits []limit

// limit is what the nodesets of a scan had. That of a request that takes no core has more cores
// than there are, and so bars fewer others than it could.
type limit struct {
	scanKey
	nodes, longest int   // of all, of the longest
	cores, largest int64 // of all, of the one with most
}

// bar reports whether a job of shape s has no place in the nodesets of a scan. If it
// says no, there need not be one.
func (l limits) bar(s *place.Spec, k scanKey) bool {
	for i := range l {
		if l[i].covers(k) && l[i].tooLittle(s) {
			return true
		}
	}
	return false
}

// covers reports whether nodes that k finds are all among those of x.
func (x *limit) covers(k scanKey) bool {
	return x.crosses <= k.crosses && x.gpus <= k.gpus && x.lo <= k.lo && x.uses == k.uses &&
		(x.eligible == nil || x.eligible == k.eligible)
}

func (x *limit) tooLittle(s *place.Spec) bool {
	cores := int64(s.Cores.Total)
	return x.nodes < s.Nodes.Min || x.cores < cores ||
		s.Contiguous && (x.longest < s.Nodes.Min || x.largest < cores)
}

// learn remembers the nodesets that a scan found.
func (l *limits) learn(k scanKey, sets []nodeset.Set) {
	x := limit{scanKey: k}
	for _, set := range sets {
		x.nodes += set.Len()
		x.cores += set.Cores
		x.longest = max(x.longest, set.Len())
		x.largest = max(x.largest, set.Cores)
	}
	for i := range *l {
		if (*l)[i].scanKey == k {
			(*l)[i] = x
			return
		}
	}
	if len(*l) < maxLimits {
		*l = append(*l, x)
	}
}
