// SPDX-License-Identifier: BSD-3-Clause

package locality

// cores is when each core of the cluster becomes available for good: what the schedulers without
// backfilling plan with, and all that the reference programme does. A plan lies on top of what
// runs; reset takes it away again.
type cores struct {
	n, most int
	count   []int32 // cores of each node
	// avail and ids are the cores of each node by (time, id), most places a node. Cores
	// that were idle at the last reset have the time 0, so that it need not be written
	// into them at each reset.
	avail []int64
	ids   []uint16
	// busy is for each core, by id, when its running job will have ended by its wall time; 0: idle.
	busy []int64
	// first is for each number of cores the nodes by when so many are available. Times grow only,
	// until reset: so places of a tree are lower bounds, brought up to date when a search
	// comes upon them.
	first []*minTree
	// dirty are the nodes that are not as busy says.
	dirty   []int32
	isDirty []bool
	// changed are the nodes on which a job had started or ended before the last reset, and
	// after the one before it.
	changed []int32
	// settled and settledIDs are avail and ids without a plan, of the nodes that are not in moved:
	// there a job has started or ended since.
	settled    []int64
	settledIDs []uint16
	moved      []bool
	freeNode   int // a node that may have a core available now
	scratch    []uint16
}

func newCores(nodes []Node) *cores {
	c := &cores{n: len(nodes)}
	for _, n := range nodes {
		c.most = max(c.most, n.Cores)
	}
	places := c.n * c.most
	c.count = make([]int32, c.n)
	c.avail, c.ids, c.busy = make([]int64, places), make([]uint16, places), make([]int64, places)
	c.first = make([]*minTree, c.most+1)
	c.isDirty, c.moved = make([]bool, c.n), make([]bool, c.n)
	c.settled, c.settledIDs = make([]int64, places), make([]uint16, places)
	for i, n := range nodes {
		c.count[i] = int32(n.Cores)
		c.touch(int32(i))
		c.moved[i] = true
	}
	c.reset()
	return c
}

func (c *cores) touch(node int32) {
	if !c.isDirty[node] {
		c.isDirty[node] = true
		c.dirty = append(c.dirty, node)
	}
}

// from gives when k cores of the node are available for good, never if it has fewer.
func (c *cores) from(node, k int) int64 {
	if k > int(c.count[node]) {
		return never
	}
	return c.avail[node*c.most+k-1]
}

// of gives the node's cores by (time, id).
func (c *cores) of(node int32) ([]int64, []uint16) {
	lo := int(node) * c.most
	hi := lo + int(c.count[node])
	return c.avail[lo:hi], c.ids[lo:hi]
}

// index gives the tree for k cores.
func (c *cores) index(k int) *minTree {
	if c.first[k] == nil {
		t := newMinTree(c.n)
		for i := range c.n {
			t.set(i, c.from(i, k))
		}
		c.first[k] = &t
	}
	return c.first[k]
}

// next is the first node from i on that has k cores available at bound or before, and that the
// filter leaves; -1: none.
func (c *cores) next(k, i int, bound int64, f filter) int {
	t := c.index(k)
	for {
		i = t.nextOf(i, bound, f)
		if i < 0 || t.at(i) == c.from(i, k) {
			return i
		}
		t.set(i, c.from(i, k))
	}
}

// earliest is when k cores of some node are available, and the first such node; never and -1
// if none has so many.
func (c *cores) earliest(k int) (at int64, node int) {
	t := c.index(k)
	for {
		if at = t.min(); at == never {
			return never, -1
		}
		node = t.next(0, at)
		real := c.from(node, k)
		if real == at {
			return at, node
		}
		t.set(node, real)
	}
}

// someFree tells whether a core is available at now.
func (c *cores) someFree(now int64) bool {
	if c.from(c.freeNode, 1) <= now {
		return true
	}
	node := c.next(1, 0, now, filter{})
	c.freeNode = max(node, 0)
	return node >= 0
}

// take has the first len(out) cores of the node be available from until on, and puts their ids
// into out.
func (c *cores) take(node int32, out []uint16, until int64) {
	c.touch(node)
	avail, ids := c.of(node)
	copy(out, ids)
	moving := append(c.scratch[:0], out...)
	c.scratch = moving
	for i := 1; i < len(moving); i++ {
		for j := i; j > 0 && moving[j-1] > moving[j]; j-- {
			moving[j-1], moving[j] = moving[j], moving[j-1]
		}
	}
	at, rest := 0, len(out)
	for len(moving) > 0 {
		if rest < len(ids) && (avail[rest] < until || avail[rest] == until && ids[rest] < moving[0]) {
			avail[at], ids[at] = avail[rest], ids[rest]
			rest++
		} else {
			avail[at], ids[at] = until, moving[0]
			moving = moving[1:]
		}
		at++
	}
}

// sort restores the order of a node's cores after times have changed.
func (c *cores) sort(node int32) {
	c.touch(node)
	avail, ids := c.of(node)
	for i := 1; i < len(avail); i++ {
		a, id := avail[i], ids[i]
		j := i
		for ; j > 0 && (avail[j-1] > a || avail[j-1] == a && ids[j-1] > id); j-- {
			avail[j], ids[j] = avail[j-1], ids[j-1]
		}
		avail[j], ids[j] = a, id
	}
}

// hold notes that a job runs on these cores until its wall time ends; release that it has ended.
func (c *cores) hold(node int32, ids []uint16, until int64) {
	c.touch(node)
	c.moved[node] = true
	for _, id := range ids {
		c.busy[int(node)*c.most+int(id)] = until
	}
}

func (c *cores) release(node int32, ids []uint16) { c.hold(node, ids, 0) }

// reset takes the plan away: idle cores are available, others when their jobs' wall times end.
func (c *cores) reset() {
	c.changed = c.changed[:0]
	for _, node := range c.dirty {
		avail, ids := c.of(node)
		lo := int(node) * c.most
		settled, settledIDs := c.settled[lo:lo+len(ids)], c.settledIDs[lo:lo+len(ids)]
		if c.moved[node] {
			c.moved[node] = false
			c.changed = append(c.changed, node)
			for i := range ids {
				ids[i] = uint16(i)
			}
			copy(avail, c.busy[lo:])
			c.sort(node)
			copy(settled, avail)
			copy(settledIDs, ids)
		} else {
			copy(avail, settled)
			copy(ids, settledIDs)
		}
		for k, t := range c.first {
			if t != nil {
				t.set(int(node), c.from(int(node), k))
			}
		}
		c.isDirty[node] = false
	}
	c.dirty = c.dirty[:0]
}
