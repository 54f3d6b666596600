// SPDX-License-Identifier: BSD-3-Clause

package window

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/examples"
	"github.com/aucsched/aucsched/internal/settings"
	"github.com/aucsched/aucsched/nodeset"
)

const good = `{"nodes": [{"name": "n[1-4]", "cores": 8, "gpus": 2}, {"name": "m1", "cores": 16, "free_cores": 4, "state": "drained"}],
 "running": [{"id": "R", "nodes": "n[2-3]", "cores_per_node": 8, "gpus_per_node": 1, "end_s": 50}],
 "jobs": [
  {"id": "low", "priority": 1, "cores": 4},
  {"id": "high", "priority": 9, "cores": 8, "nodes": "1-2", "gpus_per_node": 2, "time_limit_s": 600, "waited_s": 30, "contiguous": true}
 ]}`

func TestRead(t *testing.T) {
	w, err := Read(strings.NewReader(good), "w.json")
	require.NoError(t, err)
	require.Equal(t, []string{"n1", "n2", "n3", "n4", "m1"}, w.Names)
	s := w.Snapshot
	require.Equal(t, "high", s.Pending[0].ID, "the queue is in order of priority")
	require.Equal(t, []int{1, 2, 2, 2}, []int{s.Pending[0].MinNodes, s.Pending[0].MaxNodes, s.Pending[0].MinGPUs, s.Pending[0].MaxGPUs})
	require.EqualValues(t, int64(core.NoTimeLimit), s.Pending[1].TimeLimit)
	require.Equal(t, []int64{30, 0}, []int64{s.Now - s.Pending[0].Since, s.Now - s.Pending[1].Since})
	require.Equal(t, nodeset.Capacity{Cores: 0, GPUs: 1}, s.Nodes.Free(1), "what runs is taken off")
	require.Equal(t, nodeset.Capacity{Cores: 4}, s.Nodes.Free(4))
	require.False(t, s.Nodes.Up(4))
	require.Equal(t, []core.Running{{ID: "R", End: 50, Segs: []nodeset.Segment{{First: 1, Last: 2, Cores: 8, GPUs: 1}}}}, s.Running)
}

// alternatives is a job with these.
func alternatives(list string) string {
	return `{"id":"J","priority":5,"cores":4,"alternatives":` + list + `}`
}

func TestReadAlternatives(t *testing.T) {
	w, err := Read(strings.NewReader(`{"nodes":[{"name":"n[1-4]","cores":8,"gpus":3}],"jobs":[
		{"id":"J","priority":5,"cores":4,"nodes":2,"gpus_per_node":"1-3","gpus_uniform":false,"alternatives":[
			{"cores":16},{"nodes":"2-3","tasks_per_node":4,"gpus_per_node":2,"gpus_uniform":true,"contiguous":true}]},
		{"id":"K","priority":4,"cores":1,"alternatives":[]}]}`), "w.json")
	require.NoError(t, err)
	j := w.Snapshot.Pending[0]
	require.Equal(t, bids.Request{Cores: 4, MinNodes: 2, MaxNodes: 2, MinGPUs: 1, MaxGPUs: 3, MixedGPUs: true}, j.Request)
	require.Equal(t, []bids.Request{{Cores: 16},
		{MinNodes: 2, MaxNodes: 3, TasksPerNode: 4, MinGPUs: 2, MaxGPUs: 2, Contiguous: true}}, j.Alternatives)
	require.Empty(t, w.Snapshot.Pending[1].Alternatives)
}

