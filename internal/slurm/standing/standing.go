// SPDX-License-Identifier: BSD-3-Clause

// Package standing makes a tree of what Slurm says of where nodes stand, with topology/tree and
// topology/block.
package standing

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/aucsched/aucsched/internal/engine"
)

// None is no index of a switch.
const None = ^uint32(0)

// mostLevels is how many sizes of blocks Slurm has at most.
const mostLevels = 16

// Node is where a node stands: "top.middle.leaf.node", and what each of these is,
// "switch.switch.switch.node" or "block.node".
type Node struct{ Name, Address, Pattern string }

// Tree has the switches above the nodes, or blocks as leaves and above them what is joined of these.
type Tree struct {
	Parents, Leaves []uint32 // by switch, and by node; None: there is none
	Roots           uint32
	Largest         uint32 // the most nodes of a leaf
	Blocks          bool   // topology/block
	Other           bool   // neither switches nor blocks: a ring, a torus
	Outside         bool   // some nodes are of no leaf
	// Base is how many nodes a block counts for, and Count how many blocks there are. Bit l of
	// Levels says that 2^l of them make a block too. All 0: Slurm does not say.
	Base, Levels, Count uint32
}

type builder struct {
	Tree
	index  map[string]uint32 // of a switch, by its name from the root on
	names  []string
	blocks map[string]uint32 // their order, which says what is joined
}

// Read makes the tree. sizes is what "scontrol show topology" prints; "" where that has no sizes.
func Read(nodes []Node, sizes string) *Tree {
	b := builder{index: map[string]uint32{}, blocks: map[string]uint32{}}
	for i := range nodes {
		b.add(&nodes[i])
	}
	if b.Blocks {
		b.readSizes(sizes)
		b.join()
	}
	below := make([]uint32, len(b.Parents))
	for _, leaf := range b.Leaves {
		if leaf == None {
			b.Outside = true
			continue
		}
		below[leaf]++
		b.Largest = max(b.Largest, below[leaf])
	}
	return &b.Tree
}

func (b *builder) switchOf(name string, parent uint32) uint32 {
	i, ok := b.index[name]
	if !ok {
		i = uint32(len(b.Parents))
		b.index[name], b.names, b.Parents = i, append(b.names, name), append(b.Parents, parent)
		if parent == None {
			b.Roots++
		}
	}
	return i
}

// add notes where a node stands; a level where it has no switch is empty in its address.
func (b *builder) add(n *Node) {
	leaf := None
	if above, ok := strings.CutSuffix(n.Address, n.Name); ok && n.Name != "" {
		for at, c := range above {
			if c == '.' && at > 0 && above[at-1] != '.' {
				leaf = b.switchOf(above[:at], leaf)
			}
		}
	}
	b.Leaves = append(b.Leaves, leaf)
	b.Blocks = b.Blocks || strings.HasPrefix(n.Pattern, "block.")
	b.Other = b.Other || n.Pattern != "" && n.Pattern != "node" &&
		!strings.HasPrefix(n.Pattern, "block.") && !strings.HasPrefix(n.Pattern, "switch.")
}

// readSizes reads blocks, and which 2, 4, 8 ... of them make larger ones.
func (b *builder) readSizes(text string) {
	b.Levels = 1
	for line := range strings.Lines(text) {
		block, single := strings.CutPrefix(line, "BlockName=")
		if !single && !strings.HasPrefix(line, "AggregatedBlock=") {
			continue
		}
		_, after, _ := strings.Cut(line, " BlockSize=")
		digits := after[:len(after)-len(strings.TrimLeft(after, "0123456789"))]
		size, _ := strconv.ParseUint(digits, 10, 64)
		if single {
			name, _, _ := strings.Cut(strings.TrimSuffix(block, "\n"), " ")
			b.blocks[name] = uint32(len(b.blocks))
			if b.Base == 0 {
				b.Base = uint32(min(size, 1<<31))
			}
		}
		if !b.addSize(size, single) {
			b.blocks = map[string]uint32{}
			break
		}
	}
	if b.Count = uint32(len(b.blocks)); b.Count == 0 {
		b.Base, b.Levels = 0, 0
	}
}

// addSize reports whether jobs can be told what a size means.
func (b *builder) addSize(size uint64, single bool) bool {
	if single {
		return size > 0 && size == uint64(b.Base)
	}
	for level := 1; b.Base > 0 && level < mostLevels; level++ {
		if size == uint64(b.Base)<<level {
			b.Levels |= 1 << level
			return true
		}
	}
	return false
}

// join puts blocks below what is joined of them and their neighbours, and all of these below one root.
func (b *builder) join() {
	single := len(b.Parents)
	root := b.switchOf("", None)
	for i := range single {
		above := root
		order, ok := b.blocks[b.names[i]]
		if !ok {
			order = b.Count
		}
		for level := mostLevels - 1; level > 0; level-- {
			if b.Levels>>level&1 == 1 && uint64(1)<<level < uint64(b.Count) { // else it is the root
				above = b.switchOf(fmt.Sprintf(" %d.%d", level, order>>level), above)
			}
		}
		b.Parents[i] = above
	}
	b.Roots = 1
}

// Demand is what Slurm holds a job of so many nodes to with topology/block (eval_nodes_block.c of 24.11).
type Demand struct {
	Switches uint32 // its nodes are in so many blocks at most; 0: any number
	Within   uint16 // and below one switch of this level; 1: a block
	Unsaid   bool   // it is held to more than can be said of a job
}

// Demand of a tree with Count above 0: a job is in one block of the smallest size that it needs.
// There it is in as few of the next smaller size as its nodes fill.
func (t *Tree) Demand(nodes int) (d Demand) {
	most := func(size uint32, level int) uint32 { return (size + 1<<level - 1) >> level }
	blocks := (uint32(nodes) + t.Base - 1) / t.Base
	level := bits.Len32(max(blocks, 1) - 1)
	before := max(bits.Len32(t.Levels&(1<<level-1))-1, 0)
	size := t.Count
	d.Within = engine.Root
	if level = bits.TrailingZeros32(t.Levels >> level << level); level < mostLevels {
		size = 1 << level
		d.Within = uint16(bits.OnesCount32(t.Levels & (2<<level - 1)))
	}
	switch {
	case most(blocks, before) >= most(size, before): // it has no smaller ones to spare
	case before > 0: // few of a size that is no leaf's
		d.Unsaid = true
	default:
		d.Switches = blocks
	}
	return d
}
