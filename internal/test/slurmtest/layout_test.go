// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What is decided is what runs: a job that fits in one way only, on unequal nodes of
// which others hold parts, gets just the idle cores and GPUs.
func TestUnequalLayout(t *testing.T) {
	beside(t)
	bothModes(t, func(t *testing.T, m mode) {
		c := cluster(t, m, Config{Groups: Uniform(2, 8, 3)})
		w := watch(t, c)
		five := submit(t, c, "sleep 60", "-n5", "-N1", "-w", "n0001", "--gres=gpu:1")
		one := submit(t, c, "sleep 60", "-n1", "-N1", "-w", "n0002", "--gres=gpu:2")
		running(t, c, patience, five, one)
		ten := submit(t, c, "sleep 60", "-n10", "-N2", "--gres=gpu:1", "--time=5")
		w.Expect(ten, Ask{CPUs: 10, MinNodes: 2, MaxNodes: 2}.GPURange(1, 1))
		jobs := running(t, c, patience, five, one, ten)
		layout := jobs[2].Nodes
		require.Len(t, layout, 2)
		require.Len(t, layout[0].CPUs, 3, "%+v", layout)
		require.Len(t, layout[1].CPUs, 7, "%+v", layout)
		for i, other := range jobs[:2] {
			require.Len(t, layout[i].GPUs, 1)
			require.NotContains(t, other.Nodes[0].GPUs, layout[i].GPUs[0])
			for _, cpu := range layout[i].CPUs {
				require.NotContains(t, other.Nodes[0].CPUs, cpu)
			}
		}
		if m.name == "auction" {
			requireByAuction(t, c, ten)
		}
		_, err := w.Look(t.Context())
		require.NoError(t, err)
	})
}

// requireByAuction checks that the auction started the job, on the nodes that it has.
func requireByAuction(t *testing.T, c *Cluster, id uint32) {
	t.Helper()
	j, err := c.ShowJob(t.Context(), id)
	require.NoError(t, err)
	routes, err := c.Routes()
	require.NoError(t, err)
	require.Equal(t, 1, routes[id].Started, "job %d: starts by the auction (route %+v)", id, routes[id])
	require.Empty(t, routes[id].Left)
	require.Equal(t, j.NodeList, routes[id].NodeList)
}

// A GPU job that Slurm would shut out: a job of cores is spread so that the cores
// beside the GPUs stay free, down to the cores on each node.
func TestCoresAreLeftBesideGPUs(t *testing.T) {
	beside(t)
	c := cluster(t, auction, Config{Groups: []Group{{Nodes: 4, Cores: 8}, {Nodes: 4, Cores: 8, GPUs: 2}}})
	w := watch(t, c)
	var wide, gpus uint32
	together(t, c, func() {
		wide = submit(t, c, "sleep 60", "-n", "56", "-J", "wide")
		gpus = submit(t, c, "sleep 60", "-n", "8", "-N4", "--gres=gpu:2", "-J", "gpus")
	})
	w.Expect(wide, Ask{CPUs: 56})
	w.Expect(gpus, Ask{CPUs: 8, MinNodes: 4, MaxNodes: 4}.GPURange(2, 2))
	jobs := running(t, c, patience, wide, gpus)
	for _, s := range jobs[1].Nodes {
		require.Contains(t, []string{"n0005", "n0006", "n0007", "n0008"}, s.Node)
		other := jobs[0].Nodes[slices.IndexFunc(jobs[0].Nodes, func(o NodeShare) bool { return o.Node == s.Node })]
		require.Equal(t, 8, len(s.CPUs)+len(other.CPUs), "all cores are taken: %+v %+v", s, other)
	}
	requireByAuction(t, c, wide)
	requireByAuction(t, c, gpus)
}

// Many jobs of odd sizes share nodes, and no core or GPU is given twice.
func TestNoOverlap(t *testing.T) {
	beside(t)
	mostlyAuction(t, func(t *testing.T, m mode) {
		c := cluster(t, m, Config{Groups: Uniform(6, 8, 3)})
		w := watch(t, c)
		var ids []uint32
		together(t, c, func() {
			for i := range 30 {
				args := []string{"-n", fmt.Sprint(1 + i*7%11), "--time=1"}
				ask := Ask{CPUs: 1 + i*7%11}
				if g := i % 3; g > 0 && ask.CPUs >= 2 {
					args = append(args, "-N2", fmt.Sprint("--gres=gpu:", g))
					ask.MinNodes, ask.MaxNodes = 2, 2
					ask = ask.GPURange(g, g)
				}
				id := submit(t, c, "sleep 1", args...)
				w.Expect(id, ask)
				ids = append(ids, id)
			}
		})
		for range 20 { // look closely while they start and end
			_, err := w.Look(t.Context())
			require.NoError(t, err)
			time.Sleep(200 * time.Millisecond)
		}
		require.NoError(t, c.WaitEmpty(t.Context(), 60*time.Second))
		require.NoError(t, c.RanOnce(ids))
	})
}

// One task of several CPUs is on one node, though nobody has said so: the most usual job there is.
func TestOneTaskIsOnOneNode(t *testing.T) {
	beside(t)
	c := cluster(t, auction, Config{Groups: Uniform(4, 8, 2)})
	w := watch(t, c)
	for _, args := range [][]string{{"-c6"}, {"-n1", "-c8"}, {"-c4", "--gres=gpu:2"}} {
		id := submit(t, c, "sleep 20", append(args, "--time=1")...)
		ask := Ask{MinNodes: 1, MaxNodes: 1}
		if len(args) > 1 && args[1] == "--gres=gpu:2" {
			ask = ask.GPURange(2, 2)
		}
		w.Expect(id, ask)
		require.Len(t, running(t, c, patience, id)[0].Nodes, 1, args)
		requireByAuction(t, c, id)
	}
}