// What is printed of a job that starts by an alternative, and of one whose nodes give different
// numbers of GPUs.
func TestOutcomeOfAlternatives(t *testing.T) {
	w, err := Read(strings.NewReader(`{"nodes":[{"name":"n1","cores":8,"gpus":1},{"name":"n2","cores":8,"gpus":3}],"jobs":[
		{"id":"A","priority":5,"cores":4,"gpus_per_node":4,"alternatives":[{"cores":17},{"cores":6}]},
		{"id":"M","priority":4,"cores":4,"nodes":2,"gpus_per_node":"1-2","gpus_uniform":false}]}`), "w.json")
	require.NoError(t, err)
	a, err := core.NewAuction(core.Preset("none"), nil)
	require.NoError(t, err)
	var p core.Plan
	require.NoError(t, a.Decide(context.Background(), &w.Snapshot, core.Limits{}, &p))
	require.NoError(t, core.Verify(&w.Snapshot, &p))
	o, err := NewOutcome("auction2", w, &p)
	require.NoError(t, err)
	text, err := json.Marshal(o.Decisions)
	require.NoError(t, err)
	require.Equal(t, `[{"job":"A","start":true,"alternative":2,"nodes":"n1","cores_per_node":[6],`+
		`"gpus_per_node":0,"bid_class":"A","reason":""},`+
		`{"job":"M","start":true,"nodes":"n[1-2]","cores_per_node":[2,2],"gpus_per_node":1,`+
		`"gpus_of_nodes":[1,2],"bid_class":"A","reason":""}]`, string(text))
}

