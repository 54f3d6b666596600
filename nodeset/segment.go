// SPDX-License-Identifier: BSD-3-Clause

package nodeset

import "fmt"

// Segment gives Cores cores and GPUs GPUs on every node of First..Last, both ends included. Nodes
// are numbered from 0 in the machine's order. Cores may be 0: a job may take only GPUs or further
// resources.
type Segment struct {
	First, Last int32
	Cores       uint16 // a node
	GPUs        uint8  // a node
	// Bin is the GPU that gives the allocation its share: see Table.AddShares. Such an allocation
	// has one node. 0: no share, or not chosen yet.
	Bin uint8
	// Part is the component of a job that the segment is for. The allocation of a job with
	// components has those of all components one after the other, each ascending. Tables ignore it.
	Part uint8
}

// String returns {First Last Cores GPUs}, followed by Bin and Part if they are set.
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

// Len returns the number of nodes of the segment.
func (s Segment) Len() int { return int(s.Last-s.First) + 1 }

// Nodes returns the number of nodes of an allocation.
func Nodes(segs []Segment) int {
	n := 0
	for _, s := range segs {
		n += s.Len()
	}
	return n
}

// Cores returns the total number of cores of an allocation.
func Cores(segs []Segment) int {
	c := 0
	for _, s := range segs {
		c += s.Len() * int(s.Cores)
	}
	return c
}

// GPUs returns the total number of GPUs of an allocation.
func GPUs(segs []Segment) int {
	g := 0
	for _, s := range segs {
		g += s.Len() * int(s.GPUs)
	}
	return g
}

// Blocks returns the number of contiguous blocks of nodes of an allocation, its fragmentation in
// the papers (aucsched1, section 6.2).
func Blocks(segs []Segment) int {
	b := 0
	for i, s := range segs {
		if i == 0 || segs[i-1].Last+1 != s.First {
			b++
		}
	}
	return b
}

// Append adds s, whose nodes follow those of the allocation, merges it with the last segment if
// possible, and returns the slice, as append does.
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

// CheckSegments returns an error if segments are not within nodes 0..n-1, do not ascend or overlap.
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
