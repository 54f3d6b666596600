// SPDX-License-Identifier: BSD-3-Clause

package bound

import (
	"cmp"
	"slices"
)

// Bounds of the size of a linear program.
const (
	// maxClasses is how many classes have prices of their own.
	maxClasses = 128
	// maxLines is the most lines of those classes in the knapsack.
	maxLines = 256
)

// classes are the classes of pieces that have prices: a row of the linear program for the
// number of pieces and, where their cores are not fixed, one for their cores.
type classes struct {
	widest int // cores of a node
	exact  int // how many classes are not coarsened
	steps  int // of coarsened sizes
	list   []class
	row    []int // of each class, the first
	rows   int
	lines  int
	at     map[class]int // of list
}

// newClasses takes all classes of the jobs or, where these are too many, those with the most
// core time as they are and the others coarsened as little as will do. If all of
// that is not enough, some have no price.
func newClasses(m *machine, d demand) *classes {
	all := d.classes()
	s := &classes{widest: m.widest, exact: len(all), at: make(map[class]int)}
	for steps := 16; !s.takeAll(all) && steps > 0; steps /= 2 {
		s = &classes{widest: m.widest, exact: maxClasses / 2, steps: steps, at: make(map[class]int)}
	}
	return s
}

// classes are those of the jobs, the one with the most core time first.
func (d demand) classes() []class {
	work := make(map[class]float64)
	for i := range d {
		work[d[i].class] += float64(d[i].cores) * float64(d[i].seconds)
	}
	var all []class
	for c := range work {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b class) int {
		return cmp.Or(cmp.Compare(work[b], work[a]), cmp.Compare(a.least, b.least), cmp.Compare(a.most, b.most),
			cmp.Compare(a.low, b.low), cmp.Compare(a.high, b.high))
	})
	return all
}

// takeAll is false if there is not room for all classes.
func (s *classes) takeAll(all []class) bool {
	s.take(single)
	whole := true
	for i, c := range all {
		if i >= s.exact {
			c = s.coarse(c)
		}
		whole = s.take(c) && whole
	}
	return whole
}

func (s *classes) take(c class) bool {
	if _, ok := s.at[c]; ok {
		return true
	}
	lines := c.high - c.low + 1
	if len(s.list) == maxClasses || s.lines+lines > maxLines {
		return false
	}
	s.at[c] = len(s.list)
	s.list, s.row, s.lines = append(s.list, c), append(s.row, s.rows), s.lines+lines
	if s.rows++; !c.fixed() {
		s.rows++
	}
	return true
}

// coarse is a class of few, that holds all pieces of c or, where those are fixed, a part
// of each. Of sizes, that is the least of which the largest node has room for as many.
func (s *classes) coarse(c class) class {
	least := 1
	if fit := s.widest / c.least; fit < s.steps {
		least = s.widest/(fit+1) + 1
	}
	if c.fixed() {
		return class{least, least, c.low, c.high}
	}
	return class{least, s.widest, c.low, c.high}
}

// rowsOf are the row of a class's pieces and that of their cores, -1 if those are fixed.
func (s *classes) rowsOf(class int) (pieces, cores int) {
	if s.list[class].fixed() {
		return s.row[class], -1
	}
	return s.row[class], s.row[class] + 1
}

// part is what a job needs of a class: so many pieces, with so many cores in all, for as
// much progress.
type part struct {
	submit        int64
	class         int
	pieces, cores int64
	progress      int64
}

// parts appends what a job needs: of its own class or, where that has no price, of a coarse
// one, or else single cores. What can hold the job can hold all of these.
func (s *classes) parts(to []part, n *need) []part {
	c := n.class
	i, ok := s.at[c]
	if !ok {
		c = s.coarse(c)
		i, ok = s.at[c]
	}
	rest := n.cores
	if ok {
		rest = 0
		if c.fixed() {
			rest = n.cores - n.pieces*int64(c.least)
		}
		to = append(to, part{n.submit, i, n.pieces, n.cores - rest, n.progress})
	}
	if rest > 0 {
		to = append(to, part{n.submit, s.at[single], rest, rest, n.seconds})
	}
	return to
}
