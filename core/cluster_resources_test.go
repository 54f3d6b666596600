// SPDX-License-Identifier: BSD-3-Clause

package core_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/nodeset"
)

// takesMemory is a job of a core that takes so much memory, for an hour.
func takesMemory(id string, memory int64) core.JobSpec {
	return core.JobSpec{ID: id, Request: bids.Request{Cores: 1}, Priority: 1, TimeLimit: time.Hour,
		Takes: map[string]nodeset.Use{"memory": {PerNode: memory}}}
}

func TestClusterResources(t *testing.T) {
	c, clock := newCluster(t, 2)
	for _, name := range []string{"n1", "n2"} {
		require.NoError(t, setResources(c, name, map[string]int64{"memory": 64, "fpga": 0}))
	}
	require.NoError(t, c.Submit(takesMemory("a", 40)))
	require.NoError(t, c.Submit(takesMemory("b", 40)))
	require.NoError(t, c.Submit(takesMemory("c", 40)))
	cycle := decide(t, c)
	require.Len(t, cycle.Starts, 2)
	require.Equal(t, map[string]nodeset.Use{"memory": {PerNode: 40}}, cycle.Starts[0].Takes)
	require.Equal(t, "c", cycle.Waiting[0].Job)
	require.Equal(t, midnight.Add(time.Hour), cycle.Waiting[0].Expected, "a place is kept from when the memory comes free")

	require.NoError(t, c.Ended("a"))
	cycle = decide(t, c)
	require.Equal(t, "c", cycle.Starts[0].Job)

	// A restart of the caller: what runs is adopted with what it takes.
	again, err := core.NewCluster(core.ClusterOptions{Clock: clock.Now})
	require.NoError(t, err)
	require.NoError(t, setNode(again, "n1", nodeset.Capacity{Cores: 8, GPUs: 2}, true))
	require.NoError(t, setResources(again, "n1", map[string]int64{"memory": 64}))
	require.NoError(t, again.Adopt(cycle.Starts[0]))
	require.NoError(t, again.Submit(takesMemory("d", 25)))
	require.NoError(t, again.Submit(takesMemory("e", 24)))
	require.Equal(t, "e", decide(t, again).Starts[0].Job, "24 of memory are left")

	// Nodes change beneath.
	require.NoError(t, setResources(again, "n1", map[string]int64{"memory": 89}))
	require.Equal(t, "d", decide(t, again).Starts[0].Job)
	require.NoError(t, setNode(again, "n0", nodeset.Capacity{Cores: 8}, true))
	require.NoError(t, again.Submit(takesMemory("f", 1)))
	require.Empty(t, decide(t, again).Starts, "a new node has no memory")
	_, err = again.RemoveNode("n1")
	require.NoError(t, err)
	require.NoError(t, setResources(again, "n0", map[string]int64{"memory": 1}))
	require.Equal(t, []string{"n0"}, nodesOf(decide(t, again).Starts[0]))
}

// By the way that is met, a job takes what that says.
func TestClusterAlternativesTake(t *testing.T) {
	c, _ := newCluster(t, 1)
	require.NoError(t, setResources(c, "n1", map[string]int64{"memory": 10, "gpu:a100": 1}))
	spec := takesMemory("a", 20)
	spec.Alternatives = []core.Way{{Request: bids.Request{Cores: 2, MinGPUs: 1},
		Takes: map[string]nodeset.Use{"memory": {PerCore: 3}, "gpu:a100": {PerGPU: 1}}}}
	require.NoError(t, c.Submit(spec))
	s := decide(t, c).Starts[0]
	require.Equal(t, 1, s.Alternative)
	require.Equal(t, spec.Alternatives[0].Takes, s.Takes)
	require.NoError(t, c.Submit(takesMemory("b", 5)))
	require.NoError(t, c.Submit(takesMemory("c", 4)))
	require.Equal(t, "c", decide(t, c).Starts[0].Job)
}

