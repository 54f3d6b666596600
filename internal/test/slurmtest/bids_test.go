// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// With no bids but Slurm's, the auction gives every job what stock Slurm gives it: the same
// nodes, as many cores on each, and the same GPUs, all in one cycle. Which cores is its own
// choice.
func TestSlurmBids(t *testing.T) {
	beside(t)
	type share struct {
		node string
		cpus int
		gpus []int
	}
	layouts := map[string][][]share{}
	bothModes(t, func(t *testing.T, m mode) {
		c := cluster(t, m, Config{
			Groups:              []Group{{Nodes: 4, Cores: 8, Sockets: 2, GPUs: 2}, {Nodes: 4, Cores: 12}},
			SchedulerParameters: "auc_slurm_bids=20,auc_bids=1,auc_drafts=0,auc_reservations=0,auc_delay_ms=500",
		})
		w := watch(t, c)
		var ids []uint32
		together(t, c, func() {
			for _, args := range [][]string{
				{"-n5"}, {"-n12"}, {"-N2", "-n4", "--gres=gpu:1"}, {"-N2", "--ntasks-per-node=3", "--contiguous"},
				{"-n9"}, {"-N1", "-n2", "--gres=gpu:2"}, {"-n7", "--exclude=n0005"},
			} {
				ids = append(ids, submit(t, c, "sleep 60", append(args, "--time=5")...))
			}
		})
		for _, j := range running(t, c, patience, ids...) {
			var layout []share
			for _, n := range j.Nodes {
				layout = append(layout, share{n.Node, len(n.CPUs), n.GPUs})
			}
			layouts[m.name] = append(layouts[m.name], layout)
		}
		_, err := w.Look(t.Context())
		require.NoError(t, err)
		if m.name != "auction" {
			return
		}
		routes, err := c.Routes()
		require.NoError(t, err)
		for _, id := range ids {
			require.Equal(t, "S", routes[id].Class, "job %d", id)
		}
		require.Equal(t, layouts["stock"], layouts["auction"])
	})
}
