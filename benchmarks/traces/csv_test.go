// SPDX-License-Identifier: BSD-3-Clause

package traces

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/test/beside"
	"github.com/aucsched/aucsched/internal/test/generate"
	"github.com/aucsched/aucsched/internal/test/golden"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/internal/workload"
)

// csvRows is a file of one line of names and some of values.
func csvRows(names []string, rows ...string) string {
	return strings.Join(names, ",") + "\n" + strings.Join(rows, "\n") + "\n"
}

func TestReadAlibaba(t *testing.T) {
	text := readTestdata(t, "gpu/pods.csv")
	for _, c := range []struct {
		golden string
		o      GPUTraceOptions
	}{
		{"pods.golden", GPUTraceOptions{}},
		{"pods-limits.golden", GPUTraceOptions{LimitFactor: 1.5}},
	} {
		w, err := ReadAlibaba(strings.NewReader(text), "pods.csv", c.o)
		require.NoError(t, err)
		golden.Equal(t, "gpu/"+c.golden, generate.Text(w))
		packed, err := ReadAlibaba(bytes.NewReader(pack(t, strings.ReplaceAll(text, "\n", "\r\n"))), "pods.csv", c.o)
		require.NoError(t, err)
		require.Equal(t, w, packed, "neither gzip nor the ends of lines make a difference")
	}
}

func TestReadPhilly(t *testing.T) {
	text := readTestdata(t, "gpu/philly.csv")
	for _, c := range []struct {
		golden string
		o      GPUTraceOptions
	}{
		{"philly.golden", GPUTraceOptions{}},
		{"philly-options.golden", GPUTraceOptions{LimitFactor: 2, GPUsPerNode: 4}},
	} {
		w, err := ReadPhilly(strings.NewReader(text), "philly.csv", c.o)
		require.NoError(t, err)
		golden.Equal(t, "gpu/"+c.golden, generate.Text(w))
	}
}

// TestPropertyPhillyNodes: a job gets the GPUs that it asks for, on no more nodes than
// it needs, and no node that it could do without.
func TestPropertyPhillyNodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gpus, size := rapid.IntRange(1, 5000).Draw(t, "GPUs"), rapid.IntRange(1, 255).Draw(t, "of a node")
		w, err := ReadPhilly(strings.NewReader(csvRows(phillyFields, "2017-10-09 07:01:55,66.0,"+strconv.Itoa(gpus))),
			"f", GPUTraceOptions{GPUsPerNode: size})
		require.NoError(t, err)
		r := w.Jobs[0].Request
		require.Equal(t, r.MinNodes, r.MaxNodes)
		require.Equal(t, r.TasksPerNode, r.MinGPUs)
		require.LessOrEqual(t, r.MinGPUs, size)
		require.GreaterOrEqual(t, r.MinNodes*r.MinGPUs, gpus)
		require.Less(t, r.MinNodes*(r.MinGPUs-1), gpus, "a GPU fewer on each node would not do")
		require.Less(t, (r.MinNodes-1)*size, gpus, "a node fewer would not do")
		require.Equal(t, r.MinNodes*r.MinGPUs != gpus, countOf(w.Adjusted, workload.AdjustGPUs) == 1)
	})
}

