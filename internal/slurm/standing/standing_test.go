// SPDX-License-Identifier: BSD-3-Clause

package standing

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/engine"
)

func nodesAt(pattern string, addresses ...string) (nodes []Node) {
	for _, a := range addresses {
		nodes = append(nodes, Node{a[strings.LastIndexByte(a, '.')+1:], a, pattern})
	}
	return nodes
}

func TestTree(t *testing.T) {
	const pattern = "switch.switch.node"
	x := Read(nodesAt(pattern, "top.a.n1", "top.b.n2", "top.a.n3", ".c.n4", "n5"), "")
	require.Equal(t, &Tree{Parents: []uint32{None, 0, 0, None}, Leaves: []uint32{1, 2, 1, 3, None}, Roots: 2, Largest: 2, Outside: true}, x)
	x = Read([]Node{{"n1", "top.a.n2", pattern}, {"", "", ""}, {"n3", "", "node"}}, "")
	require.Equal(t, &Tree{Leaves: []uint32{None, None, None}, Outside: true}, x, "what is not said of a node is not known")
	require.True(t, Read([]Node{{"n1", "0.1.n1", "ring.node"}}, "").Other)
}

const block = "BlockName=%s BlockIndex=%d Nodes=n[1-4] BlockSize=4\n"

// sixBlocks are those of six blocks, of which further lines say what is joined.
func sixBlocks(more ...string) (text string) {
	for i, name := range []string{"b1", "b0", "b10", "b3", "b4", "b5"} {
		text += fmt.Sprintf(block, name, i)
	}
	for _, size := range more {
		text += "AggregatedBlock=b[0-1] BlockIndex=9 Nodes=n[1-9] BlockSize=" + size + "\n"
	}
	return text
}

func TestBlocks(t *testing.T) {
	nodes := nodesAt("block.node", "b0.n1", "b1.n2", "b4.n3", "b5.n4", "b9.n5", "n6")
	x := Read(nodes, sixBlocks())
	require.Equal(t, []uint32{5, 5, 5, 5, 5, None}, x.Parents, "one root")
	require.Equal(t, []uint32{4, 6, 1, 1}, []uint32{x.Base, x.Count, x.Levels, x.Roots})
	require.Equal(t, []uint32{0, 1, 2, 3, 4, None}, x.Leaves)
	require.True(t, x.Blocks && x.Outside && !x.Other)
	x = Read(nodes, sixBlocks("8", "16", "32"))
	require.EqualValues(t, 0b1111, x.Levels)
	// The root; b0 and b1 are neighbours, and b4 and b5; b9 is of no place that Slurm says. All six are not more than 8.
	require.Equal(t, []uint32{7, 7, 9, 9, 10, None, 5, 6, 5, 8, 8}, x.Parents)
	x = Read(nodes, sixBlocks("16"))
	require.EqualValues(t, 0b101, x.Levels)
	require.Equal(t, []uint32{6, 6, 7, 7, 7, None, 5, 5}, x.Parents)
}

// Of six blocks of four nodes.
func TestDemands(t *testing.T) {
	const blocks, pairs, fours, all, root = 1, 3, 5, 15, engine.Root
	for _, c := range []struct {
		levels uint32
		nodes  int
		want   Demand
	}{
		// What fits into a block is in one.
		{blocks, 0, Demand{Within: 1}}, {blocks, 1, Demand{Within: 1}}, {blocks, 4, Demand{Within: 1}}, {all, 4, Demand{Within: 1}},
		// Others are in the smallest that there is for them, and as few below it as they fill.
		{blocks, 5, Demand{2, root, false}}, {blocks, 9, Demand{3, root, false}}, {blocks, 20, Demand{5, root, false}},
		{blocks, 24, Demand{Within: root}}, {blocks, 99, Demand{Within: root}}, {pairs, 5, Demand{Within: 2}}, {pairs, 8, Demand{Within: 2}},
		{pairs, 17, Demand{Within: root}}, {all, 9, Demand{Within: 3}}, {all, 17, Demand{Within: 4}}, {fours, 5, Demand{2, 2, false}},
		{fours, 9, Demand{3, 2, false}}, {fours, 13, Demand{Within: 2}}, {fours, 17, Demand{Within: root}},
	} {
		x := Tree{Base: 4, Count: 6, Levels: c.levels}
		require.Equal(t, c.want, x.Demand(c.nodes), "%d nodes, levels %b", c.nodes, c.levels)
	}
	require.True(t, (&Tree{Base: 4, Count: 6, Levels: pairs}).Demand(9).Unsaid)
}

// What is not known to be said by Slurm is no sizes.
func TestSizes(t *testing.T) {
	one := fmt.Sprintf(block, "b0", 0)
	for _, text := range []string{
		"", "\n", "SwitchName=s0 Level=0 Nodes=n1\n", "BlockName=b0 BlockIndex=0 Nodes=n[1-4]\n", // 24.05
		"BlockName=b0 BlockIndex=0 Nodes=n[1-4] BlockSize=0\n", one + "BlockName=b1 BlockIndex=1 Nodes=n5 BlockSize=3\n",
		one + "AggregatedBlock=b0 BlockSize=6\n", "AggregatedBlock=b0 BlockSize=8\n", one + "AggregatedBlock=b0 BlockSize=99999999999",
		one + "AggregatedBlock=b0\nBlockSize=8", one + "AggregatedBlock=b0 BlockSize=99999999999999999999999",
	} {
		x := Read(nodesAt("block.node", "b0.n1"), text)
		require.Equal(t, []uint32{0, 0, 0}, []uint32{x.Base, x.Count, x.Levels}, text)
		require.Equal(t, []uint32{1, None}, x.Parents)
	}
}

// Whatever Slurm says, it is a tree: parents lead to a root.
func FuzzRead(f *testing.F) {
	f.Add("top.a.n1 top.b.n2", "switch.switch.node", sixBlocks("8"))
	f.Add("b0.n1 b1.n1", "block.node", sixBlocks("8", "16"))
	f.Fuzz(func(t *testing.T, addresses, pattern, sizes string) {
		x := Read(nodesAt(pattern, strings.Fields(addresses)...), sizes)
		for n := range 40 {
			if x.Count == 0 {
				break
			}
			d := x.Demand(n)
			require.True(t, d.Within == engine.Root || d.Within >= 1 && d.Within <= mostLevels)
		}
		for _, leaf := range append(x.Leaves, x.Parents...) {
			for steps := 0; leaf != None; steps++ {
				require.Less(t, int(leaf), len(x.Parents))
				require.LessOrEqual(t, steps, len(x.Parents))
				leaf = x.Parents[leaf]
			}
		}
	})
}