func TestClusterResourceErrors(t *testing.T) {
	c, _ := newCluster(t, 2)
	require.NoError(t, setResources(c, "n1", map[string]int64{"memory": 64}))
	require.NoError(t, c.Submit(takesMemory("runs", 60)))
	require.Len(t, decide(t, c).Starts, 1)
	submit := func(change func(*core.JobSpec)) error {
		s := takesMemory("new", 1)
		change(&s)
		return c.Submit(s)
	}
	many := make(map[string]int64)
	for i := range nodeset.MaxResources {
		many[fmt.Sprint("r", i)] = 1
	}
	for _, x := range []struct {
		err  error
		want string
		is   error
	}{
		{setResources(c, "n1", map[string]int64{"memory": -1}), "node n1: resources.memory: -1: must be 0 to 2147483647", nil},
		{setResources(c, "n1", map[string]int64{"memory": 1 << 31}), "resources.memory: 2147483648: must be", nil},
		{setResources(c, "n1", map[string]int64{"a b": 1}), "node n1: resources: a b: \"a b\" is not a name", nil},
		{setResources(c, "n1", map[string]int64{"cores": 1}), "no further resource", nil},
		{setResources(c, "n1", map[string]int64{"memory": 59}), "node n1: resources.memory: 59: jobs hold more there", nil},
		{setResources(c, "n1", nil), "node n1: resources.memory: 0: jobs hold more there", nil},
		{setResources(c, "n2", many), "node n2: resources: 64: there would be more than 64 in all", nil},
		{submit(func(s *core.JobSpec) { s.Takes = map[string]nodeset.Use{"memry": {}} }),
			`job new: uses: memry: there is no such resource; did you mean "memory"?`, core.ErrUnknown},
		{submit(func(s *core.JobSpec) {
			s.Alternatives = []core.Way{{Request: s.Request, Takes: map[string]nodeset.Use{"disk": {}}}}
		}),
			"job new: alternatives[0].uses: disk: there is no such resource", core.ErrUnknown},
		{submit(func(s *core.JobSpec) { s.Takes = map[string]nodeset.Use{"memory": {PerCore: -2}} }),
			"job new: uses.memory: -2: must be", nil},
		{submit(func(s *core.JobSpec) {
			s.Alternatives = []core.Way{{Request: s.Request, Takes: map[string]nodeset.Use{"memory": {PerGPU: 1 << 31}}}}
		}), "job new: alternatives[0].uses.memory: 2147483648: must be", nil},
		{submit(func(s *core.JobSpec) {
			s.MaxGPUs, s.Takes = 2, map[string]nodeset.Use{"memory": {PerCore: 1, PerGPU: 1}}
		}), "used by core and by GPU, and the number of GPUs is a range", nil},
		{submit(func(s *core.JobSpec) { s.Uses = nodeset.Uses{{PerNode: 1}} }),
			"job new: uses: numbers: resources of a Cluster have no numbers", nil},
		{c.Adopt(core.Start{Job: "x", Nodes: []core.Share{{Node: "n1", Cores: 1}}, Takes: map[string]nodeset.Use{"memory": {PerNode: 5}}}),
			"node n1: resources.memory: 4: 5 would have to be free", nil},
		{c.Adopt(core.Start{Job: "x", Takes: map[string]nodeset.Use{"disk": {PerNode: 5}}}),
			"job x: uses: disk: there is no such", core.ErrUnknown},
		{c.Adopt(core.Start{Job: "x", Takes: map[string]nodeset.Use{"memory": {PerNode: -5}}}), "job x: uses.memory: -5: must be", nil},
	} {
		require.ErrorContains(t, x.err, x.want)
		var field *bids.FieldError
		require.ErrorAs(t, x.err, &field)
		for _, known := range []error{core.ErrUnknown} {
			require.Equal(t, known == x.is, errors.Is(x.err, known), x.want)
		}
	}
	require.NoError(t, c.Submit(takesMemory("still", 4)))
	require.Len(t, decide(t, c).Starts, 1, "none of this has changed anything")
}

// Names that nobody uses any more make room for others; those that a job waits for stay.
func TestClusterForgetsResources(t *testing.T) {
	c, _ := newCluster(t, 1)
	waits := takesMemory("waits", 1)
	waits.Components = []core.Way{{Request: bids.Request{Cores: 1}, Takes: map[string]nodeset.Use{"disk": {PerNode: 1}}}}
	require.NoError(t, setResources(c, "n1", map[string]int64{"memory": 0, "disk": 0}))
	require.NoError(t, c.Submit(waits))
	for i := range 501 {
		name := fmt.Sprint("r", i)
		require.NoError(t, setResources(c, "n1", map[string]int64{name: 1}))
		require.NoError(t, c.Submit(core.JobSpec{ID: name, Request: bids.Request{Cores: 1}, Priority: 1, TimeLimit: time.Hour,
			Takes: map[string]nodeset.Use{name: {PerNode: 1}}}))
		require.Equal(t, name, decide(t, c).Starts[0].Job)
		require.NoError(t, c.Ended(name))
	}
	require.NoError(t, setResources(c, "n1", map[string]int64{"memory": 1, "disk": 1}))
	start := decide(t, c).Starts[0]
	require.Equal(t, "waits", start.Job)
	require.Equal(t, waits.Components[0].Takes, start.Components[0].Takes)
}