func TestReadAlibabaErrors(t *testing.T) {
	good := "a,1000,1,1000,5,20,10"
	for _, c := range []struct{ text, want string }{
		{"", "f: no job"},
		{csvRows(alibabaPods[1:], ""), "f:1: no field name in the first line"},
		{csvRows(append([]string{"name"}, alibabaPods...), ""),
			`f:1: field name: "name,name,cpu_milli,num_gpu,gpu_milli,creation_time,deletion...": named twice in the first line`},
		{csvRows(alibabaPods, good, "b,1000"), "f:3: 2 fields, the first line names 7"},
		{csvRows(alibabaPods, good, "", good), `f:4: field name: "a": the job is on line 2 already`},
		{csvRows(alibabaPods, ",1000,1,1000,5,20,10"), "f:2: a pod without a name"},
		{csvRows(alibabaPods, "a,1.5,1,1000,5,20,10"), `f:2: field cpu_milli: "1.5": not a whole number`},
		{csvRows(alibabaPods, "a,65535001,1,1000,5,20,10"), `f:2: field cpu_milli: "65535001": must be in 0..65535000`},
		{csvRows(alibabaPods, "a,1000,256,1000,5,20,10"), `f:2: field num_gpu: "256": must be in 0..255`},
		{csvRows(alibabaPods, "a,1000,1,1001,5,20,10"), `f:2: field gpu_milli: "1001": must be in 0..1000`},
		{csvRows(alibabaPods, "a,1000,1,1000,x,20,10"), `f:2: field creation_time: "x": not a number`},
		{csvRows(alibabaPods, "a,1000,1,1000,-5,20,10"), `f:2: field creation_time: "-5": must not be negative`},
		{csvRows(alibabaPods, "a,1000,1,1000,5,2e12,10"), `f:2: field deletion_time: "2e12": too large a number`},
		{csvRows(alibabaPods, "a,1000,1,1000,5,9,10"), `f:2: field deletion_time: "9": before scheduled_time`},
		{csvRows(alibabaPods, "a,1000,1,1000,5,20,"), `f: no job left: 1 skipped as "never started", and so on`},
	} {
		_, err := ReadAlibaba(strings.NewReader(c.text), "f", GPUTraceOptions{})
		require.EqualError(t, err, c.want)
		var in *workload.InputError
		require.ErrorAs(t, err, &in)
	}
}

func TestReadPhillyErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{csvRows(phillyFields[:2], ""), "f:1: no field num_gpus in the first line"},
		{csvRows(phillyFields, ",66.0,1"), `f:2: field timestamp: "": not a time like 2017-10-09 07:01:55, from 1970 on`},
		{csvRows(phillyFields, "2017-02-30 07:01:55,66.0,1"),
			`f:2: field timestamp: "2017-02-30 07:01:55": not a time like 2017-10-09 07:01:55, from 1970 on`},
		{csvRows(phillyFields, "1969-12-31 00:00:00,66.0,1"),
			`f:2: field timestamp: "1969-12-31 00:00:00": not a time like 2017-10-09 07:01:55, from 1970 on`},
		{csvRows(phillyFields, "2017-10-09 07:01:55,NaN,1"), `f:2: field duration: "NaN": not a number`},
		{csvRows(phillyFields, "2017-10-09 07:01:55,66.0,1.0"), `f:2: field num_gpus: "1.0": not a whole number`},
		{csvRows(phillyFields, "2017-10-09 07:01:55,66.0,8388609"), `f:2: field nodes: "1048577": must be at most 1048576`},
	} {
		_, err := ReadPhilly(strings.NewReader(c.text), "f", GPUTraceOptions{})
		require.EqualError(t, err, c.want)
		var in *workload.InputError
		require.ErrorAs(t, err, &in)
	}
}

func TestGPUTraceOptions(t *testing.T) {
	for _, c := range []struct {
		o    GPUTraceOptions
		want string
	}{
		{GPUTraceOptions{LimitFactor: 0.9}, "workload: option LimitFactor: 0.9: must be in 1..1e+06"},
		{GPUTraceOptions{LimitFactor: 2e6}, "workload: option LimitFactor: 2e+06: must be in 1..1e+06"},
		{GPUTraceOptions{GPUsPerNode: 256}, "workload: option GPUsPerNode: 256: must be in 0..255"},
		{GPUTraceOptions{GPUsPerNode: -1}, "workload: option GPUsPerNode: -1: must be in 0..255"},
	} {
		_, err := ReadAlibaba(strings.NewReader(""), "f", c.o)
		require.EqualError(t, err, c.want)
		_, err = ReadPhilly(strings.NewReader(""), "f", c.o)
		require.EqualError(t, err, c.want)
	}
}

func TestAlibabaNodesErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{csvRows(alibabaNodes), "f: no node"},
		{csvRows(alibabaNodes, "a,1000,8", "a,1000,8"), `f:3: field sn: "a": the node is on line 2 already`},
		{csvRows(alibabaNodes, "a,999,8"), `f:2: field cpu_milli: "999": a node without a whole core`},
		{csvRows(alibabaNodes, "a,1000,256"), `f:2: field gpu: "256": must be in 0..255`},
		{csvRows(alibabaNodes, "a,x,1"), `f:2: field cpu_milli: "x": not a whole number`},
		{csvRows(alibabaNodes, "a,1000"), "f:2: 2 fields, the first line names 3"},
	} {
		_, err := readNodes(strings.NewReader(c.text), "f")
		require.EqualError(t, err, c.want)
	}
}

// TestRealGPUTraces: the published files are read whole, and come to what is known of them.
func TestRealGPUTraces(t *testing.T) {
	race.Slow(t)
	w, err := ReadFile(beside.Shared(t, "traces/alibaba-openb_pod_list_default.csv"), Options{})
	require.NoError(t, err)
	require.Equal(t, []int{7255, 897}, []int{len(w.Jobs), countOf(w.Skipped, workload.SkipPending)})
	nodes, err := ParseCluster(beside.Shared(t, "traces/alibaba-openb_node_list_all_node.csv"))
	require.NoError(t, err)
	gpus := 0
	for _, c := range nodes {
		gpus += int(c.GPUs)
	}
	require.Equal(t, []int{1523, 6212}, []int{len(nodes), gpus})

	w, err = ReadFile(beside.Shared(t, "traces/philly-82k-from-ElasticFlow.csv"), Options{})
	require.NoError(t, err)
	require.Len(t, w.Jobs, 82247)
	wide := 0
	for _, j := range w.Jobs {
		if j.MinNodes > 1 {
			wide++
		}
	}
	require.Equal(t, 199+67+7+7+6+3, wide)
}

func TestAccelerate(t *testing.T) {
	submits := func(s ...int64) *workload.Workload {
		w := &workload.Workload{}
		for _, x := range s {
			w.Jobs = append(w.Jobs, workload.Job{Submit: x, Duration: 77})
		}
		return w
	}
	w := submits(0, 10, 35)
	require.NoError(t, Accelerate(w, 2))
	require.Equal(t, submits(0, 5, 17), w)
	require.NoError(t, Accelerate(w, 0.5))
	require.Equal(t, submits(0, 10, 34), w)
	for _, bad := range []float64{0, -1, 1e7} {
		require.ErrorContains(t, Accelerate(w, bad), "rate: ")
	}
	far := submits(0, workload.MaxSeconds)
	require.EqualError(t, Accelerate(far, 0.5), "rate: 0.5: the last job would come after 1099511627776 seconds")
	require.Equal(t, submits(0, workload.MaxSeconds), far)
}

func FuzzReadGPUTraces(f *testing.F) {
	for _, name := range []string{"pods.csv", "philly.csv"} {
		text, err := os.ReadFile("testdata/gpu/" + name)
		require.NoError(f, err)
		f.Add(text, 1.0, 8)
	}
	f.Add([]byte(csvRows(alibabaPods, "a,0,1,0,5,20,10")), 1e6, 255)
	f.Fuzz(func(t *testing.T, text []byte, factor float64, gpus int) {
		o := GPUTraceOptions{LimitFactor: factor, GPUsPerNode: gpus}
		if o.fill() != nil {
			return
		}
		for _, read := range []func() (*workload.Workload, error){
			func() (*workload.Workload, error) { return ReadAlibaba(bytes.NewReader(text), "f", o) },
			func() (*workload.Workload, error) { return ReadPhilly(bytes.NewReader(text), "f", o) },
		} {
			w, err := read()
			if err != nil {
				var in *workload.InputError
				require.ErrorAs(t, err, &in)
				continue
			}
			require.NoError(t, generate.Check(w))
		}
	})
}

func TestAlibabaRequest(t *testing.T) {
	w, err := ReadAlibaba(strings.NewReader(csvRows(alibabaPods, "a,11300,2,1000,5,20,10")), "f", GPUTraceOptions{})
	require.NoError(t, err)
	require.Equal(t, bids.Request{MinNodes: 1, MaxNodes: 1, TasksPerNode: 12, MinGPUs: 2}, w.Jobs[0].Request)
}
