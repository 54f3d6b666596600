// SPDX-License-Identifier: BSD-3-Clause

package window

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/nodeset"
)

// sharing is a window whose GPUs are shared; jobs come before the nodes.
const sharing = `{"jobs": [
  {"id": "J", "priority": 9, "cores": 2, "gpu_share": 40, "uses": {"memory": {"per_core": 1}},
   "alternatives": [{"cores": 1, "nodes": "0-1", "gpu_share": 20}, {"cores": 4, "nodes": 3}]},
  {"id": "K", "priority": 8, "cores": 1, "nodes": 1, "gpus_per_node": 1}],
 "running": [{"id": "R", "nodes": "n1", "cores_per_node": 2, "end_s": 50, "gpu_share": 30, "shared_gpu": 4},
   {"id": "S", "nodes": "n1", "cores_per_node": 1, "end_s": 60, "gpu_share": 25, "shared_gpu": 4},
   {"id": "T", "nodes": "n3", "cores_per_node": 1, "end_s": 60, "gpu_share": 5, "shared_gpu": 1}],
 "nodes": [{"name": "n[1-2]", "cores": 8, "gpus": 2, "gpu_shares": 100, "resources": {"memory": 9, "zebra": 1}},
   {"name": "n3", "cores": 8, "gpus": 3, "gpu_shares": 10, "free_gpu_shares": {"1": 4, "6": 0}},
   {"name": "n4", "cores": 8, "gpus": 3, "free_gpus": 1, "gpu_shares": 10, "free_gpu_shares": {"2": 9}},
   {"name": "n5", "cores": 8, "gpus": 1}, {"name": "n6", "cores": 8, "gpu_shares": 10}]}`

func TestReadShares(t *testing.T) {
	w, err := Read(strings.NewReader(sharing), "w.json")
	require.NoError(t, err)
	nodes := w.Snapshot.Nodes
	r, ok := nodes.Shares()
	require.True(t, ok)
	require.Equal(t, "gpu_share", nodes.ResourceName(r))
	require.Equal(t, []int64{100, 100, 10, 10, 0, 0}, nodes.TotalOf(r))
	require.Equal(t, []int64{100, 100, 10, 10, 0, 0}, nodes.FreeOf(r), "the largest share that a node can give")
	for n, want := range []struct {
		whole uint8
		gpus  map[int]int64
	}{{1, map[int]int64{4: 45}}, {2, nil}, {1, map[int]int64{1: 4, 6: 0}}, {1, map[int]int64{2: 9}}, {1, nil}, {0, nil}} {
		require.Equal(t, want.whole, nodes.Free(n).GPUs, "node %d", n)
		for gpu := 1; gpu <= len(nodes.BinsLeft(n)); gpu++ {
			free, inUse := nodes.BinFree(n, uint8(gpu))
			left, want := want.gpus[gpu]
			require.Equal(t, want, inUse, "node %d, GPU %d", n, gpu)
			require.Equal(t, left, free)
		}
	}
	j := w.Snapshot.Pending[0]
	require.Equal(t, bids.Request{Cores: 2, MinNodes: 1, MaxNodes: 1,
		Uses: nodeset.Uses{{Row: r, PerNode: 40}, {Row: 1, PerCore: 1}}}, j.Request)
	require.Equal(t, bids.Request{Cores: 1, MinNodes: 1, MaxNodes: 1, Uses: nodeset.Uses{{Row: r, PerNode: 20}}}, j.Alternatives[0])
	require.Nil(t, j.Alternatives[1].Uses)
	require.Equal(t, []core.Running{
		{ID: "R", End: 50, Segs: []nodeset.Segment{{Cores: 2, Bin: 4}}, Uses: nodeset.Uses{{Row: r, PerNode: 30}}},
		{ID: "S", End: 60, Segs: []nodeset.Segment{{Cores: 1, Bin: 4}}, Uses: nodeset.Uses{{Row: r, PerNode: 25}}},
		{ID: "T", End: 60, Segs: []nodeset.Segment{{First: 2, Last: 2, Cores: 1, Bin: 1}}, Uses: nodeset.Uses{{Row: r, PerNode: 5}}},
	}, w.Snapshot.Running)
}

