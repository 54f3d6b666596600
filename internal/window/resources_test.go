// SPDX-License-Identifier: BSD-3-Clause

package window

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/nodeset"
)

// rich is a window with further resources; what runs is named before the nodes that it holds.
const rich = `{"jobs": [
  {"id": "J", "priority": 9, "cores": 4, "gpus_per_node": 1, "uses": {"memory": {"per_node": 10, "per_core": 2}, "gpu:a100": {"per_gpu": 1}},
   "alternatives": [{"cores": 2, "uses": {"memory": {"per_core": 5}, "scratch": {}}}, {"cores": 1}]}],
 "running": [{"id": "R", "nodes": "n[2-3]", "cores_per_node": [8, 4], "gpus_per_node": 1, "end_s": 50,
   "uses": {"memory": {"per_core": 3}, "gpu:a100": {"per_gpu": 1}}}],
 "nodes": [{"name": "n[1-2]", "cores": 8, "gpus": 2, "resources": {"memory": 64, "gpu:a100": 2}},
   {"name": "n3", "cores": 8, "gpus": 2, "resources": {"memory": 32, "gpu:a100": 1}, "free_resources": {"memory": 5}},
   {"name": "n4", "cores": 8, "resources": {"scratch": 7}}]}`

func TestReadResources(t *testing.T) {
	w, err := Read(strings.NewReader(rich), "w.json")
	require.NoError(t, err)
	nodes := w.Snapshot.Nodes
	require.Equal(t, 3, nodes.Resources())
	for r, want := range []struct {
		name        string
		total, free []int64
	}{
		{"gpu:a100", []int64{2, 2, 1, 0}, []int64{2, 1, 0, 0}},
		{"memory", []int64{64, 64, 32, 0}, []int64{64, 40, 5, 0}},
		{"scratch", []int64{0, 0, 0, 7}, []int64{0, 0, 0, 7}},
	} {
		require.Equal(t, want.name, nodes.ResourceName(r))
		require.Equal(t, want.total, nodes.TotalOf(r))
		require.Equal(t, want.free, nodes.FreeOf(r))
	}
	job := w.Snapshot.Pending[0]
	require.Equal(t, nodeset.Uses{{Row: 0, PerGPU: 1}, {Row: 1, PerNode: 10, PerCore: 2}}, job.Uses)
	require.Equal(t, nodeset.Uses{{Row: 1, PerCore: 5}}, job.Alternatives[0].Uses, "what takes nothing is left out")
	require.Nil(t, job.Alternatives[1].Uses)
	require.Equal(t, nodeset.Uses{{Row: 0, PerGPU: 1}, {Row: 1, PerCore: 3}}, w.Snapshot.Running[0].Uses)
}

