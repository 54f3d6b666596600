// SPDX-License-Identifier: BSD-3-Clause

package nodeset

import "fmt"

// Segment gives Cores cores and GPUs GPUs on every node of First..Last, both
// ends included. Nodes are numbered from 0 in the machine's order. It may give no core: a job can
// have GPUs of a node, or what it uses of further resources there, and nothing else.
type Segment struct {
	First, Last int32
	Cores       uint16 // a node
	GPUs        uint8  // a node
	// Bin is which GPU in shared use has the share of an allocation that has one: see
	// [Table.AddShares]. It is then of one node. 0: none, or not chosen yet.
	Bin uint8
	// Part is which component of a job it is for, where a job has several: its allocation is then
	// those of all components, one after the other, each of which ascends. Tables do not look at
	// it.
	Part uint8
}

// String is {First Last Cores GPUs}, and the shared GPU and the part where there is one.
func (s Segment) String() string {
	text := fmt.Sprintf("{%d %d %d %d", s.First, s.Last, s.Cores, s.GPUs)
	if s.Bin > 0 {
		text += fmt.Sprintf(" shared GPU %d", s.Bin)
	}
	if s.Part > 0 {
		text += fmt.Sprintf(" part %d", s.Part)
	}
	return text + "}"
}

// Len is the number of nodes of the segment.
func (s Segment) Len() int { return int(s.Last-s.First) + 1 }

// Nodes is the number of nodes of an allocation.
func Nodes(segs []Segment) int {
	n := 0
	for _, s := range segs {
		n += s.Len()
	}
	return n
}

// Cores is the total number of cores of an allocation.
func Cores(segs []Segment) int {
	c := 0
	for _, s := range segs {
		c += s.Len() * int(s.Cores)
	}
	return c
}

// GPUs is the total number of GPUs of an allocation.
func GPUs(segs []Segment) int {
	g := 0
	for _, s := range segs {
		g += s.Len() * int(s.GPUs)
	}
	return g
}

// Blocks is the number of contiguous node blocks of an allocation, which the
// papers call its fragmentation (aucsched1, section 6.2).
func Blocks(segs []Segment) int {
	b := 0
	for i, s := range segs {
		if i == 0 || segs[i-1].Last+1 != s.First {
			b++
		}
	}
	return b
}

// Append adds s to an allocation whose nodes all precede it, merging it into the
// last segment where that continues it. It returns the slice, as append does.
func Append(segs []Segment, s Segment) []Segment {
	if k := len(segs); k > 0 {
		last := &segs[k-1]
		if last.continuedBy(s) {
			last.Last = s.Last
			return segs
		}
	}
	return append(segs, s)
}

// continuedBy reports whether o gives the same on the nodes behind s, and can be one with it.
func (s Segment) continuedBy(o Segment) bool {
	return s.Last+1 == o.First && s.Cores == o.Cores && s.GPUs == o.GPUs && s.Bin == 0 && o.Bin == 0 && s.Part == o.Part
}

// within are the nodes of word w that are of the segment; at least one is.
func (s Segment) within(w int) uint64 {
	first, last := max(int(s.First)-w<<6, 0), min(int(s.Last)-w<<6, 63)
	return ^uint64(0) >> (63 - last) &^ (1<<first - 1)
}

// CheckSegments reports the first fault in the form of an allocation on n nodes:
// segments must lie in 0..n-1 and ascend without overlap.
func CheckSegments(segs []Segment, n int) error {
	prev := int32(-1)
	for i, s := range segs {
		if s.First <= prev || s.Last < s.First || int(s.Last) >= n {
			return fmt.Errorf("segment %d: nodes %d-%d are out of order or outside 0-%d", i, s.First, s.Last, n-1)
		}
		prev = s.Last
	}
	return nil
}
