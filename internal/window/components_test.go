// SPDX-License-Identifier: BSD-3-Clause

package window

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/examples"
	"github.com/aucsched/aucsched/nodeset"
)

const composed = `{"nodes":[{"name":"n[1-4]","cores":8,"gpus":1,"resources":{"mem":100}}],
 "quotas":[{"name":"q","left":9}],
 "jobs":[{"id":"J","priority":5,"cores":4,"eligible":"n[1-2]","all_within":1,
  "components":[{"nodes":2,"tasks_per_node":8,"apart":true,"eligible":"n[3-4]","uses":{"mem":{"per_core":2}},"charges":{"q":{"per_job":1}}},
                {"cores":1,"gpus_per_node":1}],
  "alternatives":[{"cores":1,"components":[{"cores":2,"eligible":"n1"}]}]}]}`

func TestReadComponents(t *testing.T) {
	w, err := Read(strings.NewReader(composed), "w.json")
	require.NoError(t, err)
	mask := func(nodes ...int) nodeset.Mask {
		m := nodeset.NewMask(4)
		for _, n := range nodes {
			m.Set(n)
		}
		return m
	}
	j := w.Snapshot.Pending[0]
	require.Equal(t, bids.Request{Cores: 4, Eligible: mask(0, 1), AllWithin: 1, Components: []bids.Request{
		{MinNodes: 2, MaxNodes: 2, TasksPerNode: 8, Apart: true, Eligible: mask(2, 3),
			Uses: nodeset.Uses{{Row: 0, PerCore: 2}}, Charges: nodeset.Uses{{Row: 0, PerJob: 1}}},
		{Cores: 1, MinGPUs: 1, MaxGPUs: 1}}}, j.Request)
	require.Equal(t, []bids.Request{{Cores: 1, Components: []bids.Request{{Cores: 2, Eligible: mask(0)}}}}, j.Alternatives)
}

// Faults of components name the job, the component, the field and the line.
func TestReadComponentsFaults(t *testing.T) {
	for list, want := range map[string]string{
		`[{"cores":0}]`:                    "jobs[0] (J): components[0].cores: 0: the job asks for nothing",
		`[{"cores":1},{"cores":-1}]`:       "w.json:2: jobs[0] (J): components[1].cores: -1: must not be negative",
		`[{"cores":1,"core":1}]`:           `jobs[0] (J): components[0]: unknown field "core"`,
		`[{"cores":"x"}]`:                  "jobs[0] (J): components[0]: cores: string is not",
		`{}`:                               "jobs[0] (J): components: expected a list, found an object",
		`[{"cores":1,"components":[{}]}]`:  "jobs[0] (J): components[0].components: 1: components have none themselves",
		`[{"cores":1,"all_within":1}]`:     "jobs[0] (J): components[0].all_within: 1",
		`[{"cores":1,"eligible":"x"}]`:     "jobs[0] (J): components[0].eligible: x: there is no such node",
		`[{"cores":1,"uses":{"disk":{}}}]`: "jobs[0] (J): components[0].uses: disk: there is no such resource",
		`[{"cores":1,"charges":{"x":{}}}]`: "jobs[0] (J): components[0].charges: x: there is no such quota",
		`[{"cores":1,"priority":7}]`:       `jobs[0] (J): components[0]: unknown field "priority"`,
		`[` + strings.Repeat(`{"cores":1},`, 15) + `{"cores":1}]`: "jobs[0] (J): components: 16: must be at most 15",
	} {
		text := `{"nodes":[{"name":"n1","cores":8}],"jobs":[{"id":"J","priority":5,"cores":1,` + "\n" +
			`"components":` + list + `}]}`
		_, err := Read(strings.NewReader(text), "w.json")
		require.ErrorContains(t, err, want, list)
	}
	const alone = `{"nodes":[{"name":"n1","cores":8}],"jobs":[{"id":"J","priority":5,"cores":1,"all_within":1}]}`
	_, err := Read(strings.NewReader(alone), "w.json")
	require.ErrorContains(t, err, "jobs[0] (J): all_within: 1: the job has no components")
}

// The example: what starts says where each part is, and what waits which part finds no place.
func TestExampleOfComponents(t *testing.T) {
	text, err := examples.Files.ReadFile("group.json")
	require.NoError(t, err)
	w, err := Read(bytes.NewReader(text), "group.json")
	require.NoError(t, err)
	a, err := core.NewAuction(core.Preset("none"), nil)
	require.NoError(t, err)
	var p core.Plan
	require.NoError(t, a.Decide(context.Background(), &w.Snapshot, core.Limits{}, &p))
	require.NoError(t, core.Verify(&w.Snapshot, &p))
	o, err := NewOutcome("auction2", w, &p)
	require.NoError(t, err)
	require.Equal(t, 2, o.Started)
	require.Equal(t, []Place{{Nodes: "n[5-8]", CoresPerNode: []int{16, 16, 16, 16}}}, o.Decisions[0].Components)
	require.Len(t, o.Decisions[1].Components, 2)

	// with a node of the second leaf down neither leaf has four nodes at once
	w.Snapshot.Nodes.SetUp(11, false)
	w.Snapshot.Pending = w.Snapshot.Pending[:1]
	e, err := core.NewExplainer(context.Background(), a, &w.Snapshot, core.Limits{})
	require.NoError(t, err)
	x, err := e.Explain(context.Background(), 0, core.ExplainOptions{})
	require.NoError(t, err)
	j, err := NewExplanation(w, x)
	require.NoError(t, err)
	require.Len(t, j.Lacks, 1)
	require.Equal(t, "all_within", j.Lacks[0].Row)
	require.Nil(t, j.Lacks[0].Parts)
	w.Snapshot.Pending[0].Components[0].MinNodes, w.Snapshot.Pending[0].Components[0].MaxNodes = 7, 7
	w.Snapshot.Pending[0].AllWithin = 0
	e, err = core.NewExplainer(context.Background(), a, &w.Snapshot, core.Limits{})
	require.NoError(t, err)
	x, err = e.Explain(context.Background(), 0, core.ExplainOptions{})
	require.NoError(t, err)
	j, err = NewExplanation(w, x)
	require.NoError(t, err)
	out, err := json.Marshal(j)
	require.NoError(t, err)
	require.Contains(t, string(out), `"parts":[1`)
}
