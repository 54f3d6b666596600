// SPDX-License-Identifier: BSD-3-Clause

package generate

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// Jobs of a share are malleable at each greater one, between a quarter of their nodes and twice as
// many, and at most the machine's.
func TestMalleabilityIsOfAShare(t *testing.T) {
	nodes, err := Nodes("64x1")
	require.NoError(t, err)
	w, err := Lublin(LublinOptions{Nodes: nodes, Load: 0.9, Jobs: 1000, Seed: 1})
	require.NoError(t, err)
	before := map[string]bool{}
	for _, share := range []float64{0, 0.2, 0.5, 1} {
		m := DefaultMalleability()
		m.Share, m.Seed = share, 5
		made, err := m.Apply(nodes, w.Jobs)
		require.NoError(t, err)
		require.InDelta(t, share*1000, made, 60)
		now := map[string]bool{}
		for i := range w.Jobs {
			j := &w.Jobs[i]
			if j.Span == (workload.Span{}) {
				require.False(t, before[j.ID], "job %s was malleable at a smaller share", j.ID)
				continue
			}
			now[j.ID] = true
			require.Equal(t, workload.Span{Least: (j.Cores + 3) / 4, Most: min(2*j.Cores, 64)}, j.Span)
			require.NoError(t, place.Validate(&bids.Request{Cores: OnNodes(j, j.Span.Most).Cores}))
		}
		require.Len(t, now, made)
		before = now
	}
}

// Only a job whose nodes are alike has places.
func TestPlaces(t *testing.T) {
	job := func(r bids.Request) *workload.Job { return &workload.Job{Job: core.Job{Request: r}} }
	three := bids.Request{Cores: 24, MinNodes: 3, MaxNodes: 3, TasksPerNode: 8}
	require.Equal(t, 3, Places(job(three), false))
	require.Equal(t, bids.Request{Cores: 40, MinNodes: 5, MaxNodes: 5, TasksPerNode: 8}, OnNodes(job(three), 5))
	require.Equal(t, 3, Places(job(bids.Request{MinNodes: 3, TasksPerNode: 8}), false))
	require.Equal(t, bids.Request{MinNodes: 1, TasksPerNode: 8}, OnNodes(job(bids.Request{MinNodes: 3, TasksPerNode: 8}), 1))
	require.Equal(t, 5, Places(job(bids.Request{Cores: 5}), true))
	require.Equal(t, bids.Request{Cores: 2}, OnNodes(job(bids.Request{Cores: 5}), 2))
	for _, r := range []bids.Request{
		{Cores: 5, MinNodes: 2}, {Cores: 20, MinNodes: 3, MaxNodes: 3, TasksPerNode: 8}, {MinNodes: 2, MaxNodes: 3, TasksPerNode: 8},
		{Cores: 24, MinNodes: 3, TasksPerNode: 8}, {Cores: 5, MinGPUs: 1}, {Cores: 5, Contiguous: true}, {Cores: 5, Switches: 1},
		{Cores: 5, Uses: nodeset.Uses{{PerNode: 1}}}, {Cores: 5, Components: []bids.Request{{Cores: 1}}},
	} {
		require.Zero(t, Places(job(r), true), "%+v", r)
	}
	require.Zero(t, Places(job(bids.Request{Cores: 5}), false), "which nodes it gets is not known")
	j := job(bids.Request{Cores: 5})
	j.Leaves = 10
	require.Zero(t, Places(j, true))
}

func TestMalleabilityIsChecked(t *testing.T) {
	for _, m := range []Malleability{
		{Share: -1, Most: 1}, {Share: math.NaN(), Most: 1}, {Share: 2, Most: 1}, {Least: 1.5, Most: 2}, {Least: -1, Most: 2},
		{Least: math.NaN(), Most: 2}, {Most: 0.5}, {Most: 2000}, {Most: math.NaN()},
	} {
		_, err := m.Apply([]nodeset.Capacity{{Cores: 1}}, nil)
		require.ErrorContains(t, err, "must be in", "%+v", m)
	}
}
