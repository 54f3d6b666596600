// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// memoryBound has 48 jobs of two cores ask for much memory, so that it is what they wait for: two
// to four of them find room on a node. It returns their mean wait and how long all of it took.
func memoryBound(t *testing.T, m mode) [2]time.Duration {
	t.Helper()
	cfg := Site()
	cfg.PrologSlurmctld = "" // which has tests of its own
	c := cluster(t, m, cfg)
	w := watch(t, c)
	var ids []uint32
	for i := range 48 {
		mem := 14 + i%9*2
		id := submit(t, c, "sleep 6", as(Bob, "-N1", "-n2", fmt.Sprintf("--mem=%dG", mem), "--time=5", "-o", "/dev/null")...)
		w.Expect(id, Ask{MinCPUs: 2, MaxNodes: 1, MemoryMB: mem << 10})
		ids = append(ids, id)
	}
	require.NoError(t, c.WaitEmpty(t.Context(), 90*time.Second))
	require.NoError(t, c.RanOnce(ids))
	var first, last time.Time
	for _, id := range ids {
		j, err := c.ShowJob(t.Context(), id)
		require.NoError(t, err)
		if at := when(t, j, "SubmitTime"); first.IsZero() || at.Before(first) {
			first = at
		}
		if at := when(t, j, "EndTime"); at.After(last) {
			last = at
		}
	}
	mean, makespan := waits(t, c, ids), last.Sub(first)
	t.Logf("%s: mean wait %v, makespan %v", m.name, mean, makespan)
	if m.name != "stock" {
		s, err := c.Status()
		require.NoError(t, err)
		require.Zero(t, s.StartsFailed, "winners share a node that has memory for one of them")
	}
	return [2]time.Duration{mean, makespan}
}

// Where memory is what jobs wait for, they wait no longer with the auction than with stock Slurm.
func TestMemoryBinds(t *testing.T) {
	slow(t)
	beside(t)
	found := sideBySide(t, []string{"stock", "auction"}, func(t *testing.T, i int) [2]time.Duration {
		return memoryBound(t, []mode{siteStock, siteAuction}[i])
	})
	stock, auction := found[0], found[1]
	require.LessOrEqual(t, auction[0], stock[0]+siteInterval, "mean wait")
	require.LessOrEqual(t, auction[1], stock[1]+siteInterval, "makespan")
}

// A job that takes all memory of its node shares it with nobody who has some; all is decided, none fails.
func TestAllMemory(t *testing.T) {
	beside(t)
	mostlyAuction(t, func(t *testing.T, m mode) {
		c := cluster(t, m, Config{
			Groups:               []Group{{Nodes: 2, Sockets: 1, Cores: 8, Threads: 1, MemoryMB: 4000}},
			SelectTypeParameters: "CR_Core_Memory",
		})
		w := watch(t, c)
		var ids []uint32
		for _, mem := range []string{"500", "0", "0", "500", "0", "500"} {
			id := submit(t, c, "sleep 3", "-n1", "--mem="+mem, "--time=1", "-o", "/dev/null")
			w.Expect(id, Ask{MinCPUs: 1, MaxNodes: 1, MemoryMB: map[string]int{"500": 500, "0": 4000}[mem]})
			ids = append(ids, id)
		}
		require.NoError(t, c.WaitEmpty(t.Context(), 60*time.Second))
		require.NoError(t, c.RanOnce(ids))
		if m.name == "auction" {
			requireAuctioned(t, c, ids)
		}
	})
}
