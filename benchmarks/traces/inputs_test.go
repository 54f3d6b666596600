// SPDX-License-Identifier: BSD-3-Clause

package traces

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/workload"
)

func inputsOf(t *testing.T, jobs []workload.Job, most int) (got []workload.Input) {
	t.Helper()
	require.NoError(t, ShareInputs(jobs, 20, 1000, most))
	for _, j := range jobs {
		got = append(got, j.Input)
	}
	return got
}

func TestShareInputs(t *testing.T) {
	job := func(user string, submit int64, r bids.Request) workload.Job {
		return workload.Job{Job: core.Job{Request: r}, Submit: submit, User: user}
	}
	jobs := []workload.Job{
		job("a", 0, bids.Request{Cores: 5}),
		job("a", 0, bids.Request{Cores: 20}),
		job("b", 0, bids.Request{Cores: 5}),
		job("a", 800, bids.Request{Cores: 5}),
		job("a", 801, bids.Request{Cores: 20}),
		job("", 802, bids.Request{Cores: 20}),
		job("", 803, bids.Request{Cores: 20}),
		job("a", 1600, bids.Request{Cores: 5}),
		job("a", 1601, bids.Request{MinNodes: 3, TasksPerNode: 40}),
		job("a", 1602, bids.Request{Cores: 30, MinNodes: 3}),
	}
	var want []workload.Input
	for _, x := range [][2]int{{1, 250}, {2, 1000}, {3, 250}, {1, 250}, {4, 1000}, {5, 1000}, {6, 1000}, {1, 250}, {7, 1000}, {8, 500}} {
		want = append(want, workload.Input{File: uint64(x[0]), Bytes: int64(x[1])})
	}
	require.Equal(t, want, inputsOf(t, jobs, 0))
	limited := inputsOf(t, jobs, 2)
	require.Equal(t, limited[0], limited[3])
	require.NotEqual(t, limited[3], limited[7], "two jobs have the file already")

	for i := range jobs { // all of them somebody's
		jobs[i].User = ""
	}
	nobodys := inputsOf(t, jobs, 0)
	require.Equal(t, nobodys[0], nobodys[2])
	require.Equal(t, nobodys[5], nobodys[6])
}

func TestShareInputsRejects(t *testing.T) {
	for _, c := range []struct {
		cores  int
		memory int64
		most   int
		want   string
	}{
		{20, 1000, -1, "jobs that share a file: -1"}, {20, 0, 0, "memory: 0"}, {65536, 1000, 0, "cores: 65536: must be"},
	} {
		jobs := []workload.Job{{}}
		require.ErrorContains(t, ShareInputs(jobs, c.cores, c.memory, c.most), c.want)
		require.Zero(t, jobs[0].Input)
	}
}
