// SPDX-License-Identifier: BSD-3-Clause

// Package schemas holds what is read and printed against the JSON Schemas of docs/schemas. It is
// in this module because embedders are to see nothing of the validator.
package schemas

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/benchmarks/policies"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/docs/schemas"
	"github.com/aucsched/aucsched/examples"
	"github.com/aucsched/aucsched/internal/older"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/window"
)

// compiled is the schema of that name, itself held against that of schemas.
func compiled(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	text, ok := schemas.Text(name)
	require.True(t, ok, name)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	require.Equal(t, "https://json-schema.org/draft/2020-12/schema", doc.(map[string]any)["$schema"])
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("schema.json", doc))
	s, err := c.Compile("schema.json")
	require.NoError(t, err)
	return s
}

// judge holds a text against a schema.
func judge(s *jsonschema.Schema, text []byte) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return s.Validate(doc)
}

func policiesOf(t require.TestingT) []core.Policy {
	o := core.Preset("none")
	o.Estimates = true
	auction, err := core.NewAuction(o, nil)
	require.NoError(t, err)
	o.Determiner = policies.Layouts
	layouts, err := core.NewAuction(o, nil)
	require.NoError(t, err)
	ipsched, err := policies.NewIPSched(older.DefaultOptions())
	require.NoError(t, err)
	b := sim.DefaultBackfill()
	b.Estimates = true
	backfill, err := sim.NewBackfill(b)
	require.NoError(t, err)
	return []core.Policy{auction, layouts, ipsched, backfill}
}

// decided is what plan --explain --json prints of a window, and explain --json of its jobs.
func decided(t require.TestingT, w *window.Window, p core.Policy, trials int) (plan []byte, jobs [][]byte) {
	e, err := core.NewExplainer(context.Background(), p, &w.Snapshot, core.Limits{})
	require.NoError(t, err)
	o, err := window.NewOutcome(p.Name(), w, e.Plan())
	require.NoError(t, err)
	for i := range o.Decisions {
		x, err := e.Explain(context.Background(), i, core.ExplainOptions{Trials: trials})
		require.NoError(t, err)
		o.Decisions[i].Explanation, err = window.NewExplanation(w, x)
		require.NoError(t, err)
		text, err := json.Marshal(o.Decisions[i])
		require.NoError(t, err)
		jobs = append(jobs, text)
	}
	plan, err = json.Marshal(o)
	require.NoError(t, err)
	return plan, jobs
}

