// SPDX-License-Identifier: BSD-3-Clause

package workload

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// dump is a workload in readable form, a job a line.
func dump(w *Workload) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s from %d\n", w.Name, w.Start)
	for _, j := range w.Jobs {
		fmt.Fprintf(&b, "job %s submit=%d run=%d limit=%d priority=%d cores=%d",
			j.ID, j.Submit, j.Duration, j.TimeLimit, j.Priority, j.Cores)
		for _, f := range []struct {
			name string
			v    int
		}{{"min_nodes", j.MinNodes}, {"max_nodes", j.MaxNodes}, {"tasks_per_node", j.TasksPerNode},
			{"min_gpus", j.MinGPUs}, {"max_gpus", j.MaxGPUs}} {
			if f.v != 0 {
				fmt.Fprintf(&b, " %s=%d", f.name, f.v)
			}
		}
		if j.Contiguous {
			b.WriteString(" contiguous")
		}
		b.WriteByte('\n')
	}
	for _, t := range w.Skipped {
		fmt.Fprintf(&b, "skipped %d: %s\n", t.Jobs, t.Reason)
	}
	for _, t := range w.Adjusted {
		fmt.Fprintf(&b, "adjusted %d: %s\n", t.Jobs, t.Reason)
	}
	return b.String()
}

func pack(t *testing.T, text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

// checkWorkload checks what every reader promises.
func checkWorkload(t require.TestingT, w *Workload) {
	require.NotEmpty(t, w.Jobs)
	require.Zero(t, w.Jobs[0].Submit)
	ids := map[string]bool{}
	last := int64(0)
	for _, j := range w.Jobs {
		require.NoError(t, j.Validate())
		require.False(t, ids[j.ID], "job %s twice", j.ID)
		ids[j.ID] = true
		require.GreaterOrEqual(t, j.Submit, last)
		last = j.Submit
		require.GreaterOrEqual(t, j.Duration, int64(1))
		require.GreaterOrEqual(t, j.TimeLimit, j.Duration)
		require.GreaterOrEqual(t, j.Priority, int64(1))
	}
}

func readTestdata(t *testing.T, path string) string {
	b, err := os.ReadFile("testdata/" + path)
	require.NoError(t, err)
	return string(b)
}

func TestBasicPriorities(t *testing.T) {
	jobs := make([]Job, 3)
	AssignBasicPriorities(jobs)
	require.Equal(t, int64(4294901759), jobs[0].Priority)
	require.Equal(t, int64(4294901757), jobs[2].Priority)
	require.Equal(t, int64(1), basicPriority(4294901758))
	require.Equal(t, int64(1), basicPriority(1<<40))
}
