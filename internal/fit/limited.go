// SPDX-License-Identifier: BSD-3-Clause

package fit

import "github.com/aucsched/aucsched/nodeset"

// lens is how a request with further resources sees a table: nodes have so many cores and GPUs as
// its other resources suffice for.
type lens struct {
	uses    *nodeset.Uses
	gpus    int // a node, at least; 0 where that makes no difference
	crosses int
}

// lensOf is the lens of requests that run into the first crosses reservations.
func lensOf(s *Spec, crosses int) lens {
	l := lens{uses: s.Uses, crosses: crosses}
	for _, u := range *s.Uses {
		if u.PerCore > 0 && u.PerGPU > 0 {
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
	used   int
	log    []Span // nodes that have changed
}

// seen is a table as a lens sees it, by the first upTo changes of the log.
type seen struct {
	nodeset.Table
	upTo int
}

func (l *limited) reset() {
	clear(l.index)
	l.used, l.log = 0, l.log[:0]
}

// changed notes that what is free on the nodes of segs is something else now.
func (l *limited) changed(segs []nodeset.Segment) {
	for _, s := range segs {
		l.log = append(l.log, Span{int(s.First), int(s.Last)})
	}
}

// of is the table of k, and whether it has to be filled first.
func (l *limited) of(k lens) (t *seen, fresh bool) {
	i, ok := l.index[k]
	if !ok {
		if l.index == nil {
			l.index = make(map[lens]int)
		}
		i = l.used
		l.index[k] = i
		if l.used++; i == len(l.tables) {
			l.tables = append(l.tables, new(seen))
		}
	}
	return l.tables[i], !ok
}

// follow brings t, which s sees of base, up to date.
func (l *limited) follow(t *seen, base *nodeset.Table, s *Spec) {
	for ; t.upTo < len(l.log); t.upTo++ {
		t.LimitFrom(base, l.log[t.upTo].First, l.log[t.upTo].Last, *s.Uses, s.GPUs.PerNode.Min)
	}
}

// Limited is a table as one request after the other sees it. The zero Limited is ready; it keeps
// scratch memory.
type Limited struct{ table nodeset.Table }

// Of is t as s sees it: t itself where s takes nothing of further resources, and else a table of
// l's, to be read only, until the next call.
func (l *Limited) Of(t *nodeset.Table, s *Spec) *nodeset.Table {
	if s.Uses == nil {
		return t
	}
	l.table.CopyFreeFrom(t)
	l.table.LimitFrom(t, 0, t.Len()-1, *s.Uses, s.GPUs.PerNode.Min)
	return &l.table
}
