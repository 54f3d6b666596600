// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Table I of ipsched.txt, scaled to the machine at hand: on N nodes of 8 cores and
// 2 GPUs, J1 asks for half of all cores, J2 and J3 for a quarter of them each on half
// of the nodes with both GPUs. One at a time J1 takes whole nodes and two jobs are all
// that run; decided together, all three do.
func TestTableI(t *testing.T) {
	beside(t)
	n := nodes(t) / 2 * 2
	for _, m := range []mode{stock, auction, standalone} {
		t.Run(m.name, func(t *testing.T) { testTableI(t, m, n) })
	}
}

func testTableI(t *testing.T, m mode, n int) {
	c := cluster(t, m, Config{Groups: Uniform(n, 8, 2)})
	w := watch(t, c)
	var ids [3]uint32
	together(t, c, func() {
		ids[0] = submit(t, c, "sleep 60", "-J", "J1", "-n", fmt.Sprint(4*n))
		for i := range 2 {
			ids[1+i] = submit(t, c, "sleep 60", "-J", fmt.Sprint("J", 2+i), "-n", fmt.Sprint(2*n), "-N", fmt.Sprint(n/2), "--gres=gpu:2")
		}
		w.Expect(ids[0], Ask{CPUs: 4 * n})
		half := Ask{CPUs: 2 * n, MinNodes: n / 2, MaxNodes: n / 2}.GPURange(2, 2)
		w.Expect(ids[1], half)
		w.Expect(ids[2], half)
	})
	if m.name != "stock" {
		running(t, c, patience, ids[:]...)
	} else {
		running(t, c, patience, ids[0], ids[1])
		staysPending(t, c, ids[2])
	}
	_, err := w.Look(t.Context())
	require.NoError(t, err)
}

// staysPending waits until backfill has gone through the queue twice more and then
// finds the job still pending.
func staysPending(t *testing.T, c *Cluster, id uint32) {
	t.Helper()
	before, err := c.Sdiag(t.Context())
	require.NoError(t, err)
	require.NoError(t, c.poll(t.Context(), time.Minute, "two cycles of backfill", func() (bool, error) {
		s, err := c.Sdiag(t.Context())
		return s.Backfill.Count >= before.Backfill.Count+2, err
	}))
	j, err := c.ShowJob(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, "PENDING", j.State)
}
