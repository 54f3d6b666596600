// SPDX-License-Identifier: BSD-3-Clause

package core_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/nodeset"
)

// twoRacks are nodes n1 to n4 below r1 and r2 in turn, and these below root.
func twoRacks(t require.TestingT) (*core.Cluster, *fakeClock) {
	c, clock := newCluster(t, 4)
	require.NoError(t, c.SetTopology([]nodeset.Switch{{Name: "r1", Parent: 2}, {Name: "r2", Parent: 2}, {Name: "root", Parent: -1}}))
	for n := range 4 {
		require.NoError(t, change(c, fmt.Sprint("n", n+1), func(x *core.Node) { x.Leaf = fmt.Sprint("r", n%2+1) }))
	}
	return c, clock
}

// What a job demands of switches it gets, as nodes come and go, and waits for where it cannot.
func TestClusterTopology(t *testing.T) {
	c, _ := twoRacks(t)
	rack := wholeNodes("rack", 2)
	rack.Within = 1
	require.NoError(t, c.Submit(rack))
	require.Equal(t, []string{"n1", "n3"}, nodesOf(decide(t, c).Starts[0]))
	rack.ID = "next"
	require.NoError(t, c.Submit(rack))
	_, err := c.RemoveNode("n4")
	require.NoError(t, err)
	require.Empty(t, decide(t, c).Starts, "n2 is alone below its switch")
	require.NoError(t, c.SetNode(core.Node{Name: "n5", Capacity: nodeset.Capacity{Cores: 8}, Leaf: "r2"}))
	require.Equal(t, []string{"n2", "n5"}, nodesOf(decide(t, c).Starts[0]))

	for want, switches := range map[string][]nodeset.Switch{
		"node n1: leaf: r1: there would be no such switch": {{Name: "r2", Parent: -1}},
		"switch r1: name":                  {{Name: "r1", Parent: -1}, {Name: "r1", Parent: -1}},
		"parent 7 of 2":                    {{Name: "r1", Parent: 7}, {Name: "r2", Parent: -1}},
		"and switches below it":            {{Name: "r1", Parent: -1}, {Name: "r2", Parent: 0}},
		"switch : name: \"\": must be the": {{Parent: -1}},
	} {
		require.ErrorContains(t, c.SetTopology(switches), want)
	}
	require.ErrorContains(t, change(c, "n1", func(x *core.Node) { x.Leaf = "r9" }), "node n1: leaf: r9: there is no such switch")
	require.Equal(t, "r1", c.Nodes()[0].Leaf, "none of this has changed anything")
}

// A start that could not be launched comes back before its equals, and has waited all the time.
func TestClusterRequeue(t *testing.T) {
	c, clock := newCluster(t, 1)
	for _, id := range []string{"a", "b", "c"} {
		require.NoError(t, c.Submit(wholeNodes(id, 1)))
	}
	require.Equal(t, "a", decide(t, c).Starts[0].Job)
	clock.Advance(time.Minute)
	require.ErrorContains(t, c.Requeue("b"), "job b: id: b: the job does not run")
	require.ErrorIs(t, c.Requeue("x"), core.ErrUnknown)
	require.NoError(t, c.Requeue("a"))
	require.Empty(t, c.Running())
	jobs := c.Jobs()
	require.Equal(t, []string{"a", "b", "c"}, []string{jobs[0].ID, jobs[1].ID, jobs[2].ID})
	require.Equal(t, midnight, jobs[0].Since)
	require.Equal(t, "a", decide(t, c).Starts[0].Job)

	require.NoError(t, c.Adopt(core.Start{Job: "adopted"}))
	require.ErrorContains(t, c.Requeue("adopted"), "what it asks for is not known")
	gone := wholeNodes("gone", 1)
	gone.On, gone.Priority = []string{"n1"}, 9
	require.NoError(t, c.Ended("a"))
	require.NoError(t, c.Submit(gone))
	require.Equal(t, "gone", decide(t, c).Starts[0].Job)
	_, err := c.RemoveNode("n1")
	require.NoError(t, err)
	require.NoError(t, c.Requeue("gone"), "it may name a node that has gone")
}

