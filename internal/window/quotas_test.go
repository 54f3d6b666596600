// SPDX-License-Identifier: BSD-3-Clause

package window

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/nodeset"
)

// limited is a window with quotas, which are named before they are said.
const limited = `{"jobs": [
  {"id": "J", "priority": 9, "cores": 4, "nodes": 1, "charges": {"cores of x": {"per_core": 1}, "jobs": {"per_job": 1, "per_node": 2, "per_gpu": 3}},
   "alternatives": [{"cores": 2, "charges": {"cores of x": {"per_core": 2}, "jobs": {}}}, {"cores": 1}]},
  {"id": "K", "priority": 8, "cores": 3, "nodes": 1, "charges": {"cores of x": {"per_core": 1}}},
  {"id": "L", "priority": 7, "cores": 6, "nodes": 1, "charges": {"cores of x": {"per_core": 1}}}],
 "quotas": [{"name": "cores of x", "left": 5}, {"name": "jobs", "left": 9}, {"name": "spent"}],
 "running": [{"id": "R", "nodes": "n1", "cores_per_node": 3, "end_s": 50, "charges": {"cores of x": {"per_core": 1}}}],
 "nodes": [{"name": "n[1-4]", "cores": 8, "gpus": 2}]}`

func TestReadQuotas(t *testing.T) {
	w, err := Read(strings.NewReader(limited), "w.json")
	require.NoError(t, err)
	s := &w.Snapshot
	require.Equal(t, []core.Quota{{Name: "cores of x", Left: 5}, {Name: "jobs", Left: 9}, {Name: "spent"}}, s.Quotas)
	require.Equal(t, nodeset.Uses{{Row: 0, PerCore: 1}, {Row: 1, PerJob: 1, PerNode: 2, PerGPU: 3}}, s.Pending[0].Charges)
	require.Equal(t, nodeset.Uses{{Row: 0, PerCore: 2}}, s.Pending[0].Alternatives[0].Charges, "what counts nothing is left out")
	require.Nil(t, s.Pending[0].Alternatives[1].Charges)
	require.Equal(t, nodeset.Uses{{Row: 0, PerJob: 3}}, s.Running[0].Charges)
}

func TestReadQuotaErrors(t *testing.T) {
	doc := func(quotas, job, running string) string {
		return `{"nodes":[{"name":"n[1-2]","cores":8}],"jobs":[{"id":"J","priority":1,"cores":4,` + "\n" + job + `}],` +
			`"quotas":[` + quotas + `],"running":[{"id":"R","nodes":"n1","cores_per_node":2,` + "\n" + running + `}]}`
	}
	const x = `{"name":"x","left":1}`
	for _, c := range []struct{ quotas, job, running, want string }{
		{`7`, `"nodes":1`, `"end_s":1`, "quotas[0]: expected an object, found a number"},
		{`{"left":1}`, `"nodes":1`, `"end_s":1`, `quotas[0]: name: "": "" is not a name of 1 to 256 bytes that can be printed`},
		{`{"name":"a\u0007"}`, `"nodes":1`, `"end_s":1`, `is not a name of 1 to 256 bytes that can be printed`},
		{`{"name":"x","left":-1}`, `"nodes":1`, `"end_s":1`, "quotas[0] (x): left: -1: must be 0 to 1099511627776"},
		{x + "," + x, `"nodes":1`, `"end_s":1`, "quotas[1] (x): name: x: is there twice"},
		{`{"name":"x","lft":1}`, `"nodes":1`, `"end_s":1`, `quotas[0] (x): unknown field "lft"; did you mean "left"?`},
		{x, `"charges":{"y":{"per_job":1}}`, `"end_s":1`, "w.json:2: jobs[0] (J): charges: y: there is no such quota"},
		{x, `"charges":{"x":{"per_jub":1}}`, `"end_s":1`, `jobs[0] (J): charges: x: unknown field "per_jub"; did you mean "per_job"?`},
		{x, `"charges":{"x":{"per_job":1.5}}`, `"end_s":1`, "jobs[0] (J): charges: x: per_job: number 1.5 is not a whole number in range"},
		{x, `"charges":{"x":{"per_core":"1"}}`, `"end_s":1`, "jobs[0] (J): charges: x: per_core: string is not a whole number in range"},
		{x, `"charges":{"x":5}`, `"end_s":1`, "charges: x: expected an object, found a number"},
		{x, `"charges":{"":{}}`, `"end_s":1`, `jobs[0] (J): charges: "": there is no such quota`},
		{x, `"alternatives":[{"cores":1,"charges":{"y":{"per_job":1}}}]`, `"end_s":1`, "jobs[0] (J): alternatives[0].charges: y: there is no such quota"},
		{x, `"nodes":1`, `"charges":{"y":{"per_job":1}}`, "running[0] (R): charges: y: there is no such quota"},
	} {
		_, err := Read(strings.NewReader(doc(c.quotas, c.job, c.running)), "w.json")
		require.ErrorContains(t, err, c.want)
	}
}

// What is said of a job over a quota.
func TestExplainQuotas(t *testing.T) {
	before, rest, _ := strings.Cut(limited, `"alternatives"`)
	_, after, _ := strings.Cut(rest, "]},")
	w, err := Read(strings.NewReader(before+`"alternatives": []},`+after), "w.json")
	require.NoError(t, err)
	a, err := core.NewAuction(core.Preset("none"), nil)
	require.NoError(t, err)
	e, err := core.NewExplainer(context.Background(), a, &w.Snapshot, core.Limits{})
	require.NoError(t, err)
	say := func(job int) string {
		x, err := e.Explain(context.Background(), job, core.ExplainOptions{})
		require.NoError(t, err)
		names, err := NewExplanation(w, x)
		require.NoError(t, err)
		text, err := json.Marshal(names)
		require.NoError(t, err)
		return string(text)
	}
	require.Equal(t, `{"why":"over_quota","worth":8,"lacks":[{"row":"cores of x","in":"quota","needs":3,"has":1}],"place":"n1",`+
		`"blocked_by":[{"job":"J","role":"starting","nodes":"n1","cores":4,"worth":9,"at_s":3153600000}],`+
		`"room_in_s":50,"room_kept":true}`, say(1))
	require.Equal(t, `{"why":"over_quota","worth":7,"lacks":[{"row":"cores of x","in":"quota","needs":6,"has":5}],`+
		`"place":"n1","blocked_by":[{"job":"R","role":"running","nodes":"n1","cores":3,"at_s":50}]}`, say(2), "K has its part from 50 on, without a limit")
}