func TestReadErrors(t *testing.T) {
	node, job := `{"name":"n[1-4]","cores":8,"gpus":2}`, `{"id":"J1","priority":5,"cores":4}`
	doc := func(nodes, jobs string) string { return "{\"nodes\":[" + nodes + "],\n\"jobs\":[" + jobs + "]}" }
	for in, want := range map[string]string{
		``:                                      "w.json:1: the file ends too early",
		`[]`:                                    "a window is an object: found a list",
		`{"nodes":[`:                            "ends too early",
		`{"nodes":{}}`:                          "nodes: expected a list, found an object",
		`{"nodes":[],"nodes":[]}`:               "there twice",
		`{"knots":[]}`:                          `unknown field "knots"`,
		doc("", job):                            "the machine has no node",
		doc(node, job) + "{}":                   "something follows",
		doc(node, job+",\n"+job):                "w.json:3: jobs[1] (J1): id: J1: there are two jobs of this id",
		doc(node+","+node, job):                 "nodes[1] (n[1-4]): name: n1: is there twice",
		doc(`{"name":"n[3-1]","cores":1}`, job): "3-1",
		doc(`{"name":"n1","cores":-1}`, job):    "cores: -1: must be 0 to 65535",
		doc(`{"name":"n1","cores":70000}`, job): "cores: 70000",
		doc(`{"name":"n1","cores":8,"free_cores":9}`, job): "nodes[0] (n1): free_cores: 9: of node n1, 8 are left by what runs",
		doc(`{"name":"n1","cores":8,"colour":1}`, job):     `unknown field "colour"`,
		doc(`{"name":"n1","cores":1e99}`, job):             "cores: number 1e99 is not a whole number",
		doc(`{"cores":8}`, job):                            `nodes[0]: name: "": is missing`,
		doc(`{"name":"n1","cores":8,"state":"odd"}`, job):  "nodes[0] (n1): state: odd: is not up, drained or down",
		doc(node, `7`): "jobs[0]: expected an object",
		doc(node,
			`{"id":"J","priority":5,"cores":4,"gpus_per_node":"3-1"}`): `"3-1": the range is empty`,
		doc(node,
			`{"id":"J","priority":5,"cores":4,"nodes":"many"}`): `"many" is neither N nor MIN-MAX`,
		doc(node,
			`{"id":"J","priority":5,"cores":4,"nodes":99999999999999999999}`): "is neither N",
		doc(node,
			`{"id":"J","priority":5,"cores":-4}`): "jobs[0] (J): cores: -4: must not be negative",
		doc(node,
			`{"id":"J","priority":0,"cores":4}`): "priority: 0: must be 1 to 1099511627776, and has no default",
		doc(node,
			`{"id":"J","priority":5}`): "asks for nothing",
		doc(node,
			`{"id":"J","priority":5,"cores":4,"waited_s":-1}`): "jobs[0] (J): waited_s: -1: must be 0 to 3153600000",
		doc(node,
			`{"id":"J","priority":5,"cores":4,"time_limit_s":0}`): "time_limit_s: 0",
		doc(node,
			alternatives(
				`7`)): "w.json:2: jobs[0] (J): alternatives: expected a list, found a number",
		doc(node,
			alternatives(
				"[{\"cores\":1},\n{\"cores\":1,\n\"gpus_per_node\":\"x\"}]")): "w.json:4: jobs[0] (J): " +
			`alternatives[1]: gpus_per_node: "x" is neither N nor MIN-MAX`,
		doc(node,
			alternatives(
				`[{"cores":1},{"cores":1,"gpus_per_node":300}]`)): "w.json:2: jobs[0] (J): " +
			"alternatives[1].gpus_per_node: 300: must be at most 255",
		doc(node,
			alternatives(
				`[{"nodes":2}]`)): "alternatives[0].cores: 0: the job asks for nothing",
		doc(node,
			alternatives(
				`[{"cores":"4"}]`)): "jobs[0] (J): alternatives[0]: cores: string is not a whole number",
		doc(node,
			alternatives(
				`[{"cores":4,"time_limit_s":9}]`)): `jobs[0] (J): alternatives[0]: unknown field "time_limit_s"`,
		doc(node,
			alternatives(
				`[{"cores":1},7]`)): "alternatives[1]: expected an object",
		doc(node, alternatives(`[`+strings.Repeat(`{"cores":1},`,
			8)+`{"cores":1}]`)): "jobs[0] (J): alternatives: 9: must be at most 8",
		doc(node,
			`{"id":"J","priority":5,"cores":4,"gpus_uniform":"no"}`): "gpus_uniform: string is not true or false",
		doc(node,
			`{"id":"J","priority":5,"cores":"4"}`): "jobs[0] (J): cores: string is not a whole number in range",
		doc(node,
			`{"priority":5,"cores":4}`): "jobs[0]: id: \"\": must be UTF-8, and not empty",
		doc(node, job)[:len(doc(node, job))-1] +
			`,"running":[{"id":"R","nodes":"x1","cores_per_node":1}]}`: "running[0] (R): node x1: name: x1: there is no such node",
		doc(node, job)[:len(doc(node, job))-1] +
			`,"running":[{"id":"R","nodes":"n1","cores_per_node":9}]}`: "running[0] (R): node n1: cores: 8: 9 would have to be free",
		strings.TrimSuffix(doc(`{"name":"n1","cores":8,"free_cores":8}`, job), "}") +
			`,"running":[{"id":"R","nodes":"n1","cores_per_node":1}]}`: "nodes[0] (n1): free_cores: 8: of node n1, 7 are left by what runs",
	} {
		_, err := Read(strings.NewReader(in), "w.json")
		require.ErrorContains(t, err, want, "%s", in)
		require.True(t, strings.HasPrefix(err.Error(), "w.json:"), err)
		require.NotContains(t, err.Error(), "\n")
	}
}

// An outcome is a golden: what "aucsched plan --json" prints for a small window.
func TestOutcome(t *testing.T) {
	w, err := Read(strings.NewReader(good), "w.json")
	require.NoError(t, err)
	a, err := core.NewAuction(core.Preset("none"), nil)
	require.NoError(t, err)
	var p core.Plan
	require.NoError(t, a.Decide(context.Background(), &w.Snapshot, core.Limits{}, &p))
	o, err := NewOutcome("auction2", w, &p)
	require.NoError(t, err)
	require.Equal(t, []Decision{
		{Job: "high", Start: true, Place: Place{Nodes: "n1", CoresPerNode: []int{8}, GPUsPerNode: 2}, BidClass: "A"},
		{Job: "low", Start: true, Place: Place{Nodes: "n4", CoresPerNode: []int{4}}, BidClass: "A"},
	}, o.Decisions)
	require.Equal(t, 2, o.Started)
}

