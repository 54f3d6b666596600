// SPDX-License-Identifier: BSD-3-Clause

package core_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/nodeset"
)

// ofAccount is a job of so many cores on one node, for an hour, that counts them.
func ofAccount(id string, cores int) core.JobSpec {
	return core.JobSpec{ID: id, Request: bids.Request{Cores: cores, MinNodes: 1, MaxNodes: 1}, Priority: 1,
		TimeLimit: time.Hour, Counts: map[string]nodeset.Use{"cores of x": {PerCore: 1}}}
}

func TestClusterQuotas(t *testing.T) {
	c, clock := newCluster(t, 8)
	require.NoError(t, c.SetQuota("cores of x", 12))
	for _, id := range []string{"a", "b", "c"} {
		require.NoError(t, c.Submit(ofAccount(id, 6)))
	}
	free := ofAccount("free", 8)
	free.Counts = nil
	require.NoError(t, c.Submit(free))
	cycle := decide(t, c)
	require.Len(t, cycle.Starts, 3)
	require.Equal(t, map[string]int64{"cores of x": 6}, cycle.Starts[0].Counts)
	require.Nil(t, cycle.Starts[2].Counts)
	require.Equal(t, "c", cycle.Waiting[0].Job)
	require.Equal(t, core.OverQuota, cycle.Waiting[0].Why)
	require.Contains(t, cycle.Waiting[0].Reason, "cores of x")

	clock.Advance(time.Minute)
	cycle = decide(t, c)
	require.Equal(t, core.OverQuota, cycle.Waiting[0].Why, "also where nobody else bids")
	free.ID = "more"
	require.NoError(t, c.Submit(free))
	cycle = decide(t, c)
	require.Len(t, cycle.Starts, 1)
	require.Equal(t, midnight.Add(time.Hour), cycle.Waiting[0].Expected, "from when a and b have ended")

	require.NoError(t, c.Ended("b"))
	cycle = decide(t, c)
	require.Equal(t, "c", cycle.Starts[0].Job)

	require.NoError(t, c.Submit(ofAccount("d", 1)))
	require.Empty(t, decide(t, c).Starts)
	require.NoError(t, c.SetQuota("cores of x", 13))
	require.Len(t, decide(t, c).Starts, 1)
	require.NoError(t, c.SetQuota("cores of x", 3))
	require.NoError(t, c.Ended("d"))
	require.NoError(t, c.Submit(ofAccount("e", 1)))
	require.Empty(t, decide(t, c).Starts, "12 run, of 3")
	none := ofAccount("none", 1)
	none.Counts = map[string]nodeset.Use{"cores of x": {PerGPU: 1}}
	require.NoError(t, c.Submit(none))
	require.Len(t, decide(t, c).Starts, 1, "it counts nothing")

	// A restart of the caller: what runs is adopted with what it counts.
	again, _ := newCluster(t, 8)
	require.NoError(t, again.SetQuota("cores of x", 8))
	require.NoError(t, again.Adopt(cycle.Starts[0]))
	require.NoError(t, again.Submit(ofAccount("f", 3)))
	require.NoError(t, again.Submit(ofAccount("g", 2)))
	require.Equal(t, "g", decide(t, again).Starts[0].Job, "2 are left")
}

func TestClusterQuotaErrors(t *testing.T) {
	c, _ := newCluster(t, 1)
	require.ErrorContains(t, c.SetQuota("", 1), `"" is not a name of 1 to 256`)
	require.ErrorContains(t, c.SetQuota("x", -1), "quota x: limit: -1: must be 0 to 1099511627776")
	require.ErrorContains(t, c.SetQuota("x", bids.MaxRate+1), "must be 0 to")
	require.NoError(t, c.SetQuota("cores of x", 9))

	spec := ofAccount("a", 1)
	spec.Counts = map[string]nodeset.Use{"cores of y": {PerCore: 1}}
	err := c.Submit(spec)
	require.ErrorIs(t, err, core.ErrUnknown)
	require.ErrorContains(t, err, `job a: charges: cores of y: there is no such quota; did you mean "cores of x"?`)
	spec.Counts = map[string]nodeset.Use{"cores of x": {PerGPU: -1}}
	require.ErrorContains(t, c.Submit(spec), "job a: charges.cores of x: -1: must be 0 to 1099511627776")
	spec.Counts, spec.Charges = nil, nodeset.Uses{{}}
	require.ErrorContains(t, c.Submit(spec), "quotas of a Cluster have no numbers: name them")
	spec.Charges = nil
	spec.Alternatives = []core.Way{{Request: spec.Request, Counts: map[string]nodeset.Use{"z": {}}}}
	err = c.Submit(spec)
	require.ErrorIs(t, err, core.ErrUnknown)
	require.ErrorContains(t, err, "alternatives[0].charges")
	err = c.Adopt(core.Start{Job: "b", Nodes: []core.Share{{Node: "n1", Cores: 1}}, Counts: map[string]int64{"z": 1}})
	require.ErrorIs(t, err, core.ErrUnknown)
	err = c.Adopt(core.Start{Job: "b", Nodes: []core.Share{{Node: "n1", Cores: 1}}, Counts: map[string]int64{"cores of x": -1}})
	require.ErrorContains(t, err, "job b: charges.cores of x: -1: must be 0")
	require.NoError(t, c.Submit(ofAccount("a", 1)), "nothing is left of what was refused")
}

// A quota that runs out while a cycle decides holds.
func TestClusterDropsOverQuotas(t *testing.T) {
	auction, err := core.NewAuction(core.Preset("none"), nil)
	require.NoError(t, err)
	policy := &meddler{auction, func() {}}
	c, err := core.NewCluster(core.ClusterOptions{Policy: policy})
	require.NoError(t, err)
	require.NoError(t, setNode(c, "n1", nodeset.Capacity{Cores: 8}, true))
	require.NoError(t, c.SetQuota("cores of x", 7))
	require.NoError(t, c.Submit(ofAccount("a", 4)))
	require.NoError(t, c.Submit(ofAccount("b", 3)))
	policy.do = func() { require.NoError(t, c.SetQuota("cores of x", 4)) }
	cycle, err := c.Decide(context.Background())
	require.NoError(t, err)
	require.Len(t, cycle.Starts, 1)
	require.Contains(t, cycle.Dropped, "b")
	require.ErrorContains(t, cycle.Dropped["b"], "job b: charges: 3: cores of x: 0 are left")
}