// A job that asks for something else keeps its time and its place among equals; one that runs gets
// another limit.
func TestClusterUpdate(t *testing.T) {
	c, clock := newCluster(t, 1)
	for _, id := range []string{"a", "b"} {
		require.NoError(t, c.Submit(wholeNodes(id, 1)))
	}
	clock.Advance(time.Minute)
	require.ErrorIs(t, c.Update(wholeNodes("x", 1)), core.ErrUnknown)
	wrong := wholeNodes("b", 1)
	wrong.Priority = 0
	require.ErrorContains(t, c.Update(wrong), "job b: priority: 0")
	wide := wholeNodes("b", 2)
	wide.Priority = 2
	require.NoError(t, c.Update(wide))
	jobs := c.Jobs()
	require.Equal(t, []string{"b", "a"}, []string{jobs[0].ID, jobs[1].ID})
	require.Equal(t, []any{midnight, 2}, []any{jobs[0].Since, jobs[0].MinNodes})
	back := wholeNodes("b", 1)
	require.NoError(t, c.Update(back))
	require.Equal(t, "a", c.Jobs()[0].ID, "it came first")
	back.Since, back.Priority = midnight.Add(-time.Hour), 2
	require.NoError(t, c.Update(back))
	require.Equal(t, midnight.Add(-time.Hour), c.Jobs()[0].Since)

	start := decide(t, c).Starts[0]
	require.Equal(t, []any{"b", clock.Now().Add(time.Hour)}, []any{start.Job, start.End})
	clock.Advance(time.Minute)
	back.TimeLimit, back.Price, back.Class = 3*time.Hour, 7, 2
	require.NoError(t, c.Update(back))
	run := c.Running()[0]
	require.Equal(t, []any{start.Begin.Add(3 * time.Hour), int64(7), 2}, []any{run.End, run.Price, run.Class})
	require.Equal(t, run.End, decide(t, c).Waiting[0].Expected, "the next one waits for it")
}

// The limit of a running job is that of its components.
func TestClusterUpdateOfComponents(t *testing.T) {
	c, clock := newCluster(t, 2)
	gang := wholeNodes("gang", 1)
	gang.Components = []core.Way{{Request: gang.Request}}
	require.NoError(t, c.Submit(gang))
	require.Len(t, decide(t, c).Starts, 1)
	gang.TimeLimit = 3 * time.Hour
	require.NoError(t, c.Update(gang))
	require.NoError(t, c.Submit(wholeNodes("next", 2)))
	require.Equal(t, clock.Now().Add(3*time.Hour), decide(t, c).Waiting[0].Expected)
}

// What a cluster has stored is the cluster that it was: nodes, quotas, switches, what waits and for
// how long, and what runs, also on nodes that are gone.
func TestClusterIsStored(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		clock := &fakeClock{midnight}
		c, err := core.NewCluster(core.ClusterOptions{Clock: clock.Now})
		require.NoError(r, err)
		drawCluster(r, c, clock)
		if rapid.Bool().Draw(r, "switches") {
			require.NoError(r, c.SetTopology([]nodeset.Switch{{Name: "x", Parent: 2}, {Name: "y", Parent: 2}, {Name: "root", Parent: -1}}))
			for _, n := range c.Nodes() {
				n.Leaf = rapid.SampledFrom([]string{"", "x", "y"}).Draw(r, "leaf")
				require.NoError(r, c.SetNode(n))
			}
		}
		decide(r, c)
		clock.Advance(time.Duration(rapid.IntRange(0, 3000).Draw(r, "later")) * time.Second)
		if nodes := c.Nodes(); rapid.Bool().Draw(r, "remove") && len(nodes) > 1 {
			_, err := c.RemoveNode(nodes[0].Name)
			require.NoError(r, err)
		}
		stored := func(c *core.Cluster) string {
			var b bytes.Buffer
			require.NoError(r, c.WriteWindow(&b))
			return b.String()
		}
		text := stored(c)
		again, err := core.ReadWindow(strings.NewReader(text), "state", core.ClusterOptions{Clock: clock.Now})
		require.NoError(r, err)
		require.Equal(r, text, stored(again))
		require.Equal(r, c.Nodes(), again.Nodes())
		require.Equal(r, len(c.Running()), len(again.Running()))
		for i, run := range c.Running() {
			require.Equal(r, run.Nodes, again.Running()[i].Nodes)
			if run.End.After(clock.Now()) {
				require.Equal(r, run.End, again.Running()[i].End)
			}
		}
		one, other := decide(r, c), decide(r, again)
		require.Equal(r, len(one.Starts), len(other.Starts))
		for i := range one.Starts {
			require.Equal(r, one.Starts[i].Nodes, other.Starts[i].Nodes)
			require.NoError(r, again.Requeue(one.Starts[i].Job))
		}
	})
}

