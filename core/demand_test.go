// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

func TestDemandFades(t *testing.T) {
	var d Demand
	require.Empty(t, d.Recent())
	d.Come(&bids.Request{Cores: 5}, 10)
	require.Empty(t, d.Recent(), "no GPUs")
	d.Come(&bids.Request{Cores: 16, MinNodes: 2, MaxNodes: 2, MinGPUs: 4, MaxGPUs: 8}, 100)
	d.Come(&bids.Request{TasksPerNode: 3, MinNodes: 1, MaxNodes: 1, MinGPUs: 1}, 100)
	require.Equal(t, []Asked{{1, 3, 1}, {4, 8, 2}}, d.Recent())
	d.Come(&bids.Request{Cores: 6, MinNodes: 1, MaxNodes: 1, MinGPUs: 1}, 100+demandHalfLife)
	require.Equal(t, []Asked{{1, 5, 1.5}, {4, 8, 1}}, d.Recent())
	d.Come(&bids.Request{Cores: 5}, 100+100*demandHalfLife)
	require.Empty(t, d.Recent(), "all is forgotten")
}

// What is usual is what has started, by the request that was met: neither a job that no machine has
// room for, nor one whose alternative starts, makes later cycles dear.
func TestClusterRemembersWhatStarted(t *testing.T) {
	o := Preset("none")
	o.KeepHoles = true
	p, err := NewAuction(o, nil)
	require.NoError(t, err)
	c, err := NewCluster(ClusterOptions{Policy: p})
	require.NoError(t, err)
	for n := range 8 {
		require.NoError(t, c.SetNode(Node{Name: fmt.Sprint("n", n), Capacity: nodeset.Capacity{Cores: 64, GPUs: 4}}))
	}
	huge := bids.Request{Cores: bids.MaxCores, MinNodes: 1, MaxNodes: 1, MinGPUs: 1}
	submit := func(id string, r bids.Request, ways ...Way) {
		require.NoError(t, c.Submit(JobSpec{ID: id, Priority: 1, TimeLimit: time.Hour, Request: r, Alternatives: ways}))
	}
	submit("never", huge)
	submit("other", huge, Way{Request: bids.Request{Cores: 2, MinNodes: 1, MaxNodes: 1, MinGPUs: 1}})
	starts := 0
	for i := range 3 {
		submit(fmt.Sprint("small", i), bids.Request{Cores: 2, MinGPUs: 1})
		x, err := c.Decide(context.Background())
		require.NoError(t, err)
		starts += len(x.Starts)
	}
	require.Equal(t, 4, starts)
	require.Len(t, c.demand.Recent(), 1)
	require.InDelta(t, 2, c.demand.Recent()[0].Cores, 1e-9)
}
