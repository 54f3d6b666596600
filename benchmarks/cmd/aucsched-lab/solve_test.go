// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/docs/schemas"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/test/clitest"
)

const knapsack = `NAME K
OBJSENSE MAX
ROWS
 N obj
 L cap
COLUMNS
 M M 'MARKER' 'INTORG'
 x obj 5 cap 3
 y obj 4 cap 2
 z obj 3 cap 2
 M M 'MARKER' 'INTEND'
RHS
 R cap 4
BOUNDS
 UP B x 1
 UP B y 1
 UP B z 1
ENDATA
`

func TestSolve(t *testing.T) {
	dir := t.TempDir()
	model, names := filepath.Join(dir, "k.mps"), filepath.Join(dir, "names")
	require.NoError(t, os.WriteFile(model, []byte(strings.Replace(knapsack, " M M 'MARKER'", " M 'MARKER'", 2)), 0o600))
	code, out, errs := aucsched(t, "", "solve", model, "--json", "--solution", names)
	require.Zero(t, code, errs)
	var s solution
	require.NoError(t, json.Unmarshal([]byte(out), &s))
	require.Equal(t, []any{"optimal", 7.0, 7.0}, []any{s.Status, *s.Objective, *s.Bound})
	text, err := os.ReadFile(names)
	require.NoError(t, err)
	require.Equal(t, "y\nz\n", string(text))
}

func TestSolveErrors(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	for want, args := range map[string][]string{
		"t.mps:":                        {"solve", file("t.mps", knapsack[:60])},
		"--time-limit: -1s":             {"solve", "--time-limit", "-1s", file("k.mps", knapsack)},
		"--gap: -0.5":                   {"solve", "--gap", "-0.5", file("k.mps", knapsack)},
		"--gap: NaN":                    {"solve", "--gap", "NaN", file("k.mps", knapsack)},
		`--solver: "odd" is unknown`:    {"solve", "--solver", "odd", file("k.mps", knapsack)},
		"--mps: ":                       {"plan", table1, "--mps", filepath.Join(dir, "no/such")},
		"--mps: policy backfill has no": {"plan", table1, "--policy", "backfill", "--mps", filepath.Join(dir, "w.mps")},
	} {
		code, out, errs := aucsched(t, "", args...)
		require.Equal(t, cli.ExitUsage, code, "%v: %s", args, errs)
		require.Contains(t, errs, want)
		require.Equal(t, 1, strings.Count(errs, "\n"), "one line: %s", errs)
		require.Empty(t, out)
	}
}

// After Ctrl-C a command says so in a word, ends with 130, and leaves nothing half-written.
func TestSolveInterrupted(t *testing.T) {
	dir := t.TempDir()
	model := filepath.Join(dir, "k.mps")
	require.NoError(t, os.WriteFile(model, []byte(strings.Replace(knapsack, " M M 'MARKER'", " M 'MARKER'", 2)), 0o600))
	for _, args := range [][]string{
		{"solve", model, "--solution", filepath.Join(dir, "names")},
		{"solve", model, "--solver", "native", "--json"},
		{"plan", table1, "--mps", filepath.Join(dir, "w.mps")},
	} {
		var out, errs bytes.Buffer
		require.Equal(t, 130, run(clitest.Interrupted(), args, strings.NewReader(""), &out, &errs), "%v: %s", args, errs.String())
		require.Equal(t, "aucsched: interrupted\n", errs.String())
		require.Empty(t, out.String())
		after, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, after, 1)
	}
}

// The shell is offered models, and the names of solvers.
func TestCompleteSolve(t *testing.T) {
	_, out, _ := aucsched(t, "", "__complete", "solve", "")
	require.True(t, strings.HasPrefix(out, "mps\nmps.gz\n:8\n"), out) // endings of files
	_, out, _ = aucsched(t, "", "__complete", "solve", "--solver", "")
	require.True(t, strings.HasPrefix(out, "native\nhighs\nauto\n:4\n"), out)
}

// The schema of solve has the fields that it prints, and those that are always there are required.
func TestSchemaOfSolve(t *testing.T) {
	text, ok := schemas.Text("solve")
	require.True(t, ok)
	var schema struct {
		Properties map[string]any `json:"properties"`
		Required   []string       `json:"required"`
	}
	require.NoError(t, json.Unmarshal(text, &schema))
	number := 1.0
	for want, of := range map[*solution][]string{
		{Objective: &number, Bound: &number}: slices.Collect(maps.Keys(schema.Properties)), {}: schema.Required,
	} {
		text, err := json.Marshal(want)
		require.NoError(t, err)
		var printed map[string]any
		require.NoError(t, json.Unmarshal(text, &printed))
		require.ElementsMatch(t, of, slices.Collect(maps.Keys(printed)))
	}
}

const table1, blocked = "../../../examples/table1.json", "../../../examples/blocked.json"

// The model of plan --mps is the window's, not that of a trial.
func TestModelOfAnExplainedPlan(t *testing.T) {
	var models [2]string
	for i, args := range [][]string{{"plan", blocked}, {"plan", blocked, "--explain"}} {
		file := filepath.Join(t.TempDir(), "model.mps")
		code, _, errs := aucsched(t, "", append(args, "--mps", file)...)
		require.Zero(t, code, errs)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		models[i] = string(text)
	}
	require.Contains(t, models[0], "ROWS")
	require.Equal(t, models[0], models[1])
}

// auction1 gives J1 one core of the one node and three of the other, and writes the program that
// aucsched1 prints.
func TestModelOfAuction1(t *testing.T) {
	w := `{"nodes":[{"name":"n1","cores":4},{"name":"n2","cores":4}],"jobs":[
		{"id":"a","priority":11,"nodes":2,"cores":4,"time_limit_s":9},{"id":"b","priority":10,"nodes":1,"cores":3,"time_limit_s":9}]}`
	mps := filepath.Join(t.TempDir(), "w.mps")
	for policy, want := range map[string]string{"auction1": "2 of 2 jobs start; auction1", "auction2": "1 of 2 jobs start; auction2"} {
		code, out, errs := aucsched(t, w, "plan", "-", "--preset=paper", "--policy", policy, "--mps", mps)
		require.Zero(t, code, errs)
		require.Contains(t, out, want)
		text, err := os.ReadFile(mps)
		require.NoError(t, err)
		require.Equal(t, policy == "auction1", strings.Contains(string(text), " L rest0_1\n"), "equation 7")
	}
}

// Without constraint 5 ipsched's program has no rows of it.
func TestModelOfIPSched(t *testing.T) {
	w := `{"nodes":[{"name":"n[1-4]","cores":8}],"jobs":[{"id":"a","priority":9,"cores":8,"nodes":"4","time_limit_s":9}]}`
	model := filepath.Join(t.TempDir(), "model.mps")
	for flag, rows := range map[string]int{"true": 2, "false": 0} {
		code, _, errs := aucsched(t, w, "plan", "-", "--policy", "ipsched", "--node-limits="+flag, "--mps", model)
		require.Zero(t, code, errs)
		text, err := os.ReadFile(model)
		require.NoError(t, err)
		require.Equal(t, rows, strings.Count(string(text), " least_0 "), "entries of constraint 5")
	}
}