// A started job that was stored can wait again after a restart, with all its parts.
func TestClusterRequeuesWhatWasStored(t *testing.T) {
	c := groupCluster(t)
	require.NoError(t, c.Submit(group("a")))
	require.Len(t, decide(t, c).Starts, 1)
	_, err := c.RemoveNode("n1")
	require.NoError(t, err)
	again, err := core.ReadWindow(strings.NewReader(windowOfCluster(t, c)), "state", core.ClusterOptions{})
	require.NoError(t, err)
	require.Empty(t, again.Running()[0].Nodes, "its node has gone")
	require.Len(t, again.Running()[0].Components, 1)
	require.NoError(t, again.Requeue("a"))
	require.Equal(t, c.Running()[0].Job, again.Jobs()[0].ID)
	require.NoError(t, again.SetNode(core.Node{Name: "n1", Capacity: nodeset.Capacity{Cores: 8, GPUs: 1},
		Resources: map[string]int64{"memory": 100}}))
	require.Len(t, decide(t, again).Starts, 1)
}

// A job is told who is in its way, by name, and nobody is held up meanwhile but cycles.
func TestClusterExplains(t *testing.T) {
	c, _ := newCluster(t, 2)
	require.NoError(t, c.Submit(wholeNodes("runs", 2)))
	decide(t, c)
	require.NoError(t, c.Submit(wholeNodes("waits", 1)))
	x, err := c.Explain(t.Context(), "waits", core.ExplainOptions{})
	require.NoError(t, err)
	require.Equal(t, core.NoFit, x.Why)
	require.Equal(t, "runs", x.Rivals[0].ID)
	require.Equal(t, x.Nodes[0].Node, x.Rivals[0].Nodes[0].Node)
	_, err = c.Explain(t.Context(), "runs", core.ExplainOptions{})
	require.ErrorIs(t, err, core.ErrUnknown, "it waits no more")
	require.Len(t, c.Running(), 1)
	s, names, err := c.Snapshot()
	require.NoError(t, err)
	require.Equal(t, []string{"n1", "n2"}, names)
	require.Equal(t, "waits", s.Pending[0].ID)
	require.NoError(t, s.Validate())
}

// Each change is told of once, and only if it is one.
func TestClusterEvents(t *testing.T) {
	var told []string
	c, err := core.NewCluster(core.ClusterOptions{Clock: (&fakeClock{midnight}).Now, Listen: func(e core.Event) {
		told = append(told, strings.TrimSpace(e.Kind+" "+e.Job+e.Node+e.Quota))
		if e.Kind == "cycle" {
			told = append(told, fmt.Sprint(len(e.Cycle.Starts)))
		}
	}})
	require.NoError(t, err)
	require.NoError(t, setNode(c, "n1", nodeset.Capacity{Cores: 8}, true))
	require.NoError(t, c.SetQuota("q", 1))
	require.NoError(t, c.SetTopology(nil))
	require.NoError(t, c.Submit(wholeNodes("a", 1)))
	require.Error(t, c.Submit(wholeNodes("a", 1)))
	require.NoError(t, c.Update(wholeNodes("a", 1)))
	decide(t, c)
	require.NoError(t, c.Update(scavenger("a", 3)))
	require.NoError(t, c.Requeue("a"))
	require.NoError(t, c.Cancel("a"))
	require.NoError(t, c.Adopt(core.Start{Job: "b"}))
	require.NoError(t, c.Ended("b"))
	_, err = c.RemoveNode("n1")
	require.NoError(t, err)
	require.Equal(t, []string{"node n1", "quota q", "topology", "submit a", "update a", "cycle", "1", "update a", "requeue a", "cancel a",
		"adopt b", "end b", "remove n1"}, told)
}

