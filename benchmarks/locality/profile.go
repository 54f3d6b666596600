// SPDX-License-Identifier: BSD-3-Clause

package locality

// gap is a time in which a core is free, from from until to.
type gap struct {
	from, to int64
	id       uint16
}

// profiles is the whole occupation of each core, for conservative backfilling as in section 4.3: a
// job can go wherever enough cores are free for all of its wall time. It lies on top of what runs,
// which is in cores; a plan makes gaps end.
type profiles struct {
	r     *run
	pass  int64
	nodes []profile
	// slots are what is known of requests in this pass; slotOf finds that of a class.
	slots  []*slot
	used   int
	slotOf []slotRef
	opened int     // how many nodes the pass has changed
	ends   []int64 // scratch
	byID   []int   // scratch
	spare  []gap   // scratch
}

// profile is the gaps of a node, by (from, id), if the plan has changed them in this pass.
type profile struct {
	pass    int64
	version uint32 // counts changes in this pass
	gaps    []gap
}

type slotRef struct {
	pass int64
	slot int
}

// slot is for one request, of so many cores for so long, when each node could start it. Plans only
// make this later, so that what was true earlier in a pass is a lower bound.
type slot struct {
	tree    minTree
	version []uint32 // of the node, when its time was found
}

func newProfiles(r *run, classes int) *profiles {
	return &profiles{r: r, nodes: make([]profile, len(r.nodes)), slotOf: make([]slotRef, classes), byID: make([]int, r.cores.most)}
}

// reset takes the plan away.
func (p *profiles) reset() {
	p.pass++
	p.used, p.opened = 0, 0
}

func (p *profiles) changed(node int) bool { return p.nodes[node].pass == p.pass }

// manyOpened is the number of changed nodes from which on a request has a slot. Until then it is
// cheaper to look at their gaps again than to copy a tree of all nodes.
const manyOpened = 64

// has tells whether something is kept of a job's request.
func (p *profiles) has(j *job) bool { return p.opened > manyOpened || p.slotOf[j.class].pass == p.pass }

// slot gives what is known of a job's request.
func (p *profiles) slot(j *job) *slot {
	ref := &p.slotOf[j.class]
	if ref.pass == p.pass {
		return p.slots[ref.slot]
	}
	*ref = slotRef{p.pass, p.used}
	if p.used == len(p.slots) {
		p.slots = append(p.slots, &slot{tree: newMinTree(len(p.nodes)), version: make([]uint32, len(p.nodes))})
	}
	s := p.slots[p.used]
	p.used++
	copy(s.tree.t, p.r.cores.index(j.Cores).t)
	clear(s.version)
	return s
}

func (p *profiles) from(j *job, node int, bound int64) int64 {
	if !p.changed(node) {
		return p.r.cores.from(node, j.Cores)
	}
	if p.r.plain {
		at, _ := p.find(node, j.Cores, j.wall, never)
		return at
	}
	if !p.has(j) {
		at, _ := p.find(node, j.Cores, j.wall, bound)
		return at
	}
	s := p.slot(j)
	at, version := s.tree.at(node), p.nodes[node].version
	if at > bound || s.version[node] == version && at >= p.r.now {
		return at
	}
	at, exact := p.find(node, j.Cores, j.wall, bound)
	if exact {
		s.version[node] = version
	}
	s.tree.set(node, at)
	return at
}

func (p *profiles) next(j *job, i int, bound int64, f filter) int {
	tree := p.r.cores.index(j.Cores)
	if p.has(j) {
		tree = &p.slot(j).tree
	}
	for {
		if i = tree.nextOf(i, bound, f); i < 0 || p.from(j, i, bound) <= bound {
			return i
		}
		i++
	}
}

func (p *profiles) earliest(j *job) (at int64, node int) {
	s := p.slot(j)
	for {
		if at = s.tree.min(); at == never {
			return never, -1
		}
		node = s.tree.next(0, at)
		if bound := max(at, p.r.now); p.from(j, node, bound) <= bound && s.tree.at(node) == at {
			return at, node
		}
	}
}

// find is line 3' of section 4.3 on a changed node: the smallest time from which k cores are
// free for so long. If that is after bound, it may give up with some time after bound at which
// it is not yet exact.
func (p *profiles) find(node, k int, long, bound int64) (at int64, exact bool) {
	ends := p.ends[:0]
	for i := range p.nodes[node].gaps {
		g := &p.nodes[node].gaps[i]
		start := max(g.from, p.r.now)
		if start > bound {
			return start, false
		}
		if g.to-start < long {
			continue
		}
		kept := ends[:0]
		for _, e := range ends {
			if e-start >= long {
				kept = append(kept, e)
			}
		}
		ends = append(kept, g.to)
		if p.ends = ends; len(ends) == k {
			return start, true
		}
	}
	return never, true
}

// take has the lowest ids that are free from start to end be busy, and puts them into out.
func (p *profiles) take(node int32, out []uint16, start, end int64) {
	n := &p.nodes[node]
	if n.pass != p.pass {
		p.open(node)
	}
	n.version++
	for i := range p.byID {
		p.byID[i] = -1
	}
	for i, g := range n.gaps {
		if g.from <= start && g.to >= end {
			p.byID[g.id] = i
		}
	}
	taken := 0
	for id := 0; taken < len(out); id++ {
		if p.byID[id] < 0 {
			continue
		}
		out[taken] = uint16(id)
		taken++
	}
	p.cut(n, out, start, end)
}

// open makes the node's profile from what runs there.
func (p *profiles) open(node int32) {
	n := &p.nodes[node]
	p.opened++
	n.pass, n.version, n.gaps = p.pass, 0, n.gaps[:0]
	avail, ids := p.r.cores.of(node)
	for i, id := range ids {
		n.gaps = append(n.gaps, gap{avail[i], never, id})
	}
}

// cut takes start..end out of the gaps that byID has found for ids. What is left after end
// goes in by its time.
func (p *profiles) cut(n *profile, ids []uint16, start, end int64) {
	rest := p.spare[:0]
	for _, id := range ids {
		g := &n.gaps[p.byID[id]]
		if g.to > end {
			rest = append(rest, gap{end, g.to, id})
		}
		if g.to = start; max(g.from, p.r.now) >= start {
			g.to = g.from - 1 // nothing is left before
		}
	}
	p.spare = rest
	kept := n.gaps[:0]
	for _, g := range n.gaps {
		if g.to > g.from && g.to > p.r.now {
			kept = append(kept, g)
		}
	}
	for _, g := range rest {
		kept = append(kept, g)
		for i := len(kept) - 1; i > 0 && kept[i-1].from > g.from; i-- {
			kept[i-1], kept[i] = kept[i], kept[i-1]
		}
	}
	n.gaps = kept
}
