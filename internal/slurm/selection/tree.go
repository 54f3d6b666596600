// SPDX-License-Identifier: BSD-3-Clause

package selection

import (
	"math/bits"
	"slices"

	"github.com/aucsched/aucsched/nodeset"
)

// tree is the scratch of topology/tree's selection.
type tree struct {
	nodes [][]int  // candidates below each switch, by level and switch
	dist  []int    // of each leaf from those that were taken, summed up
	done  []bool   // by leaf: all of it has been taken
	reach []uint64 // candidates below the top switch
}

// apart stands for no way between two leaves.
const apart = 1 << 30

// evaluateTree is _eval_nodes_topo of the same file, without required nodes. Below the highest
// switch that has enough nodes the job takes leaf after leaf, of those nearest to what it has. It
// takes the tightest that has all the nodes it lacks, else the one with most, from the lowest node
// on. The distance of two leaves is the number of links between them.
func (s *Selector) evaluateTree(t *nodeset.Table, q *query) bool {
	s.chosen = append(s.chosen[:0], s.cand...)
	clear(s.chosen)
	if n := t.Len(); len(s.got) < n {
		s.got = append(s.got[:0], make([]uint16, n)...)
	}
	w := want{q.cores, max(q.minNodes, q.reqNodes), q.minNodes, q.maxNodes}
	slack := q.reqNodes - q.minNodes
	s.countBelow(s.cand)
	if !s.reachable(w.nodes-slack) || !s.enoughBelow(t, q, &w, slack) {
		return false
	}
	leaves := s.Tree.Switches(1)
	s.tree.dist, s.tree.done = append(s.tree.dist[:0], make([]int, leaves)...), append(s.tree.done[:0], make([]bool, leaves)...)
	for before := w.nodes + 1; before != w.nodes; {
		before = w.nodes
		leaf := s.bestLeaf(w.nodes)
		if leaf < 0 {
			break
		}
		for k := range s.tree.dist {
			s.tree.dist[k] = min(apart, s.tree.dist[k]+s.links(leaf, k))
		}
		if s.takeLeaf(t.FreeCores(), q, &w, leaf) {
			return true
		}
		s.tree.done[leaf] = true
		s.tree.nodes[0][leaf] = 0
	}
	return w.minNodes <= 0 && w.cores <= 0
}

// countBelow counts the nodes of a set below each switch.
func (s *Selector) countBelow(set []uint64) {
	levels := s.Tree.Levels()
	for len(s.tree.nodes) < levels {
		s.tree.nodes = append(s.tree.nodes, nil)
	}
	for level := range levels {
		of := s.Tree.SwitchOf(level + 1)
		count := append(s.tree.nodes[level][:0], make([]int, s.Tree.Switches(level+1))...)
		for w, word := range set {
			for ; word != 0; word &= word - 1 {
				count[of[w<<6+bits.TrailingZeros64(word)]]++
			}
		}
		s.tree.nodes[level] = count
	}
}

// reachable sets s.tree.reach to the candidates below the top switch: the last one of the
// highest level that has as many nodes. From then on no other candidates count. It reports
// false if there is none.
func (s *Selector) reachable(nodes int) bool {
	for level := s.Tree.Levels(); level > 0; level-- {
		for k := s.Tree.Switches(level) - 1; k >= 0; k-- {
			if s.tree.nodes[level-1][k] < nodes {
				continue
			}
			of := s.Tree.SwitchOf(level)
			s.tree.reach = append(s.tree.reach[:0], s.cand...)
			for w := range s.tree.reach {
				for word := s.tree.reach[w]; word != 0; word &= word - 1 {
					if b := bits.TrailingZeros64(word); int(of[w<<6+b]) != k {
						s.tree.reach[w] &^= 1 << b
					}
				}
			}
			if !slices.Equal(s.tree.reach, s.cand) {
				s.countBelow(s.tree.reach)
			}
			return true
		}
	}
	return false
}

// enoughBelow reports whether all that can be reached is enough.
func (s *Selector) enoughBelow(t *nodeset.Table, q *query, w *want, slack int) bool {
	nodes, cores := 0, 0
	for i, word := range s.tree.reach {
		for ; word != 0; word &= word - 1 {
			nodes++
			cores += min(int(t.FreeCores()[i<<6+bits.TrailingZeros64(word)]), q.most)
		}
	}
	return cores >= w.cores && nodes >= w.nodes-slack
}

// links is how many links are between two leaves.
func (s *Selector) links(a, b int) int {
	x, y := int32(a), int32(b)
	for level := 1; ; level++ {
		if x == y {
			return 2 * (level - 1)
		}
		up := s.Tree.Above(level)
		if up == nil {
			return apart
		}
		x, y = up[x], up[y]
	}
}

// bestLeaf is _topo_choose_best_switch over all leaves; -1 if none is left.
func (s *Selector) bestLeaf(lacking int) int {
	best, x := -1, &s.tree
	for k := range x.dist {
		if x.done[k] || x.nodes[0][k] == 0 || x.dist[k] >= apart {
			continue
		}
		if best < 0 {
			best = k
			continue
		}
		c := s.compareLeaves(k, best, lacking)
		if x.dist[k] < x.dist[best] && c >= 0 || x.dist[k] == x.dist[best] && c > 0 {
			best = k
		}
	}
	return best
}

// compareLeaves is _topo_compare_switches: positive if leaf a is better than leaf b.
func (s *Selector) compareLeaves(a, b, lacking int) int {
	x, y := int32(a), int32(b)
	for level := 1; ; level++ {
		m, n := s.tree.nodes[level-1][x], s.tree.nodes[level-1][y]
		switch fitsA, fitsB := m >= lacking, n >= lacking; {
		case fitsA && fitsB && m != n:
			return n - m
		case fitsA && fitsB:
			return m - n // the same
		case fitsA:
			return 1
		case fitsB:
			return -1
		}
		up := s.Tree.Above(level)
		if up == nil || up[x] == up[y] {
			return m - n
		}
		x, y = up[x], up[y]
	}
}

// takeLeaf takes nodes of a leaf, and reports whether the job has all then.
func (s *Selector) takeLeaf(free []uint16, q *query, w *want, leaf int) bool {
	of := s.Tree.SwitchOf(1)
	for i, word := range s.tree.reach {
		for ; word != 0 && w.maxNodes > 0; word &= word - 1 {
			n := i<<6 + bits.TrailingZeros64(word)
			if int(of[n]) != leaf {
				continue
			}
			give := min(int(free[n]), q.most, max(w.cores-max(w.minNodes-1, 0), q.perNode))
			s.chosen[i] |= 1 << (n & 63)
			s.got[n] = uint16(give)
			w.cores -= give
			w.nodes--
			w.minNodes--
			w.maxNodes--
			if w.met() {
				return true
			}
		}
	}
	return false
}
