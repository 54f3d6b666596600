// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Slices of GPUs (MIG) are types of GPU that stand beside each other on every node. Jobs that
// together ask for each slice there is start in one cycle, each with its own.
func TestSlicesOfGPUs(t *testing.T) {
	beside(t)
	mostlyAuction(t, func(t *testing.T, m mode) {
		c := cluster(t, m, Config{Groups: []Group{
			{Nodes: 2, Cores: 16, GPUTypes: []GPUType{{"1g.5gb", 4}, {"2g.10gb", 2}, {"3g.20gb", 1}}},
		}})
		w := watch(t, c)
		var slices []string
		for range 2 {
			slices = append(slices, "1g.5gb", "1g.5gb", "1g.5gb", "1g.5gb", "2g.10gb", "2g.10gb", "3g.20gb")
		}
		rand.Shuffle(len(slices), func(i, k int) { slices[i], slices[k] = slices[k], slices[i] })
		var ids []uint32
		for _, slice := range slices {
			ids = append(ids, submit(t, c, "sleep 60", "-N1", "-n1", "--gres=gpu:"+slice+":1", "--time=2", "-H"))
		}
		release(t, c, ids...)
		began := time.Now()
		devices := map[string][]int{"1g.5gb": {0, 1, 2, 3}, "2g.10gb": {4, 5}, "3g.20gb": {6}}
		for i, j := range running(t, c, patience, ids...) {
			require.Len(t, j.Nodes, 1)
			require.Subset(t, devices[slices[i]], j.Nodes[0].GPUs, slices[i])
		}
		t.Logf("%s: all run after %v", m.name, time.Since(began))
		if m.name != "stock" {
			for _, id := range ids {
				requireByAuction(t, c, id)
			}
			requireNoMisses(t, c)
		}
		require.NoError(t, c.Scancel(t.Context(), numbers(ids)...))
		_, err := w.Look(t.Context())
		require.NoError(t, err)
	})
}
