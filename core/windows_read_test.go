// SPDX-License-Identifier: BSD-3-Clause

package core_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/test/golden"
	"github.com/aucsched/aucsched/internal/window"
)

// TestWindows decides on the windows of testdata/*.txt, which are there to be read: each shows one
// rule of the scheduler. Without a policy line it is the auction with its default settings. A line
// is an element of a window file, its fields by their names there:
//
//	policy paper                            the papers' auction; also throughput, estimates
//	nodes n[1-4] cores=8 gpus=2 state=up
//	running R nodes=n[1-2] cores_per_node=8 end_s=60
//	job A priority=5 cores=16 contiguous=true
//	or cores=8 nodes=1                       an alternative of the job before
//
// The output is a line for each job, in queue order. n[1-2]:8/1 are 8 cores and 1 GPU on each of n1
// and n2.
func TestWindows(t *testing.T) {
	golden.Cases(t, "*.txt", func(t *testing.T, input string) string {
		policy, w := readCase(t, input)
		var p core.Plan
		require.NoError(t, policy.Decide(context.Background(), &w.Snapshot, core.Limits{Seed: 1}, &p))
		require.NoError(t, core.Verify(&w.Snapshot, &p))
		o, err := window.NewOutcome(policy.Name(), w, &p)
		require.NoError(t, err)
		var out strings.Builder
		for i := range o.Decisions {
			fmt.Fprintln(&out, inWords(&o.Decisions[i]))
		}
		return out.String()
	})
}

// readCase is the policy and the window of a case.
func readCase(t *testing.T, input string) (core.Policy, *window.Window) {
	policy, lists := "", map[string][]map[string]any{"nodes": {}, "running": {}, "jobs": {}}
	for line := range strings.Lines(input) {
		words := strings.Fields(line)
		switch kind, rest := words[0], words[1:]; kind {
		case "policy":
			policy = rest[0]
		case "nodes":
			lists["nodes"] = append(lists["nodes"], fields(t, rest[1:], map[string]any{"name": rest[0]}))
		case "running":
			lists["running"] = append(lists["running"], fields(t, rest[1:], map[string]any{"id": rest[0]}))
		case "job":
			lists["jobs"] = append(lists["jobs"], fields(t, rest[1:], map[string]any{"id": rest[0], "priority": 1}))
		case "or":
			last := lists["jobs"][len(lists["jobs"])-1]
			ways, _ := last["alternatives"].([]any)
			last["alternatives"] = append(ways, fields(t, rest, map[string]any{}))
		default:
			require.Fail(t, "unknown line", line)
		}
	}
	text, err := json.Marshal(lists)
	require.NoError(t, err)
	w, err := window.Read(strings.NewReader(string(text)), t.Name())
	require.NoError(t, err)
	return policyOf(t, policy), w
}

// fields adds words of the form name=value to an element. A value that is no JSON is a string.
func fields(t *testing.T, words []string, element map[string]any) map[string]any {
	for _, word := range words {
		name, value, ok := strings.Cut(word, "=")
		require.True(t, ok, "%s: not of the form name=value", word)
		if element[name] = any(value); json.Valid([]byte(value)) {
			element[name] = json.RawMessage(value)
		}
	}
	return element
}

func policyOf(t *testing.T, name string) core.Policy {
	o := core.Preset("none")
	switch name {
	case "paper":
		o = core.Preset("paper")
	case "estimates":
		o.Estimates = true
	case "throughput":
		o = core.Preset("packed")
	default:
		require.Empty(t, name)
	}
	p, err := core.NewAuction(o, nil)
	require.NoError(t, err)
	return p
}

// inWords is what a cycle says of a job, in a line.
func inWords(d *window.Decision) string {
	if !d.Start {
		if d.ExpectedStart != nil {
			return fmt.Sprintf("%s waits, in %d s: %s", d.Job, *d.ExpectedStart, d.Reason)
		}
		return fmt.Sprintf("%s waits: %s", d.Job, d.Reason)
	}
	cores, gpus := each(d.CoresPerNode), fmt.Sprint(d.GPUsPerNode)
	if d.GPUsOfNodes != nil {
		gpus = each(d.GPUsOfNodes)
	}
	out := fmt.Sprintf("%s starts %s:%s", d.Job, d.Nodes, cores)
	if gpus != "0" {
		out += "/" + gpus
	}
	if d.GPUShare > 0 {
		out += fmt.Sprintf(", %d of GPU %d", d.GPUShare, d.SharedGPU)
	}
	if d.Alternative > 0 {
		out += fmt.Sprintf(", by alternative %d", d.Alternative)
	}
	return out
}

// each is one number if all are alike, otherwise all of them.
func each(numbers []int) string {
	for _, n := range numbers {
		if n != numbers[0] {
			return strings.Trim(fmt.Sprint(numbers), "[]")
		}
	}
	return fmt.Sprint(numbers[0])
}
