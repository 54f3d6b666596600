// SPDX-License-Identifier: BSD-3-Clause

package localitylog

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/benchmarks/locality"
	"github.com/aucsched/aucsched/benchmarks/traces"
	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/test/generate"
	"github.com/aucsched/aucsched/internal/workload"
)

// swf makes a trace of jobs "submit user cores".
func swf(t *testing.T, jobs ...string) *workload.Workload {
	t.Helper()
	var b strings.Builder
	for i, j := range jobs {
		f := strings.Fields(j)
		for _, field := range []string{string(rune('1' + i)), f[0], "0", "50", f[2],
			"-1", "-1", f[2], "100", "-1", "1", f[1], "-1", "-1", "-1", "-1", "-1", "-1"} {
			b.WriteString(field + " ")
		}
		b.WriteString("\n")
	}
	w, err := traces.ReadSWF(strings.NewReader(b.String()), "t.swf", traces.SWFOptions{})
	require.NoError(t, err)
	return w
}

func filesOf(jobs []locality.Job) []int64 {
	var out []int64
	for _, j := range jobs {
		out = append(out, j.File)
	}
	return out
}

// Section 5.1: the same user, as many cores, at most 800 s apart.
func TestFromTraceFiles(t *testing.T) {
	for name, c := range map[string]struct {
		jobs []string
		want []int64
	}{
		"the same":                       {[]string{"0 7 4", "800 7 4", "1600 7 4"}, []int64{1, 1, 1}},
		"too late":                       {[]string{"0 7 4", "801 7 4"}, []int64{1, 2}},
		"other cores":                    {[]string{"0 7 4", "1 7 5", "2 7 4"}, []int64{1, 2, 1}},
		"another user":                   {[]string{"0 7 4", "1 8 4", "2 7 4"}, []int64{1, 2, 1}},
		"a user unknown":                 {[]string{"0 -1 4", "1 8 4", "2 -1 4"}, []int64{1, 2, 3}},
		"all users unknown: one user":    {[]string{"0 -1 4", "1 -1 4"}, []int64{1, 1}},
		"more than a node: nodes, rest":  {[]string{"0 7 45", "1 7 20", "2 7 5"}, []int64{1, 1, 2, 1, 2}},
		"nodes that came long after one": {[]string{"0 7 20", "900 7 40"}, []int64{1, 2, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			jobs, err := FromTrace(swf(t, c.jobs...), TraceOptions{CoresPerNode: 20, MemoryPerNode: 128})
			require.NoError(t, err)
			require.Equal(t, c.want, filesOf(jobs))
		})
	}
}

func TestFromTraceJobs(t *testing.T) {
	jobs, err := FromTrace(swf(t, "10 7 5", "100 7 5", "190 7 5"),
		TraceOptions{CoresPerNode: 20, MemoryPerNode: 128, WarmUp: 90, Evaluate: 60})
	require.NoError(t, err)
	want := locality.Job{ID: 1, Submit: 0, Duration: 50, WallTime: 100, Cores: 5,
		User: "7", File: 1, FileSize: 32, Class: locality.WarmUp, StartNode: 1}
	require.Equal(t, want, jobs[0])
	require.Equal(t, []locality.Class{locality.WarmUp, locality.Evaluated, locality.Pressure},
		[]locality.Class{jobs[0].Class, jobs[1].Class, jobs[2].Class})

	_, err = FromTrace(swf(t, "0 7 4"), TraceOptions{CoresPerNode: 0, MemoryPerNode: 128})
	require.EqualError(t, err, "cores per node: 0: must be in 1..1024")
	_, err = FromTrace(swf(t, "0 7 4"), TraceOptions{CoresPerNode: 1, MemoryPerNode: -1})
	require.EqualError(t, err, "memory: -1: must be above 0 and at most 1e+09 GB")
	_, err = FromTrace(swf(t, "0 7 9000000"), TraceOptions{CoresPerNode: 1, MemoryPerNode: 1})
	require.EqualError(t, err, `job "1": more than 4194304 jobs, counting each node of a job`)
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		request bids.Request
		want    [3]int // count, cores, rest
	}{
		{bids.Request{Cores: 7}, [3]int{1, 7, 0}},
		{bids.Request{Cores: 47}, [3]int{2, 20, 7}},
		{bids.Request{Cores: 12, MinNodes: 3}, [3]int{3, 4, 0}},
		{bids.Request{Cores: 13, MinNodes: 3}, [3]int{2, 5, 3}},
		{bids.Request{Cores: 70, MinNodes: 2}, [3]int{3, 20, 10}},
		{bids.Request{MinNodes: 2, TasksPerNode: 8}, [3]int{2, 8, 0}},
		{bids.Request{Cores: 20, TasksPerNode: 8}, [3]int{2, 8, 4}},
		{bids.Request{MinNodes: 2}, [3]int{2, 1, 0}},
	} {
		count, cores, rest := split(&c.request, 20)
		require.Equal(t, c.want, [3]int{count, cores, rest}, "%+v", c.request)
	}
}

// Generators name no users: their jobs are one user's.
func TestFromGenerator(t *testing.T) {
	nodes, err := traces.ParseCluster("16x8x2")
	require.NoError(t, err)
	w, err := generate.Generate("gen:esp", nodes, 1)
	require.NoError(t, err)
	jobs, err := FromTrace(w, TraceOptions{CoresPerNode: 8, MemoryPerNode: 128})
	require.NoError(t, err)
	cluster := make([]locality.Node, 16)
	for i := range cluster {
		cluster[i] = locality.Node{ID: i, Memory: 128, Bandwidth: 0.1, Cores: 8}
	}
	transfers := map[string]int64{}
	for _, name := range []string{"fcfs", "lea"} {
		r, err := locality.Simulate(context.Background(), cluster, jobs, locality.Options{Policy: name})
		require.NoError(t, err)
		require.Equal(t, len(jobs), r.Jobs)
		transfers[name] = r.Transfer
	}
	require.Less(t, transfers["lea"], transfers["fcfs"], "LEA loads less")
}
