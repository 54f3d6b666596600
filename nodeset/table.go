// SPDX-License-Identifier: BSD-3-Clause

package nodeset

import (
	"fmt"
	"math/bits"
	"slices"
)

// MaxNodes is the greatest number of nodes of a Table.
const MaxNodes = 1 << 20

// Capacity is the cores and GPUs of one node, total or free.
type Capacity struct {
	Cores uint16
	GPUs  uint8
}

// Table is the availability of N nodes. See the package comment.
type Table struct {
	total []Capacity
	cores []uint16 // free cores of each node
	gpus  []uint8  // free GPUs of each node
	down  []uint64 // bit n: node n gives nothing
	// level[g] has bit n where node n is up, has a free core and g free GPUs.
	level [][]uint64
	// having[g] has bit n where node n has g free GPUs, whatever else it is.
	having [][]uint64
	plane  planes // free cores, with as many planes as the most of any node has bits
	// block[w] is the sum of free cores of the nodes of word w. So a scan passes a whole word of
	// nodes that are all in without summing their cores.
	block []uint32
	// freeCores and freeGPUs are sums over all nodes, also those that are down.
	freeCores, freeGPUs int64
	more                []resource // beside cores and GPUs
	shared              shares     // GPUs in shared use; the zero one where there are none
	of                  *Table     // see Unlimited; nil: none
}

// resource is a countable resource of the nodes beside cores and GPUs: memory, GPUs of one type,
// shares of GPUs, ... in the caller's units.
type resource struct {
	name        string
	total, free []int64 // by node; total is never written to
}

// shares are the GPUs that are in shared use: bins, of which jobs have shares. All of a share is in
// one of them. A GPU is either given whole, or is a bin; it becomes one with its first share, and
// is whole again when the last one leaves. Bins of a node have numbers from 1, which are names for
// as long as they are in use. There are twice as many as the node has GPUs, so that what is planned
// for later can have numbers that nothing has now.
type shares struct {
	resource int     // one more than the number of the resource; 0: no GPU is shared
	start    []int32 // by node: its first element of left, and one more; never written to
	left     []int32 // by bin: shares that are free; none: it is not in use
}

// New returns the table of a machine with the given nodes, all free. The slice is copied. It
// returns an error for no nodes and for more than MaxNodes.
func New(nodes []Capacity) (*Table, error) {
	n := len(nodes)
	if n == 0 {
		return nil, fmt.Errorf("a machine needs at least one node")
	}
	if n > MaxNodes {
		return nil, fmt.Errorf("%d nodes: at most %d are supported", n, MaxNodes)
	}
	t := &Table{
		total: append([]Capacity(nil), nodes...),
		cores: make([]uint16, n),
		gpus:  make([]uint8, n),
		down:  make([]uint64, words(n)),
		block: make([]uint32, words(n)),
	}
	levels, most := 0, uint16(0)
	for _, c := range nodes {
		levels, most = max(levels, int(c.GPUs)), max(most, c.Cores)
	}
	for range levels + 1 {
		t.level = append(t.level, make([]uint64, words(n)))
		t.having = append(t.having, make([]uint64, words(n)))
	}
	t.plane = newPlanes(words(n), max(bits.Len16(most), 1)) // see LimitFrom
	for i, c := range nodes {
		t.having[0][i>>6] |= 1 << (i & 63)
		t.put(i, c)
	}
	return t, nil
}

// NewUniform returns the table of n equal nodes.
func NewUniform(n int, c Capacity) (*Table, error) {
	if n < 0 || n > MaxNodes {
		return nil, fmt.Errorf("%d nodes: between 1 and %d are supported", n, MaxNodes)
	}
	return New(slices.Repeat([]Capacity{c}, n))
}

func words(n int) int { return (n + 63) / 64 }

// Len is the number of nodes.
func (t *Table) Len() int { return len(t.total) }

// Total returns the cores and GPUs of node n. It panics if n is out of range.
func (t *Table) Total(n int) Capacity { return t.total[n] }

// Free returns what node n has free, up or down. It panics if n is out of range.
func (t *Table) Free(n int) Capacity { return Capacity{t.cores[n], t.gpus[n]} }

// FreeCores returns the free cores by node. The table owns the slice: do not change it, and do not
// use it after the table's next change.
func (t *Table) FreeCores() []uint16 { return t.cores }

// FreeGPUs returns the free GPUs by node, on the terms of FreeCores.
func (t *Table) FreeGPUs() []uint8 { return t.gpus }

// Alike returns the last node, at most last, of the run of nodes that begins with first and has as
// many free cores on each node.
func (t *Table) Alike(first, last int) int {
	c := t.cores[first]
	if first < last && t.cores[first+1] != c {
		return first
	}
	from := ^uint64(0) << (first & 63)
	for w := first >> 6; w <= last>>6; w++ {
		if unlike := t.plane.unlike(w, uint(c)) & from; unlike != 0 {
			return min(w<<6+bits.TrailingZeros64(unlike)-1, last)
		}
		from = ^uint64(0)
	}
	return last
}

