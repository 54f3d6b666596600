// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/test/golden"
	"github.com/aucsched/aucsched/internal/window"
)

const scarce = "../../examples/memory.json"

// A golden: what is said of jobs that wait for memory.
func TestExplainPrintsResources(t *testing.T) {
	var all strings.Builder
	for _, job := range []string{"nodes", "total", "small", "never"} {
		code, out, errs := aucsched(t, "", "explain", scarce, job, "--time", "0")
		require.Zero(t, code, errs)
		all.WriteString("$ " + job + "\n" + out + "\n")
	}
	golden.Equal(t, "explain-memory.txt", all.String())
	page, err := os.ReadFile("../../docs/howto/explain.md")
	require.NoError(t, err)
	_, said, _ := strings.Cut(all.String(), "$ nodes\n")
	said, _, _ = strings.Cut(said, "\n\n")
	require.Contains(t, string(page), said)
}

// The same in JSON.
func TestExplanationOfResources(t *testing.T) {
	code, out, errs := aucsched(t, "", "explain", scarce, "total", "--json", "--trials", "0")
	require.Zero(t, code, errs)
	var d window.Decision
	require.NoError(t, json.Unmarshal([]byte(out), &d))
	require.Equal(t, []core.Lack{{Row: "memory", In: "cores", Needs: 64, Has: 56, Among: 9,
		Each: map[string]int64{"cores": 1, "memory": 2}}}, d.Explanation.Lacks)
	end := int64(900)
	require.Equal(t, []window.Rival{{Job: "12", Role: "running", Nodes: "n[3-5]", Cores: 3,
		Resources: map[string]int64{"memory": 168}, At: &end}}, d.Explanation.BlockedBy)
}
