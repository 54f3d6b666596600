// SPDX-License-Identifier: BSD-3-Clause

// Package draw is for tests: it makes machines, by hand and at random.
package draw

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/nodeset"
)

// Machine makes a machine of which free is free; all of it where that is nil.
func Machine(t require.TestingT, total []nodeset.Capacity, free []nodeset.Capacity) *nodeset.Table {
	tab, err := nodeset.New(total)
	require.NoError(t, err)
	for n, c := range free {
		require.NoError(t, tab.SetFree(n, c))
	}
	return tab
}

// CoresFree is a machine of nodes of 16 cores, of which so many are free.
func CoresFree(t require.TestingT, free ...uint16) *nodeset.Table {
	total := make([]nodeset.Capacity, len(free))
	left := make([]nodeset.Capacity, len(free))
	for n, c := range free {
		total[n], left[n] = nodeset.Capacity{Cores: 16}, nodeset.Capacity{Cores: c}
	}
	return Machine(t, total, left)
}

// Table draws a machine of which a part is free, and some nodes are down.
func Table(t *rapid.T) *nodeset.Table {
	n := rapid.IntRange(1, 140).Draw(t, "nodes")
	if rapid.Bool().Draw(t, "few") {
		n = min(n, 12)
	}
	total, free := make([]nodeset.Capacity, n), make([]nodeset.Capacity, n)
	most := rapid.IntRange(1, 12).Draw(t, "most cores")
	for i := range total {
		total[i] = nodeset.Capacity{Cores: uint16(rapid.IntRange(1, most).Draw(t, "cores")),
			GPUs: uint8(rapid.IntRange(0, 3).Draw(t, "gpus"))}
		free[i] = nodeset.Capacity{
			Cores: uint16(rapid.IntRange(0, int(total[i].Cores)).Draw(t, "free cores")),
			GPUs:  uint8(rapid.IntRange(0, int(total[i].GPUs)).Draw(t, "free gpus")),
		}
	}
	tab := Machine(t, total, free)
	for range rapid.IntRange(0, 2).Draw(t, "down") {
		tab.SetUp(rapid.IntRange(0, n-1).Draw(t, "down node"), false)
	}
	return tab
}

// Mask draws a mask of n nodes, mostly nil.
func Mask(t *rapid.T, n int, name string) nodeset.Mask {
	if rapid.IntRange(0, 3).Draw(t, name+" given") > 0 {
		return nil
	}
	m := nodeset.NewMask(n)
	for i := range n {
		if rapid.IntRange(0, 4).Draw(t, name) > 0 {
			m.Set(i)
		}
	}
	return m
}

// Layout writes an allocation node by node: node:cores.
func Layout(segs []nodeset.Segment) string {
	out := ""
	for _, s := range segs {
		for n := s.First; n <= s.Last; n++ {
			if out != "" {
				out += " "
			}
			out += fmt.Sprintf("%d:%d", n, s.Cores)
		}
	}
	return out
}

// PerNode lists an allocation node by node.
func PerNode(segs []nodeset.Segment) (nodes []int, cores, gpus map[int]int) {
	cores, gpus = map[int]int{}, map[int]int{}
	for _, s := range segs {
		for n := int(s.First); n <= int(s.Last); n++ {
			nodes = append(nodes, n)
			cores[n], gpus[n] = int(s.Cores), int(s.GPUs)
		}
	}
	return nodes, cores, gpus
}

// HalfBusy is a machine of Tsubame's nodes on which jobs hold about half of all, in
// runs of up to 32 nodes, some with all cores and some with a part.
func HalfBusy(t require.TestingT, n int) *nodeset.Table {
	tab, err := nodeset.NewUniform(n, nodeset.Capacity{Cores: 12, GPUs: 3})
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(uint64(n), 3))
	for i := 0; i < n; {
		run := min(1+rng.IntN(32), n-i)
		c := nodeset.Capacity{Cores: 12, GPUs: 3}
		switch rng.IntN(4) {
		case 0, 1:
			c = nodeset.Capacity{}
		case 2:
			c = nodeset.Capacity{Cores: 6, GPUs: 1}
		}
		for k := range run {
			require.NoError(t, tab.SetFree(i+k, c))
		}
		i += run
	}
	return tab
}

// Switch is a nodeset.Switch with the nodes of a leaf.
type Switch struct {
	Name   string
	Parent int
	Nodes  nodeset.Mask
}

// Topology is that of a machine of so many nodes below these switches.
func Topology(nodes int, switches []Switch) (*nodeset.Topology, error) {
	leaf, bare := slices.Repeat([]int32{-1}, nodes), make([]nodeset.Switch, len(switches))
	for i, s := range switches {
		bare[i] = nodeset.Switch{Name: s.Name, Parent: s.Parent}
		for n := range nodes {
			if s.Nodes != nil && s.Nodes.Has(n) {
				leaf[n] = int32(i)
			}
		}
	}
	return nodeset.NewTopology(leaf, bare)
}

// Tree is a topology of nodes that are below so many leaves, in order, and these below one root.
func Tree(t require.TestingT, nodes, leaves int) *nodeset.Topology {
	switches, leaf := []nodeset.Switch{}, make([]int32, nodes)
	for i := range leaves {
		switches = append(switches, nodeset.Switch{Name: fmt.Sprint("leaf", i), Parent: leaves})
	}
	for n := range leaf {
		leaf[n] = int32(n * leaves / nodes)
	}
	tree, err := nodeset.NewTopology(leaf, append(switches, nodeset.Switch{Name: "root", Parent: -1}))
	require.NoError(t, err)
	return tree
}
