// SPDX-License-Identifier: BSD-3-Clause

package residence

import (
	"cmp"
	"slices"

	"github.com/aucsched/aucsched/nodeset"
)

// Masks are the nodes on which jobs of one cycle should read their files: the holders. If several
// jobs want a file and ask for more cores than holders have free, further nodes are chosen for all
// of them, few with many cores free. Jobs that begin together then share nodes even if nobody holds
// their file yet. Jobs without GPUs choose no nodes with GPUs on a machine that has both.
//
// Jobs with the same file get the same mask, at the same address, which is what an auction
// knows masks by. A cycle begins with Reset, goes on with a Want for each job, in the order of
// the queue, and a Settle, and then asks Of. The zero Masks is ready; its memory is used again
// from cycle to cycle.
type Masks struct {
	state *State
	words []uint64
	of    map[uint64]int32 // by file: its want
	wants []want
	free  []int32  // by node: cores that are free and not yet given to a file
	mixed bool     // the machine has nodes with GPUs and nodes without
	kinds [2]order // nodes that may be chosen: of a mixed machine without and with GPUs
}

// order is the nodes of a kind that have cores free, those with most first; those before
// next have been given.
type order struct {
	nodes []int32
	next  int
}

// want is a file that jobs of the cycle read.
type want struct {
	file  uint64
	jobs  int
	cores int64        // that they still look for
	gpus  bool         // the first of them asks for GPUs
	mask  nodeset.Mask // nil: none yet
}

// Reset forgets all masks, which are not valid any more, and speaks of s from now on.
func (m *Masks) Reset(s *State) {
	if m.of == nil {
		m.of = make(map[uint64]int32)
	}
	clear(m.of)
	m.state, m.words, m.wants = s, m.words[:0], m.wants[:0]
}

// Want says that a job reads the file, how many cores it asks for, and whether it asks for GPUs.
func (m *Masks) Want(file uint64, cores int64, gpus bool) {
	k, ok := m.of[file]
	if !ok {
		k = int32(len(m.wants))
		m.of[file] = k
		m.wants = append(m.wants, want{file: file, gpus: gpus})
	}
	m.wants[k].jobs++
	m.wants[k].cores += max(cores, 0)
}

// Settle makes the masks, of nodes of t that have cores free. t must have the state's nodes. First
// each file has its holders, and then those whose jobs find no room there choose, in the order in
// which they were wanted. Time is linear in the holders and files, and in the nodes, which it sorts.
func (m *Masks) Settle(t *nodeset.Table) {
	if len(m.wants) == 0 {
		return
	}
	m.sort(t)
	for k := range m.wants {
		for _, n := range slices.Backward(m.state.files[m.wants[k].file]) {
			m.give(&m.wants[k], int(n), t)
		}
	}
	for k := range m.wants {
		m.choose(&m.wants[k], t)
	}
}

// sort fills free and kinds.
func (m *Masks) sort(t *nodeset.Table) {
	with, without := false, false
	for n := range t.Len() {
		gpus := t.Total(n).GPUs > 0
		with, without = with || gpus, without || !gpus
	}
	m.mixed, m.free = with && without, m.free[:0]
	for k := range m.kinds {
		m.kinds[k] = order{nodes: m.kinds[k].nodes[:0]}
	}
	for n, cores := range t.FreeCores() {
		free := int32(0)
		if t.Usable(0).Has(n) {
			free = int32(cores)
			o := m.kind(t.Total(n).GPUs > 0)
			o.nodes = append(o.nodes, int32(n))
		}
		m.free = append(m.free, free)
	}
	for k := range m.kinds {
		slices.SortStableFunc(m.kinds[k].nodes, func(a, b int32) int { return cmp.Compare(m.free[b], m.free[a]) })
	}
}

// kind are the nodes among which jobs choose, or are chosen, with GPUs or without.
func (m *Masks) kind(gpus bool) *order {
	if m.mixed && gpus {
		return &m.kinds[1]
	}
	return &m.kinds[0]
}

// give has the jobs of w prefer node n, if anything is free there, and takes what they
// still look for off it.
func (m *Masks) give(w *want, n int, t *nodeset.Table) {
	if !t.Usable(0).Has(n) {
		return
	}
	if w.mask == nil {
		from := len(m.words)
		for range (t.Len() + 63) / 64 {
			m.words = append(m.words, 0)
		}
		w.mask = nodeset.Mask(m.words[from:len(m.words):len(m.words)])
	}
	w.mask.Set(n)
	got := min(int64(m.free[n]), w.cores)
	m.free[n] -= int32(got)
	w.cores -= got
}

// choose gives w further nodes until its jobs have room. A job that is alone may
// as well be anywhere.
func (m *Masks) choose(w *want, t *nodeset.Table) {
	if w.jobs < 2 {
		return
	}
	for o := m.kind(w.gpus); w.cores > 0 && o.next < len(o.nodes); {
		n := int(o.nodes[o.next])
		if m.free[n] > 0 {
			m.give(w, n, t)
		}
		if m.free[n] == 0 { // what is left of the node may be another file's
			o.next++
		}
	}
}

// Of are the nodes on which the jobs that read the file should be; nil: any.
func (m *Masks) Of(file uint64) nodeset.Mask {
	if k, ok := m.of[file]; ok {
		return m.wants[k].mask
	}
	return nil
}

// SetMachine says which nodes the machine has, in node order. Where their IDs are those of before
// only capacities change; otherwise each node keeps what the one with its ID held, and what other
// nodes held is forgotten. The slice stays the caller's.
func (s *State) SetMachine(nodes []Node) {
	if !s.same(nodes) {
		s.replace(nodes)
		return
	}
	for n := range nodes {
		if c := min(nodes[n].Capacity, MaxBytes); s.nodes[n].Capacity != c {
			s.nodes[n].Capacity = c
			s.fit(n)
		}
	}
}

func (s *State) same(nodes []Node) bool {
	if len(nodes) != len(s.nodes) {
		return false
	}
	for n := range nodes {
		if nodes[n].ID != s.nodes[n].ID {
			return false
		}
	}
	return true
}

// replace is SetMachine for nodes that are not those of before. Copies come back in the order of
// the new nodes, so that the outcome depends on nothing else.
func (s *State) replace(nodes []Node) {
	old := *s
	place, seen := make(map[uint64]int, len(old.nodes)), make(map[uint64]bool, len(nodes))
	for n := len(old.nodes) - 1; n >= 0; n-- { // of equal IDs the first has it
		if id := old.nodes[n].ID; id != 0 {
			place[id] = n
		}
	}
	s.clear(len(nodes))
	for n := range nodes {
		s.nodes[n].Node = Node{nodes[n].ID, min(nodes[n].Capacity, MaxBytes)}
		s.nodes[n].again, seen[nodes[n].ID] = seen[nodes[n].ID], true
		was, ok := place[nodes[n].ID]
		if !ok || s.nodes[n].again {
			continue
		}
		for _, c := range old.nodes[was].held {
			s.add(n, c)
		}
		s.fit(n)
	}
	s.change = max(s.change, old.change) + 1
}

// clear makes s hold nothing, on that many nodes without IDs and memory.
func (s *State) clear(nodes int) {
	s.nodes, s.used = make([]node, nodes), 0
	s.files, s.spare = make(map[uint64][]int32), nil
	s.change++
}
