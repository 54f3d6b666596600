// SPDX-License-Identifier: BSD-3-Clause

package nodeset

import (
	"fmt"
	"math/bits"
)

// allocate is Allocate of cores and GPUs alone.
func (t *Table) allocate(segs []Segment) error {
	if err := CheckSegments(segs, t.Len()); err != nil {
		return err
	}
	if n, s, ok := t.lacking(segs); ok {
		return fmt.Errorf("node %d (up: %t) has %d cores and %d GPUs free: %d and %d are asked for",
			n, t.Up(n), t.cores[n], t.gpus[n], s.Cores, s.GPUs)
	}
	for _, s := range segs {
		t.take(s)
	}
	t.tellShares(segs)
	return nil
}

// fits reports whether Allocate would take an allocation, which has to be in good
// form.
func (t *Table) fits(segs []Segment) bool {
	_, _, lacks := t.lacking(segs)
	return !lacks
}

// lacking finds the first node that can't give what segs ask of it, if there is one.
func (t *Table) lacking(segs []Segment) (node int, s Segment, ok bool) {
	for _, s := range segs {
		if int(s.GPUs) >= len(t.level) || bits.Len16(s.Cores) > t.plane.width {
			return int(s.First), s, true
		}
		for w := int(s.First >> 6); w <= int(s.Last>>6); w++ {
			if lacks := s.within(w) &^ t.giving(w, s); lacks != 0 {
				return w<<6 + bits.TrailingZeros64(lacks), s, true
			}
		}
	}
	return 0, Segment{}, false
}

// giving are the nodes of word w that are up and have what s gives of each. A node that has no core
// free can still give what is no core.
func (t *Table) giving(w int, s Segment) uint64 {
	if s.Cores == 0 {
		return t.having[s.GPUs][w] &^ t.down[w]
	}
	return t.level[s.GPUs][w] & t.plane.atLeast(w, uint(s.Cores))
}

// within are the nodes of word w that are of the segment; at least one is.
func (s Segment) within(w int) uint64 {
	first, last := max(int(s.First)-w<<6, 0), min(int(s.Last)-w<<6, 63)
	return ^uint64(0) >> (63 - last) &^ (1<<first - 1)
}

func (t *Table) take(s Segment) {
	t.freeCores -= int64(s.Len()) * int64(s.Cores)
	t.freeGPUs -= int64(s.Len()) * int64(s.GPUs)
	t.changeNumbers(s, -s.Cores, -s.GPUs)
	for w := int(s.First >> 6); w <= int(s.Last>>6); w++ {
		m := s.within(w)
		t.block[w] -= uint32(bits.OnesCount64(m)) * uint32(s.Cores)
		any := t.plane.subtract(w, m, uint(s.Cores))
		t.takeGPUs(w, m, int(s.GPUs))
		t.mark(w, any)
	}
}

// changeNumbers adds to the free cores and GPUs of each node of s, modulo their range.
func (t *Table) changeNumbers(s Segment, cores uint16, gpus uint8) {
	c, g := t.cores[s.First:s.Last+1], t.gpus[s.First:s.Last+1]
	for i := range c {
		c[i] += cores
	}
	if gpus != 0 {
		for i := range g {
			g[i] += gpus
		}
	}
}

// takeGPUs takes k GPUs from the nodes of word w that are in m.
func (t *Table) takeGPUs(w int, m uint64, k int) {
	if k == 0 {
		return
	}
	for g := 1; g < len(t.having); g++ {
		more := uint64(0)
		if g+k < len(t.having) {
			more = t.having[g+k][w]
		}
		t.having[g][w] = t.having[g][w]&^m | more&m
	}
}

// release is Release of cores and GPUs alone.
func (t *Table) release(segs []Segment) error {
	if err := CheckSegments(segs, t.Len()); err != nil {
		return err
	}
	for _, s := range segs {
		total := t.total[s.First : s.Last+1]
		cores, gpus := t.cores[s.First:][:len(total)], t.gpus[s.First:][:len(total)]
		for i, c := range total {
			if k, g := int(cores[i])+int(s.Cores), int(gpus[i])+int(s.GPUs); k > int(c.Cores) || g > int(c.GPUs) {
				return fmt.Errorf("node %d would have %d of %d cores and %d of %d GPUs free", int(s.First)+i, k, c.Cores, g, c.GPUs)
			}
		}
	}
	for _, s := range segs {
		t.give(s)
	}
	t.tellShares(segs)
	return nil
}

func (t *Table) give(s Segment) {
	t.freeCores += int64(s.Len()) * int64(s.Cores)
	t.freeGPUs += int64(s.Len()) * int64(s.GPUs)
	t.changeNumbers(s, s.Cores, s.GPUs)
	for w := int(s.First >> 6); w <= int(s.Last>>6); w++ {
		m := s.within(w)
		t.block[w] += uint32(bits.OnesCount64(m)) * uint32(s.Cores)
		any := t.plane.add(w, m, uint(s.Cores))
		t.giveGPUs(w, m, int(s.GPUs))
		t.mark(w, any)
	}
}

// giveGPUs gives k GPUs to the nodes of word w that are in m.
func (t *Table) giveGPUs(w int, m uint64, k int) {
	if k == 0 {
		return
	}
	for g := len(t.having) - 1; g > 0; g-- {
		t.having[g][w] = t.having[g][w]&^m | t.having[max(g-k, 0)][w]&m
	}
}
