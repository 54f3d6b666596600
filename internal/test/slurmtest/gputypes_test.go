// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"cmp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A GPU of a type is found on nodes that have others too, however long the nodes that have
// that type alone are held.
func TestGPUsOfSeveralTypes(t *testing.T) {
	slow(t)
	beside(t)
	mostly(t, []mode{siteStock, siteAuction}, func(t *testing.T, m mode) {
		c := cluster(t, m, Site())
		w := watch(t, c)
		var block []uint32
		for range 2 {
			block = append(block, submit(t, c, "sleep 300", as(Bob, "-p", "gpu", "-N1", "-n1", "--gres=gpu:a100:4", "--time=10")...))
		}
		running(t, c, patience, block...)
		mixed := []string{"n0011", "n0012"}
		start := func(gres string, gpus int, limit time.Duration, has ...string) {
			id := submit(t, c, "sleep 300", as(Alice, "-p", "gpu", "-N1", "-n1", "--gres="+gres, "--time=10")...)
			w.Expect(id, Ask{MinCPUs: 1, Within: mixed}.GPURange(gpus, gpus))
			began := time.Now()
			j := running(t, c, limit, id)[0]
			t.Logf("%s starts after %v", gres, time.Since(began))
			held := cmp.Or(j.Fields["AllocTRES"], j.Fields["TRES"])
			for _, h := range has {
				require.Contains(t, held, h)
			}
		}
		start("gpu:a100:1", 1, 20*time.Second, "gres/gpu:a100=1")
		start("gpu:v100:1", 1, 20*time.Second, "gres/gpu:v100=1")
		start("gpu:1", 1, 20*time.Second, "gres/gpu=1")
		start("gpu:a100:1,gpu:v100:1", 2, 20*time.Second, "gres/gpu:a100=1", "gres/gpu:v100=1")
		_, err := w.Look(t.Context())
		require.NoError(t, err)
	})
}