// A plan says which GPU a share is on.
func TestOutcomeOfShares(t *testing.T) {
	w, err := Read(strings.NewReader(sharing), "w.json")
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
	require.Equal(t, `[{"job":"J","start":true,"nodes":"n1","cores_per_node":[2],"gpus_per_node":0,"gpu_share":40,"shared_gpu":4,`+
		`"bid_class":"A","reason":""},`+
		`{"job":"K","start":true,"nodes":"n1","cores_per_node":[1],"gpus_per_node":1,"bid_class":"A","reason":""}]`, string(text))
}

// A share that no machine has is no fault of the window.
func TestReadSharesOfNothing(t *testing.T) {
	w, err := Read(strings.NewReader(`{"nodes":[{"name":"n1","cores":4,"gpus":2}],
		"jobs":[{"id":"J","priority":1,"cores":1,"gpu_share":3}]}`), "w.json")
	require.NoError(t, err)
	_, shared := w.Snapshot.Nodes.Shares()
	require.False(t, shared)
	a, err := core.NewAuction(core.Preset("none"), nil)
	require.NoError(t, err)
	var p core.Plan
	require.NoError(t, a.Decide(context.Background(), &w.Snapshot, core.Limits{}, &p))
	require.Equal(t, core.Never, p.Decisions[0].Why)
	require.Contains(t, p.Decisions[0].Reason, "needs 3 gpu_share on a node, most has 0")
}