func TestReadResourceErrors(t *testing.T) {
	doc := func(node, job, running string) string {
		return `{"nodes":[{"name":"n[1-2]","cores":8,"gpus":4,` + "\n" + node + `}],"jobs":[{"id":"J","priority":1,"cores":4,` +
			"\n" + job + `}],"running":[{"id":"R","nodes":"n[1-2]","cores_per_node":2,` + "\n" + running + `}]}`
	}
	memory := `"resources":{"memory":64}`
	many := make([]string, 65)
	for i := range many {
		many[i] = fmt.Sprintf(`"r%d":1`, i)
	}
	for _, x := range []struct{ node, job, running, want string }{
		{`"resources":7`, `"nodes":1`, `"end_s":1`, "w.json:2: nodes[0] (n[1-2]): resources: expected an object, found a number"},
		{"\"resources\":{\n\"memory\":-1}", `"nodes":1`, `"end_s":1`,
			"w.json:3: nodes[0] (n[1-2]): resources.memory: -1: must be 0 to 2147483647"},
		{`"resources":{"memory":2147483648}`, `"nodes":1`, `"end_s":1`, "nodes[0] (n[1-2]): resources.memory: 2147483648: must be 0 to 2147483647"},
		{`"resources":{"memory":1.5}`, `"nodes":1`, `"end_s":1`, "nodes[0] (n[1-2]): resources: memory: number 1.5 is not a whole number in range"},
		{`"resources":{"memory":"64G"}`, `"nodes":1`, `"end_s":1`, "nodes[0] (n[1-2]): resources: memory: string is not a whole number in range"},
		{"\"resources\":{\"memory\":1,\n\"memory\":2}", `"nodes":1`, `"end_s":1`,
			"w.json:3: nodes[0] (n[1-2]): resources: memory: is there twice"},
		{`"resources":{"memory":null}`, `"nodes":1`, `"end_s":1`, "resources: memory: is null"},
		{`"resources":{"a b":1}`, `"nodes":1`, `"end_s":1`, `nodes[0] (n[1-2]): resources: a b: "a b" is not a name of 1 to 64 printable characters without spaces`},
		{`"resources":{"":1}`, `"nodes":1`, `"end_s":1`, `nodes[0] (n[1-2]): resources: "": "" is not a name of 1 to 64 printable characters without spaces`},
		{`"resources":{"cores":1}`, `"nodes":1`, `"end_s":1`, `nodes[0] (n[1-2]): resources: cores: "cores" is no further resource: nodes have fields for these`},
		{`"resources":{` + strings.Join(many, ",") + `}`, `"nodes":1`, `"end_s":1`, "nodes[0] (n[1-2]): resources: 65: there would be more than 64 in all"},
		{memory + `,"free_resources":{"memory":65}`, `"nodes":1`, `"end_s":1`,
			"w.json:2: nodes[0] (n[1-2]): free_resources.memory: 65: of node n1, 64 are left by what runs"},
		{memory + `,"free_resources":{"memroy":6}`, `"nodes":1`, `"end_s":1`,
			"nodes[0] (n[1-2]): free_resources.memroy: 6: is none of its resources"},
		{memory, `"uses":{"memry":{"per_node":1}}`, `"end_s":1`,
			`w.json:3: jobs[0] (J): uses: memry: there is no such resource; did you mean "memory"?`},
		{memory, `"uses":{"memory":4}`, `"end_s":1`, "w.json:3: jobs[0] (J): uses: memory: expected an object, found a number"},
		{memory, `"uses":{"memory":{"per_job":4}}`, `"end_s":1`, "jobs[0] (J): uses.memory: 4: must be 0 to 0"},
		{memory, `"uses":{"memory":{"per_nod":4}}`, `"end_s":1`, `uses: memory: unknown field "per_nod"; did you mean "per_node"?`},
		{memory, "\"uses\":{\"memory\":{\n\"per_core\":-4}}", `"end_s":1`,
			"w.json:3: jobs[0] (J): uses.memory: -4: must be 0 to 2147483647"},
		{memory, `"uses":{"memory":{"per_core":1,"per_core":1}}`, `"end_s":1`, "uses: memory: per_core: is there twice"},
		{memory, `"gpus_per_node":"1-2","uses":{"memory":{"per_core":1,"per_gpu":1}}`, `"end_s":1`,
			"jobs[0] (J): uses.memory: 1: used by core and by GPU, and the number of GPUs is a range"},
		{memory, `"alternatives":[{"cores":1},` + "\n" + `{"cores":1,"uses":{"disk":{"per_node":1}}}]`, `"end_s":1`,
			"w.json:4: jobs[0] (J): alternatives[1].uses: disk: there is no such resource"},
		{memory, `"nodes":1`, `"uses":{"memory":{"per_core":33}}`,
			"w.json:3: running[0] (R): node n1: resources.memory: 64: 66 would have to be free"},
		{memory + `,"free_resources":{"memory":60}`, `"nodes":1`, `"uses":{"memory":{"per_node":5}}`,
			"nodes[0] (n[1-2]): free_resources.memory: 60: of node n1, 59 are left by what runs"},
		{memory, `"nodes":1`, `"uses":{"gres":{"per_node":5}}`, "running[0] (R): uses: gres: there is no such resource"},
	} {
		in := doc(x.node, x.job, x.running)
		_, err := Read(strings.NewReader(in), "w.json")
		require.ErrorContains(t, err, x.want, "%s", in)
		require.True(t, strings.HasPrefix(err.Error(), "w.json:"), err)
	}
}

// What is read of further resources is what is counted by hand, and no plan takes more.
func TestResourcesCountedByHand(t *testing.T) {
	held := 0
	rapid.Check(t, func(t *rapid.T) {
		const nodes = 4
		total, free := make([]int64, nodes), make([]int64, nodes)
		var elements, running, jobs []string
		for n := range total {
			total[n] = rapid.Int64Range(0, 50).Draw(t, "total")
			free[n] = total[n]
			elements = append(elements, fmt.Sprintf(`{"name":"n%d","cores":16,"resources":{"memory":%d}`, n, total[n]))
		}
		for i := range rapid.IntRange(0, 4).Draw(t, "running") {
			n, cores := rapid.IntRange(0, nodes-1).Draw(t, "node"), rapid.IntRange(1, 4).Draw(t, "cores")
			perNode, perCore := rapid.Int64Range(0, 9).Draw(t, "per node"), rapid.Int64Range(0, 3).Draw(t, "per core")
			if takes := perNode + perCore*int64(cores); takes <= free[n] {
				free[n] -= takes
				held++
				running = append(running, fmt.Sprintf(`{"id":"R%d","nodes":"n%d","cores_per_node":%d,"end_s":9,`+
					`"uses":{"memory":{"per_node":%d,"per_core":%d}}}`, i, n, cores, perNode, perCore))
			}
		}
		for n := range elements {
			if rapid.Bool().Draw(t, "said") { // and less of it, as others hold some
				free[n] = rapid.Int64Range(0, free[n]).Draw(t, "free")
				elements[n] += fmt.Sprintf(`,"free_resources":{"memory":%d}`, free[n])
			}
			elements[n] += "}"
		}
		for i := range 6 {
			jobs = append(jobs, fmt.Sprintf(`{"id":"J%d","priority":1,"cores":%d,"uses":{"memory":{"per_core":%d}}}`,
				i, rapid.IntRange(1, 20).Draw(t, "asks"), rapid.IntRange(0, 9).Draw(t, "per core")))
		}
		in := fmt.Sprintf(`{"nodes":[%s],"running":[%s],"jobs":[%s]}`,
			strings.Join(elements, ","), strings.Join(running, ","), strings.Join(jobs, ","))
		w, err := Read(strings.NewReader(in), "w")
		require.NoError(t, err)
		require.Equal(t, total, w.Snapshot.Nodes.TotalOf(0))
		require.Equal(t, free, w.Snapshot.Nodes.FreeOf(0))
		a, err := core.NewAuction(core.Preset("none"), nil)
		require.NoError(t, err)
		var p core.Plan
		require.NoError(t, a.Decide(context.Background(), &w.Snapshot, core.Limits{}, &p))
		require.NoError(t, core.Verify(&w.Snapshot, &p))
	})
	require.Positive(t, held)
}

