// SPDX-License-Identifier: BSD-3-Clause

package locality

import (
	"sort"
)

// span is one use of a file on a node, running or planned: the file is wanted from from to to, and
// is loaded at ready.
type span struct{ from, ready, to int64 }

// copyOf is what is known of one file on one node.
type copyOf struct {
	file, node int32
	// rank grows with each copy that comes to be known. Sums go by it, as the
	// reference programme's do.
	rank int64
	size float64 // GB
	// users is how many running jobs use it.
	users int32
	// ready is when it is or was loaded; end is when its last user ended, or with users, when they
	// will have ended by their wall times. end is -1 before the first user.
	ready, end int64
	// ends are when the users will have ended by their wall times; the reference programme does not
	// keep them apart.
	ends []int64
	// pass is the planning pass that spans is of.
	pass  int64
	spans []span
	// last is the end of the span that was added last.
	last int64
	// planned is how many jobs of the standing plan use it, contends the pass in which it came into
	// contest, loads that in which it had been on its way at the one before.
	planned         int32
	contends, loads int64
	// onNode and ofFile tell whether the copy is in the lists of its node and of its file, listed
	// whether it is in loading.
	onNode, ofFile, listed bool
}

// file is one input file.
type file struct {
	waiting int       // jobs that have been submitted and not started
	copies  []*copyOf // all that are known, by node
	live    []*copyOf // of these, those that may be in memory at some time of pass
	pass    int64     // the planning pass in which live was last tidied
	// contest are the copies whose nodes may have become better for the file's jobs, if the plan
	// says that it is contested.
	contest []*copyOf
}

// files is the state of all nodes' memories: what is loaded, until when a load lasts, what was
// evicted, and what the plan will have loaded.
type files struct {
	mode Mode
	// files are those of which something is known; pending is for each how many
	// jobs have not started.
	files   []*file
	pending []int32
	retired []*file // none's, to be used again
	nodes   []nodeFiles
	pass    int64 // counts planning passes
	now     int64
	ranks   int64
	free    []*copyOf // of files that no job will use any more
	// marks holds for each node the pass or job that it was last marked for.
	marks []int64
	mark  int64
	// loading are the copies whose load had not ended at the last pass, of files
	// for which jobs wait.
	loading []*copyOf
}

// nodeFiles is the memory of a node.
type nodeFiles struct {
	live   []*copyOf // by rank
	tidied int64     // the planning pass in which live was last tidied
	// lastStart is when a job last started here, priorStart the last time before that; -1: never.
	lastStart, priorStart int64
	// starts are those planned in the pass.
	starts []int64
	pass   int64
}

func newFiles(mode Mode, nodes, count int) *files {
	f := &files{mode: mode, files: make([]*file, count), pending: make([]int32, count),
		nodes: make([]nodeFiles, nodes), marks: make([]int64, nodes)}
	for i := range f.nodes {
		f.nodes[i].lastStart, f.nodes[i].priorStart = -1, -1
	}
	return f
}

// begin begins a planning pass at time now: what earlier ones planned is forgotten.
func (f *files) begin(now int64) {
	f.pass++
	f.now = now
}

// find gives the copy of a file on a node, nil if none is known.
func (f *files) find(id, node int32) *copyOf {
	own := f.files[id]
	if own == nil {
		return nil
	}
	c := own.copies
	if i := sort.Search(len(c), func(i int) bool { return c[i].node >= node }); i < len(c) && c[i].node == node {
		return c[i]
	}
	return nil
}

// file is what is known of a file, from now on at the latest.
func (f *files) file(id int32) *file {
	if f.files[id] == nil {
		own := new(file)
		if n := len(f.retired); n > 0 {
			own, f.retired = f.retired[n-1], f.retired[:n-1]
		}
		f.files[id] = own
	}
	return f.files[id]
}