func TestExamples(t *testing.T) {
	files, err := fs.Glob(examples.Files, "*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		file, err := examples.Files.Open(f)
		require.NoError(t, err)
		w, err := Read(file, f)
		require.NoError(t, err)
		require.NotEmpty(t, w.Snapshot.Pending)
	}
}

// anySettings are the settings of a number, each bit another one.
func anySettings(kind uint8) core.AuctionOptions {
	o := core.Preset("none")
	o.MaxBidsPerJob, o.Drafts = 6, 3
	if preset := kind % 4; preset > 0 {
		o = core.Preset(settings.Planned()[preset-1])
	}
	o.Window, o.Work, o.Depth = 8, 20_000, int(kind>>2&1)*3
	o.Compact, o.ContiguousOnly = kind>>4&1 == 1, kind>>5&1 == 1
	o.Estimates = kind>>6&1 == 1
	if kind>>7 == 1 {
		o.Objective, o.Patience, o.Promise = core.BySize, 3600, 1
	}
	return o
}

// Whatever a file says, and whatever the settings are: what is read is decided and explained.
func FuzzRead(f *testing.F) {
	kind := uint8(0)
	add := func(text string) {
		for range 3 {
			f.Add(text, kind)
			kind += 11
		}
	}
	add(good)
	add(rich)
	add(coreless)
	add(sharing)
	add(`{"nodes":[{"name":"n[1-3]","cores":8,"gpus":3,"free_gpus":1,"gpu_shares":7,"free_gpu_shares":{"6":1,"2":6}}],"running":` +
		`[{"id":"R","nodes":"n2","cores_per_node":1,"end_s":9,"gpu_share":1,"shared_gpu":2}],"jobs":[{"id":"a","priority":3,` +
		`"cores":1,"gpu_share":6,"alternatives":[{"cores":2,"gpu_share":3},{"cores":2,"nodes":1,"gpus_per_node":"1-2"}]}]}`)
	add(`{"nodes":[{"name":"n1","cores":4,"gpus":2,"resources":{"m":9,"m":1},"free_resources":{"m":3}}],` +
		`"jobs":[{"id":"a","priority":3,"cores":1,"gpus_per_node":"0-2","uses":{"m":{"per_core":1,"per_gpu":2}}}]}`)
	add(`{"nodes":[{"name":"n[1-3]","cores":8,"gpus":3,"free_gpus":2}],"jobs":[{"id":"a",` +
		`"priority":3,"cores":9,"nodes":"2-3","gpus_per_node":"1-3","gpus_uniform":false,` +
		`"alternatives":[{"cores":30},{"nodes":2,"tasks_per_node":2,"gpus_per_node":"0-2",` +
		`"gpus_uniform":false},{"cores":2,"contiguous":true}]},{"id":"b","priority":3,"cores":20}]}`)
	add(`{"nodes":[{"name":"n[1-3]","cores":"8"}],"jobs":[{"id":"a","priority":1e3,"nodes":"1-2"}]}`)
	add(composed)
	files, err := fs.Glob(examples.Files, "*.json")
	require.NoError(f, err)
	for _, name := range files {
		text, err := examples.Files.ReadFile(name)
		require.NoError(f, err)
		add(string(text))
	}
	long := regexp.MustCompile(`\d{5}`)
	f.Fuzz(func(t *testing.T, in string, kind uint8) {
		if long.MatchString(in) {
			t.Skip("lists of nodes so long that little else would be tried")
		}
		w, err := Read(strings.NewReader(in), "w")
		if err != nil || w.Snapshot.Nodes.Len() > 1000 {
			return
		}
		a, err := core.NewAuction(anySettings(kind), nil)
		require.NoError(t, err)
		e, err := core.NewExplainer(context.Background(), a, &w.Snapshot, core.Limits{})
		require.NoError(t, err)
		require.NoError(t, core.Verify(&w.Snapshot, e.Plan()))
		_, err = NewOutcome(a.Name(), w, e.Plan())
		require.NoError(t, err)
		for i := range min(len(w.Snapshot.Pending), 8) {
			x, err := e.Explain(context.Background(), i, core.ExplainOptions{Trials: 2})
			require.NoError(t, err)
			_, err = NewExplanation(w, x)
			require.NoError(t, err)
		}
	})
}