const coreless = `{"jobs":[{"id":"J","priority":5,"nodes":2,"gpus_per_node":1},{"id":"H","priority":5,"gpu_share":3},
  {"id":"K","priority":4,"uses":{"mem":{"per_node":5}},"components":[{"gpus_per_node":2},{"uses":{"disk":{"per_node":1}}}],
   "alternatives":[{"uses":{"disk":{"per_node":2,"per_gpu":1,"per_core":1}},"gpus_per_node":"0-2"}]}],
 "running":[{"id":"R","nodes":"n1","cores_per_node":8,"end_s":9},{"id":"T","nodes":"n2","cores_per_node":0,"gpu_share":1,"shared_gpu":1,"end_s":9},{"id":"S","nodes":"n[1-2]","cores_per_node":0,"uses":{"mem":{"per_node":7}},"end_s":9}],
 "nodes":[{"name":"n[1-2]","cores":8,"gpus":2,"gpu_shares":5,"resources":{"mem":100,"disk":3}}]}`

// Jobs, components, alternatives and what runs may have no core; of a job that asks for nothing
// else that is a fault.
func TestReadJobsWithoutCores(t *testing.T) {
	w, err := Read(strings.NewReader(coreless), "w.json")
	require.NoError(t, err)
	j, h, k := w.Snapshot.Pending[0], w.Snapshot.Pending[1], w.Snapshot.Pending[2]
	require.Equal(t, bids.Request{MinNodes: 2, MaxNodes: 2, MinGPUs: 1, MaxGPUs: 1}, j.Request)
	require.Equal(t, bids.Request{MinNodes: 1, MaxNodes: 1, Uses: nodeset.Uses{{Row: 1, PerNode: 3}}}, h.Request)
	require.Equal(t, bids.Request{Uses: nodeset.Uses{{Row: 2, PerNode: 5}}, Components: []bids.Request{
		{MinGPUs: 2, MaxGPUs: 2}, {Uses: nodeset.Uses{{Row: 0, PerNode: 1}}}}}, k.Request)
	require.Equal(t, nodeset.Uses{{Row: 0, PerNode: 2, PerGPU: 1, PerCore: 1}}, k.Alternatives[0].Uses)
	require.Equal(t, []nodeset.Segment{{First: 0, Last: 1}}, w.Snapshot.Running[2].Segs)
	for _, x := range []struct{ old, new, want string }{
		{`"gpus_per_node":1}`, `"gpus_per_node":"0-1"}`, "w.json:1: jobs[0] (J): cores: 0: the job asks for nothing"},
		{`"mem":{"per_node":5}`, `"mem":{"per_core":5}`, "w.json:2: jobs[2] (K): cores: 0: the job asks for nothing"},
		{`"mem":{"per_node":5}`, `"men":{"per_node":5}`, `w.json:2: jobs[2] (K): uses: men: there is no such resource; did you mean "mem"?`},
		{`{"gpus_per_node":2}`, `{"nodes":2}`, "w.json:2: jobs[2] (K): components[0].cores: 0: the job asks for nothing"},
		{`"cores_per_node":0,"uses"`, `"uses"`, `w.json:4: running[2] (S): cores_per_node: "": is missing; 0 if it holds none`},
		{`"uses":{"mem":{"per_node":7}},`, ``, "w.json:4: running[2] (S): node n1: cores: 0: the job would hold nothing there"},
		{`{"per_node":7}`, `{"per_node":101}`, "running[2] (S): node n1: resources.mem: 100: 101 would have to be free"},
	} {
		in := strings.Replace(coreless, x.old, x.new, 1)
		require.NotEqual(t, coreless, in)
		_, err := Read(strings.NewReader(in), "w.json")
		require.ErrorContains(t, err, x.want)
	}
}
