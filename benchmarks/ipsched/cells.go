// SPDX-License-Identifier: BSD-3-Clause

package ipsched

import (
	"cmp"
	"slices"

	"github.com/aucsched/aucsched/nodeset"
)

// cell counts the nodes that are alike: free cores, free GPUs, and which masks they are in.
type cell struct {
	masks uint64
	cores uint16
	gpus  uint8
	nodes int32
}

// compare orders cells by what is scarce: GPUs, then cores.
func (c *cell) compare(o *cell) int {
	switch {
	case c.gpus != o.gpus:
		return cmp.Compare(c.gpus, o.gpus)
	case c.cores != o.cores:
		return cmp.Compare(c.cores, o.cores)
	}
	return cmp.Compare(c.masks, o.masks)
}

// cells is the machine, or what is left of it: ascending, without cells of no node or no core.
type cells struct {
	list []cell
	free int64 // cores in all
}

func (c *cells) copyFrom(o *cells) { c.list, c.free = append(c.list[:0], o.list...), o.free }

// add adds nodes.
func (c *cells) add(n cell) {
	if n.cores == 0 || n.nodes == 0 {
		return
	}
	c.free += int64(n.nodes) * int64(n.cores)
	low, high := 0, len(c.list)
	for low < high {
		if mid := (low + high) / 2; c.list[mid].compare(&n) < 0 {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low < len(c.list) && c.list[low].compare(&n) == 0 {
		c.list[low].nodes += n.nodes
		return
	}
	c.list = slices.Insert(c.list, low, n)
}

// drop removes cells of which no node is left.
func (c *cells) drop() {
	kept := c.list[:0]
	for _, n := range c.list {
		if n.nodes > 0 {
			kept = append(kept, n)
		}
	}
	c.list = kept
}

// MaxMasks is how many different masks the jobs of a Problem can have, besides none.
const MaxMasks = 63

// Masks tells masks apart, by what is in them. The zero Masks knows none.
type Masks struct{ known []nodeset.Mask }

// Reset forgets all masks.
func (m *Masks) Reset() { m.known = m.known[:0] }

// Number is 0 for nil, and 1, 2, ... for the first, the second ... mask that differs from those
// before it. It reports false, and forgets the mask, if these are more than MaxMasks.
func (m *Masks) Number(mask nodeset.Mask) (number int, ok bool) {
	if mask == nil {
		return 0, true
	}
	for k, known := range m.known {
		if slices.Equal(known, mask) {
			return k + 1, true
		}
	}
	if len(m.known) == MaxMasks {
		return 0, false
	}
	m.known = append(m.known, mask)
	return len(m.known), true
}

// machine sorts a problem's nodes into cells.
type machine struct {
	cells
	masks     Masks
	bit       []int    // by job: the number of its mask
	nodeMasks []uint64 // by node: bit 0, and a bit for the number of each mask that it is in
}

func (m *machine) read(p *Problem) {
	m.masks.Reset()
	m.bit = m.bit[:0]
	for i := range p.Jobs {
		number, _ := m.masks.Number(p.Jobs[i].Eligible)
		m.bit = append(m.bit, number)
	}
	m.list, m.free, m.nodeMasks = m.list[:0], 0, m.nodeMasks[:0]
	for n, f := range p.Free {
		m.nodeMasks = append(m.nodeMasks, m.masksOf(n))
		m.add(cell{m.nodeMasks[n], f.Cores, f.GPUs, 1})
	}
}

func (m *machine) masksOf(n int) uint64 {
	in := uint64(1)
	for k, mask := range m.masks.known {
		if mask.Has(n) {
			in |= 1 << (k + 1)
		}
	}
	return in
}

// suits reports whether the nodes of a cell are in the mask of that number.
func (c *cell) suits(bit int) bool { return c.masks>>bit&1 != 0 }
