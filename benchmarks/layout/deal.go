// SPDX-License-Identifier: BSD-3-Clause

package layout

import "github.com/aucsched/aucsched/nodeset"

// deal gives the cores that winners get of a cell to its nodes, one after the other in turns
// (as one deals cards): every winner gives as many to one node as to another, or one
// more, and so do all winners together whom a table binds, for those bound by most tables come
// first. So nodes of a cell need no telling apart in the flow. begin[j][i] is the node of part i
// of job j's winner, counted from the cell's first, that gets a core more first.
func (f *flow) deal(begin [][]int64) [][]int64 {
	for len(begin) < len(f.bid) {
		begin = append(begin, nil)
	}
	for j := range f.bid {
		begin[j] = begin[j][:0]
		if f.bid[j] >= 0 {
			begin[j] = append(begin[j], make([]int64, len(f.got[j]))...)
		}
	}
	for i := range f.p.cells {
		next := int64(0)
		for k := int32(f.p.tables()) - 1; k >= 0; k-- {
			for _, g := range f.at[i] {
				if f.p.items[f.bid[g.job]].level == k {
					begin[g.job][g.part] = next
					next = (next + f.got[g.job][g.part]) % f.p.cells[i].nodes
				}
			}
		}
	}
	return begin
}

// layout appends the allocation of job j's winner.
func (f *flow) layout(dst []nodeset.Segment, j int32, begin []int64) []nodeset.Segment {
	b := f.bid[j]
	gpus, own := uint8(0), len(dst)
	give := func(first, count, cores int64) {
		if count <= 0 {
			return
		}
		s := nodeset.Segment{First: int32(first), Last: int32(first + count - 1), Cores: uint16(cores), GPUs: gpus}
		if len(dst) == own {
			dst = append(dst, s)
		} else {
			dst = nodeset.Append(dst, s)
		}
	}
	for i, q := range f.p.parts(&f.p.items[b]) {
		c := f.p.cells[q.cell]
		gpus = uint8(q.gpus)
		each, more := f.got[j][i]/c.nodes, f.got[j][i]%c.nodes
		from := begin[i]
		first := int64(c.first)
		if over := from + more - c.nodes; over > 0 { // around the end
			give(first, over, each+1)
			give(first+over, from-over, each)
			give(first+from, c.nodes-from, each+1)
			continue
		}
		give(first, from, each)
		give(first+from, more, each+1)
		give(first+from+more, c.nodes-from-more, each)
	}
	return dst
}
