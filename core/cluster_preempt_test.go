// SPDX-License-Identifier: BSD-3-Clause

package core_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/window"
)

// scavenger is a job of a node that jobs which preempt class 3 may have stopped.
func scavenger(id string, price int64) core.JobSpec {
	s := wholeNodes(id, 1)
	s.Price, s.Class = price, 3
	return s
}

// urgent is a job that may preempt class 3.
func urgent(id string, nodes int) core.JobSpec {
	s := wholeNodes(id, nodes)
	s.Priority, s.Preempts = 1000, 1<<3
	return s
}

func TestClusterStopsBeforeItStarts(t *testing.T) {
	c, _ := newCluster(t, 2)
	require.NoError(t, c.Submit(scavenger("dear", 20)))
	require.NoError(t, c.Submit(scavenger("cheap", 10)))
	first := decide(t, c)
	require.Len(t, first.Starts, 2)
	require.EqualValues(t, 20, first.Starts[0].Price)
	require.Equal(t, 3, first.Starts[0].Class)

	require.NoError(t, c.Submit(urgent("a", 1)))
	for range 2 { // and again, for as long as it runs
		cycle := decide(t, c)
		require.Empty(t, cycle.Starts)
		require.Equal(t, []core.Preempted{{Job: "cheap", For: []string{"a"}}}, cycle.Preempted)
		require.Len(t, cycle.Waiting, 1)
		require.Equal(t, "waits for running jobs that are being stopped for it", cycle.Waiting[0].Reason)
		require.NoError(t, c.SetPrice("dear", 5)) // that which is being stopped is cheaper still
	}
	require.NoError(t, c.Ended("cheap"))
	cycle := decide(t, c)
	require.Equal(t, "a", cycle.Starts[0].Job)
	require.Empty(t, cycle.Preempted)

	require.NoError(t, c.SetPrice("dear", 0))
	require.NoError(t, c.Submit(urgent("b", 1)))
	cycle = decide(t, c)
	require.Empty(t, cycle.Starts)
	require.Empty(t, cycle.Preempted)
	require.NoError(t, c.SetPrice("dear", 999))
	require.Len(t, decide(t, c).Preempted, 1)
}

func TestClusterPriceErrors(t *testing.T) {
	c, _ := newCluster(t, 1)
	bad := scavenger("x", -1)
	require.EqualError(t, c.Submit(bad), "job x: price: -1: must be 0 to 1099511627776")
	bad.Price, bad.Class = 1, 64
	require.EqualError(t, c.Submit(bad), "job x: class: 64: must be 0 to 63")
	require.EqualError(t, c.SetPrice("x", -1), "job x: price: -1: must be 0 to 1099511627776")
	require.ErrorIs(t, c.SetPrice("x", 1), core.ErrUnknown)
	require.NoError(t, c.Submit(wholeNodes("waits", 1)))
	require.EqualError(t, c.SetPrice("waits", 1), "job waits: id: waits: the job does not run")
	require.EqualError(t, c.Adopt(core.Start{Job: "y", Price: -1, Nodes: []core.Share{{Node: "n1", Cores: 1}}}),
		"job y: price: -1: must be 0 to 1099511627776")
}

// The window that a Cluster writes is decided as the Cluster decides.
func TestClusterWritesWhoMayBePreempted(t *testing.T) {
	c, _ := newCluster(t, 2)
	require.NoError(t, c.Adopt(core.Start{Job: "dear", Nodes: []core.Share{{Node: "n1", Cores: 8}}, Price: 20, Class: 3}))
	require.NoError(t, c.Adopt(core.Start{Job: "cheap", Nodes: []core.Share{{Node: "n2", Cores: 8}}, Price: 10, Class: 3}))
	require.NoError(t, c.Submit(urgent("a", 1)))
	var text bytes.Buffer
	require.NoError(t, c.WriteWindow(&text))
	w, err := window.Read(&text, "w.json")
	require.NoError(t, err)
	require.EqualValues(t, 1<<3, w.Snapshot.Pending[0].Preempts)
	a, err := core.NewAuction(core.Preset("none"), nil)
	require.NoError(t, err)
	var p core.Plan
	require.NoError(t, a.Decide(context.Background(), &w.Snapshot, core.Limits{}, &p))
	require.Equal(t, []core.Preemption{{Running: 1, For: []int{0}}}, p.Preempted)
	require.Equal(t, []core.Preempted{{Job: "cheap", For: []string{"a"}}}, decide(t, c).Preempted)
}
