// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/benchmarks/traces"
	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/test/generate"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

func TestReshaped(t *testing.T) {
	node := nodeset.Capacity{Cores: 8, GPUs: 2}
	for _, c := range []struct {
		name     string
		from, to bids.Request // to without a core: there is none
	}{
		{"cores alone", bids.Request{Cores: 16}, bids.Request{}},
		{"a range of nodes", bids.Request{Cores: 16, MinNodes: 2, MaxNodes: 4}, bids.Request{}},
		{"no limit on nodes", bids.Request{Cores: 16, MinNodes: 2}, bids.Request{}},
		{"uneven on its nodes", bids.Request{Cores: 15, MinNodes: 2, MaxNodes: 2}, bids.Request{}},
		{"halves", bids.Request{Cores: 16, MinNodes: 2, MaxNodes: 2, MinGPUs: 2, Contiguous: true},
			bids.Request{Cores: 16, MinNodes: 4, MaxNodes: 4, MinGPUs: 1, MaxGPUs: 1, Contiguous: true}},
		{"halves of tasks", bids.Request{MinNodes: 3, TasksPerNode: 8}, bids.Request{MinNodes: 6, MaxNodes: 6, TasksPerNode: 4}},
		{"one GPU: doubles", bids.Request{MinNodes: 4, TasksPerNode: 2, MinGPUs: 1},
			bids.Request{MinNodes: 2, MaxNodes: 2, TasksPerNode: 4, MinGPUs: 2, MaxGPUs: 2}},
		{"one core: doubles", bids.Request{Cores: 4, MinNodes: 4, MaxNodes: 4, MinGPUs: 1},
			bids.Request{Cores: 4, MinNodes: 2, MaxNodes: 2, MinGPUs: 2, MaxGPUs: 2}},
		{"no half of three nodes", bids.Request{MinNodes: 3, TasksPerNode: 2, MinGPUs: 1}, bids.Request{}},
		{"more cores than a node has", bids.Request{MinNodes: 2, TasksPerNode: 5, MinGPUs: 1}, bids.Request{}},
		{"one core without GPUs", bids.Request{MinNodes: 2, TasksPerNode: 1}, bids.Request{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := reshaped(c.from, node)
			require.Equal(t, c.to.Cores+c.to.TasksPerNode > 0, ok)
			if ok {
				require.Equal(t, c.to, got)
				require.NoError(t, place.Validate(&got))
			}
		})
	}
}

// The page's figures are those of the simulations: a small machine, one seed.
func TestAlternativesMeasures(t *testing.T) {
	race.Slow(t)
	nodes, err := traces.ParseCluster("24x12x3")
	require.NoError(t, err)
	c := alternativeCase{"small", nodes, true, func(seed uint64, ranges bool) (*workload.Workload, error) {
		w, err := generate.Tsubame(generate.TsubameOptions{Variant: "1.NC", Ranges: ranges, Seed: seed, Nodes: 24, MaxCores: 96})
		if err == nil {
			w.Jobs = w.Jobs[:80]
		}
		return w, err
	}}
	var rows []alternativeRow
	for k, o := range offerings() {
		r, err := runAlternative(t.Context(), &c, &o, 1)
		require.NoError(t, err)
		require.Equal(t, 80, r.Jobs)
		require.Equal(t, o.change != nil, r.Offer > 0)
		require.Equal(t, o.change != nil, r.Taken > 0, "%s: taken by some, and by none who do not offer it", o.name)
		require.LessOrEqual(t, r.Taken, max(r.Offer, 0))
		rows = append(rows, alternativeRow{Case: c.name, Offering: k, Runs: []alternativeRun{r}})
	}
	text, err := alternativesPage(seedRange{1, 1}, rows)
	require.NoError(t, err)
	require.Equal(t, 5+2, strings.Count(text, "\n| small"))
	require.Contains(t, text, "With auction2, mixed GPU ranges, over all of these workloads")
}