func ExampleRead() {
	w, err := Read(strings.NewReader(`{"nodes":[{"name":"n[1-2]","cores":8}],"jobs":[{"id":"J","priority":1,"cores":9}]}`), "w.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	a, _ := core.NewAuction(core.Preset("none"), nil)
	var p core.Plan
	_ = a.Decide(context.Background(), &w.Snapshot, core.Limits{}, &p)
	o, _ := NewOutcome(a.Name(), w, &p)
	fmt.Println(o.Decisions[0].Nodes, o.Decisions[0].CoresPerNode)
	// Output: n[1-2] [8 1]
}

// An explanation is a golden as well.
func TestExplanation(t *testing.T) {
	w, err := Read(strings.NewReader(`{"nodes": [{"name": "n[1-4]", "cores": 8, "gpus": 2}],
		"running": [{"id": "R", "nodes": "n[2-3]", "cores_per_node": 8, "gpus_per_node": 1, "end_s": 50}],
		"jobs": [{"id": "wide", "priority": 9, "nodes": "3", "tasks_per_node": 2, "gpus_per_node": "1-2", "time_limit_s": 60},
			{"id": "late", "priority": 4, "nodes": "2", "tasks_per_node": 8, "time_limit_s": 60},
			{"id": "small", "priority": 3, "cores": 1, "time_limit_s": 70}]}`), "w.json")
	require.NoError(t, err)
	a, err := core.NewAuction(core.Preset("none"), nil)
	require.NoError(t, err)
	x, err := core.NewExplainer(context.Background(), a, &w.Snapshot, core.Limits{})
	require.NoError(t, err)
	for job, want := range []string{
		`{"why":"no_fit","worth":9,"lacks":[{"row":"cores_per_node","in":"nodes","needs":3,"has":2,` +
			`"each":{"cores":2,"gpus":1},"among":4}],` +
			`"place":"n[1-3]","blocked_by":[{"job":"R","role":"running","nodes":"n[2-3]",` +
			`"cores":16,"gpus":2,"at_s":50}],"room_in_s":50,"room_kept":true,` +
			`"suggestions":[{"changes":[{"field":"nodes","from":"3","to":"2"}],` +
			`"size":0.3333333333333333,"smallest":true,"nodes":"n[1,4]","bid_class":"C"}],"trials":1}`,
		`{"why":"lost","worth":4,"place":"n[1,4]","blocked_by":[{"job":"wide","role":"reserved",` +
			`"nodes":"n1","cores":2,"gpus":1,"worth":9,"at_s":50},` +
			`{"job":"small","role":"starting","nodes":"n1","cores":1,"worth":3,"at_s":70}],"room_in_s":110,` +
			`"suggestions":[{"changes":[{"field":"time_limit_s","from":"60","to":"50"}],` +
			`"size":0.16666666666666666,"smallest":true,"nodes":"n[1,4]","bid_class":"C"}],` +
			`"trials":2,"cut":"the search for changes ended after 2 trials"}`,
		`{"worth":3,"wanted_by":[{"job":"late","role":"waiting","nodes":"n1","cores":1,"worth":4}]}`,
	} {
		e, err := x.Explain(context.Background(), job, core.ExplainOptions{Trials: 2})
		require.NoError(t, err)
		named, err := NewExplanation(w, e)
		require.NoError(t, err)
		got, err := json.Marshal(named)
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
}

// Every reason has a name, also those that a cycle gives when its time is over.
func TestExplanationOfEveryWhy(t *testing.T) {
	for why := range core.TimedOut + 1 {
		e, err := NewExplanation(&Window{}, &core.Explanation{Why: why})
		require.NoError(t, err)
		require.Equal(t, why.String(), e.Why)
	}
}
