// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/test/golden"
	"github.com/aucsched/aucsched/internal/window"
)

const shares = "../../examples/shares.json"

// A golden: what is planned and said of jobs that share GPUs.
func TestExplainPrintsShares(t *testing.T) {
	var all strings.Builder
	code, out, errs := aucsched(t, "", "plan", shares)
	require.Zero(t, code, errs)
	table, _, _ := strings.Cut(out, " jobs start;") // and then how long it took
	all.WriteString("$ plan\n" + table + "\n\n")
	for _, job := range []string{"half", "whole", "third", "never"} {
		code, out, errs := aucsched(t, "", "explain", shares, job, "--time", "0")
		require.Zero(t, code, errs)
		all.WriteString("$ " + job + "\n" + out + "\n")
	}
	golden.Equal(t, "explain-shares.txt", all.String())
}

// The same in JSON, and of a window that says what is free, and not who has the rest.
func TestExplanationOfShares(t *testing.T) {
	explained := func(input string, args ...string) (d window.Decision) {
		code, out, errs := aucsched(t, input, append(args, "--json", "--trials", "0")...)
		require.Zero(t, code, errs)
		require.NoError(t, json.Unmarshal([]byte(out), &d))
		return d
	}
	d := explained("", "explain", shares, "half")
	require.Len(t, d.Explanation.Lacks, 1)
	l := d.Explanation.Lacks[0]
	require.Equal(t, core.Lack{Row: "gpu_share", In: "shares", Needs: 50, Has: 40}, core.Lack{Row: l.Row, In: l.In, Needs: l.Needs, Has: l.Has})
	end := int64(600)
	require.Equal(t, []window.Rival{{Job: "13", Role: "running", Nodes: "n4", Cores: 2,
		Resources: map[string]int64{"gpu_share": 30}, SharedGPU: 1, At: &end}}, d.Explanation.BlockedBy)
	require.Equal(t, "n4", d.Explanation.Place)
	require.Equal(t, 1, d.Explanation.SharedGPU)

	d = explained(`{"nodes":[{"name":"a","cores":4,"gpus":2,"gpu_shares":10,"free_gpus":0,"free_gpu_shares":{"3":4}},
		{"name":"b","cores":4}],"jobs":[{"id":"J","priority":1,"cores":1,"gpu_share":5}]}`, "explain", "-", "J")
	require.EqualValues(t, 4, d.Explanation.Lacks[0].Has)
	require.Empty(t, d.Explanation.Place)
	d = explained(`{"nodes":[{"name":"a","cores":4,"gpus":2,"gpu_shares":10,"free_cores":0},
		{"name":"b","cores":4}],"jobs":[{"id":"J","priority":1,"cores":1,"gpu_share":5}]}`, "explain", "-", "J")
	require.Equal(t, "cores_per_node", d.Explanation.Lacks[0].Row)
}
