// SPDX-License-Identifier: BSD-3-Clause

package ipsched

import "slices"

// rule is how a job is placed, on as few nodes as can be.
type rule uint8

const (
	// tight takes neighbours in the order of size, the smallest that are enough; otherwise
	// the largest are taken.
	tight rule = 1 << iota
	// even takes as much from each node, as far as it has that; otherwise one node after another
	// gives all it has, and the rest no more than they must.
	even
	rules // how many there are
)

// take is what a job takes from nodes of one cell.
type take struct {
	job   int32
	from  cell   // with the number of nodes
	cores uint16 // of each
}

// pick is some nodes of a cell of the machine.
type pick struct {
	at        int   // index of the cell
	nodes     int64 // how many of it
	low, high int64 // cores that each may give
}

// placer places jobs one after another on what is left of a machine.
type placer struct {
	cells
	takes []take
	from  []pick // all that a job could use
	picks []pick // what it uses
	added []cell
	work  int64
}

// place gives job number i its nodes, if that is possible. It returns how many they are.
func (s *placer) place(p *Problem, i int32, bit int, r rule) (nodes int64, ok bool) {
	j := &p.Jobs[i]
	if int64(j.Cores) > s.free {
		return 0, false
	}
	s.candidates(j, bit)
	low, high := p.nodes(j)
	nodes, ok = s.fewest(j, int64(low))
	if !ok || nodes > min(int64(high), int64(j.Cores/max(j.MinCores, 1))) {
		return 0, false
	}
	if r&tight != 0 {
		s.tighten(j, nodes)
	}
	s.divide(i, j, nodes, r&even != 0)
	return nodes, true
}

// candidates lists the cells that suit a job, in their order.
func (s *placer) candidates(j *Job, bit int) {
	s.from = s.from[:0]
	s.work += int64(len(s.list))
	for k := range s.list {
		c := &s.list[k]
		if int(c.gpus) < j.GPUs || !c.suits(bit) {
			continue
		}
		if low, high := j.cores(int(c.cores)); low <= high {
			s.from = append(s.from, pick{k, int64(c.nodes), int64(low), int64(high)})
		}
	}
}

// fewest picks as few nodes as hold the job, but at least low. The largest come first, and among
// these such with few GPUs.
func (s *placer) fewest(j *Job, low int64) (nodes int64, ok bool) {
	sortPicks(s.from, func(a, b *pick) bool { return a.high > b.high })
	s.picks = s.picks[:0]
	left := int64(j.Cores)
	for _, f := range s.from {
		k := max(low-nodes, (left+f.high-1)/f.high)
		if k <= 0 {
			break
		}
		f.nodes = min(f.nodes, k)
		nodes += f.nodes
		left -= f.nodes * f.high
		s.picks = append(s.picks, f)
	}
	return nodes, left <= 0 && nodes >= low
}

// tighten picks that many neighbours in the order of size, the first that have cores enough.
func (s *placer) tighten(j *Job, nodes int64) {
	sortPicks(s.from, func(a, b *pick) bool { return a.high < b.high })
	var all int64
	for _, f := range s.from {
		all += f.nodes
	}
	low, high := int64(0), all-nodes // the largest ones have enough
	for low < high {
		if mid := (low + high) / 2; s.pickFrom(mid, nodes) >= int64(j.Cores) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	s.pickFrom(low, nodes)
}

// pickFrom picks nodes first, first+1, ... of the candidates and returns how many cores they have.
func (s *placer) pickFrom(first, nodes int64) (cores int64) {
	s.picks = s.picks[:0]
	s.work += int64(len(s.from))
	for _, f := range s.from {
		if first >= f.nodes {
			first -= f.nodes
			continue
		}
		f.nodes = min(f.nodes-first, nodes)
		first = 0
		if nodes -= f.nodes; f.nodes > 0 {
			s.picks = append(s.picks, f)
			cores += f.nodes * f.high
		}
	}
	return cores
}

// sortPicks sorts by insertion, which is fast for lists that are short and nearly
// in order, and stable.
func sortPicks(picks []pick, before func(a, b *pick) bool) {
	for i := 1; i < len(picks); i++ {
		p := picks[i]
		k := i
		for ; k > 0 && before(&p, &picks[k-1]); k-- {
			picks[k] = picks[k-1]
		}
		picks[k] = p
	}
}

// divide takes the job's cores from the picked nodes.
func (s *placer) divide(i int32, j *Job, nodes int64, evenly bool) {
	s.added = s.added[:0]
	left := int64(j.Cores)
	if evenly {
		sortPicks(s.picks, func(a, b *pick) bool { return a.high < b.high })
		for _, f := range s.picks {
			share, odd := left/nodes, int64(0)
			if share >= f.high {
				share = f.high
			} else {
				odd = min(left%nodes, f.nodes)
			}
			s.take(i, j, f, odd, share+1)
			s.take(i, j, f, f.nodes-odd, share)
			left -= f.nodes*share + odd
			nodes -= f.nodes
		}
	} else {
		// GPUs that stay free keep their cores
		slices.SortFunc(s.picks, func(a, b pick) int { return a.at - b.at })
		for _, f := range s.picks {
			left -= f.nodes * f.low
		}
		for _, f := range s.picks {
			full, part := f.nodes, int64(0)
			if room := f.high - f.low; room > 0 && left < f.nodes*room {
				full, part = left/room, left%room
			}
			left -= full*(f.high-f.low) + part
			s.take(i, j, f, full, f.high)
			if part > 0 {
				s.take(i, j, f, 1, f.low+part)
				full++
			}
			s.take(i, j, f, f.nodes-full, f.low)
		}
	}
	for _, c := range s.added {
		s.add(c)
	}
	s.drop()
}

// take takes cores of each of some nodes of a pick. What they have left is added later, since that
// moves cells.
func (s *placer) take(i int32, j *Job, f pick, nodes, cores int64) {
	if nodes == 0 {
		return
	}
	c := &s.list[f.at]
	s.takes = append(s.takes, take{i, cell{c.masks, c.cores, c.gpus, int32(nodes)}, uint16(cores)})
	c.nodes -= int32(nodes)
	s.free -= nodes * int64(c.cores)
	s.added = append(s.added, cell{c.masks, c.cores - uint16(cores), c.gpus - uint8(j.GPUs), int32(nodes)})
}
