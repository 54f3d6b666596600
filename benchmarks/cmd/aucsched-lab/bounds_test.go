// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/benchmarks/bound"
	"github.com/aucsched/aucsched/internal/test/race"
)

// What simulate prints is the bound of the jobs that ran, which is what --bound prints
// of those that can; it is in the table and on the page, too.
func TestSimulatePrintsTheBound(t *testing.T) {
	race.Slow(t)
	trace, page := filepath.Join(t.TempDir(), "trace.swf"), filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, os.WriteFile(trace, []byte(`; MaxProcs: 99
1 0 -1 3600 5 -1 -1 5 7200 -1 1 1 1 1 1 1 -1 -1
2 0 -1 3600 99 -1 -1 99 7200 -1 1 1 1 1 1 1 -1 -1
3 7200 -1 3600 8 -1 -1 8 7200 -1 1 1 1 1 1 1 -1 -1
`), 0o600))
	args := []string{"simulate", "--policy", "backfill", "--cluster", "1x8", "--workload", trace}
	code, out, errs := aucsched(t, "", append(args, "--json", "--html", page)...)
	require.Zero(t, code, errs)
	var r struct {
		Policy  string  `json:"policy"`
		Runtime float64 `json:"runtime_s"`
		Bound   float64 `json:"runtime_bound_s"`
	}
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.Equal(t, 10800.0, r.Bound, "the job of 99 cores does not count")
	require.Equal(t, 10800.0, r.Runtime)
	require.Equal(t, "backfill", r.Policy)

	code, out, errs = aucsched(t, "", append(args, "--json", "--bound")...)
	require.Zero(t, code, errs)
	var b bound.Bounds
	require.NoError(t, json.Unmarshal([]byte(out), &b))
	require.Equal(t, bound.Bounds{Cores: 10800, Longest: 10800, Nodes: 10800}, b)

	_, out, _ = aucsched(t, "", append(args, "--bound")...)
	require.Equal(t, "cores        at least 3.00 h\nGPUs         at least 0.00 h\nlongest job  "+
		"at least 3.00 h\nnodes        at least 3.00 h\n", out)
	memory := filepath.Join(t.TempDir(), "memory.swf") // field 10 is in KiB
	require.NoError(t, os.WriteFile(memory, []byte("1 0 -1 100 1 -1 -1 1 200 1048576 1 1 1 1 1 1 -1 -1\n"), 0o600))
	_, out, _ = aucsched(t, "", "simulate", "--bound", "--cluster", "2x8", "--count-memory", "--memory", "62", "--workload", memory)
	require.Contains(t, out, "longest job  at least 0.03 h", "jobs that take memory can run")
	_, out, _ = aucsched(t, "", args...)
	require.Contains(t, out, "· theoretical (h)               1.62\n· at least (h)                  3.00\n")
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Contains(t, strings.Join(strings.Fields(string(text)), " "), "(a lower bound)</small></th><td>3.00 h</td>")
}
