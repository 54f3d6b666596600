// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// TestTopologyPage: the figures are made up.
func TestTopologyPage(t *testing.T) {
	var rows []treeRow
	for i, p := range treePolicies() {
		row := treeRow{Case: "Some trace", Policy: p.name}
		for k := range 2 {
			row.Runs = append(row.Runs, treeRun{Busy: 0.5, Result: &sim.Result{WaitMean: 360 * float64(i+k), SlowdownMean: 3,
				Leaves: &sim.LeafUse{Mean: 1 + float64(i)/10, WideMean: 2, Wide: 50, Whole: 10 * k}}})
		}
		rows = append(rows, row)
	}
	text, err := topologyPage(rows)
	require.NoError(t, err)
	goldenPage(t, "topology.golden", text)
}

// Of eight nodes below two leaves two are held when three are wanted: who knows of the leaves is
// below one.
func TestTreeCases(t *testing.T) {
	job := func(id string, submit int64, nodes int) workload.Job {
		return workload.Job{Submit: submit, Duration: 60, Job: core.Job{ID: id, Priority: 1, TimeLimit: 60,
			Request: bids.Request{MinNodes: nodes, TasksPerNode: 4}}}
	}
	c := treeCase{name: "a", node: nodeset.Capacity{Cores: 4}, rate: 1,
		jobs: []workload.Job{job("1", 0, 2), job("2", 9, 3), job("3", 30, 1)}}
	rows, err := runTreeCases(context.Background(), []treeCase{c, c}, 8, 2, io.Discard)
	require.NoError(t, err)
	require.Len(t, rows, 4)
	for i, p := range treePolicies() {
		require.Equal(t, p.name, rows[i].Policy)
		require.Len(t, rows[i].Runs, 2)
		require.Equal(t, map[bool]int{false: 2, true: 1}[p.blind], rows[i].Runs[0].Leaves.Whole)
	}
	require.InDelta(t, (2*30+3*21)*4.0/(30*32), rows[0].Runs[0].Busy, 1e-9)
}
