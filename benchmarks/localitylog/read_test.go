// SPDX-License-Identifier: BSD-3-Clause

package localitylog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/benchmarks/locality"
	"github.com/aucsched/aucsched/internal/workload"
)

const (
	nodeLine = "{ id: 0 memory: 128 bandwidth: 0.1 core: 20 }\n"
	jobLine  = "{ id: 1 subtime: 5 delay: 10 walltime: 60 cores: 2 user: u data: 7 data_size: " +
		"12.8 workload: 1 start_time_from_history: 3 start_node_from_history: 9 }\n"
)

func TestReadCluster(t *testing.T) {
	nodes, err := ReadCluster(strings.NewReader("\xef\xbb\xbf"+nodeLine+"\n"+strings.Replace(nodeLine, "core: 20", "core: 4", 1)), "c")
	require.NoError(t, err)
	require.Equal(t, []locality.Node{{Memory: 128, Bandwidth: 0.1, Cores: 20},
		{Memory: 128, Bandwidth: 0.1, Cores: 4}}, nodes, "ids may repeat; a byte order mark is no text")
}

func TestReadWorkload(t *testing.T) {
	jobs, err := ReadWorkload(strings.NewReader(jobLine), "w")
	require.NoError(t, err)
	require.Equal(t, []locality.Job{{ID: 1, Submit: 5, Duration: 10, WallTime: 60,
		Cores: 2, User: "u", File: 7, FileSize: 12.8, Class: locality.Evaluated, Started: 3, StartNode: 9}}, jobs)
}

// Each fault is told with its line, its field and its value.
func TestReadFaults(t *testing.T) {
	change := func(line, from, to string) string {
		changed := strings.Replace(line, from, to, 1)
		require.NotEqual(t, line, changed, from)
		return line + changed
	}
	job := func(from, to string) string { return change(jobLine, from, to) }
	node := func(from, to string) string { return change(nodeLine, from, to) }
	for _, c := range []struct {
		text, want string
		cluster    bool
	}{
		{"", `f: no job`, false},
		{"{\x00 \x00", `f:1: the text is in UTF-16: save it as UTF-8`, true},
		{"\n \n", `f: no node`, true},
		{node("{", ""), `f:2: field line: "id:": must begin with "{"`, true},
		{node("}", ""), `f:2: field line: "20": must end with "}"`, true},
		{node("core: 20 ", ""), `f:2: 8 tokens: must be 10: { id: ... memory: ... bandwidth: ... core: ... }`, true},
		{node("memory:", "ram:"), `f:2: field memory: "ram:": must be labelled "memory:"`, true},
		{node("id: 0", "id: -1"), `f:2: field id: "-1": must be in 0..2147483647`, true},
		{node("128", "lots"), `f:2: field memory: "lots": must be a number`, true},
		{node("128", "0"), `f:2: field memory: "0": must be above 0 and at most 1e+09`, true},
		{node("0.1", "-0.1"), `f:2: field bandwidth: "-0.1": must be above 0 and at most 1e+09`, true},
		{node("0.1", "NaN"), `f:2: field bandwidth: "NaN": must be above 0 and at most 1e+09`, true},
		{node("20 }", "0 }"), `f:2: field core: "0": must be in 1..1024`, true},
		{node("20 }", "1e3 }"), `f:2: field core: "1e3": must be a whole number`, true},
		{job("}", ""), `f:2: field line: "9": must end with "}"`, false},
		{job("cores: 2 ", ""),
			`f:2: 22 tokens: must be 24: { id: ... subtime: ... delay: ... walltime: ... cores: ... user: ... ` +
				`data: ... data_size: ... workload: ... start_time_from_history: ... start_node_from_history: ... }`, false},
		{job("delay: 10", "delay: ten"), `f:2: field delay: "ten": must be a whole number`, false},
		{job("delay: 10", "delay: 0"), `f:2: field delay: "0": must be in 1..2000000000`, false},
		{job("walltime: 60", "walltime: 99999999999999999999"),
			`f:2: field walltime: "99999999999999999999": must be in 1..2000000000`, false},
		{job("subtime: 5", "subtime: 3000000000"), `f:2: field subtime: "3000000000": must be in 0..2000000000`, false},
		{job("cores: 2", "cores: 1025"), `f:2: field cores: "1025": must be in 1..1024`, false},
		{job("12.8", "-1"), `f:2: field data_size: "-1": must be at least 0 and at most 1e+09`, false},
		{job("12.8", "1e400"), `f:2: field data_size: "1e400": must be at least 0 and at most 1e+09`, false},
		{job("id: 1", "id: 2") + jobLine, `f:3: field id: "1": the job is on line 1 already`, false},
		{strings.Replace(job("id: 1", "id: 2"), "12.8", "6.4", 1), `f:2: field data_size: "12.8": file 7 has 6.4 GB on line 1`, false},
		{job("id: 1 subtime: 5", "id: 2 subtime: 4"), `f:2: field subtime: "4": before the submission of an earlier job, at 5`, false},
		{job("workload: 1", "workload: 3"), `f:2: field workload: "3": must be in -2..2`, false},
		{job("history: 9", "history: -9"), `f:2: field start_node_from_history: "-9": must be in 0..2147483647`, false},
		{strings.NewReplacer("workload: 1", "workload: -2", "node_from_history: 9",
			"node_from_history: 0").Replace(jobLine),
			`f:1: field start_node_from_history: "0": nodes of running jobs count from 1`, false},
		{jobLine + strings.Repeat("x", maxLine+1), `f:2: reading: a line of more than 65536 bytes`, false},
	} {
		t.Run(c.want, func(t *testing.T) {
			var err error
			if c.cluster {
				_, err = ReadCluster(strings.NewReader(c.text), "f")
			} else {
				_, err = ReadWorkload(strings.NewReader(c.text), "f")
			}
			var in *workload.InputError
			require.ErrorAs(t, err, &in)
			require.EqualError(t, err, c.want)
		})
	}
}

