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
// follow the nodes that change. The zero limited is ready.
type limited struct {
	index  map[lens]int
	tables []*seen
	of     []lens // by table
	used   int
	next   int    // the table to be given up next, where there are as many as may be
	log    []Span // nodes that have changed
}

// nodesSeen bounds the memory: so many nodes do all tables together have, or there are leastSeen.
const (
	nodesSeen = 1 << 22
	leastSeen = 4
)

// seen is a table as a lens sees it, by the first upTo changes of the log.
type seen struct {
	nodeset.Table
	upTo int
}

func (l *limited) reset() {
	clear(l.index)
	l.used, l.next, l.log = 0, 0, l.log[:0]
}

// changed notes that what is free on the nodes of segs is something else now.
func (l *limited) changed(segs []nodeset.Segment) {
	for _, s := range segs {
		l.log = append(l.log, Span{int(s.First), int(s.Last)})
	}
}

// at is the table of k for a machine of so many nodes, and whether it has to be filled first.
func (l *limited) at(k lens, nodes int) (t *seen, fresh bool) {
	i, ok := l.index[k]
	if ok {
		return l.tables[i], false
	}
	if l.index == nil {
		l.index = make(map[lens]int)
	}
	switch {
	case l.used >= max(nodesSeen/nodes, leastSeen): // the oldest is given up
		i, l.next = l.next, (l.next+1)%l.used
		delete(l.index, l.of[i])
	case l.used == len(l.tables):
		l.tables, l.of = append(l.tables, new(seen)), append(l.of, lens{})
		fallthrough
	default:
		i = l.used
		l.used++
	}
	l.index[k], l.of[i] = i, k
	return l.tables[i], true
}

// follow brings t, which s sees of base, up to date.
func (l *limited) follow(t *seen, base *nodeset.Table, s *Spec) {
	for _, span := range l.log[t.upTo:] {
		s.see(&t.Table, base, span.First, span.Last)
	}
	t.upTo = len(l.log)
}

// Limited is a table as one request after the other sees it. The zero Limited is ready; it keeps
// scratch memory.
type Limited struct{ table nodeset.Table }

// Of is t as s sees it: t itself where s takes cores and nothing of further resources, and else a
// table of l's, to be read only, until the next call.
func (l *Limited) Of(t *nodeset.Table, s *Spec) *nodeset.Table {
	if s.Plain() {
		return t
	}
	l.table.CopyFreeFrom(t)
	s.see(&l.table, t, 0, t.Len()-1)
	return &l.table
}
