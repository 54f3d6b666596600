// SPDX-License-Identifier: BSD-3-Clause

package core_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/window"
	"github.com/aucsched/aucsched/nodeset"
)

// groupCluster is a cluster of four nodes of 8 cores and 100 of memory, of which the first has a
// GPU.
func groupCluster(t *testing.T) *core.Cluster {
	c, err := core.NewCluster(core.ClusterOptions{Clock: func() time.Time { return time.Unix(1000, 0) }})
	require.NoError(t, err)
	for n, name := range []string{"n1", "n2", "n3", "n4"} {
		gpus := uint8(0)
		if n == 0 {
			gpus = 1
		}
		require.NoError(t, setNode(c, name, nodeset.Capacity{Cores: 8, GPUs: gpus}, true))
		require.NoError(t, setResources(c, name, map[string]int64{"memory": 100}))
	}
	require.NoError(t, c.SetQuota("cores", 26))
	return c
}

func group(id string) core.JobSpec {
	perCore := map[string]nodeset.Use{"cores": {PerCore: 1}}
	return core.JobSpec{ID: id, Request: bids.Request{Cores: 2, MinNodes: 1, MaxNodes: 1, MinGPUs: 1}, Priority: 1, TimeLimit: time.Minute,
		Takes: map[string]nodeset.Use{"memory": {PerNode: 60}}, Counts: perCore,
		Components: []core.Way{{Request: bids.Request{MinNodes: 3, TasksPerNode: 8}, On: []string{"n2", "n3", "n4"},
			Takes: map[string]nodeset.Use{"memory": {PerCore: 10}}, Counts: perCore}}}
}

// A job of two parts starts on the nodes and with the resources of each, and counts both; a cluster
// that adopts what runs is in the same state, and what ends gives all back.
func TestClusterOfComponents(t *testing.T) {
	c := groupCluster(t)
	require.NoError(t, c.Submit(group("a")))
	require.NoError(t, c.Submit(group("b")))
	cycle, err := c.Decide(context.Background())
	require.NoError(t, err)
	require.Len(t, cycle.Starts, 1)
	start := cycle.Starts[0]
	require.Equal(t, []core.Share{{Node: "n1", Cores: 2, GPUs: 1}}, start.Nodes)
	require.Equal(t, map[string]nodeset.Use{"memory": {PerNode: 60}}, start.Takes)
	require.Equal(t, []core.Start{{Nodes: []core.Share{{"n2", 8, 0}, {"n3", 8, 0}, {"n4", 8, 0}},
		Takes: map[string]nodeset.Use{"memory": {PerCore: 10}}}}, start.Components)
	require.Equal(t, map[string]int64{"cores": 26}, start.Counts)

	file := windowOfCluster(t, c)
	w, err := window.Read(strings.NewReader(file), "cluster")
	require.NoError(t, err)
	require.Len(t, w.Snapshot.Running, 2)
	require.Len(t, w.Snapshot.Pending[0].Components, 1)
	require.Equal(t, w.Snapshot.Pending[0].Components[0].TasksPerNode, 8)
	require.EqualValues(t, 80, w.Snapshot.Running[1].Uses[0].Of(8, 0))

	other := groupCluster(t)
	require.NoError(t, other.Adopt(start))
	require.NoError(t, other.Submit(group("b")))
	require.Equal(t, c.Running(), other.Running())
	require.Equal(t, c.Jobs(), other.Jobs())

	bad := start
	bad.Job, bad.Components = "x", []core.Start{{Nodes: []core.Share{{"n2", 9, 0}}}}
	empty := groupCluster(t)
	before := windowOfCluster(t, empty)
	require.Error(t, empty.Adopt(bad))
	require.Equal(t, before, windowOfCluster(t, empty), "nothing is adopted in part")

	require.NoError(t, c.Ended("a"))
	cycle, err = c.Decide(context.Background())
	require.NoError(t, err)
	require.Len(t, cycle.Starts, 1)
	there, err := c.RemoveNode("n3")
	require.NoError(t, err)
	require.Equal(t, []string{"b"}, there)
	require.NoError(t, c.Ended("b"))
	require.NotContains(t, windowOfCluster(t, c), "running")
}

func TestClusterRefusesComponents(t *testing.T) {
	c := groupCluster(t)
	for want, change := range map[string]func(s *core.JobSpec){
		"components[0].eligible": func(s *core.JobSpec) { s.Components[0].On = []string{"n9"} },
		"components[0].uses":     func(s *core.JobSpec) { s.Components[0].Takes["disk"] = nodeset.Use{PerNode: 1} },
		"components[0].charges":  func(s *core.JobSpec) { s.Components[0].Counts = map[string]nodeset.Use{"no": {PerJob: 1}} },
		"components[0].cores":    func(s *core.JobSpec) { s.Components[0].TasksPerNode = 0 },
		"give those of the JobSpec": func(s *core.JobSpec) {
			s.Request.Components = []bids.Request{{Cores: 1}}
		},
	} {
		s := group("a")
		change(&s)
		require.ErrorContains(t, c.Submit(s), want)
	}
}

func windowOfCluster(t *testing.T, c *core.Cluster) string {
	var b bytes.Buffer
	require.NoError(t, c.WriteWindow(&b))
	return b.String()
}