func TestReadShareErrors(t *testing.T) {
	doc := func(node, job, running string) string {
		return `{"nodes":[{"name":"n[1-2]","cores":8,` + "\n" + node + `}],"jobs":[{"id":"J","priority":1,"cores":4,` +
			"\n" + job + `}],"running":[{"id":"R","cores_per_node":2,` + "\n" + running + `}]}`
	}
	gpus, no, none := `"gpus":2,"gpu_shares":100`, `"nodes":1`, `"nodes":"n1"`
	said := gpus + `,"free_gpu_shares":`
	for _, x := range []struct{ node, job, running, want string }{
		{`"gpu_shares":-1`, no, none, "w.json:2: nodes[0] (n[1-2]): gpu_shares: -1: must be 0 to 2147483647"},
		{`"gpu_shares":2147483648`, no, none, "gpu_shares: 2147483648: must be 0 to 2147483647"},
		{`"gpu_shares":"1"`, no, none, "w.json:2: nodes[0] (n[1-2]): gpu_shares: string is not a whole number in range"},
		{`"gpu_shares":null`, no, none, "w.json:2: nodes[0] (n[1-2]): gpu_shares: is null: leave a field out that has no value"},
		{`"resources":{"gpu_share":4}`, no, none, `nodes[0] (n[1-2]): resources: gpu_share: "gpu_share" is no further resource: nodes have fields for these`},
		{`"gpus":300,"gpu_shares":4,"free_gpu_shares":{"255":3}`, no, none, "gpus: 300: must be 0 to 255"},
		{`"gpus":2,"free_gpu_shares":{"1":4}`, no, none, "nodes[0] (n[1-2]): free_gpu_shares.1: 4: its GPUs have no shares: give gpu_shares"},
		{said + `[1]`, no, none, "w.json:2: nodes[0] (n[1-2]): free_gpu_shares: expected an object, found a list"},
		{said + "{\n\"0\":1}", no, none, `w.json:3: nodes[0] (n[1-2]): free_gpu_shares.0: 1: "0" is not the number of a GPU`},
		{said + `{"01":1}`, no, none, `nodes[0] (n[1-2]): free_gpu_shares.01: 1: "01" is not the number of a GPU`},
		{said + `{"x":1}`, no, none, `nodes[0] (n[1-2]): free_gpu_shares.x: 1: "x" is not the number of a GPU`},
		{said + `{"256":1}`, no, none, `nodes[0] (n[1-2]): free_gpu_shares.256: 1: "256" is not the number of a GPU`},
		{said + `{"1":1,"1":2}`, no, none, `free_gpu_shares: 1: is there twice`},
		{said + `{"1":-1}`, no, none, "nodes[0] (n[1-2]): free_gpu_shares.1: -1: must be 0 to 99: one that is all free is not in shared use"},
		{said + `{"1":100}`, no, none, "nodes[0] (n[1-2]): free_gpu_shares.1: 100: must be 0 to 99: one that is all free is not in shared use"},
		{said + `{"5":1}`, no, none, "nodes[0] (n[1-2]): free_gpu_shares.5: 1: GPUs in shared use have numbers in 1-4 there"},
		{said + `{"1":1,"2":1,"3":1}`, no, none, "nodes[0] (n[1-2]): free_gpu_shares.3: 1: of node n1, 0 are left by what runs"},
		{said + `{"1":1},"free_gpus":2`, no, none, "nodes[0] (n[1-2]): free_gpus: 2: of node n1, 1 are left by what runs"},
		{gpus, `"gpu_share":-3`, none, "w.json:3: jobs[0] (J): gpu_share: -3: must be 0 to 2147483647"},
		{gpus, `"gpu_share":2147483648`, none, "gpu_share: 2147483648: must be 0 to"},
		{gpus, `"gpu_share":3,"nodes":"1-2"`, none, "jobs[0] (J): gpu_share: 3: a share of a GPU is on one node"},
		{gpus, `"gpu_share":3,"gpus_per_node":"0-1"`, none, "gpu_share: 3: a job with a share of a GPU asks for no GPUs beside"},
		{gpus, `"uses":{"gpu_share":{"per_node":1}}`, none, "jobs[0] (J): uses: gpu_share: is no further resource: ask for a share of a GPU"},
		{gpus, "\"alternatives\":[{\"cores\":1},\n{\"cores\":1,\"gpu_share\":3,\"nodes\":2}]", none,
			"w.json:4: jobs[0] (J): alternatives[1].gpu_share: 3: a share of a GPU is on one node"},
		{gpus, "\"components\":[{\"cores\":1},\n{\"cores\":1,\"gpu_share\":3}]", none,
			"w.json:4: jobs[0] (J): components[1].gpu_share: 3: jobs of several components have whole GPUs only"},
		{gpus, `"gpu_share":3,"components":[{"cores":1}]`, none, "jobs[0] (J): gpu_share: 3: jobs of several components"},
		{gpus, no, none + `,"shared_gpu":1`, "w.json:4: running[0] (R): shared_gpu: 1: the job has no share of a GPU"},
		{gpus, no, none + `,"gpu_share":-1,"shared_gpu":1`, "running[0] (R): gpu_share: -1: must be 0 to 2147483647"},
		{gpus, no, none + `,"gpu_share":10`, "running[0] (R): node n1: shared_gpu: 0: must be 1 to 4"},
		{gpus, no, none + `,"gpu_share":10,"shared_gpu":5`, "running[0] (R): node n1: shared_gpu: 5: must be 1 to 4"},
		{gpus, no, none + `,"gpu_share":101,"shared_gpu":1`, "running[0] (R): node n1: gpu_share: 100: 101 would have to be free"},
		{gpus, no, `"nodes":"n[1-2]","gpu_share":1,"shared_gpu":1`, "running[0] (R): gpu_share: 1: a share of a GPU is on one node"},
		{`"gpus":2`, no, none + `,"gpu_share":1,"shared_gpu":1`, "running[0] (R): node n1: gpu_shares: 0: it has no GPU that jobs may share"},
		{`"gpu_shares":2`, no, none + `,"gpu_share":1,"shared_gpu":1`, "running[0] (R): node n1: gpu_shares: 2: it has no GPU that jobs may share"},
		{gpus, no, none + `,"gpus_per_node":2,"gpu_share":10,"shared_gpu":3`,
			"running[0] (R): node n1: gpu_share: 0: 10 would have to be free"},
		{gpus + `,"free_gpus":2`, no, none + `,"gpu_share":10,"shared_gpu":3`,
			"nodes[0] (n[1-2]): free_gpus: 2: of node n1, 1 are left by what runs"},
		{said + `{"3":5},"free_gpus":1`, no, none + `,"gpus_per_node":1`,
			"nodes[0] (n[1-2]): free_gpus: 1: of node n1, 0 are left by what runs"},
		{said + `{"3":91}`, no, none + `,"gpu_share":10,"shared_gpu":3`,
			"nodes[0] (n[1-2]): free_gpu_shares.3: 91: of node n1, 90 are left by what runs"},
		{said + `{"3":90,"4":2}`, no, none + `,"gpu_share":10,"shared_gpu":2`, "nodes[0] (n[1-2]): free_gpu_shares.4: 2: of node n1, 0 are left by what runs"},
	} {
		in := doc(x.node, x.job, x.running)
		_, err := Read(strings.NewReader(in), "w.json")
		require.ErrorContains(t, err, x.want, "%s", in)
		require.True(t, strings.HasPrefix(err.Error(), "w.json:"), err)
	}
}

// gpuUse is what jobs have of one GPU of a node, by hand: whole, or shares of it.
type gpuUse struct {
	whole bool
	taken int64
}