// What a reader takes can be written and read again, and everything else is an InputError.
func FuzzReadCluster(f *testing.F) {
	f.Add([]byte(nodeLine))
	f.Add([]byte("{ id: 1e9 memory: inf bandwidth: 0x1p-2 core: 20 }"))
	f.Fuzz(func(t *testing.T, data []byte) {
		nodes, err := ReadCluster(bytes.NewReader(data), "f")
		if err != nil {
			requireInputError(t, err)
			return
		}
		var b bytes.Buffer
		for _, n := range nodes {
			fmt.Fprintf(&b, "{ id: %d memory: %v bandwidth: %v core: %d }\n", n.ID, n.Memory, n.Bandwidth, n.Cores)
		}
		requireTaken(t, nodes, nil)
		again, err := ReadCluster(&b, "f")
		require.NoError(t, err)
		require.Equal(t, nodes, again)
	})
}

func FuzzReadWorkload(f *testing.F) {
	f.Add([]byte(jobLine))
	f.Add([]byte(jobLine + strings.Replace(jobLine, "id: 1", "id: 2", 1)))
	f.Fuzz(func(t *testing.T, data []byte) {
		jobs, err := ReadWorkload(bytes.NewReader(data), "f")
		if err != nil {
			requireInputError(t, err)
			return
		}
		var b bytes.Buffer
		requireTaken(t, []locality.Node{{Memory: 1, Bandwidth: maxGB, Cores: locality.MaxCores}}, jobs)
		require.NoError(t, WriteWorkload(&b, jobs))
		again, err := ReadWorkload(&b, "f")
		require.NoError(t, err)
		require.Equal(t, jobs, again)
	})
}

// requireTaken has the simulator look at its input, and at nothing else.
func requireTaken(t *testing.T, nodes []locality.Node, jobs []locality.Job) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := locality.Simulate(ctx, nodes, jobs, locality.Options{})
	if !errors.Is(err, context.Canceled) && !errors.Is(err, locality.ErrNothingEvaluated) {
		t.Fatalf("the simulator does not take it: %v", err)
	}
}

func requireInputError(t *testing.T, err error) {
	var in *workload.InputError
	if !errors.As(err, &in) {
		t.Fatalf("%T: %v", err, err)
	}
}

// A log of a year takes the memory of its jobs, and not that of its lines, which
// users' names are parts of.
func TestReadingKeepsNoLines(t *testing.T) {
	const lines, width = 2000, 4000
	var text strings.Builder
	for i := range lines {
		fmt.Fprintf(&text,
			"{ id: %d subtime: 0 delay: 1 walltime: 1 cores: 1 user: u%d data: 0 data_size: 0 "+
				"workload: 1 start_time_from_history: 0 start_node_from_history: 0 }%*s\n", i, i%7, width, "")
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	jobs, err := ReadWorkload(strings.NewReader(text.String()), "log")
	require.NoError(t, err)
	runtime.GC()
	runtime.ReadMemStats(&after)
	require.Equal(t, "u5", jobs[5].User)
	require.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(lines*width/4))
	runtime.KeepAlive(jobs)
	runtime.KeepAlive(&text)
}
