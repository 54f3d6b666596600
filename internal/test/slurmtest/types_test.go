// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Nodes with several types of GPU serve jobs for one of them, and the type that a job asks
// for is what it gets.
func TestSeveralTypes(t *testing.T) {
	beside(t)
	mostlyAuction(t, func(t *testing.T, m mode) {
		c := cluster(t, m, Config{
			Groups: []Group{
				{Nodes: 1, Cores: 8, GPUs: 4, GPUType: "a100"},
				{Nodes: 2, Cores: 8, GPUTypes: []GPUType{{"a100", 2}, {"v100", 2}}},
			},
		})
		w := watch(t, c)
		pure := submit(t, c, "sleep 60", "-N1", "-n1", "--gres=gpu:a100:4", "--time=2")
		running(t, c, patience, pure)
		var ids []uint32
		for _, r := range []struct {
			gres    string
			devices []int // of a node with both types
		}{
			{"gpu:a100:1", []int{0, 1}}, {"gpu:v100:2", []int{2, 3}}, {"gpu:v100:1", []int{2, 3}}, {"gpu:a100:1", []int{0, 1}},
			{"gpu:2", nil},
		} {
			id := submit(t, c, "sleep 60", "-N1", "-n1", "--gres="+r.gres, "--time=2")
			j := running(t, c, patience, id)[0]
			require.Len(t, j.Nodes, 1)
			require.NotEqual(t, "n0001", j.Nodes[0].Node)
			if r.devices != nil {
				require.Subset(t, r.devices, j.Nodes[0].GPUs, r.gres)
			}
			ids = append(ids, id)
		}
		// Of the a100 only those of the first node will do.
		last := submit(t, c, "sleep 1", "-N1", "-n1", "--gres=gpu:a100:2", "--time=2")
		time.Sleep(3 * time.Second)
		j, err := c.ShowJob(t.Context(), last)
		require.NoError(t, err)
		require.Equal(t, "PENDING", j.State)
		require.NoError(t, c.Scancel(t.Context(), fmt.Sprint(pure)))
		j = running(t, c, patience, last)[0]
		require.Equal(t, "n0001", j.Nodes[0].Node)
		if m.name == "auction" {
			for _, id := range ids { // the last one Slurm may try as well
				requireByAuction(t, c, id)
			}
		}
		require.NoError(t, c.Scancel(t.Context(), numbers(ids)...))
		_, err = w.Look(t.Context())
		require.NoError(t, err)
	})
}
