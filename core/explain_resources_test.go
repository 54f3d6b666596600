// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

// nineNodes are nodes of 16 cores with 64 of memory, of which a job holds 56 on seven until 900.
func nineNodes(t *testing.T, requests ...bids.Request) *Snapshot {
	table, err := nodeset.NewUniform(9, nodeset.Capacity{Cores: 16, GPUs: 2})
	require.NoError(t, err)
	for _, name := range []string{"disk", "memory"} {
		_, err = table.AddResource(name, []int64{64, 64, 64, 64, 64, 64, 64, 64, 64})
		require.NoError(t, err)
	}
	r := Running{ID: "12", End: 900, Segs: []nodeset.Segment{{First: 2, Last: 8, Cores: 1}}, Uses: nodeset.Uses{{Row: 1, PerNode: 56}}}
	require.NoError(t, table.Allocate(r.Segs, r.Uses...))
	return &Snapshot{Nodes: table, Running: []Running{r}, Pending: queue(600, requests...)}
}

// memory is what a job takes of the memory of nineNodes.
func memory(perNode, perCore int64) nodeset.Uses {
	return nodeset.Uses{{Row: 0, PerNode: 1}, {Row: 1, PerNode: perNode, PerCore: perCore}}
}

// What is short of further resources, who holds it, and how much less of it would do.
func TestExplainFurtherResources(t *testing.T) {
	for _, x := range []struct {
		name   string
		asks   bids.Request
		lack   Lack
		holds  []nodeset.Segment // of job 12 on the place
		change []Change
		size   float64
	}{
		{"too few nodes", bids.Request{MinNodes: 3, MaxNodes: 3, TasksPerNode: 15, Uses: memory(4, 3)},
			Lack{Row: "memory", In: "nodes", Needs: 3, Has: 2, Among: 9,
				Each: map[string]int64{"cores": 15, "disk": 1, "memory": 49}},
			[]nodeset.Segment{{First: 2, Last: 2, Cores: 1}}, nil, 0},
		{"a node", bids.Request{Cores: 8, MinNodes: 3, MaxNodes: 3, Uses: memory(40, 1)},
			Lack{Row: "memory", In: "nodes", Needs: 3, Has: 2, Among: 9,
				Each: map[string]int64{"cores": 1, "disk": 1, "memory": 41}},
			[]nodeset.Segment{{First: 2, Last: 2, Cores: 1}}, []Change{{"uses.memory.per_node", "40", "7"}}, 33.0 / 40},
		{"a core", bids.Request{Cores: 48, MinNodes: 3, MaxNodes: 3, MinGPUs: 1, Uses: memory(0, 4)},
			Lack{Row: "memory", In: "cores", Needs: 48, Has: 34, Among: 9,
				Each: map[string]int64{"cores": 1, "gpus": 1, "disk": 1, "memory": 4}},
			[]nodeset.Segment{{First: 2, Last: 2, Cores: 1}}, nil, 0},
		{"in a row", bids.Request{Cores: 6, MinNodes: 3, MaxNodes: 3, Contiguous: true, Uses: memory(9, 0)},
			Lack{Row: "memory", In: "nodes", Needs: 3, Has: 2, Among: 9,
				Each: map[string]int64{"cores": 1, "disk": 1, "memory": 9}},
			[]nodeset.Segment{{First: 2, Last: 2, Cores: 1}}, []Change{{"uses.memory.per_node", "9", "8"}}, 1.0 / 9},
		{"cores for want of memory", bids.Request{Cores: 40, MinNodes: 3, MaxNodes: 3, Uses: memory(0, 4)},
			Lack{Row: "memory", In: "cores", Needs: 40, Has: 34, Among: 9,
				Each: map[string]int64{"cores": 1, "disk": 1, "memory": 4}},
			[]nodeset.Segment{{First: 2, Last: 2, Cores: 1}}, []Change{{"cores", "40", "34"}}, 0.15},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := nineNodes(t, x.asks)
			a := auctionOf(t, func(*AuctionOptions) {})
			e := explain(t, explainer(t, a, s), 0, ExplainOptions{Trials: 200})
			require.Equal(t, NoFit, e.Why)
			require.Contains(t, e.Lacks, x.lack)
			require.Equal(t, []Rival{{Role: roleRuns, Segs: x.holds, Uses: s.Running[0].Uses, At: 900}}, e.Rivals)
			if x.change == nil {
				return
			}
			at := slices.IndexFunc(e.Suggestions, func(g Suggestion) bool { return slices.Equal(g.Changes, x.change) })
			require.GreaterOrEqual(t, at, 0, "%+v", e.Suggestions)
			require.InDelta(t, x.size, e.Suggestions[at].Size, 1e-9)
			require.NotEmpty(t, e.Suggestions[at].Segs)
			require.NotNil(t, startsIf(t, Preset("none"), s, 0, &e.Suggestions[at].Job))
			require.Equal(t, x.asks.Uses, s.Pending[0].Uses, "the job is as it was")
		})
	}
}

// A request with resources that the machine has not is explained, if an alternative has room.
func TestExplainUnknownResources(t *testing.T) {
	s := nineNodes(t, bids.Request{Cores: 1, Uses: nodeset.Uses{{Row: 7, PerNode: 1}}}, bids.Request{MinNodes: 9, TasksPerNode: 16})
	s.Pending[0].Alternatives = []bids.Request{{Cores: 144}}
	e := explainer(t, auctionOf(t, func(*AuctionOptions) {}), s)
	x := explain(t, e, 0, ExplainOptions{Trials: 20})
	require.Equal(t, NoFit, x.Why)
	require.NotEmpty(t, x.Rivals)
}
