// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A beyondBed is a machine of four nodes, a little of which is held, with more jobs than the window
// of two has room for.
type beyondBed struct {
	*Cluster
	t *testing.T
}

// set sets the policy, with a window of two jobs. A reason that Slurm has
// overwritten is put right soon.
func (b beyondBed) set(parameters string) {
	b.t.Helper()
	require.NoError(b.t, b.SetParameters(b.t.Context(), join(",", quickAuction, quickStock, "auc_window=2,auc_delay_ms=200", parameters)))
}

// wide is a job for the whole machine, small one for which there is room.
func (b beyondBed) wide() uint32 {
	return submit(b.t, b.Cluster, "true", "-n16", "-N4", "--mem=100", "--time=1")
}

func (b beyondBed) small() uint32 {
	return submit(b.t, b.Cluster, "sleep 60", "-n1", "--mem=100", "--time=2")
}

// requireBehind has Slurm go through the queue, to the very end of which there is a job that is
// always left to it, and checks that the jobs still wait, and for what.
func (b beyondBed) requireBehind(ids ...uint32) {
	b.t.Helper()
	last := submit(b.t, b.Cluster, "sleep 60", "-n1", "--mem=100", "--time=2", "--spread-job")
	running(b.t, b.Cluster, patience, last)
	waitCycles(b.t, b.Cluster, 1)
	for _, id := range ids {
		b.requireWaits(true, id)
	}
	require.NoError(b.t, b.Scancel(b.t.Context(), fmt.Sprint(last)))
}

// requireWaits checks that a job waits, and whether it is said to be behind the window.
func (b beyondBed) requireWaits(behind bool, id uint32) {
	b.t.Helper()
	var j Job
	require.NoError(b.t, b.poll(b.t.Context(), 30*time.Second, "the reason", func() (bool, error) {
		var err error
		j, err = b.ShowJob(b.t.Context(), id)
		return j.State != "PENDING" || (j.Reason == "Priority,_behind_auc_window") == behind, err
	}), "%s (%s)", j.State, j.Reason)
	require.Equal(b.t, "PENDING", j.State)
}

// requireStarts checks that jobs start, and by whom.
func (b beyondBed) requireStarts(byAuction bool, ids ...uint32) {
	b.t.Helper()
	for _, j := range running(b.t, b.Cluster, patience, ids...) {
		require.NotContains(b.t, j.Reason, "behind")
		routes, err := b.Routes()
		require.NoError(b.t, err)
		require.Equal(b.t, byAuction, routes[j.ID].Started == 1, "job %d", j.ID)
	}
	require.NoError(b.t, b.Scancel(b.t.Context(), numbers(ids)...))
}

func numbers(ids []uint32) (text []string) {
	for _, id := range ids {
		text = append(text, fmt.Sprint(id))
	}
	return text
}

// Jobs behind the window come into it as others leave, or Slurm starts them before.
func TestBeyondTheWindow(t *testing.T) {
	beside(t)
	c := cluster(t, auction, Config{SelectTypeParameters: "CR_Core_Memory", Groups: []Group{{Nodes: 4, Cores: 4, MemoryMB: 8000}},
		SchedulerParameters: "auc_policy=ipsched"}) // whose library has the auction too
	b := beyondBed{c, t}
	running(t, c, patience, submit(t, c, "sleep 300", "-n1", "--mem=6000", "--time=10"))
	var first, second uint32
	var behind []uint32
	b.set("auc_policy=ipsched")
	waitSetting(t, c, "policy=ipsched")
	together(t, c, func() { first, second, behind = b.wide(), b.wide(), []uint32{b.small(), b.small()} })
	b.requireBehind(behind...)

	b.set("auc_preset=paper") // then the library does not see them at all
	waitSetting(t, c, "preset=paper")
	b.requireBehind(behind...)
	require.NoError(t, c.Scancel(t.Context(), fmt.Sprint(first)))
	b.requireStarts(true, behind...)

	together(t, c, func() { first, behind = b.wide(), []uint32{b.small(), b.small()} })
	b.requireBehind(behind...)
	b.set("auc_preset=paper,auc_beyond=slurm")
	b.requireStarts(false, behind...)

	// For want of nodes' whole memory the window's jobs can't run at all, for now.
	// Nobody waits for them.
	require.NoError(t, c.Scancel(t.Context(), numbers([]uint32{first, second})...))
	b.set("auc_preset=paper,auc_beyond=wait")
	together(t, c, func() {
		for range 3 {
			submit(t, c, "true", "-n4", "-N4", "--mem=0", "--time=1")
		}
		behind = []uint32{b.small(), b.small()}
	})
	b.requireStarts(true, behind...)

	// Without an auction there is no window.
	together(t, c, func() { behind = []uint32{b.wide(), b.wide(), b.wide()} })
	b.requireWaits(true, behind[2])
	b.set("auc_enabled=no")
	b.requireWaits(false, behind[2])
}
