// SPDX-License-Identifier: BSD-3-Clause

package nodeset

import (
	"fmt"
	"slices"
)

// none is of a number that is no GPU's in shared use.
const none = -1

// maxBin is the highest number of a bin.
const maxBin = 1<<8 - 1

// BinsOf returns the highest bin number on a node with so many shared GPUs.
func BinsOf(gpus int) int { return min(2*gpus, maxBin) }

// AddShares adds shares of GPUs: each GPU of node n has size[n] of them, in the caller's units, 0
// if GPUs are given whole only. An allocation takes its PerNode shares of one GPU on each of its
// nodes, which Segment.Bin names. All GPUs of a node are alike: set size 0 for nodes with several
// types, if jobs ask for types. TotalOf and FreeOf return the largest share that a node can give. A
// machine has at most one such resource. Errors are those of AddResource.
func (t *Table) AddShares(name string, size []int64) (number int, err error) {
	if t.shared.resource != 0 {
		return 0, fmt.Errorf("resource %s: GPUs are shared by %s already", name, t.ResourceName(t.shared.resource-1))
	}
	if number, err = t.AddResource(name, size); err != nil {
		return 0, err
	}
	for n, c := range t.total {
		if c.GPUs == 0 {
			t.more[number].total[n] = 0
		}
	}
	s := shares{resource: number + 1, start: make([]int32, t.Len()+1)}
	for n, c := range t.total {
		s.start[n+1] = s.start[n]
		if t.more[number].total[n] > 0 {
			s.start[n+1] += int32(BinsOf(int(c.GPUs)))
		}
	}
	s.left = slices.Repeat([]int32{none}, int(s.start[t.Len()]))
	t.shared = s
	for n := range t.total {
		t.tellShare(n)
	}
	return number, nil
}

// Shares returns the number of the resource that AddShares has added, if any.
func (t *Table) Shares() (resource int, ok bool) {
	return t.shared.resource - 1, t.shared.resource != 0
}

// ShareOf returns the share of a GPU that uses ask for on each node, 0 for none.
func (t *Table) ShareOf(uses Uses) int64 {
	if t.shared.resource == 0 {
		return 0
	}
	for _, u := range uses {
		if u.Row == t.shared.resource-1 {
			return u.PerNode
		}
	}
	return 0
}

// checkShares reports what is wrong with uses of shares: they are PerNode alone.
func (t *Table) checkShares(uses Uses) error {
	for _, u := range uses {
		if u.Row == t.shared.resource-1 && (u.PerCore != 0 || u.PerGPU != 0) {
			return fmt.Errorf("resource %s: a share of a GPU is by node, not by core or by GPU", t.ResourceName(u.Row))
		}
	}
	return nil
}

// BinsLeft returns how many shares of each bin of node n are free, from that of number 1 on; -1 of
// one that is not in use. The slice is the table's, and only to be read.
func (t *Table) BinsLeft(n int) []int32 {
	if t.shared.resource == 0 {
		return nil
	}
	return t.shared.left[t.shared.start[n]:t.shared.start[n+1]]
}

// BinFree returns how many shares of a bin of node n are free, and whether the bin is in use. bin
// is from 1, to as many as BinsLeft has.
func (t *Table) BinFree(n int, bin uint8) (free int64, inUse bool) {
	left := t.shared.left[int(t.shared.start[n])+int(bin)-1]
	return int64(max(left, 0)), left != none
}

// SetBin sets how many shares of a bin of node n are free. A bin that was not in use takes a free
// GPU of the node; if all shares are free, it gives the GPU back.
func (t *Table) SetBin(n int, bin uint8, free int64) error {
	if err := t.check(n); err != nil {
		return err
	}
	if bin == 0 || int(bin) > len(t.BinsLeft(n)) {
		return fmt.Errorf("node %d: there is no GPU %d in shared use, of %d", n, bin, len(t.BinsLeft(n)))
	}
	size := t.more[t.shared.resource-1].total[n]
	if free < 0 || free > size {
		return fmt.Errorf("node %d: %d shares are free of a GPU that has %d", n, free, size)
	}
	left, gpus := int32(free), t.gpus[n]
	if _, inUse := t.BinFree(n, bin); inUse {
		gpus++
	}
	if free == size {
		left = none
	} else if gpus == 0 {
		return fmt.Errorf("node %d has no GPU free that could be shared", n)
	} else {
		gpus--
	}
	if gpus > t.total[n].GPUs {
		return fmt.Errorf("node %d would have more than %d GPUs free", n, t.total[n].GPUs)
	}
	if gpus != t.gpus[n] {
		t.put(n, Capacity{t.cores[n], gpus})
	}
	t.shared.left[int(t.shared.start[n])+int(bin)-1] = left
	t.tellShare(n)
	return nil
}

