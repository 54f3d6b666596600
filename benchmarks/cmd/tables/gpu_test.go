// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"io"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/benchmarks/pods"
	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/beside"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// TestGPUPage: the figures are made up.
func TestGPUPage(t *testing.T) {
	var rows []gpuRow
	for i, policy := range []string{"backfill", "auction2", "auction2, default"} {
		row := gpuRow{Trace: "Some trace", Rate: 2.5, Policy: policy}
		for k := range 3 {
			x := float64(i*k) + 1
			stranded := 10 * 0.05 * x * 100
			row.Runs = append(row.Runs, gpuRun{GPUs: 100, Busy: 0.9, WaitP95: 7200 * x, WaitArea: 1800 * x,
				Result: &sim.Result{WaitMean: 3600 / x, SlowdownMean: 10 * x, PendingMax: 1000 * k,
					GPUQueue: &sim.GPUQueue{Seconds: 36000, Idle: 0.1, Stranded: 0.05 * x}, StrandedGPUHours: &stranded}})
		}
		rows = append(rows, row)
	}
	text, err := gpuPage(rows)
	require.NoError(t, err)
	goldenPage(t, "gpu.golden", text)
}

func gpuJob(id string, submit, duration int64, gpus int) workload.Job {
	return workload.Job{Submit: submit, Duration: duration, Job: core.Job{ID: id, Priority: 1, TimeLimit: duration,
		Request: bids.Request{MinNodes: 1, MaxNodes: 1, TasksPerNode: 1, MinGPUs: gpus}}}
}

// TestGPUCases: on one node of 2 GPUs, the second of three jobs waits for the first.
// With jobs that come twice as fast the third comes as the second runs.
func TestGPUCases(t *testing.T) {
	c := gpuCase{trace: "a", rate: 1, nodes: []nodeset.Capacity{{Cores: 4, GPUs: 2}},
		jobs: []workload.Job{gpuJob("1", 0, 30, 1), gpuJob("2", 12, 30, 2), gpuJob("3", 60, 30, 2)}}
	faster := c
	faster.rate = 2
	rows, err := runGPUCases(context.Background(), []gpuCase{c, c, faster}, io.Discard)
	require.NoError(t, err)
	require.Len(t, rows, 6)
	require.Equal(t, []int64{0, 12, 60}, []int64{c.jobs[0].Submit, c.jobs[1].Submit, c.jobs[2].Submit}, "jobs stay as they are")
	for i, policy := range []string{"backfill", "auction2", "auction2, default"} {
		one, two := rows[i], rows[3+i]
		require.Equal(t, []any{"a", 1.0, policy, 2}, []any{one.Trace, one.Rate, one.Policy, len(one.Runs)})
		require.Equal(t, []any{"a", 2.0, policy, 1}, []any{two.Trace, two.Rate, two.Policy, len(two.Runs)})
		require.Equal(t, 18.0/3, one.Runs[0].WaitMean)
		require.Equal(t, 18.0, one.Runs[0].WaitP95, "the second job's")
		require.InDelta(t, 18*2.0/5, one.Runs[0].WaitArea, 1e-12, "it has 2 of 5 GPUs")
		require.InDelta(t, (30+2*30)/120.0, one.Runs[0].Busy, 1e-12)
		require.Equal(t, &sim.GPUQueue{Seconds: 18, Idle: 0.5, Stranded: 0.5}, one.Runs[0].GPUQueue)
		require.Equal(t, 54.0/3, two.Runs[0].WaitMean)
		require.InDelta(t, 30/60.0, two.Runs[0].Busy, 1e-12, "the job that starts at 30, when the last one comes, is not in it")
	}
}

func TestWindow(t *testing.T) {
	jobs := []workload.Job{gpuJob("1", 9, 1, 1), gpuJob("2", 10, 1, 1), gpuJob("3", 19, 1, 1), gpuJob("4", 20, 1, 1)}
	got := window(jobs, 10, 20)
	require.Equal(t, []workload.Job{gpuJob("2", 0, 1, 1), gpuJob("3", 9, 1, 1)}, got)
	require.Equal(t, int64(10), jobs[1].Submit, "jobs stay as they are")
}

// TestRealGPUCases: what is replayed of the real traces is what the page says.
func TestRealGPUCases(t *testing.T) {
	race.Slow(t)
	dir := filepath.Dir(beside.Shared(t, "traces/"+alibabaPods))
	cases, err := alibabaCases(dir)
	require.NoError(t, err)
	require.Len(t, cases, len(alibabaRates)*machines)
	for _, c := range cases {
		require.InDelta(t, 1523.0/everyNode, len(c.nodes), 1)
		require.Zero(t, c.jobs[0].Submit)
		require.Less(t, len(c.jobs), 7255)
		requireExact(t, c)
	}
	cases, err = phillyCases(dir)
	require.NoError(t, err)
	require.Len(t, cases, len(phillyRates)*phillyWeeks)
	for _, c := range cases {
		require.Len(t, c.nodes, phillyNodes)
		require.Greater(t, len(c.jobs), 5000)
		require.Less(t, c.jobs[len(c.jobs)-1].Submit, int64(phillyWindow))
	}
}

// requireExact: the pods ask for what the list says: a share is none of a whole GPU, and cores and
// memory are the list's.
func requireExact(t *testing.T, c gpuCase) {
	shares := 0
	for i := range c.jobs {
		j, pod := &c.jobs[i], c.jobs[i].Pod
		require.Equal(t, []int{pod.MilliCores, pod.GPUs}, []int{2 * j.TasksPerNode, j.MinGPUs}, j.ID)
		var want nodeset.Uses
		if j.Memory.PerNode > 0 {
			want = append(want, nodeset.Use{Row: pods.ExactMemory, PerNode: j.Memory.PerNode})
		}
		if pod.Share > 0 {
			shares++
			want = append(want, nodeset.Use{Row: pods.ExactShares, PerNode: int64(pod.Share)})
		}
		require.Equal(t, want, j.Uses, j.ID)
	}
	require.Greater(t, shares, 2500)
}

// TestRealWholeCases: nothing is left out.
func TestRealWholeCases(t *testing.T) {
	race.Slow(t)
	cases, err := wholeCases(filepath.Dir(beside.Shared(t, "traces/"+alibabaPods)))
	require.NoError(t, err)
	require.Len(t, cases, 2+machines)
	for i, c := range cases {
		require.Equal(t, 1.0, c.rate)
		if i == len(cases)-1 {
			require.Equal(t, []int{82247, phillyWhole}, []int{len(c.jobs), len(c.nodes)})
			continue
		}
		require.Len(t, c.jobs, 7255)
		requireExact(t, c)
	}
	require.Len(t, cases[0].nodes, 1523)
	require.InDelta(t, 1523.0/everyWhole, len(cases[1].nodes), 1)
}