// Jobs get nodes of the lower tier where they can, and the higher where they cannot.
func TestClusterTiers(t *testing.T) {
	c, _ := newCluster(t, 3)
	require.NoError(t, setTier(c, "n1", 9))
	require.NoError(t, setTier(c, "n3", 1))
	for i, want := range []string{"n2", "n3", "n1"} {
		require.NoError(t, c.Submit(wholeNodes(fmt.Sprint(i), 1)))
		require.Equal(t, []string{want}, nodesOf(decide(t, c).Starts[0]))
	}
	_, err := c.RemoveNode("n1")
	require.NoError(t, err)
	require.NoError(t, c.Ended("0"))
	require.NoError(t, c.Ended("1"))
	require.NoError(t, c.Submit(wholeNodes("last", 1)))
	require.Equal(t, []string{"n2"}, nodesOf(decide(t, c).Starts[0]))
}

// twin counts by name and by hand what nodes have and jobs hold.
type twin struct {
	nodes map[string]*twinNode
	runs  map[string]core.Start
	waits map[string]core.JobSpec
}

type twinNode struct {
	up   bool
	has  map[string]int64 // cores are among them
	held map[string]int64
}

// hold counts a start, sign being 1, or its end, -1; it fails where that is more than there is.
func (w *twin) hold(s core.Start, sign int64) error {
	for _, share := range s.Nodes {
		n, there := w.nodes[share.Node]
		if !there { // it has been removed since
			continue
		}
		n.held["cores"] += sign * int64(share.Cores)
		for name, take := range s.Takes {
			n.held[name] += sign * (take.PerNode + take.PerCore*int64(share.Cores) + take.PerGPU*int64(share.GPUs))
		}
		for name, held := range n.held {
			if held < 0 || held > n.has[name] {
				return fmt.Errorf("node %s gives %d %s of %d", share.Node, held, name, n.has[name])
			}
		}
	}
	return nil
}

// Whatever is done to a cluster, in whatever order, no node gives more of anything than it has, a
// call fails exactly where the twin's books say so, and what starts takes what was asked for.
func TestClusterIsItsTwin(t *testing.T) {
	starts, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		c, clock := newCluster(t, 0)
		w := &twin{map[string]*twinNode{}, map[string]core.Start{}, map[string]core.JobSpec{}}
		names := rapid.SampledFrom([]string{"n1", "n2", "n3", "n4"})
		resources := rapid.SampledFrom([]string{"memory", "gpu:a100"})
		for _, name := range []string{"n1", "n2"} {
			require.NoError(t, setNode(c, name, nodeset.Capacity{Cores: 8}, true))
			require.NoError(t, setResources(c, name, map[string]int64{"memory": 30, "gpu:a100": 20}))
			w.nodes[name] = &twinNode{true, map[string]int64{"cores": 8, "memory": 30, "gpu:a100": 20}, map[string]int64{}}
		}
		serial := 0
		t.Repeat(map[string]func(*rapid.T){
			"set node": func(t *rapid.T) {
				name, up := names.Draw(t, "node"), rapid.Bool().Draw(t, "up")
				require.NoError(t, setNode(c, name, nodeset.Capacity{Cores: 8}, up))
				if w.nodes[name] == nil {
					w.nodes[name] = &twinNode{has: map[string]int64{"cores": 8}, held: map[string]int64{}}
				}
				w.nodes[name].up = up
			},
			"set resources": func(t *rapid.T) {
				name := names.Draw(t, "node")
				amounts := rapid.MapOf(resources, rapid.Int64Range(0, 30)).Draw(t, "amounts")
				n, enough := w.nodes[name], true
				for r := range map[string]int64{"memory": 0, "gpu:a100": 0} {
					enough = enough && n != nil && amounts[r] >= n.held[r]
				}
				err := setResources(c, name, amounts)
				require.Equal(t, enough, err == nil, "%v", err)
				if !enough {
					refused++
					return
				}
				n.has = map[string]int64{"cores": 8}
				for r, amount := range amounts {
					n.has[r] = amount
				}
			},
			"remove node": func(t *rapid.T) {
				name := names.Draw(t, "node")
				_, err := c.RemoveNode(name)
				require.Equal(t, w.nodes[name] != nil, err == nil)
				delete(w.nodes, name)
				for id, s := range w.runs { // it does not come back with a node of that name
					var left []core.Share
					for _, share := range s.Nodes {
						if share.Node != name {
							left = append(left, share)
						}
					}
					s.Nodes = left
					w.runs[id] = s
				}
			},
			"submit": func(t *rapid.T) {
				serial++
				spec := core.JobSpec{ID: fmt.Sprint("J", serial), Request: bids.Request{Cores: rapid.IntRange(1, 12).Draw(t, "cores")},
					Priority: rapid.Int64Range(1, 3).Draw(t, "priority"), TimeLimit: time.Minute,
					Takes: rapid.MapOf(resources, rapid.Custom(func(t *rapid.T) nodeset.Use {
						return nodeset.Use{PerNode: rapid.Int64Range(1, 9).Draw(t, "per node"),
							PerCore: rapid.Int64Range(0, 3).Draw(t, "per core")}
					})).Draw(t, "takes")}
				if err := c.Submit(spec); err == nil {
					w.waits[spec.ID] = spec
				} else {
					require.ErrorIs(t, err, core.ErrUnknown)
				}
			},
			"end": func(t *rapid.T) {
				for id, s := range w.runs {
					require.NoError(t, c.Ended(id))
					require.NoError(t, w.hold(s, -1))
					delete(w.runs, id)
					break
				}
			},
			"decide": func(t *rapid.T) {
				cycle, err := c.Decide(context.Background())
				require.NoError(t, err)
				require.Empty(t, cycle.Dropped)
				for _, s := range cycle.Starts {
					starts++
					spec, waits := w.waits[s.Job]
					require.True(t, waits)
					require.Equal(t, len(spec.Takes), len(s.Takes))
					for name, take := range spec.Takes {
						require.Equal(t, take, s.Takes[name])
					}
					require.NoError(t, w.hold(s, 1))
					for _, share := range s.Nodes {
						require.True(t, w.nodes[share.Node].up)
					}
					delete(w.waits, s.Job)
					w.runs[s.Job] = s
				}
				require.Len(t, cycle.Waiting, len(w.waits))
				clock.Advance(time.Second)
			},
		})
	})
	t.Log(starts, "starts,", refused, "refusals")
	require.Greater(t, starts, 10)
	require.Positive(t, refused)
}

