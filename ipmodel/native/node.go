// SPDX-License-Identifier: BSD-3-Clause

package native

// decision narrows a group: to the columns lo..hi-1, one of which has to be chosen, or
// away from them.
type decision struct {
	lo, hi int32
	in     bool
}

// node is an open node of the tree: a parent's relaxation and one decision more.
type node struct {
	bound  int64 // proven, in units of the proof
	parent int32 // snapshot
	depth  int32
	seq    int32
	decision
}

// snapshot is a solved relaxation that nodes can start from.
type snapshot struct {
	users int32
	m     int32
	vars  []int32 // keys, working rows, basic variables
	ban   []uint64
}

// nodeHeap holds the open nodes: the greatest bound first, or when there are too many,
// the deepest.
type nodeHeap struct {
	open    []node
	deepest bool
}

func (h *nodeHeap) before(a, b *node) bool {
	if h.deepest && a.depth != b.depth {
		return a.depth > b.depth
	}
	if a.bound != b.bound {
		return a.bound > b.bound
	}
	return a.seq > b.seq
}

func (h *nodeHeap) push(n node) {
	h.open = append(h.open, n)
	for i := len(h.open) - 1; i > 0; {
		up := (i - 1) / 2
		if !h.before(&h.open[i], &h.open[up]) {
			break
		}
		h.open[i], h.open[up] = h.open[up], h.open[i]
		i = up
	}
}

func (h *nodeHeap) pop() node {
	top := h.open[0]
	last := len(h.open) - 1
	h.open[0] = h.open[last]
	h.open = h.open[:last]
	h.sink(0)
	return top
}

func (h *nodeHeap) sink(i int) {
	for {
		kid := 2*i + 1
		if kid >= len(h.open) {
			return
		}
		if kid+1 < len(h.open) && h.before(&h.open[kid+1], &h.open[kid]) {
			kid++
		}
		if !h.before(&h.open[kid], &h.open[i]) {
			return
		}
		h.open[i], h.open[kid] = h.open[kid], h.open[i]
		i = kid
	}
}

// setOrder changes the order of the heap.
func (h *nodeHeap) setOrder(deepest bool) {
	if h.deepest == deepest {
		return
	}
	h.deepest = deepest
	for i := len(h.open)/2 - 1; i >= 0; i-- {
		h.sink(i)
	}
}

// top is the greatest bound of an open node; least if there is none.
func (h *nodeHeap) top(least int64) int64 {
	if len(h.open) == 0 {
		return least
	}
	if !h.deepest {
		return max(least, h.open[0].bound)
	}
	for i := range h.open {
		least = max(least, h.open[i].bound)
	}
	return least
}

// save makes a snapshot of the relaxation.
func (t *tree) save() int32 {
	l := &t.lp
	var at int32
	if n := len(t.free); n > 0 {
		at, t.free = t.free[n-1], t.free[:n-1]
	} else {
		at = t.used
		t.used++
		if int(at) == len(t.snaps) {
			t.snaps = append(t.snaps, snapshot{})
		}
	}
	s := &t.snaps[at]
	s.users, s.m = 0, int32(l.m)
	s.vars = append(append(append(s.vars[:0], l.key...), l.act...), l.bas...)
	s.ban = resize(s.ban, (l.n+l.g+63)/64)
	for v, b := range l.ban {
		if b {
			s.ban[v/64] |= 1 << (v % 64)
		}
	}
	t.lp.work += int64(len(s.vars)+l.n/8) + 1
	return at
}

// release gives a snapshot back when no node needs it any more.
func (t *tree) release(at int32) {
	if t.snaps[at].users--; t.snaps[at].users == 0 {
		t.free = append(t.free, at)
	}
}

// load makes the relaxation that of a snapshot.
func (t *tree) load(at int32) {
	l, s := &t.lp, &t.snaps[at]
	for v := range l.ban {
		l.ban[v] = s.ban[v/64]&(1<<(v%64)) != 0
	}
	for i, gone := range l.gone {
		if gone {
			l.ban[i] = true
		}
	}
	m := int(s.m)
	clear(l.shift)
	l.shifted = false
	l.refactor(s.vars[:l.g], s.vars[l.g:l.g+m], s.vars[l.g+m:l.g+2*m])
}

// apply bans what a decision excludes.
func (t *tree) apply(d decision) {
	l := &t.lp
	g := l.p.group[d.lo]
	for i := l.p.start[g]; i < l.p.start[g+1]; i++ {
		if (d.lo <= i && i < d.hi) != d.in {
			l.ban[i] = true
		}
	}
	if d.in {
		l.ban[int32(l.n)+g] = true
	}
}