// ChooseBin returns the bin of node n for a share, 0 if there is no room. It is the bin in use with
// the least left over (the first of equals), else the first unused bin, if a GPU is free. If now is
// not nil, the share is planned for later. The unused bin is then the first that is in use in now,
// so that present starts can share it. Otherwise it has a number beyond the GPUs of the node, or is
// the last. If several tables have to have room, call it on their SetLeast.
func (t *Table) ChooseBin(n int, share int64, now *Table) uint8 {
	best, least := 0, int64(0)
	left := t.BinsLeft(n)
	for i, l := range left {
		if l != none && int64(l) >= share && (best == 0 || int64(l) < least) {
			best, least = i+1, int64(l)
		}
	}
	if best == 0 && t.gpus[n] > 0 && share <= t.more[t.shared.resource-1].total[n] {
		for i := range left {
			switch {
			case left[i] != none:
			case now == nil || now.shared.left[int(t.shared.start[n])+i] != none:
				return uint8(i + 1)
			case best <= int(t.total[n].GPUs):
				best = i + 1
			}
		}
	}
	return uint8(best)
}

// tellShare notes the largest share that node n can give.
func (t *Table) tellShare(n int) {
	x := &t.more[t.shared.resource-1]
	most := int64(0)
	for _, l := range t.BinsLeft(n) {
		if l == none && t.gpus[n] > 0 {
			most = x.total[n]
			break
		}
		most = max(most, int64(l))
	}
	x.free[n] = most
}

// tellShares is tellShare for the nodes of segs.
func (t *Table) tellShares(segs []Segment) {
	for _, s := range segs {
		for n := s.First; n <= s.Last; n++ {
			t.tellShare(int(n))
		}
	}
}

// lacksShare reports whether the node of s can't give a share as s names it.
func (t *Table) lacksShare(s Segment, share int64) bool {
	n := int(s.First)
	if s.First != s.Last || s.Bin == 0 || int(s.Bin) > len(t.BinsLeft(n)) {
		return true
	}
	free, inUse := t.BinFree(n, s.Bin)
	if !inUse {
		if free = t.more[t.shared.resource-1].total[n]; t.gpus[n] <= s.GPUs {
			return true
		}
	}
	return share > free
}

// heldShare reports which node can't get a share back.
func (t *Table) heldShare(segs []Segment, share int64) error {
	for _, s := range segs {
		n := int(s.First)
		if s.First != s.Last || s.Bin == 0 || int(s.Bin) > len(t.BinsLeft(n)) {
			return fmt.Errorf("nodes %d-%d have no GPU %d in shared use", s.First, s.Last, s.Bin)
		}
		size := t.more[t.shared.resource-1].total[n]
		switch free, inUse := t.BinFree(n, s.Bin); {
		case !inUse || free+share > size:
			return fmt.Errorf("node %d, GPU %d would have %d of %d shares free (in shared use: %t)", n, s.Bin, free+share, size, inUse)
		case free+share == size && int(t.gpus[n])+int(s.GPUs) >= int(t.total[n].GPUs):
			return fmt.Errorf("node %d would have more than %d GPUs free", n, t.total[n].GPUs)
		}
	}
	return nil
}

// addShare takes a share as segs name it, sign being -1, or gives it back, 1.
func (t *Table) addShare(segs []Segment, share, sign int64) {
	for _, s := range segs {
		n, size := int(s.First), int32(t.more[t.shared.resource-1].total[s.First])
		left := &t.shared.left[int(t.shared.start[n])+int(s.Bin)-1]
		gpus := t.gpus[n]
		if *left == none {
			*left, gpus = size, gpus-1
		}
		if *left += int32(sign * share); *left == size {
			*left, gpus = none, gpus+1
		}
		if gpus != t.gpus[n] {
			t.put(n, Capacity{t.cores[n], gpus})
		}
		t.tellShare(n)
	}
}

// setLeastShares is SetLeast for shares: what one share can have of each bin in both tables, a
// being the earlier. Of one that only one of them has in use the other needs a GPU that is free.
func (t *Table) setLeastShares(first, last int, a, b *Table) {
	if t.shared.resource == 0 {
		return
	}
	for n := first; n <= last; n++ {
		for i := t.shared.start[n]; i < t.shared.start[n+1]; i++ {
			x, y := a.shared.left[i], b.shared.left[i]
			switch {
			case y == none && x != none && b.gpus[n] == 0, x == none && y != none && a.gpus[n] == 0:
				x = 0
			case x == none:
				x = y
			case y != none:
				x = min(x, y)
			}
			t.shared.left[i] = x
		}
	}
}

// Unlimited returns the table that LimitFrom has last limited to t, and t itself if there is none. It
// has the GPUs in shared use.
func (t *Table) Unlimited() *Table {
	if t.of != nil {
		return t.of
	}
	return t
}
