// SPDX-License-Identifier: BSD-3-Clause

package emulation

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/workload"
)

func TestRequestArgs(t *testing.T) {
	for _, c := range []struct {
		name   string
		r      bids.Request
		ranges bool
		want   string
	}{
		{"cores", bids.Request{Cores: 12}, false, "--ntasks=12"},
		{"one node", bids.Request{Cores: 4, MinNodes: 1, MaxNodes: 1}, false, "--ntasks=4 --nodes=1"},
		{"one node at most", bids.Request{Cores: 4, MaxNodes: 1}, false, "--ntasks=4 --nodes=1"},
		{"so many nodes", bids.Request{Cores: 12, MinNodes: 3, MaxNodes: 3}, false, "--ntasks=12 --nodes=3"},
		{"a range of nodes", bids.Request{Cores: 12, MinNodes: 2, MaxNodes: 5}, false, "--ntasks=12 --nodes=2-5"},
		{"nodes at most", bids.Request{Cores: 12, MaxNodes: 5}, false, "--ntasks=12 --nodes=1-5"},
		{"nodes at least", bids.Request{Cores: 12, MinNodes: 2}, false, "--ntasks=12 --nodes=2-999999"},
		{"any node", bids.Request{Cores: 12, MinNodes: 1}, false, "--ntasks=12"},
		{"cores a node", bids.Request{MinNodes: 2, MaxNodes: 2, TasksPerNode: 4}, false, "--nodes=2 --ntasks-per-node=4"},
		{"cores a node at most", bids.Request{Cores: 9, TasksPerNode: 4}, false, "--ntasks=9 --ntasks-per-node=4"},
		{"GPUs", bids.Request{Cores: 4, MinGPUs: 2}, false, "--ntasks=4 --gres=gpu:2"},
		{"GPUs, the maximum given", bids.Request{Cores: 4, MinGPUs: 2, MaxGPUs: 2}, true, "--ntasks=4 --gres=gpu:2"},
		{"a range of GPUs", bids.Request{Cores: 4, MinGPUs: 1, MaxGPUs: 3}, true, "--ntasks=4 --gres=gpu:1-3"},
		{"a range without ranges", bids.Request{Cores: 4, MinGPUs: 1, MaxGPUs: 3}, false, "--ntasks=4 --gres=gpu:1"},
		{"a range from 0", bids.Request{Cores: 4, MaxGPUs: 3}, true, "--ntasks=4 --gres=gpu:0-3"},
		{"a range from 0 without ranges", bids.Request{Cores: 4, MaxGPUs: 3}, false, "--ntasks=4"},
		{"contiguous", bids.Request{Cores: 4, MinNodes: 2, MaxNodes: 4, MinGPUs: 1, Contiguous: true},
			false, "--ntasks=4 --nodes=2-4 --gres=gpu:1 --contiguous"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, strings.Join(requestArgs(&c.r, c.ranges), " "))
		})
	}
}

func TestSbatchArgs(t *testing.T) {
	j := workload.Job{Job: core.Job{ID: "a", Request: bids.Request{Cores: 2, MinGPUs: 1, MaxGPUs: 2},
		TimeLimit: 605}, Submit: 7, Duration: 600}
	require.Equal(t, []string{"--job-name=j41", "--output=none", "--time=10:05", "--ntasks=2", "--gres=gpu:1-2"}, sbatchArgs(41, &j, true))
	require.Equal(t, []string{"--job-name=j41", "--output=none", "--time=10:05", "--ntasks=2", "--gres=gpu:1"}, sbatchArgs(41, &j, false))
	for seconds, want := range map[int64]string{1: "0:01", 60: "1:00", 86400: "1440:00", 599: "9:59"} {
		require.Equal(t, want, limit(seconds))
	}
}

// The script says how long the job lasts, at most until its limit, and with how many GPUs.
func TestScript(t *testing.T) {
	for _, c := range []struct {
		duration, limit int64
		min, max        int
		want            string
	}{
		{600, 900, 0, 0, "600"}, {900, 600, 0, 0, "600"}, {600, 900, 2, 2, "600"}, {600, 900, 2, 0, "600"},
		{600, 900, 1, 3, "600 gpus=1"}, {600, 900, 0, 3, "600"},
	} {
		j := workload.Job{Job: core.Job{Request: bids.Request{MinGPUs: c.min, MaxGPUs: c.max}, TimeLimit: c.limit}, Duration: c.duration}
		require.Equal(t, "#!/bin/sh\n# aucsched-emulation: "+c.want+"\n", script(&j))
	}
}

func TestJobNumber(t *testing.T) {
	for i := range 12 {
		got, err := jobNumber(jobName(i), 12)
		require.NoError(t, err)
		require.Equal(t, i, got)
	}
	for _, name := range []string{"j12", "j-1", "j01", "1", "j", "", "sbatch", "j1.5"} {
		_, err := jobNumber(name, 12)
		require.ErrorContains(t, err, "not of the workload", name)
	}
}