// A job that takes no core is submitted, starts on a full node, is adopted and ends as others.
func TestClusterJobsWithoutCores(t *testing.T) {
	c, clock := newCluster(t, 1)
	require.NoError(t, setResources(c, "n1", map[string]int64{"memory": 64}))
	require.NoError(t, c.Submit(core.JobSpec{ID: "full", Request: bids.Request{Cores: 8}, Priority: 9, TimeLimit: time.Hour}))
	spec := takesMemory("a", 40)
	spec.Cores = 0
	require.NoError(t, c.Submit(spec))
	gpu := core.JobSpec{ID: "g", Request: bids.Request{MinGPUs: 1}, Priority: 1, TimeLimit: time.Hour,
		Components: []core.Way{{Takes: map[string]nodeset.Use{"memory": {PerNode: 20}}}}}
	require.NoError(t, c.Submit(gpu))
	late := takesMemory("late", 5)
	late.Cores = 0
	require.NoError(t, c.Submit(late))
	cycle := decide(t, c)
	require.Len(t, cycle.Starts, 3)
	require.Equal(t, []core.Share{{Node: "n1"}}, cycle.Starts[1].Nodes)
	require.Equal(t, []core.Share{{Node: "n1", GPUs: 1}}, cycle.Starts[2].Nodes)
	require.Equal(t, "late", cycle.Waiting[0].Job)

	again, err := core.NewCluster(core.ClusterOptions{Clock: clock.Now})
	require.NoError(t, err)
	require.NoError(t, setNode(again, "n1", nodeset.Capacity{Cores: 8, GPUs: 2}, true))
	require.NoError(t, setResources(again, "n1", map[string]int64{"memory": 64}))
	for _, s := range cycle.Starts {
		require.NoError(t, again.Adopt(s))
	}
	require.NoError(t, again.Submit(late))
	require.Empty(t, decide(t, again).Starts)
	require.NoError(t, again.Ended("a"))
	require.Equal(t, "late", decide(t, again).Starts[0].Job)

	require.NoError(t, setGPUShares(c, "n1", 10))
	require.NoError(t, c.Submit(core.JobSpec{ID: "share", GPUShare: 4, Priority: 5, TimeLimit: time.Hour}))
	require.Equal(t, int64(4), decide(t, c).Starts[0].GPUShare)
	spec.ID, spec.Takes = "nothing", map[string]nodeset.Use{"memory": {PerCore: 5}}
	require.ErrorContains(t, c.Submit(spec), "cores: 0: the job asks for nothing")
	gpu.ID, gpu.Components[0].Takes = "nothing", nil
	require.ErrorContains(t, c.Submit(gpu), "components[0].cores: 0: the job asks for nothing")
	nothing := cycle.Starts[1]
	nothing.Job, nothing.Takes = "x", nil
	require.ErrorContains(t, again.Adopt(nothing), "the job would hold nothing there")
}
