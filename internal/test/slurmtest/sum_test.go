// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Winners of one cycle get no more memory than their nodes have, and those who have to wait for it
// start right after the others, on other nodes or when there is some: no start fails.
func TestMemoryOfWinners(t *testing.T) {
	beside(t)
	for _, s := range []struct {
		name, memory string
		threads      int
	}{
		{"a node", "--mem=3000", 1}, {"a CPU", "--mem-per-cpu=1500", 1}, {"a CPU of two threads", "--mem-per-cpu=1500", 2},
	} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			c := cluster(t, auction, Config{
				SelectTypeParameters: "CR_Core_Memory",
				Groups:               []Group{{Nodes: 2, Cores: 8 / s.threads, Threads: s.threads, MemoryMB: 8000}},
			})
			w := watch(t, c)
			var ids []uint32
			together(t, c, func() {
				for range 6 { // four of them have room
					ids = append(ids, submit(t, c, "sleep 4", "-N1", "-n2", s.memory, "--time=1"))
				}
			})
			require.NoError(t, c.WaitEmpty(t.Context(), 40*time.Second))
			require.NoError(t, c.RanOnce(ids))
			require.Equal(t, 4, w.Stop().MostRunning)
			require.Empty(t, logLines(t, c, "could not be started as decided"))
			status, err := c.Status()
			require.NoError(t, err)
			require.Zero(t, status.StartsFailed)
		})
	}
}
