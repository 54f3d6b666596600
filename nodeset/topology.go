// SPDX-License-Identifier: BSD-3-Clause

package nodeset

import (
	"cmp"
	"fmt"
	"slices"
)

// Switch is one switch of a Topology, or a block, a rack or a row of nodes that are near each
// other.
type Switch struct {
	Name string
	// Parent is the index of the switch above, -1 for none.
	Parent int
}

// Topology has the switches of a machine: trees of any depth. Level 1 are the leaves, which have
// the nodes. A switch is one level above the highest switch below it. Each node has one switch of
// each level: the highest above it, up to that level. A node without a leaf is a leaf of its own. A
// Topology is immutable and safe for concurrent use.
type Topology struct {
	nodes  int
	runs   []int32 // by node: the last node of the run of nodes of its leaf
	levels []level // [0]: the leaves
}

// level is one level of a Topology. Its switches are numbered from 0.
type level struct {
	of    []int32  // by node: its switch
	up    []int32  // by switch: that of the next level; nil at the top
	names []string // by switch
	size  []int32  // by switch: its nodes
	most  []int32  // [k]: nodes of the k largest switches
}

// maxPlaces bounds the levels of a Topology times its nodes: the memory that it takes.
const maxPlaces = 1 << 24

// numbered is the number of a switch at a level.
type numbered struct {
	level  int
	number int32
}

// NewTopology returns the topology of a machine. leaf[n] is the index of the switch of node n, or
// -1 for none. It returns an error if a leaf or a parent does not exist, or if a switch has both
// nodes and switches below it. So it does if switches form a circle, or if levels times nodes
// exceed 2^24.
func NewTopology(leaf []int32, switches []Switch) (*Topology, error) {
	heights, err := heightsOf(switches)
	if err != nil {
		return nil, err
	}
	nodes := len(leaf)
	for n, s := range leaf {
		if s < -1 || int(s) >= len(switches) {
			return nil, fmt.Errorf("node %d: leaf %d of %d switches", n, s, len(switches))
		}
		if s >= 0 && heights[s] > 1 {
			return nil, fmt.Errorf("switch %s has nodes of its own, and switches below it", switches[s].Name)
		}
	}
	t := &Topology{nodes: nodes}
	top := 1
	for _, h := range heights {
		top = max(top, h)
	}
	if nodes > 0 && top > maxPlaces/nodes {
		return nil, fmt.Errorf("%d levels of switches: at most %d for %d nodes", top, maxPlaces/nodes, nodes)
	}
	at := slices.Clone(leaf) // by node: its switch of this level, or less than 0
	known := make([]numbered, len(switches))
	for h := 1; h <= top; h++ {
		for n, s := range at {
			for s >= 0 && switches[s].Parent >= 0 && heights[switches[s].Parent] <= h {
				s = int32(switches[s].Parent)
			}
			at[n] = s
		}
		t.addLevel(at, switches, known)
	}
	t.runs = runsOf(t.levels[0].of)
	return t, nil
}

// heightsOf is the level of each switch. It sees each switch once, behind all that are below it.
func heightsOf(switches []Switch) ([]int, error) {
	below := make([]int, len(switches)) // by switch: those below it that have not been seen
	for i := range switches {
		p := switches[i].Parent
		if p < -1 || p >= len(switches) {
			return nil, fmt.Errorf("switch %s: parent %d of %d switches", switches[i].Name, p, len(switches))
		}
		if p >= 0 {
			below[p]++
		}
	}
	heights, order := make([]int, len(switches)), make([]int, 0, len(switches))
	for i := range switches {
		if heights[i] = 1; below[i] == 0 {
			order = append(order, i)
		}
	}
	for k := 0; k < len(order); k++ {
		p := switches[order[k]].Parent
		if p < 0 {
			continue
		}
		heights[p] = max(heights[p], heights[order[k]]+1)
		if below[p]--; below[p] == 0 {
			order = append(order, p)
		}
	}
	if len(order) < len(switches) {
		i := slices.IndexFunc(below, func(n int) bool { return n > 0 })
		return nil, fmt.Errorf("switch %s is below itself", switches[i].Name)
	}
	return heights, nil
}

// addLevel adds a level: at is the switch of each node, less than 0 for nodes without. Switches are
// numbered in the order of their first nodes. known has an element for each switch.
func (t *Topology) addLevel(at []int32, switches []Switch, known []numbered) {
	l := level{of: make([]int32, len(at)), most: []int32{0}}
	here := len(t.levels) + 1
	for n, s := range at {
		if s >= 0 && known[s].level == here {
			l.of[n] = known[s].number
			l.size[l.of[n]]++
			continue
		}
		l.of[n] = int32(len(l.size))
		name := ""
		if s >= 0 {
			known[s] = numbered{here, l.of[n]}
			name = switches[s].Name
		}
		l.size, l.names = append(l.size, 1), append(l.names, name)
	}
	sorted := slices.SortedFunc(slices.Values(l.size), func(a, b int32) int { return cmp.Compare(b, a) })
	for k, size := range sorted {
		l.most = append(l.most, l.most[k]+size)
	}
	if h := len(t.levels); h > 0 {
		below := &t.levels[h-1]
		below.up = make([]int32, len(below.size))
		for n, s := range below.of {
			below.up[s] = l.of[n]
		}
	}
	t.levels = append(t.levels, l)
}

// runsOf is, of each node, the last node of the run of nodes of its leaf.
func runsOf(leaf []int32) []int32 {
	runs := make([]int32, len(leaf))
	for n := len(leaf) - 1; n >= 0; n-- {
		runs[n] = int32(n)
		if n+1 < len(leaf) && leaf[n+1] == leaf[n] {
			runs[n] = runs[n+1]
		}
	}
	return runs
}

// Len is the number of nodes.
func (t *Topology) Len() int { return t.nodes }

// Levels returns the number of levels, at least 1.
func (t *Topology) Levels() int { return len(t.levels) }

// Switches returns the number of switches of a level; nodes without a leaf count as switches.
func (t *Topology) Switches(level int) int { return len(t.levels[level-1].size) }

// SwitchOf returns, by node, the switch of a level above it. The Topology owns the slice.
func (t *Topology) SwitchOf(level int) []int32 { return t.levels[level-1].of }

// Name returns the name of switch s of a level, empty for a node without a leaf.
func (t *Topology) Name(level, s int) string { return t.levels[level-1].names[s] }

// Above returns the switch of level+1 above each switch of a level, nil at the top. The Topology
// owns the slice.
func (t *Topology) Above(level int) []int32 { return t.levels[level-1].up }

// RunEnds returns, by node, the last node of the run of neighbours below the same leaf. The
// Topology owns the slice.
func (t *Topology) RunEnds() []int32 { return t.runs }

// Fewest returns the smallest number of switches of a level that hold so many nodes.
func (t *Topology) Fewest(level, nodes int) int {
	k, _ := slices.BinarySearch(t.levels[level-1].most, int32(nodes))
	return k
}