// The examples are windows, and what is decided on them is a plan, with explanations.
func TestExamples(t *testing.T) {
	files, err := fs.Glob(examples.Files, "*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	windows, plans, explanations := compiled(t, "window"), compiled(t, "plan"), compiled(t, "explain")
	for _, f := range files {
		text, err := fs.ReadFile(examples.Files, f)
		require.NoError(t, err)
		require.NoError(t, judge(windows, text), f)
		for _, p := range policiesOf(t) {
			w, err := window.Read(bytes.NewReader(text), f)
			require.NoError(t, err)
			plan, jobs := decided(t, w, p, 5)
			require.NoError(t, judge(plans, plan), "%s %s", f, p.Name())
			for _, j := range jobs {
				require.NoError(t, judge(explanations, j), "%s %s %s", f, p.Name(), j)
			}
			require.Error(t, judge(plans, jobs[0]))
		}
	}
}

func TestStatus(t *testing.T) {
	text, err := os.ReadFile("../../cmd/aucsched/testdata/status.json")
	require.NoError(t, err)
	s := compiled(t, "status")
	require.NoError(t, judge(s, text))
	for _, bad := range []string{`{}`, `{"time":1}`, `{"time":"1","interval_s":1}`, `{"time":1,"interval_s":1,"cycle_us":3}`, `[]`} {
		require.Error(t, judge(s, []byte(bad)), bad)
	}
}

// Drawn windows that are read are such by the schema, and so is what is decided on them.
func TestDrawnWindows(t *testing.T) {
	windows, plans, explanations := compiled(t, "window"), compiled(t, "plan"), compiled(t, "explain")
	all := policiesOf(t)
	good := 0
	rapid.Check(t, func(t *rapid.T) {
		text, err := json.Marshal(drawWindow(t))
		require.NoError(t, err)
		w, err := window.Read(bytes.NewReader(text), "w.json")
		judged := judge(windows, text)
		if err != nil {
			require.NotContains(t, err.Error(), "unknown field")
			require.NotContains(t, err.Error(), "is null")
			if strings.Contains(err.Error(), "asks for nothing") {
				require.Error(t, judged, "%s", text)
			}
			return
		}
		good++
		require.NoError(t, judged, "%s", text)
		plan, jobs := decided(t, w, rapid.SampledFrom(all).Draw(t, "policy"), 2)
		require.NoError(t, judge(plans, plan), "%s: %s", text, plan)
		for _, j := range jobs {
			require.NoError(t, judge(explanations, j), "%s: %s", text, j)
		}
	})
	require.Greater(t, good, 20)
}

// A fault in one place of a good window is one to the reader and to the schema.
func TestFaultsAreFaultsToBoth(t *testing.T) {
	windows := compiled(t, "window")
	rapid.Check(t, func(t *rapid.T) {
		doc := drawWindow(t)
		text, err := json.Marshal(doc)
		require.NoError(t, err)
		if _, err := window.Read(bytes.NewReader(text), "w.json"); err != nil {
			t.Skip("not good to begin with")
		}
		objects := objectsOf(doc)
		o := objects[rapid.IntRange(0, len(objects)-1).Draw(t, "object")]
		what := spoil(t, o)
		text, err = json.Marshal(doc)
		require.NoError(t, err)
		require.Error(t, judge(windows, text), "%s: %s", what, text)
		_, err = window.Read(bytes.NewReader(text), "w.json")
		require.Error(t, err, "%s: %s", what, text)
	})
}

// objectsOf are all objects of a document, itself the first.
func objectsOf(v any) (list []map[string]any) {
	switch v := v.(type) {
	case map[string]any:
		list = append(list, v)
		for _, k := range keysOf(v) {
			list = append(list, objectsOf(v[k])...)
		}
	case []any:
		for _, e := range v {
			list = append(list, objectsOf(e)...)
		}
	}
	return list
}

func keysOf(o map[string]any) (keys []string) {
	for k := range o {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// spoil makes a fault of a kind that a schema can tell, and says which.
func spoil(t *rapid.T, o map[string]any) string {
	key := rapid.SampledFrom(append(keysOf(o), "odd")).Draw(t, "key")
	required := map[string]bool{"name": true, "id": true, "priority": true}
	_, isWindow := o["jobs"]
	if _, runs := o["end_s"]; runs {
		required["nodes"], required["cores_per_node"] = true, true
	}
	switch kind := rapid.SampledFrom([]string{"unknown", "null", "type", "case", "missing"}).Draw(t, "kind"); {
	case kind == "unknown" || key == "odd":
		o["odd"] = 1
		return "unknown field"
	case kind == "null":
		o[key] = nil
		return key + " is null"
	case kind == "case":
		o[strings.ToUpper(key)] = o[key]
		delete(o, key)
		return key + " in capitals"
	case kind == "missing" && required[key] && !isWindow:
		delete(o, key)
		return key + " is missing"
	}
	o[key] = map[string]any{"a": 1.5}
	return key + " is an object"
}

// drawWindow draws a window that is good, or nearly.
func drawWindow(t *rapid.T) map[string]any {
	number := func(least, most int, name string) int { return rapid.IntRange(least, most).Draw(t, name) }
	maybe := func(name string) bool { return number(0, 2, "with "+name) == 0 }
	var nodes, running, jobs []any
	count := 0
	for i := range number(1, 3, "kinds of nodes") {
		n := number(1, 4, "nodes")
		node := map[string]any{"name": fmt.Sprintf("n[%d-%d]", count+1, count+n), "cores": number(1, 8, "cores")}
		if count += n; maybe("gpus") {
			node["gpus"] = number(0, 3, "gpus")
		}
		if maybe("state") {
			node["state"] = rapid.SampledFrom([]string{"up", "drained", "down", ""}).Draw(t, "state")
		}
		if maybe("running") {
			name := fmt.Sprintf("n%d", count)
			running = append(running, map[string]any{"id": fmt.Sprintf("R%d", i), "nodes": name, "end_s": number(0, 99, "end"),
				"cores_per_node": rapid.SampledFrom([]any{1, []any{1}, 0}).Draw(t, "held")})
		}
		nodes = append(nodes, node)
	}
	for i := range number(0, 5, "jobs") {
		j := drawRequest(t, count)
		j["id"], j["priority"] = fmt.Sprintf("J%d", i), number(1, 50, "priority")
		if maybe("limit") {
			j["time_limit_s"] = number(1, 200, "limit")
		}
		if maybe("waited") {
			j["waited_s"] = number(0, 200, "waited")
		}
		if maybe("prefer") {
			j["prefer"] = fmt.Sprintf("n%d", number(1, count, "prefer"))
		}
		if maybe("alternatives") {
			var list []any
			for range number(0, 2, "alternatives") {
				list = append(list, drawRequest(t, count))
			}
			j["alternatives"] = append([]any{}, list...)
		}
		jobs = append(jobs, j)
	}
	doc := map[string]any{"nodes": nodes, "jobs": append([]any{}, jobs...)}
	if len(running) > 0 {
		doc["running"] = running
	}
	return doc
}

// drawRequest draws what a job may ask of so many nodes.
func drawRequest(t *rapid.T, nodes int) map[string]any {
	number := func(least, most int, name string) int { return rapid.IntRange(least, most).Draw(t, name) }
	maybe := func(name string) bool { return number(0, 2, "with "+name) == 0 }
	spread := func(most int) any {
		low := number(0, most, "low")
		return rapid.SampledFrom([]any{low, fmt.Sprint(low), fmt.Sprintf("%d-%d", low, low+number(0, 2, "more"))}).Draw(t, "range")
	}
	r := map[string]any{"cores": number(0, 12, "cores")}
	if maybe("nodes") {
		r["nodes"] = spread(3)
	}
	if maybe("tasks") {
		r["tasks_per_node"] = number(0, 4, "tasks")
	}
	if maybe("gpus") {
		r["gpus_per_node"] = spread(2)
	}
	if maybe("uniform") {
		r["gpus_uniform"] = rapid.Bool().Draw(t, "uniform")
	}
	if maybe("contiguous") {
		r["contiguous"] = rapid.Bool().Draw(t, "contiguous")
	}
	if maybe("eligible") {
		r["eligible"] = rapid.SampledFrom([]string{"", "n1", fmt.Sprintf("n[1-%d]", nodes)}).Draw(t, "eligible")
	}
	return r
}

// What is no window to the one is none to the other.
func TestNoWindows(t *testing.T) {
	windows := compiled(t, "window")
	for _, bad := range []string{`null`, `[]`, `{}`, `{"nodes":[]}`,
		`{"nodes":[{"name":"n1","cores":-1}]}`, `{"nodes":[{"name":"n1","cores":70000}]}`,
		`{"nodes":[{"name":"n1"}],"jobs":[{"id":"a","priority":0,"cores":1}]}`,
		`{"nodes":[{"name":"n1"}],"jobs":[{"id":"a","priority":1}]}`,
		`{"nodes":[{"name":"n1"}],"jobs":[{"id":"a","priority":1,"cores":1,"nodes":"1 - 2"}]}`, `{"nodes":[{"name":"n1","state":"odd"}]}`} {
		require.Error(t, judge(windows, []byte(bad)), bad)
		_, err := window.Read(strings.NewReader(bad), "w.json")
		require.Error(t, err, bad)
	}
}
