// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/test/golden"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/internal/window"
	"github.com/aucsched/aucsched/nodeset"
)

const blocked = "../../examples/blocked.json"

// A golden: what is said of every job of the example.
func TestExplainPrints(t *testing.T) {
	race.Slow(t)
	var all strings.Builder
	for _, args := range [][]string{{"wide"}, {"left"}, {"right"}, {"late"}, {"long"},
		{"gpus"}, {"huge"}, {"small"}, {"left", "--trials", "5"}} {
		code, out, errs := aucsched(t, "", append([]string{"explain", blocked, "--time", "0"}, args...)...)
		require.Zero(t, code, errs)
		all.WriteString("$ " + strings.Join(args, " ") + "\n" + out + "\n")
	}
	golden.Equal(t, "explain.txt", all.String())
}

// A plan over time may start jobs of less worth first, and it is said that it did.
func TestExplainNamesThePlan(t *testing.T) {
	const less = "worth 20 together, which come first in the plan over time that the preset makes\n"
	w := `{"nodes":[{"name":"n[1-4]","cores":16,"gpus":2}],
		"running":[{"id":"old","nodes":"n1","cores_per_node":16,"end_s":1800}],"jobs":[
		{"id":"train","priority":30,"nodes":3,"tasks_per_node":8,"gpus_per_node":1,"time_limit_s":3600},
		{"id":"range","priority":20,"nodes":2,"tasks_per_node":4,"gpus_per_node":"1-2","time_limit_s":1200},
		{"id":"cpu","priority":10,"cores":24,"time_limit_s":7200}]}`
	_, out, _ := aucsched(t, w, "explain", "-", "train", "--objective", "priority")
	require.Contains(t, out, less)
	_, out, _ = aucsched(t, w, "explain", "-", "train") // these are worth more by that objective
	require.NotContains(t, out, "plan over time")
}

// plan --explain adds to what plan prints, and says of each job what explain does.
func TestPlanExplains(t *testing.T) {
	race.Slow(t)
	code, out, errs := aucsched(t, "", "plan", blocked, "--explain", "--explain-trials", "9", "--explain-time", "0", "--json")
	require.Zero(t, code, errs)
	var explained, plain window.Outcome
	require.NoError(t, json.Unmarshal([]byte(out), &explained))
	_, out, _ = aucsched(t, "", "plan", blocked, "--json")
	require.NotContains(t, out, "explanation")
	require.NoError(t, json.Unmarshal([]byte(out), &plain))
	for i, d := range explained.Decisions {
		require.NotNil(t, d.Explanation, d.Job)
		_, out, _ := aucsched(t, "", "explain", blocked, d.Job, "--trials", "9", "--time", "0", "--json")
		var alone window.Decision
		require.NoError(t, json.Unmarshal([]byte(out), &alone))
		require.Equal(t, d, alone)
		d.Explanation = nil
		require.Equal(t, plain.Decisions[i], d)
	}
	code, out, _ = aucsched(t, "", "plan", blocked, "--explain", "--explain-trials", "0")
	require.Zero(t, code)
	require.Contains(t, out, "late waits: jobs that start now take its place\n")
	require.NotContains(t, out, "would have started")
}

func TestExplainErrors(t *testing.T) {
	race.Slow(t)
	text, err := os.ReadFile(blocked)
	require.NoError(t, err)
	for want, args := range map[string][]string{
		blocked + `: there is no job "nobody"`:                                  {"explain", blocked, "nobody"},
		blocked + `: job "R2" runs already`:                                     {"explain", blocked, "R2"},
		`standard input: there is no job "J1"`:                                  {"explain", "-", "J1"},
		"which job? There are wide, left, right, late, long, gpus, huge, small": {"explain", blocked},
		"use: aucsched why 17;":                                                 {"explain", "17"},
		"use: aucsched why 17_3;":                                               {"explain", "17_3"},
		"explain: WINDOW.json and JOB are missing":                              {"explain"},
		`standard input: there is no job "J2"`:                                  {"explain", "J2"},
		"trials: -1 is negative":                                                {"explain", blocked, "wide", "--trials", "-1"},
		"time for trials: -1s is negative":                                      {"plan", blocked, "--explain", "--explain-time", "-1s"},
		"--deadline: -2s is negative":                                           {"explain", blocked, "wide", "--deadline", "-2s"},
		`--policy: "odd" is unknown`:                                            {"explain", blocked, "wide", "--policy", "odd"},
		"absent.json: there is no such file":                                    {"explain", "absent.json", "J1"},
	} {
		code, out, errs := aucsched(t, string(text), args...)
		require.Equal(t, cli.ExitUsage, code, "%v: %s", args, errs)
		require.Contains(t, errs, want)
		require.Equal(t, 1, strings.Count(errs, "\n"), "one line: %s", errs)
		require.Empty(t, out)
	}
}

// What a live cluster writes of itself, explain reads: a partition and a job that holds
// unlike shares included.
func TestExplainReadsACluster(t *testing.T) {
	c, err := core.NewCluster(core.ClusterOptions{})
	require.NoError(t, err)
	for _, name := range []string{"a1", "a2", "b1"} {
		require.NoError(t, c.SetNode(core.Node{Name: name, Capacity: nodeset.Capacity{Cores: 8}, Down: name == "b1"}))
	}
	require.NoError(t, c.Adopt(core.Start{Job: "R", Nodes: []core.Share{{Node: "a1", Cores: 8}, {Node: "a2", Cores: 4}},
		End: time.Now().Add(time.Hour)}))
	require.NoError(t, c.Submit(core.JobSpec{ID: "J", Request: bids.Request{Cores: 8},
		On: []string{"a1"}, Priority: 1, TimeLimit: time.Hour}))
	path := filepath.Join(t.TempDir(), "window.json")
	file, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, c.WriteWindow(file))
	require.NoError(t, file.Close())
	code, out, errs := aucsched(t, "", "explain", path, "J")
	require.Zero(t, code, errs)
	require.Contains(t, out, "R")
	code, out, errs = aucsched(t, "", "explain", path, "J", "--json")
	require.Zero(t, code, errs)
	var d window.Decision
	require.NoError(t, json.Unmarshal([]byte(out), &d))
	require.Equal(t, "a1", d.Explanation.Place)
	require.Equal(t, "R", d.Explanation.BlockedBy[0].Job)
}

// An id may be any text; on a terminal it is one line that does nothing, in JSON it is as it was.
func TestIDsArePlain(t *testing.T) {
	const id = `J\u001b[31m\n1`
	w := `{"nodes":[{"name":"n1","cores":4}],
		"running":[{"id":"R\u0007","nodes":"n1","cores_per_node":1,"end_s":9}],
		"jobs":[{"id":"` + id + `","priority":2,"cores":3,"time_limit_s":60},{"id":"K\u009b2","priority":1,"cores":4}]}`
	for _, args := range [][]string{{"plan", "-"}, {"plan", "-", "--explain"},
		{"explain", "-", "J\x1b[31m\n1"}, {"explain", "-", "K\u009b2"}} {
		code, out, errs := aucsched(t, w, args...)
		require.Zero(t, code, errs)
		require.Regexp(t, `J\\x1b\[31m\\n1|R\\a`, out)
		require.NotRegexp(t, `[\x00-\x09\x0b-\x1f\x7f\x{80}-\x{9f}]`, out)
	}
	_, out, _ := aucsched(t, w, "plan", "-", "--json")
	require.Contains(t, out, `"job":"`+id+`"`)
}