// What is not known of jobs that no cycle has looked at is said so; what was said stays.
func TestClusterWaiting(t *testing.T) {
	c, _ := newCluster(t, 1)
	require.NoError(t, c.Submit(wholeNodes("runs", 1)))
	decide(t, c)
	require.NoError(t, c.Submit(wholeNodes("a", 1)))
	require.Equal(t, "not looked at: too far down the queue", c.Waiting()[0].Reason)
	said := decide(t, c).Waiting
	require.Equal(t, said, c.Waiting())
	require.NotZero(t, said[0].Expected)
	require.Equal(t, said, decide(t, c).Waiting, "nothing has changed")
}

func TestClusterThatIsNone(t *testing.T) {
	var c core.Cluster
	for _, err := range []error{c.Submit(wholeNodes("a", 1)), c.SetNode(core.Node{Name: "a"}), c.Adopt(core.Start{Job: "a"}),
		c.SetQuota("q", 1), c.Cancel("a"), c.WriteWindow(&bytes.Buffer{}), func() error { _, err := c.Decide(t.Context()); return err }(),
		func() error { _, err := c.Explain(t.Context(), "a", core.ExplainOptions{}); return err }()} {
		require.ErrorContains(t, err, "not made by NewCluster")
	}
	some, _ := newCluster(t, 1)
	var none context.Context
	_, err := some.Decide(none)
	require.ErrorContains(t, err, "the context is nil")
	_, err = some.Explain(none, "a", core.ExplainOptions{})
	require.ErrorContains(t, err, "the context is nil")
}

// What the cluster says of a fault a window's reader says, with the line.
func TestReadWindowSaysWhatTheClusterDoes(t *testing.T) {
	c, _ := newCluster(t, 1)
	for field, change := range map[string]func(s *core.JobSpec){
		`"cores": -1`:                func(s *core.JobSpec) { s.Request = bids.Request{Cores: -1} },
		`"cores": 4, "eligible":"x"`: func(s *core.JobSpec) { s.Request, s.On = bids.Request{Cores: 4}, []string{"x"} },
		`"cores": 4, "uses":{"m":{"per_core":1}}`: func(s *core.JobSpec) {
			s.Request, s.Takes = bids.Request{Cores: 4}, map[string]nodeset.Use{"m": {PerCore: 1}}
		},
		`"cores": 4, "gpu_share": 3, "gpus_per_node": 1`: func(s *core.JobSpec) { s.Request, s.GPUShare = bids.Request{Cores: 4, MinGPUs: 1}, 3 },
		`"cores": 4, "alternatives":[{"cores":-2}]`: func(s *core.JobSpec) {
			s.Request, s.Alternatives = bids.Request{Cores: 4}, []core.Way{{Request: bids.Request{Cores: -2}}}
		},
	} {
		spec := wholeNodes("J", 1)
		change(&spec)
		says := c.Submit(spec)
		var fault *bids.FieldError
		require.ErrorAs(t, says, &fault)
		_, err := core.ReadWindow(strings.NewReader(`{"nodes":[{"name":"n1","cores":8,"gpus":2}],"jobs":[`+"\n"+`{"id":"J","priority":1,`+
			field+`}]}`), "w.json", core.ClusterOptions{})
		require.EqualError(t, err, "w.json:2: jobs[0] (J): "+fault.Error())
		var again *core.Error
		require.ErrorAs(t, err, &again)
		require.Equal(t, errors.Is(says, core.ErrUnknown), errors.Is(err, core.ErrUnknown))
	}
}

// A cycle costs what it looks at, however many wait: it tells of no other job, and has memory for none.
func TestClusterCycleOfALongQueue(t *testing.T) {
	c, _ := newCluster(t, 20)
	require.NoError(t, c.Adopt(core.Start{Job: "runs", Nodes: []core.Share{{Node: "n1", Cores: 8}}, End: midnight.Add(time.Hour)}))
	submit := func(i int) { // no two are alike
		s := wholeNodes(fmt.Sprint("q", i), 20)
		s.TimeLimit += time.Duration(i) * time.Second
		require.NoError(t, c.Submit(s))
	}
	cost := func(waiting int) float64 {
		for i := len(c.Jobs()); i < waiting; i++ {
			submit(i)
		}
		decide(t, c)
		require.Less(t, len(decide(t, c).Waiting), 1000)
		require.Len(t, c.Waiting(), waiting)
		return testing.AllocsPerRun(5, func() { decide(t, c) })
	}
	few := cost(2_000)
	require.LessOrEqual(t, cost(20_000), few+10)
}
