// SPDX-License-Identifier: BSD-3-Clause

package locality

// hole is a core that is idle now and reserved from until on.
type hole struct {
	id    uint16
	until int64
}

// holes is the reference programme's backfilling: instead of a profile of each core it keeps, for
// each node, the cores that are idle now until their first reservation (D8).
type holes struct {
	of [][]hole // of each node, longest first
	// longest holds for each node the negated end of its longest hole.
	longest minTree
	dirty   []int32 // nodes that have or had holes since the last reset
	// biggest is how many cores the node biggestID had in holes when that was last looked up, which
	// is seldom: it is set to 0 by each reset, and looked up when a job is placed on a node with
	// that very id (D7). It begins as 0 and 0.
	biggest   int
	biggestID int
	// atNow is how many cores have been given to jobs that start now, since the last reset.
	atNow int
	byID  []int // scratch: place of each core among the node's sorted ones
}

func newHoles(c *cores) *holes {
	return &holes{of: make([][]hole, c.n), longest: newMinTree(c.n), byID: make([]int, c.most)}
}

func (h *holes) reset() {
	for _, node := range h.dirty {
		h.of[node] = h.of[node][:0]
		h.longest.set(int(node), never)
	}
	h.dirty = h.dirty[:0]
	h.biggest, h.atNow = 0, 0
}

// dig adds a hole, with the programme's order of equal ones.
func (h *holes) dig(node int32, new hole) {
	list := h.of[node]
	if len(list) == 0 {
		h.dirty = append(h.dirty, node)
	}
	at := 0
	if len(list) > 0 && (list[0].until > new.until || list[0].until == new.until && list[0].id <= new.id) {
		for at = 1; at < len(list) && list[at].until >= new.until; {
			at++
		}
	}
	list = append(list, hole{})
	copy(list[at+1:], list[at:])
	list[at] = new
	h.of[node] = list
	h.longest.set(int(node), -list[0].until)
}

// fits tells whether a job of k cores can start now on the node within holes until end, together
// with cores that are available for good, and how many of its cores would be in holes.
func (h *holes) fits(c *cores, node int32, k int, now, end int64) (inHoles int, ok bool) {
	list := h.of[node]
	if len(list) == 0 || k > len(list) && c.from(int(node), k-len(list)) > now {
		return 0, false
	}
	for _, hole := range list {
		if end <= hole.until {
			inHoles++
		}
		if inHoles == k {
			break
		}
	}
	outside := k - inHoles
	return inHoles, outside == 0 || c.from(int(node), outside) <= now
}

// fill gives out inHoles cores of holes and for the rest of out the first that are available. It is
// false where the programme ends, as it takes a node whose cores are all in holes for an error.
func (h *holes) fill(c *cores, node int32, out []uint16, inHoles int, end int64) bool {
	list, kept := h.of[node], h.of[node][:0]
	taken := 0
	for _, hole := range list {
		if taken < inHoles && end <= hole.until {
			out[taken] = hole.id
			taken++
		} else {
			kept = append(kept, hole)
		}
	}
	h.of[node] = kept
	if len(kept) > 0 {
		h.longest.set(int(node), -kept[0].until)
	} else {
		h.longest.set(int(node), never)
	}
	if taken < len(out) {
		c.take(node, out[taken:], end)
	}
	return len(kept) < int(c.count[node])
}

// reserve gives out the lowest ids that are available at start, and notes the holes that arise.
func (h *holes) reserve(c *cores, node int32, out []uint16, now, start, end int64) {
	avail, ids := c.of(node)
	for place, id := range ids {
		h.byID[id] = place
	}
	n := 0
	for id := 0; n < len(out); id++ {
		place := h.byID[id]
		if avail[place] > start {
			continue
		}
		out[n] = uint16(id)
		n++
		if avail[place] <= now && start > now {
			h.dig(node, hole{uint16(id), start})
		}
		avail[place] = end
	}
	c.sort(node)
}

// placed looks up the biggest number of holes if the programme would.
func (h *holes) placed(nodes []Node, node int32) {
	if nodes[node].ID != h.biggestID {
		return
	}
	h.biggest = -1
	for i := range h.of {
		if len(h.of[i]) > h.biggest {
			h.biggest, h.biggestID = len(h.of[i]), nodes[i].ID
		}
	}
}

// offerHoles considers the holes for the search's job, on top of the nodes considered so far.
func (s *search) offerHoles() {
	r := s.r
	end := r.now + s.j.wall
	least := float64(r.now) // the least score of a hole
	if s.now != startOnly {
		least = float64(float32(r.now))
	}
	for i := 0; s.best.score > least || s.best.score == least && 2*i < s.best.order; i++ {
		if i = r.nextHole(i, end); i < 0 {
			return
		}
		if _, ok := r.holes.fits(r.cores, int32(i), s.j.Cores, r.now, end); ok {
			s.offer(int32(i), s.heldAt(int32(i)), r.now, true)
		}
	}
}

// nextHole is the first node from i on with a hole until end at least.
func (r *run) nextHole(i int, end int64) int {
	if !r.plain {
		return r.holes.longest.next(i, -end)
	}
	for ; i < len(r.nodes); i++ {
		if len(r.holes.of[i]) > 0 {
			return i
		}
	}
	return -1
}

// heldAt is the copy of the job's file on the node.
func (s *search) heldAt(node int32) *copyOf {
	f := s.r.files
	if s.now == startOnly || !s.r.plain && f.marks[node] != f.mark {
		return nil
	}
	return f.held(s.j.file, node)
}

// onlyHoles finds a place in holes alone: the programme's last resort when no core is available for
// good any more. Its scores leave the time out.
func (r *run) onlyHoles(j *job) choice {
	s := &r.search
	s.begin(j)
	if r.policy.rule == leo {
		s.later, s.sticky = s.now, 0
	}
	end := r.now + j.wall
	for i := 0; ; i++ {
		if i = r.nextHole(i, end); i < 0 {
			break
		}
		if inHoles, ok := r.holes.fits(r.cores, int32(i), j.Cores, r.now, end); !ok || inHoles < j.Cores {
			continue
		}
		var c *copyOf
		if s.now != startOnly {
			c = r.files.held(j.file, int32(i))
		}
		score, _ := r.score(j, int32(i), c, 0, r.now, s.now, s.best.score)
		if score < s.best.score {
			s.best = choice{node: int32(i), start: r.now, ready: r.now, score: score, hole: true}
		}
		if s.best.score == 0 {
			break
		}
	}
	return s.best
}
