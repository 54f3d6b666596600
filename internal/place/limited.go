// SPDX-License-Identifier: BSD-3-Clause

package place

import "github.com/aucsched/aucsched/nodeset"

// lens is how a request with further resources, or without cores, sees a table: nodes have so many
// cores and GPUs as its other resources suffice for.
type lens struct {
	uses     *nodeset.Uses
	gpus     int // a node, at least; 0 where that makes no difference
	crosses  int
	coreless bool
}

// lensOf is the lens of requests that run into the first crosses reservations.
func lensOf(s *Spec, crosses int) lens {
	l := lens{uses: s.Uses, crosses: crosses, coreless: s.Coreless()}
	for _, u := range s.More() {
		if u.PerCore > 0 && u.PerGPU > 0 && !l.coreless {
			l.gpus = s.GPUs.PerNode.Min
		}
	}
	return l
}

// limited are tables as lenses see them. They are made when they are first asked for, and then
// follow the nodes that change. It is ready after reset.
type limited struct {
	tables Pool[lens, seen]
	turn   int32   // how many changes there have been
	last   []int32 // by node: its last change
}

// nodesSeen bounds the memory: so many nodes do all tables together have, or there are leastSeen.
const (
	nodesSeen = 1 << 22
	leastSeen = 4
)

// seen is a table as a lens sees it, by the first upTo changes.
type seen struct {
	nodeset.Table
	upTo int32
}

func (l *limited) reset(nodes int) {
	l.tables.Reset()
	l.turn, l.last = 0, append(l.last[:0], make([]int32, nodes)...)
}

// changed notes that what is free on the nodes of segs is something else now.
func (l *limited) changed(segs []nodeset.Segment) {
	l.turn++
	for _, s := range segs {
		for n := s.First; n <= s.Last; n++ {
			l.last[n] = l.turn
		}
	}
}

// at is the table of k, and whether it has to be filled first. With one too many all are given up.
func (l *limited) at(k lens) (t *seen, fresh bool) {
	t, fresh = l.tables.Of(k)
	if fresh && len(l.tables.made) > max(nodesSeen/len(l.last), leastSeen) {
		l.tables.Reset()
		t, _ = l.tables.Of(k)
	}
	return t, fresh
}

// follow brings t, which s sees of base, up to date.
func (l *limited) follow(t *seen, base *nodeset.Table, s *Spec) {
	for n := 0; n < len(l.last) && t.upTo < l.turn; n++ {
		first := n
		for n < len(l.last) && l.last[n] > t.upTo {
			n++
		}
		if n > first {
			s.see(&t.Table, base, first, n-1)
		}
	}
	t.upTo = l.turn
}

// Limited is a table as one request after the other sees it. The zero Limited is ready; it keeps
// scratch memory.
type Limited struct{ table nodeset.Table }

// Of is t as s sees it. That is t itself if s takes cores and nothing of further resources, and
// else a table of l's, to be read only, until the next call.
func (l *Limited) Of(t *nodeset.Table, s *Spec) *nodeset.Table {
	if s.Plain() {
		return t
	}
	l.table.CopyFreeFrom(t)
	s.see(&l.table, t, 0, t.Len()-1)
	return &l.table
}