// Up reports whether node n may be used. It panics if n is out of range.
func (t *Table) Up(n int) bool { return t.down[n>>6]>>(n&63)&1 == 0 }

// MaxGPUs returns the greatest number of GPUs of a node.
func (t *Table) MaxGPUs() int { return len(t.level) - 1 }

// SumFree returns the free cores and GPUs of all nodes, down ones included.
func (t *Table) SumFree() (cores, gpus int64) { return t.freeCores, t.freeGPUs }

// Usable returns the mask of the nodes that are up and have a free core and at least g free GPUs.
// The mask is empty, not nil, if no node has g GPUs. The table owns it; it is valid until the
// table's next change.
func (t *Table) Usable(g int) Mask {
	if g >= len(t.level) {
		return Mask{}
	}
	return t.level[g]
}

// SetUp sets whether node n may be used (true) or is drained or down (false). What jobs hold on it
// stays allocated. It panics if n is out of range.
func (t *Table) SetUp(n int, up bool) {
	if err := t.check(n); err != nil {
		panic("nodeset: " + err.Error())
	}
	if up {
		t.down[n>>6] &^= 1 << (n & 63)
	} else {
		t.down[n>>6] |= 1 << (n & 63)
	}
	t.mark(n>>6, t.plane.nonzero(n>>6))
}

// put sets what node n has free.
func (t *Table) put(n int, c Capacity) {
	w, node, was := n>>6, uint64(1)<<(n&63), t.Free(n)
	t.block[w] += uint32(c.Cores) - uint32(was.Cores)
	t.freeCores += int64(c.Cores) - int64(was.Cores)
	t.freeGPUs += int64(c.GPUs) - int64(was.GPUs)
	t.cores[n], t.gpus[n] = c.Cores, c.GPUs
	for flip := uint(was.Cores ^ c.Cores); flip != 0; flip &= flip - 1 {
		t.plane.bits[bits.TrailingZeros(flip)*t.plane.words+w] ^= node
	}
	for g := min(was.GPUs, c.GPUs); g < max(was.GPUs, c.GPUs); g++ {
		t.having[g+1][w] ^= node
	}
	if t.down[w]&node != 0 {
		return
	}
	before, after := levelsOf(was), levelsOf(c)
	for g := min(before, after); g < max(before, after); g++ {
		t.level[g][w] ^= node
	}
}

// levelsOf is of how many levels a node is that is up and has so much free.
func levelsOf(c Capacity) int {
	if c.Cores == 0 {
		return 0
	}
	return int(c.GPUs) + 1
}

// putRun sets what each of nodes first to last, all of one word, has free, everywhere but in level,
// and returns which nodes of the word have a free core.
func (t *Table) putRun(first, last int, c Capacity) (any uint64) {
	w, nodes := first>>6, ^uint64(0)<<(first&63)&(^uint64(0)>>(63-last&63))
	for n := first; n <= last; n++ {
		t.block[w] += uint32(c.Cores) - uint32(t.cores[n])
		t.freeCores += int64(c.Cores) - int64(t.cores[n])
		t.freeGPUs += int64(c.GPUs) - int64(t.gpus[n])
		t.cores[n], t.gpus[n] = c.Cores, c.GPUs
	}
	for g, having := range t.having {
		if g <= int(c.GPUs) {
			having[w] |= nodes
		} else {
			having[w] &^= nodes
		}
	}
	return t.plane.set(w, nodes, uint(c.Cores))
}

// mark makes word w of each level, any being its nodes with a free core.
func (t *Table) mark(w int, any uint64) {
	any &^= t.down[w]
	having := t.having[:len(t.level)]
	for g, level := range t.level {
		level[w] = any & having[g][w]
	}
}

// check reports a number that is no node's.
func (t *Table) check(n int) error {
	if n < 0 || n >= t.Len() {
		return fmt.Errorf("node %d is outside 0-%d", n, t.Len()-1)
	}
	return nil
}

// CopyFreeFrom is CopyFrom without further resources: t has none after it.
func (t *Table) CopyFreeFrom(o *Table) {
	t.total = o.total // never written to
	t.cores = append(t.cores[:0], o.cores...)
	t.gpus = append(t.gpus[:0], o.gpus...)
	t.down = append(t.down[:0], o.down...)
	t.block = append(t.block[:0], o.block...)
	t.plane.copyFrom(&o.plane)
	t.level = copyRows(t.level, o.level)
	t.having = copyRows(t.having, o.having)
	t.freeCores, t.freeGPUs = o.freeCores, o.freeGPUs
	t.more, t.shared.resource = t.more[:0], 0
	t.of = o.of
}

func copyRows(dst, src [][]uint64) [][]uint64 {
	for len(dst) < len(src) {
		dst = append(dst, nil)
	}
	dst = dst[:len(src)]
	for i := range src {
		dst[i] = append(dst[i][:0], src[i]...)
	}
	return dst
}