// What is read is what is counted by hand, whether the file says what is free or leaves it to what
// runs. What a plan starts goes into the next window as running, until all is full: no GPU is ever
// passed, and none is shared and given whole.
func TestPlansOfSharesAreWindows(t *testing.T) {
	started := 0
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 59))
		nodes := 1 + rng.IntN(4)
		size, gpus := make([]int64, nodes), make([]int, nodes)
		used := make([]map[int]*gpuUse, nodes) // by number; whole ones below 0
		var running []string
		for n := range nodes {
			size[n], gpus[n], used[n] = []int64{0, 10, 100}[rng.IntN(3)], rng.IntN(4), map[int]*gpuUse{}
		}
		// said: the file says of each node what is free, and nothing of who holds the rest.
		doc := func(said bool, jobs []string) string {
			var elements []string
			for n := range nodes {
				more, whole, free := "", gpus[n], []string{}
				for gpu, u := range used[n] {
					if whole--; !u.whole {
						free = append(free, fmt.Sprintf(`"%d":%d`, gpu, size[n]-u.taken))
					}
				}
				if said {
					more = fmt.Sprintf(`,"free_cores":50,"free_gpus":%d,"free_gpu_shares":{%s}`, whole, strings.Join(free, ","))
				}
				elements = append(elements, fmt.Sprintf(`{"name":"n%d","cores":90,"gpus":%d,"gpu_shares":%d%s}`, n, gpus[n], size[n], more))
			}
			list := ""
			if !said {
				list = fmt.Sprintf(`"running":[%s],`, strings.Join(running, ","))
			}
			return fmt.Sprintf(`{%s"nodes":[%s],"jobs":[%s]}`, list, strings.Join(elements, ","), strings.Join(jobs, ","))
		}
		for round := range 3 {
			var jobs []string
			for i := range 5 {
				ask := fmt.Sprintf(`"gpu_share":%d`, 1+rng.IntN(12))
				if rng.IntN(3) == 0 {
					ask = `"nodes":1,"gpus_per_node":1`
				}
				jobs = append(jobs, fmt.Sprintf(`{"id":"J%d.%d","priority":1,"cores":%d,"time_limit_s":9,%s}`, round, i, rng.IntN(3), ask))
			}
			w, err := Read(strings.NewReader(doc(rng.IntN(2) == 0, jobs)), "w")
			require.NoError(t, err)
			table := w.Snapshot.Nodes
			for n := range nodes {
				require.Equal(t, gpus[n]-len(used[n]), int(table.Free(n).GPUs))
				for gpu := 1; gpu <= len(table.BinsLeft(n)); gpu++ {
					free, inUse := table.BinFree(n, uint8(gpu))
					u := used[n][gpu]
					require.Equal(t, u != nil, inUse)
					require.True(t, u == nil || free == size[n]-u.taken)
				}
			}
			o := core.Preset("none")
			o.Window, o.Depth, o.MaxBidsPerJob, o.Drafts, o.Work = 8, 0, 6, 3, 20_000
			a, err := core.NewAuction(o, nil)
			require.NoError(t, err)
			var p core.Plan
			require.NoError(t, a.Decide(context.Background(), &w.Snapshot, core.Limits{}, &p))
			require.NoError(t, core.Verify(&w.Snapshot, &p))
			outcome, err := NewOutcome("auction2", w, &p)
			require.NoError(t, err)
			for _, d := range outcome.Decisions {
				if !d.Start {
					continue
				}
				started++
				n := int(d.Nodes[1] - '0')
				running = append(running, fmt.Sprintf(`{"id":%q,"nodes":%q,"cores_per_node":%d,"end_s":60,`+
					`"gpus_per_node":%d,"gpu_share":%d,"shared_gpu":%d}`, d.Job, d.Nodes, d.CoresPerNode[0],
					d.GPUsPerNode, d.GPUShare, d.SharedGPU))
				if d.GPUsPerNode > 0 {
					used[n][-len(running)] = &gpuUse{whole: true}
				} else if used[n][d.SharedGPU] == nil {
					used[n][d.SharedGPU] = &gpuUse{taken: d.GPUShare}
				} else {
					used[n][d.SharedGPU].taken += d.GPUShare
				}
			}
			for n := range nodes {
				require.LessOrEqual(t, len(used[n]), gpus[n])
				for _, u := range used[n] {
					require.True(t, u.whole || u.taken <= size[n])
				}
			}
		}
	})
	require.Greater(t, started, 100)
}
