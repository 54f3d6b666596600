// SPDX-License-Identifier: BSD-3-Clause

package core_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/test/requests"
	"github.com/aucsched/aucsched/nodeset"
)

func TestCheckSegmentsMeansWhatRequestsMean(t *testing.T) {
	judge := func(t require.TestingT, c requests.Case) {
		err := place.CheckSegments(&c.Request, c.Segs, c.Nodes)
		require.Equal(t, c.OK, err == nil, "%s: %+v on %+v: %v", c.Name, c.Request, c.Segs, err)
	}
	for _, c := range requests.Cases() {
		judge(t, c)
	}
	rapid.Check(t, func(r *rapid.T) { judge(r, requests.Draw(r)) })
}

// No allocation meets a request that is not valid, whatever it gives.
func TestCheckSegmentsOfInvalidRequests(t *testing.T) {
	three := []nodeset.Segment{{First: 0, Last: 1, Cores: 2, GPUs: 3}}
	for name, r := range map[string]bids.Request{
		"nothing":         {},
		"GPUs 3-2":        {Cores: 4, MinGPUs: 3, MaxGPUs: 2},
		"negative nodes":  {Cores: 4, MinNodes: -1, MinGPUs: 3},
		"negative GPUs":   {Cores: 4, MinGPUs: -1, MaxGPUs: 3},
		"far too many":    {Cores: bids.MaxCores + 1},
		"nodes 2-1":       {Cores: 4, MinNodes: 2, MaxNodes: 1, MinGPUs: 3},
		"too few to fill": {Cores: 4, TasksPerNode: 1, MaxNodes: 2, MinGPUs: 3},
	} {
		require.Error(t, place.Validate(&r), name)
		require.Error(t, place.CheckSegments(&r, three, 2), name)
	}
}

// Eight nodes have a core each, and are offered to a job of eight cores that wants four on each of
// its nodes: it does not start there, and if a policy said so the referee would object.
func TestAnOfferThatBreaksTheRequestIsNotBid(t *testing.T) {
	total := make([]nodeset.Capacity, 8)
	for n := range total {
		total[n].Cores = 4
	}
	nodes, err := nodeset.New(total)
	require.NoError(t, err)
	for n := range total {
		require.NoError(t, nodes.SetFree(n, nodeset.Capacity{Cores: 1}))
	}
	offer := []nodeset.Segment{{First: 0, Last: 7, Cores: 1}}
	s := &core.Snapshot{Nodes: nodes, Pending: []*core.Job{{
		ID: "J", Request: bids.Request{Cores: 8, TasksPerNode: 4}, Priority: 1, TimeLimit: 60, Offer: offer,
	}}}
	for _, reservations := range []int{0, 1} {
		o := core.Preset("none")
		o.Reservations = reservations
		a, err := core.NewAuction(o, nil)
		require.NoError(t, err)
		var p core.Plan
		require.NoError(t, a.Decide(context.Background(), s, core.Limits{}, &p))
		require.False(t, p.Decisions[0].Start)
	}
	require.ErrorContains(t, core.Verify(s, &core.Plan{Decisions: []core.Decision{{Start: true, Segs: offer}}}),
		"job J: node 0 gives 1 cores instead of 4")
}
