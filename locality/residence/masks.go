package residence

import "github.com/aucsched/aucsched/nodeset"

// Masks are the nodes on which jobs of one cycle should read their files: the holders, and where these have
// not as many cores free as the file's jobs ask for, further nodes that are chosen for all of them, as few as can
// be. So jobs that begin together share nodes even if nobody holds their file yet.
//
// Jobs with the same file get the same mask, at the same address, which is what an auction knows masks by.
// A cycle begins with Reset, goes on with a Want for each job, in the order of the queue, and a Settle, and then
// asks Of. The zero Masks is ready; its memory is used again from cycle to cycle.
type Masks struct {
	state *State
	words []uint64
	of    map[uint64]int32 // by file: its want
	wants []want
	free  []int32 // by node: cores that are free and not yet given to a file
	order []int32 // nodes with free cores, those with most first
	count []int32 // scratch: by free cores, where their nodes go in order
	next  int     // of order: nodes before it have been given
}

// want is a file that jobs of the cycle read.
type want struct {
	file  uint64
	cores int64        // that the jobs still look for
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

// Want says that a job reads the file, and how many cores it asks for.
func (m *Masks) Want(file uint64, cores int64) {
	k, ok := m.of[file]
	if !ok {
		k = int32(len(m.wants))
		m.of[file] = k
		m.wants = append(m.wants, want{file: file})
	}
	m.wants[k].cores += max(cores, 0)
}

// Settle makes the masks, of nodes of t that have cores free. t must have the state's nodes. First each file has its
// holders, and then those whose jobs find no room there choose, in the order in which they were wanted. It takes time
// linear in the nodes, holders and files.
func (m *Masks) Settle(t *nodeset.Table) {
	if len(m.wants) == 0 {
		return
	}
	m.sort(t)
	for k := range m.wants {
		if l := m.state.files[m.wants[k].file]; l != nil {
			for at := l.first; at >= 0; at = m.state.copies[at].next {
				m.give(&m.wants[k], int(m.state.copies[at].node), t)
			}
		}
	}
	for k := range m.wants {
		m.choose(&m.wants[k], t)
	}
}

// sort fills free and order.
func (m *Masks) sort(t *nodeset.Table) {
	m.free, m.order, m.count, m.next = m.free[:0], m.order[:0], m.count[:0], 0
	usable, cores := t.Usable(0), t.FreeCores()
	for n := range cores {
		free := int32(0)
		if usable.Has(n) {
			free = int32(cores[n])
			for len(m.count) <= int(free) {
				m.count = append(m.count, 0)
			}
			m.count[free]++
			m.order = append(m.order, 0)
		}
		m.free = append(m.free, free)
	}
	at := int32(0)
	for free := len(m.count) - 1; free > 0; free-- {
		at, m.count[free] = at+m.count[free], at
	}
	for n, free := range m.free {
		if free > 0 {
			m.order[m.count[free]] = int32(n)
			m.count[free]++
		}
	}
}

// give has the jobs of w prefer node n, if anything is free there, and takes what they still look for off it.
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

// choose gives w further nodes until its jobs have room.
func (m *Masks) choose(w *want, t *nodeset.Table) {
	for w.cores > 0 && m.next < len(m.order) {
		n := int(m.order[m.next])
		if m.free[n] > 0 {
			m.give(w, n, t)
		}
		if m.free[n] == 0 { // what is left of the node may be another file's
			m.next++
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