// know is find that makes the copy known.
func (f *files) know(id, node int32, size float64) *copyOf {
	own := f.file(id)
	i := sort.Search(len(own.copies), func(i int) bool { return own.copies[i].node >= node })
	if i < len(own.copies) && own.copies[i].node == node {
		return own.copies[i]
	}
	c := new(copyOf)
	if n := len(f.free); n > 0 {
		c, f.free = f.free[n-1], f.free[:n-1]
	}
	*c = copyOf{file: id, node: node, rank: f.ranks, size: size, end: -1, spans: c.spans[:0], ends: c.ends[:0]}
	f.ranks++
	own.copies = append(own.copies, nil)
	copy(own.copies[i+1:], own.copies[i:])
	own.copies[i] = c
	return c
}

// list puts a copy into the lists of its node and its file.
func (f *files) list(c *copyOf) {
	if !c.onNode {
		c.onNode = true
		n := &f.nodes[c.node]
		n.live = append(n.live, c)
		for i := len(n.live) - 1; i > 0 && n.live[i-1].rank > c.rank; i-- {
			n.live[i-1], n.live[i] = n.live[i], n.live[i-1]
		}
	}
	if !c.ofFile {
		c.ofFile = true
		own := f.files[c.file]
		own.live = append(own.live, c)
	}
}

// open brings a copy up to date with the pass, and tells whether it may be in memory in it.
func (f *files) open(c *copyOf) bool {
	if c.pass == f.pass {
		return len(c.spans) > 0
	}
	c.pass = f.pass
	c.spans = c.spans[:0]
	switch {
	case c.users > 0 && f.mode == Reference:
		c.add(span{f.now, max(f.now, c.ready), c.end})
	case c.users > 0:
		c.add(span{-1, c.ready, c.end})
	case f.mode == Reference && c.end >= f.now:
		c.add(span{f.now, f.now, f.now})
	case f.mode == Paper && f.kept(c, f.now):
		c.add(span{-1, c.ready, c.end})
	}
	return len(c.spans) > 0
}

func (c *copyOf) add(s span) {
	c.spans = append(c.spans, s)
	c.last = s.to
}

// kept tells whether a copy without users is still in memory at time at: no job has started on the
// node between its last user's end and at (section 3).
func (f *files) kept(c *copyOf, at int64) bool {
	return c.end >= 0 && f.startBefore(c.node, at) < c.end
}

// startBefore is when the last job before at started on the node, or will by the plan; -1: none.
func (f *files) startBefore(node int32, at int64) int64 {
	n := &f.nodes[node]
	last := n.lastStart
	if last >= at {
		last = n.priorStart
	}
	if n.pass == f.pass {
		for _, s := range n.starts {
			if s < at && s > last {
				last = s
			}
		}
	}
	return last
}

// plan notes that in this pass a job of the file is to use the node from from to to, and will have
// the file at ready.
func (f *files) plan(id, node int32, size float64, s span) {
	c := f.know(id, node, size)
	f.open(c)
	f.list(c)
	if n := len(c.spans); n > 0 && f.continues(&c.spans[n-1], s) {
		l := &c.spans[n-1]
		l.to, c.last = max(l.to, s.to), s.to
		return
	}
	c.add(s)
}

// continues tells whether s after l says no more than l prolonged.
func (f *files) continues(l *span, s span) bool {
	if s.from < l.from || s.from > l.to {
		return false
	}
	if f.mode == Reference {
		return s.ready == s.from && l.ready <= s.from
	}
	return s.ready == max(s.from, l.ready)
}

// planStart notes that in this pass a job is to start on the node.
func (f *files) planStart(node int32, at int64) {
	n := &f.nodes[node]
	if n.pass != f.pass {
		n.pass, n.starts = f.pass, n.starts[:0]
	}
	n.starts = append(n.starts, at)
}

// present tells whether a copy, open in this pass, is in memory or on its way there at time at,
// and when it is loaded.
func (f *files) present(c *copyOf, at int64) (ready int64, ok bool) {
	if f.mode == Reference {
		for i := range c.spans {
			if s := &c.spans[i]; s.from <= at && at <= s.to {
				return s.ready, true
			}
		}
		return 0, false
	}
	end := int64(-1)
	for i := range c.spans {
		switch s := &c.spans[i]; {
		case s.from > at || s.to < end:
		case s.to > end:
			end, ready = s.to, s.ready
		default:
			ready = min(ready, s.ready)
		}
	}
	return ready, end >= at || end >= 0 && f.startBefore(c.node, at) < end
}
