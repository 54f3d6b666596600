// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// By Weight, jobs without GPUs are on nodes without GPUs as long as these suit them, as with stock
// Slurm; when these are full they start on the others all the same.
func TestNodeWeights(t *testing.T) {
	beside(t)
	mostlyAuction(t, func(t *testing.T, m mode) { gpuNodesLast(t, m, "Weight=1", "Weight=10") })
}

// The auction spares nodes with GPUs without any Weight, too.
func TestGPUNodesLast(t *testing.T) {
	beside(t)
	gpuNodesLast(t, auction, "", "")
}

func gpuNodesLast(t *testing.T, m mode, plain, gpus string) {
	c := cluster(t, m, Config{Groups: []Group{
		{Nodes: 4, Cores: 8, GPUs: 4, Options: gpus}, {Nodes: 4, Cores: 8, Options: plain}}})
	wide := submit(t, c, "sleep 30", "-N2", "--ntasks-per-node=8", "--time=1")
	ids := []uint32{wide, submit(t, c, "sleep 30", "-N1", "-n1", "--gres=gpu:1", "--time=1")}
	for range 4 {
		ids = append(ids, submit(t, c, "sleep 30", "-n4", "-N1", "--time=1"))
	}
	for i, j := range running(t, c, patience, ids...) {
		for _, on := range j.Nodes {
			require.Equal(t, i == 1, on.Node <= "n0004", "job %d is on %s", j.ID, on.Node)
		}
	}
	spill := submit(t, c, "sleep 30", "-n8", "-N1", "--time=1")
	for _, on := range running(t, c, patience, spill)[0].Nodes {
		require.LessOrEqual(t, on.Node, "n0004", "the others are full")
	}
}

// However many weights there are, nodes of each are used before those of the next: no node with
// GPUs by a job without, as long as a node without suits it, and of these the one of the least
// weight.
func TestManyNodeWeights(t *testing.T) {
	beside(t)
	const weights = 11
	groups := []Group{{Nodes: 1, Cores: 4, GPUs: 2, Options: fmt.Sprintf("Weight=%d", 10*weights+10)}}
	for i := range weights { // the last nodes are those of the least weight
		groups = append(groups, Group{Nodes: 1, Cores: 4, Options: fmt.Sprintf("Weight=%d", 10*(weights-i))})
	}
	c := cluster(t, auction, Config{Groups: groups})
	var ids []uint32
	for range weights - 1 {
		ids = append(ids, submit(t, c, "sleep 120", "-n4", "-N1", "--time=3"))
		on := running(t, c, patience, ids...)[len(ids)-1].Nodes
		require.Equal(t, NodeName(2+weights-len(ids)), on[0].Node, "job %d", len(ids))
	}
	both := []uint32{submit(t, c, "sleep 120", "-n2", "-N1", "--time=3"), submit(t, c, "sleep 120", "-n2", "-N1", "--time=3")}
	for _, j := range running(t, c, patience, both...) {
		require.Equal(t, NodeName(2), j.Nodes[0].Node, "there is one node without GPUs left")
	}
	spill := running(t, c, patience, submit(t, c, "sleep 120", "-n2", "-N1", "--time=3"))
	require.Equal(t, NodeName(1), spill[0].Nodes[0].Node, "the others are full")
}
