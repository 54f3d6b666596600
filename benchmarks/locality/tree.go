// SPDX-License-Identifier: BSD-3-Clause

package locality

import "math"

// never is later than all times.
const never = math.MaxInt64

// minTree holds a time for each node, in node order, and finds the next node whose time is at
// most a bound: a tournament tree, whose inner places hold the lesser of their two children.
type minTree struct {
	size int     // places of the lowest level, a power of two
	t    []int64 // the root is at 1, the children of i at 2i and 2i+1
}

func newMinTree(n int) minTree {
	size := 1
	for size < n {
		size *= 2
	}
	m := minTree{size: size, t: make([]int64, 2*size)}
	for i := range m.t {
		m.t[i] = never
	}
	return m
}

func (m *minTree) at(i int) int64 { return m.t[m.size+i] }

func (m *minTree) min() int64 { return m.t[1] }

func (m *minTree) set(i int, v int64) {
	t := m.t
	p := m.size + i
	if t[p] == v {
		return
	}
	t[p] = v
	for p > 1 {
		least := min(t[p], t[p^1])
		p >>= 1
		if t[p] == least {
			return
		}
		t[p] = least
	}
}

// filter leaves out nodes whose value in another tree of the same nodes is above atMost. Without a
// tree it leaves out none.
type filter struct {
	tree   *minTree
	atMost int64
}

// nextOf is next among the nodes that the filter leaves.
func (m *minTree) nextOf(i int, bound int64, f filter) int {
	if f.tree == nil {
		return m.next(i, bound)
	}
	if i >= m.size {
		return -1
	}
	p := m.size + i
	for {
		switch {
		case m.t[p] > bound || f.tree.t[p] > f.atMost:
			for p&1 == 1 {
				p >>= 1
			}
			if p == 0 {
				return -1
			}
			p++
		case p >= m.size:
			return p - m.size
		default:
			p *= 2
		}
	}
}

// next gives the first node from i on whose time is at most bound, -1 if there is none. bound is
// less than never.
func (m *minTree) next(i int, bound int64) int {
	if i >= m.size {
		return -1
	}
	t := m.t
	p := m.size + i
	for t[p] > bound {
		for p&1 == 1 {
			p >>= 1
		}
		if p == 0 {
			return -1
		}
		p++
	}
	for p < m.size {
		p *= 2
		if t[p] > bound {
			p++
		}
	}
	return p - m.size
}
