// SPDX-License-Identifier: BSD-3-Clause

package core_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/window"
	"github.com/aucsched/aucsched/nodeset"
)

// fakeClock is a clock that a test sets.
type fakeClock struct{ now time.Time }

func (c *fakeClock) Now() time.Time           { return c.now }
func (c *fakeClock) Advance(by time.Duration) { c.now = c.now.Add(by) }

var midnight = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// change has a node be as it is but for a change.
func change(c *core.Cluster, name string, by func(n *core.Node)) error {
	for _, n := range c.Nodes() {
		if n.Name == name {
			by(&n)
			return c.SetNode(n)
		}
	}
	return errors.New("there is no node " + name)
}

func setNode(c *core.Cluster, name string, capacity nodeset.Capacity, up bool) error {
	set := func(n *core.Node) { n.Capacity, n.Down = capacity, !up }
	if slices.ContainsFunc(c.Nodes(), func(n core.Node) bool { return n.Name == name }) {
		return change(c, name, set)
	}
	return c.SetNode(core.Node{Name: name, Capacity: capacity, Down: !up})
}

func setResources(c *core.Cluster, name string, amounts map[string]int64) error {
	return change(c, name, func(n *core.Node) { n.Resources = amounts })
}

func setGPUShares(c *core.Cluster, name string, size int64) error {
	return change(c, name, func(n *core.Node) { n.GPUShares = size })
}

func setTier(c *core.Cluster, name string, tier uint8) error {
	return change(c, name, func(n *core.Node) { n.Tier = tier })
}

// newCluster is a cluster of nodes n1, n2 and so on, of 8 cores and 2 GPUs each, at midnight.
func newCluster(t require.TestingT, nodes int) (*core.Cluster, *fakeClock) {
	clock := &fakeClock{midnight}
	c, err := core.NewCluster(core.ClusterOptions{Clock: clock.Now})
	require.NoError(t, err)
	for n := range nodes {
		require.NoError(t, setNode(c, fmt.Sprint("n", n+1), nodeset.Capacity{Cores: 8, GPUs: 2}, true))
	}
	return c, clock
}

// wholeNodes is a job of that many nodes with all their cores, for an hour.
func wholeNodes(id string, nodes int) core.JobSpec {
	return core.JobSpec{ID: id, Request: bids.Request{Cores: 8 * nodes, MinNodes: nodes, MaxNodes: nodes},
		Priority: 1, TimeLimit: time.Hour}
}

func decide(t require.TestingT, c *core.Cluster) *core.Cycle {
	cycle, err := c.Decide(context.Background())
	require.NoError(t, err)
	return cycle
}

// nodesOf are the names of the nodes of a start.
func nodesOf(s core.Start) (names []string) {
	for _, share := range s.Nodes {
		names = append(names, share.Node)
	}
	return names
}

func TestClusterStartsAndKeepsAPlace(t *testing.T) {
	c, clock := newCluster(t, 3)
	first := wholeNodes("first", 2)
	first.Priority = 9
	require.NoError(t, c.Submit(first))
	require.NoError(t, c.Submit(wholeNodes("wide", 3)))
	cycle := decide(t, c)
	require.Equal(t, []core.Start{{Job: "first", Nodes: []core.Share{{Node: "n1", Cores: 8}, {Node: "n2", Cores: 8}},
		Begin: midnight, End: midnight.Add(time.Hour)}}, cycle.Starts)
	require.Len(t, cycle.Waiting, 1)
	require.Equal(t, core.Reserved, cycle.Waiting[0].Why)
	require.Equal(t, midnight.Add(time.Hour), cycle.Waiting[0].Expected)

	clock.Advance(10 * time.Minute)
	require.NoError(t, c.Ended("first"))
	cycle = decide(t, c)
	require.Equal(t, "wide", cycle.Starts[0].Job)
	require.Equal(t, midnight.Add(70*time.Minute), cycle.Starts[0].End)
	require.Empty(t, cycle.Waiting)
	require.Equal(t, []string{"n1", "n2", "n3"}, nodesOf(cycle.Starts[0]))
}

// What a cycle returned is the caller's: neither the next cycle nor the caller spoils the other's.
func TestClusterResultsAreOwned(t *testing.T) {
	c, _ := newCluster(t, 4)
	require.NoError(t, c.Submit(wholeNodes("a", 2)))
	first := decide(t, c)
	was := append([]core.Share(nil), first.Starts[0].Nodes...)
	require.NoError(t, c.Submit(wholeNodes("b", 2)))
	decide(t, c)
	require.Equal(t, was, first.Starts[0].Nodes)
	first.Starts[0].Nodes[0].Node = "spoilt"
	require.NoError(t, c.Ended("a"))
	require.NoError(t, c.Submit(wholeNodes("c", 2)))
	require.Equal(t, []string{"n1", "n2"}, nodesOf(decide(t, c).Starts[0]))
}

func TestClusterErrors(t *testing.T) {
	c, _ := newCluster(t, 2)
	require.NoError(t, c.Submit(wholeNodes("waits", 2)))
	require.NoError(t, c.Submit(wholeNodes("runs", 1)))
	require.NoError(t, c.Cancel("waits"))
	decide(t, c)
	require.NoError(t, c.Submit(wholeNodes("waits", 2)))
	spec := func(change func(*core.JobSpec)) error {
		s := wholeNodes("new", 1)
		change(&s)
		return c.Submit(s)
	}
	for _, x := range []struct {
		err  error
		want string
		is   error
	}{
		{c.Submit(wholeNodes("waits", 1)), "job waits: id: waits: there are two jobs of this id", core.ErrDuplicate},
		{c.Submit(wholeNodes("runs", 1)), "job runs: id: runs: there are two jobs of this id", core.ErrDuplicate},
		{c.Adopt(core.Start{Job: "waits"}), "there are two jobs", core.ErrDuplicate},
		{c.Cancel("none"), "job none: id: none: no job of this id waits or runs", core.ErrUnknown},
		{c.Ended("none"), "job none: id: none: no job of this id waits or runs", core.ErrUnknown},
		{c.Cancel("runs"), "the job runs", nil},
		{c.Ended("waits"), "the job does not run", nil},
		{spec(func(s *core.JobSpec) { s.ID = "" }), "must be UTF-8, and not empty", nil},
		{spec(func(s *core.JobSpec) { s.Priority = 0 }), "job new: priority: 0: must be 1 to", nil},
		{spec(func(s *core.JobSpec) { s.TimeLimit = 0 }), "job new: time_limit_s: 0s: must be more than 0", nil},
		{spec(func(s *core.JobSpec) { s.MinNodes = 3 }), "job new: nodes: 3-1: the range is empty", nil},
		{spec(func(s *core.JobSpec) { s.MinGPUs, s.MaxGPUs = 2, 1 }), "job new: gpus_per_node: 2-1: the range is empty", nil},
		{spec(func(s *core.JobSpec) { s.Eligible = nodeset.NewMask(2) }), "job new: eligible: a mask", nil},
		{spec(func(s *core.JobSpec) { s.ID = "a\x1b[1m" }), `"a\x1b[1m": must be without control characters`, nil},
		{spec(func(s *core.JobSpec) { s.On = []string{"n9"} }), "job new: eligible: n9: there is no such node", core.ErrUnknown},
		{spec(func(s *core.JobSpec) { s.Prefer = []string{"n9"} }), "job new: prefer: n9: there is no such node", core.ErrUnknown},
		{spec(func(s *core.JobSpec) { s.Alternatives = []core.Way{{}} }), "job new: alternatives[0].cores: 0: the job asks", nil},
		{setNode(c, "a,b", nodeset.Capacity{}, true), "node a,b: name: ", nil},
		{setNode(c, "n1", nodeset.Capacity{Cores: 7}, true), "node n1: cores: 7: jobs hold more there", nil},
		{func() error { _, err := c.RemoveNode("n9"); return err }(), "node n9: name: n9: there is no such node", core.ErrUnknown},
		{c.Adopt(core.Start{Job: "x", Nodes: []core.Share{{Node: "n9", Cores: 1}}}), "node n9", core.ErrUnknown},
		{c.Adopt(core.Start{Job: "x", Nodes: []core.Share{{Node: "n1", Cores: 1}}}), "node n1: cores: 0: 1 would have to be free", nil},
		{c.Adopt(core.Start{Job: "x", Nodes: []core.Share{{Node: "n2", Cores: 1}, {Node: "n2", Cores: 1}}}), "twice", nil},
	} {
		require.ErrorContains(t, x.err, x.want)
		var field *bids.FieldError
		require.ErrorAs(t, x.err, &field)
		for _, known := range []error{core.ErrDuplicate, core.ErrUnknown} {
			require.Equal(t, known == x.is, errors.Is(x.err, known), x.want)
		}
	}
	_, err := core.NewCluster(core.ClusterOptions{Deadline: -1})
	var option *core.OptionError
	require.ErrorAs(t, err, &option)
}

// Nodes come and go while jobs run; nobody sees a number.
func TestClusterGrowsAndShrinks(t *testing.T) {
	c, _ := newCluster(t, 0)
	require.NoError(t, c.Submit(wholeNodes("wide", 3)))
	require.Equal(t, "the cluster has no nodes", decide(t, c).Waiting[0].Reason)
	for _, name := range []string{"a", "b", "c"} {
		require.NoError(t, setNode(c, name, nodeset.Capacity{Cores: 8}, name != "c"))
	}
	require.Empty(t, decide(t, c).Starts, "c is not up")
	require.NoError(t, setNode(c, "c", nodeset.Capacity{Cores: 8}, true))
	require.Len(t, decide(t, c).Starts, 1)

	there, err := c.RemoveNode("a")
	require.NoError(t, err)
	require.Equal(t, []string{"wide"}, there)
	require.NoError(t, setNode(c, "d", nodeset.Capacity{Cores: 16}, true))
	require.NoError(t, c.Submit(wholeNodes("next", 1)))
	require.Equal(t, []core.Share{{Node: "d", Cores: 8}}, decide(t, c).Starts[0].Nodes, "wide still holds b and c")
	require.NoError(t, c.Ended("wide"))
	require.NoError(t, c.Submit(wholeNodes("two", 2)))
	require.Equal(t, []string{"b", "c"}, nodesOf(decide(t, c).Starts[0]))
}

// Names stay what they are when numbers change.
func TestClusterJobsNameNodes(t *testing.T) {
	c, _ := newCluster(t, 5)
	decide(t, c) // which has seen all nodes
	spec := wholeNodes("on", 1)
	spec.On = []string{"n4", "n5"}
	likes := wholeNodes("likes", 1)
	likes.Prefer = []string{"n3"}
	require.NoError(t, c.Submit(spec))
	require.NoError(t, c.Submit(likes))
	_, err := c.RemoveNode("n1")
	require.NoError(t, err)
	_, err = c.RemoveNode("n4")
	require.NoError(t, err)
	cycle := decide(t, c)
	require.Equal(t, []string{"n5"}, nodesOf(cycle.Starts[0]))
	require.Equal(t, []string{"n3"}, nodesOf(cycle.Starts[1]))
}

// meddler is a policy that does something once it has decided: the world changes meanwhile.
type meddler struct {
	core.Policy
	do func()
}

func (m *meddler) Decide(ctx context.Context, s *core.Snapshot, l core.Limits, p *core.Plan) error {
	err := m.Policy.Decide(ctx, s, l, p)
	m.do()
	return err
}

func TestClusterDropsWhatNoLongerHolds(t *testing.T) {
	full := nodeset.Capacity{Cores: 8}
	for name, x := range map[string]struct {
		do   func(t *testing.T, c *core.Cluster)
		want string // of the job's drop; "" if it starts
		is   error
	}{
		"nothing happens": {func(*testing.T, *core.Cluster) {}, "", nil},
		"cancelled": {func(t *testing.T, c *core.Cluster) { require.NoError(t, c.Cancel("job")) },
			"job job: id: job: no job of this id", core.ErrUnknown},
		"cancelled, and another of its id": {func(t *testing.T, c *core.Cluster) {
			require.NoError(t, c.Cancel("job"))
			require.NoError(t, c.Submit(wholeNodes("job", 1)))
		}, "it asks for something else now", nil},
		"updated": {func(t *testing.T, c *core.Cluster) { require.NoError(t, c.Update(wholeNodes("job", 1))) },
			"it asks for something else now", nil},
		"its node is drained": {func(t *testing.T, c *core.Cluster) { require.NoError(t, setNode(c, "n1", full, false)) },
			"node n1: state: down", nil},
		"its node has shrunk": {func(t *testing.T, c *core.Cluster) {
			require.NoError(t, setNode(c, "n1", nodeset.Capacity{Cores: 4}, true))
		}, "node n1: cores: 4: 8 would have to be free", nil},
		"its node has less memory": {func(t *testing.T, c *core.Cluster) {
			require.NoError(t, setResources(c, "n2", map[string]int64{"memory": 9}))
		}, "node n2: resources.memory: 9: 10 would have to be free", nil},
		"another job takes of its memory": {func(t *testing.T, c *core.Cluster) {
			require.NoError(t, setNode(c, "n2", nodeset.Capacity{Cores: 9}, true))
			require.NoError(t, c.Adopt(core.Start{Job: "other", Nodes: []core.Share{{Node: "n2", Cores: 1}},
				Takes: map[string]nodeset.Use{"memory": {PerCore: 3}}}))
		}, "node n2: resources.memory: 9: 10 would have to be free", nil},
		"its nodes have more memory": {func(t *testing.T, c *core.Cluster) {
			require.NoError(t, setResources(c, "n0", map[string]int64{"disk": 1}))
			require.NoError(t, setResources(c, "n1", map[string]int64{"memory": 99}))
		}, "", nil},
		"its node has gone": {func(t *testing.T, c *core.Cluster) {
			_, err := c.RemoveNode("n1")
			require.NoError(t, err)
		}, "node n1: name", core.ErrUnknown},
		"its neighbours are none any more": {func(t *testing.T, c *core.Cluster) {
			_, err := c.RemoveNode("n1")
			require.NoError(t, err)
			require.NoError(t, setNode(c, "n1", full, true))
		}, "they no longer suit it", nil},
		"a node before its own has gone": {func(t *testing.T, c *core.Cluster) {
			_, err := c.RemoveNode("n0")
			require.NoError(t, err)
		}, "", nil},
		"another job was adopted on its node": {func(t *testing.T, c *core.Cluster) {
			require.NoError(t, c.Adopt(core.Start{Job: "other", Nodes: []core.Share{{Node: "n2", Cores: 1}}}))
		}, "node n2: cores: 7: 8 would", nil},
	} {
		t.Run(name, func(t *testing.T) {
			auction, err := core.NewAuction(core.Preset("none"), nil)
			require.NoError(t, err)
			policy := &meddler{auction, func() {}}
			c, err := core.NewCluster(core.ClusterOptions{Policy: policy})
			require.NoError(t, err)
			for n, capacity := range []nodeset.Capacity{{}, full, full, {}} {
				require.NoError(t, setNode(c, fmt.Sprint("n", n), capacity, true))
				require.NoError(t, setResources(c, fmt.Sprint("n", n), map[string]int64{"memory": 12}))
			}
			spec := wholeNodes("job", 2)
			spec.Takes = map[string]nodeset.Use{"memory": {PerNode: 2, PerCore: 1}}
			spec.Contiguous = true
			require.NoError(t, c.Submit(spec))
			policy.do = func() { x.do(t, c) }
			cycle := decide(t, c)
			if x.want == "" {
				require.Empty(t, cycle.Dropped)
				require.Equal(t, []string{"n1", "n2"}, nodesOf(cycle.Starts[0]))
				return
			}
			require.Empty(t, cycle.Starts)
			require.Len(t, cycle.Dropped, 1)
			require.Contains(t, cycle.Dropped, "job")
			require.ErrorContains(t, cycle.Dropped["job"], x.want)
			require.True(t, x.is == nil || errors.Is(cycle.Dropped["job"], x.is))
			policy.do = func() {}
			decide(t, c)
		})
	}
}

// A cycle holds up nobody, and lets no second one in.
func TestClusterIsOpenWhileItDecides(t *testing.T) {
	policy := &meddler{Policy: auctionBy(t, nil)}
	c, err := core.NewCluster(core.ClusterOptions{Policy: policy})
	require.NoError(t, err)
	require.NoError(t, setNode(c, "n1", nodeset.Capacity{Cores: 8}, true))
	policy.do = func() {
		_, err := c.Decide(context.Background())
		require.ErrorIs(t, err, core.ErrBusy)
		require.NoError(t, c.Submit(wholeNodes("late", 1)))
		require.NoError(t, c.WriteWindow(&bytes.Buffer{}))
	}
	cycle := decide(t, c)
	require.Empty(t, cycle.Starts)
	require.Empty(t, cycle.Waiting, "it came after the cycle's copy")
}

// A plan that over-allocates starts nothing, whoever made it.
func TestClusterRefusesInvalidPlans(t *testing.T) {
	c, err := core.NewCluster(core.ClusterOptions{Policy: greedy{}})
	require.NoError(t, err)
	require.NoError(t, setNode(c, "n1", nodeset.Capacity{Cores: 8}, true))
	require.NoError(t, c.Submit(wholeNodes("a", 1)))
	require.NotEmpty(t, decide(t, c).Starts)
	require.NoError(t, c.Submit(wholeNodes("b", 1)))
	_, err = c.Decide(context.Background())
	require.ErrorIs(t, err, core.ErrInvalidPlan)
	require.NoError(t, c.Cancel("b"), "it still waits")
}

// greedy starts every job on the first node.
type greedy struct{}

func (greedy) Name() string { return "greedy" }

func (greedy) Decide(_ context.Context, s *core.Snapshot, _ core.Limits, p *core.Plan) error {
	p.Decisions = nil
	for i := range s.Pending {
		p.Decisions = append(p.Decisions, core.Decision{Job: i, Start: true, Segs: []nodeset.Segment{{Cores: 8}}})
	}
	return nil
}

func TestClusterEndsWithItsContext(t *testing.T) {
	c, _ := newCluster(t, 1)
	require.NoError(t, c.Submit(wholeNodes("a", 1)))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := c.Decide(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, c.Cancel("a"))
}

// capture is a policy that shows what it was asked.
type capture struct {
	core.Policy
	seen *core.Snapshot
}

func (p *capture) Decide(ctx context.Context, s *core.Snapshot, l core.Limits, plan *core.Plan) error {
	p.seen = s
	return p.Policy.Decide(ctx, s, l, plan)
}

// What WriteWindow writes, Read reads as what the policy would see.
func TestClusterWindowReadsAsItsSnapshot(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		policy, clock := &capture{Policy: nothing{}}, &fakeClock{midnight}
		c, err := core.NewCluster(core.ClusterOptions{Policy: policy, Clock: clock.Now})
		require.NoError(r, err)
		drawCluster(r, c, clock)
		var file bytes.Buffer
		require.NoError(r, c.WriteWindow(&file))
		w, err := window.Read(&file, "window")
		require.NoError(r, err)
		decide(r, c)
		got, want := w.Snapshot, *policy.seen
		require.Equal(r, tableOf(want.Nodes), tableOf(got.Nodes))
		require.Equal(r, ranks(want.Tiers), ranks(got.Tiers))
		require.Equal(r, want.Quotas, got.Quotas)
		require.Len(r, got.Running, len(want.Running))
		for i, run := range want.Running {
			run.End = max(run.End-want.Now, 0)
			run.Uses = renumbered(want.Nodes, run.Uses, got.Nodes)
			require.Equal(r, run, got.Running[i])
		}
		require.Len(r, got.Pending, len(want.Pending))
		for i, job := range want.Pending {
			moved := *job
			moved.Since -= want.Now
			moved.Uses = renumbered(want.Nodes, moved.Uses, got.Nodes)
			moved.Alternatives = slices.Clone(moved.Alternatives)
			for k := range moved.Alternatives {
				moved.Alternatives[k].Uses = renumbered(want.Nodes, moved.Alternatives[k].Uses, got.Nodes)
			}
			require.Equal(r, moved, *got.Pending[i])
		}
	})
}

// drawCounts draws what a job counts against the quotas of drawCluster.
func drawCounts(r *rapid.T) map[string]nodeset.Use {
	if rapid.Bool().Draw(r, "counts nothing") {
		return nil
	}
	rate := rapid.Int64Range(0, 2)
	return map[string]nodeset.Use{"z of x": {PerJob: rate.Draw(r, "per job"), PerCore: rate.Draw(r, "per core")},
		"a \"é\"": {PerNode: rate.Draw(r, "per node"), PerGPU: rate.Draw(r, "per GPU")}}
}

// nothing is a policy that starts nothing.
type nothing struct{}

func (nothing) Name() string { return "nothing" }

func (nothing) Decide(context.Context, *core.Snapshot, core.Limits, *core.Plan) error { return nil }

// tableOf is what a table says of each node.
func tableOf(t *nodeset.Table) (nodes []string) {
	for n := range t.Len() {
		more := map[string][2]int64{}
		for r := range t.Resources() {
			if name := t.ResourceName(r); name != "gpu_share" || t.TotalOf(r)[n] > 0 {
				more[name] = [2]int64{t.TotalOf(r)[n], t.FreeOf(r)[n]}
			}
		}
		var shared []int64 // what is free of each GPU in shared use; -1: it is not
		for gpu := 1; gpu <= len(t.BinsLeft(n)); gpu++ {
			free, inUse := t.BinFree(n, uint8(gpu))
			if !inUse {
				free = -1
			}
			shared = append(shared, free)
		}
		nodes = append(nodes, fmt.Sprint(t.Total(n), t.Free(n), t.Up(n), more, shared))
	}
	return nodes
}

// renumbered is uses of resources of one table as another calls them.
func renumbered(from *nodeset.Table, uses nodeset.Uses, to *nodeset.Table) (out nodeset.Uses) {
	for _, u := range uses {
		name := from.ResourceName(u.Row)
		for u.Row = 0; to.ResourceName(u.Row) != name; u.Row++ {
		}
		out = append(out, u)
	}
	slices.SortFunc(out, func(a, b nodeset.Use) int { return a.Row - b.Row })
	return out
}

// ranks are the places of tiers among those that there are.
func ranks(tiers []uint8) (ranks []int) {
	there := slices.Compact(slices.Sorted(slices.Values(tiers)))
	for _, tier := range tiers {
		ranks = append(ranks, slices.Index(there, tier))
	}
	return ranks
}

// drawCluster fills a cluster with nodes, jobs that run and jobs that wait.
func drawCluster(r *rapid.T, c *core.Cluster, clock *fakeClock) {
	names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-c](-x)?[0-9]{1,3}`), 1, 12, rapid.ID).Draw(r, "names")
	for i, name := range names {
		require.NoError(r, setNode(c, name, nodeset.Capacity{Cores: 8, GPUs: uint8(i % 3)}, rapid.Bool().Draw(r, "up")))
		require.NoError(r, setTier(c, name, rapid.SampledFrom([]uint8{0, 0, 4, 255}).Draw(r, "tier")))
		more := map[string]int64{"memory": 100 + rapid.Int64Range(0, 1).Draw(r, "memory")}
		for _, name := range []string{"gpu:a100", "disk", "zebra"} {
			if rapid.Bool().Draw(r, name) {
				more[name] = rapid.Int64Range(0, 1).Draw(r, "amount")
			}
		}
		require.NoError(r, setResources(c, name, more))
		if i%3 > 0 && rapid.Bool().Draw(r, "shares GPUs") {
			require.NoError(r, setGPUShares(c, name, 5))
			s := core.Start{Job: "S" + name, Nodes: []core.Share{{Node: name, Cores: 1}}, End: midnight.Add(time.Minute),
				GPUShare: rapid.Int64Range(1, 5).Draw(r, "share"), SharedGPU: rapid.IntRange(1, 2*(i%3)).Draw(r, "GPU")}
			require.NoError(r, c.Adopt(s))
		}
	}
	require.NoError(r, setResources(c, names[0], map[string]int64{"memory": 100, "none": 0}))
	for _, name := range []string{"z of x", "a \"é\""} {
		require.NoError(r, c.SetQuota(name, rapid.Int64Range(0, 9).Draw(r, "limit of quota")))
	}
	for i := range rapid.IntRange(0, 3).Draw(r, "running") {
		s := core.Start{Job: fmt.Sprint("R", i), End: midnight.Add(time.Duration(rapid.IntRange(-5, 5000).Draw(r, "end")) * time.Second)}
		for _, name := range names {
			if rapid.Bool().Draw(r, "there") {
				s.Nodes = append(s.Nodes, core.Share{Node: name, Cores: rapid.IntRange(1, 2).Draw(r, "held")})
			}
		}
		if rapid.Bool().Draw(r, "takes") {
			s.Takes = map[string]nodeset.Use{"memory": drawTake(r)}
		}
		if rapid.Bool().Draw(r, "counts") {
			s.Counts = map[string]int64{"z of x": rapid.Int64Range(0, 9).Draw(r, "counted")}
		}
		require.NoError(r, c.Adopt(s))
	}
	some := rapid.SliceOfN(rapid.SampledFrom(names), 1, 3)
	for i := range rapid.IntRange(0, 4).Draw(r, "waiting") {
		spec := core.JobSpec{ID: fmt.Sprintf("J%d \"<é>", i), Request: drawWay(r), Priority: rapid.Int64Range(1, 3).Draw(r, "priority"),
			TimeLimit: time.Duration(rapid.IntRange(1, 5000).Draw(r, "limit")) * time.Second / 2}
		spec.Reservation = rapid.SampledFrom([]string{"", "", "", "res0", "none"}).Draw(r, "reservation")
		spec.Price, spec.Exempt = rapid.Int64Range(0, 2).Draw(r, "price"), time.Duration(rapid.IntRange(0, 90).Draw(r, "exempt"))*time.Minute
		spec.Preempts = rapid.Uint64Range(0, 1).Draw(r, "preempts")
		if rapid.Bool().Draw(r, "named") {
			spec.On, spec.Prefer = some.Draw(r, "on"), some.Draw(r, "prefer")
		}
		if rapid.Bool().Draw(r, "takes") {
			spec.Takes = map[string]nodeset.Use{"memory": drawTake(r), "none": drawTake(r)}
		}
		spec.Counts = drawCounts(r)
		if rapid.Bool().Draw(r, "share") {
			spec.Request = bids.Request{Cores: rapid.IntRange(0, 2).Draw(r, "cores")}
			spec.GPUShare = rapid.Int64Range(1, 9).Draw(r, "share of a GPU")
		}
		for range rapid.IntRange(0, 2).Draw(r, "alternatives") {
			w := core.Way{Request: drawWay(r)}
			if rapid.Bool().Draw(r, "elsewhere") {
				w.On = some.Draw(r, "on")
			}
			if rapid.Bool().Draw(r, "takes") {
				w.Takes = map[string]nodeset.Use{"memory": drawTake(r)}
			}
			w.Counts = drawCounts(r)
			spec.Alternatives = append(spec.Alternatives, w)
		}
		require.NoError(r, c.Submit(spec))
		clock.Advance(time.Duration(rapid.IntRange(0, 3000).Draw(r, "later")) * time.Millisecond)
	}
	for i := range rapid.IntRange(0, 2).Draw(r, "reservations") {
		k := core.Reservation{Name: fmt.Sprint("res", i), Start: clock.Now().Add(time.Duration(rapid.IntRange(-50, 900).Draw(r, "start")) * time.Second)}
		k.End = k.Start.Add(time.Duration(rapid.IntRange(1, 5000).Draw(r, "end")) * time.Second)
		if rapid.Bool().Draw(r, "some nodes") {
			k.Nodes = some.Draw(r, "nodes")
		}
		require.NoError(r, c.SetReservation(k))
	}
	if len(names) > 1 && rapid.Bool().Draw(r, "remove") {
		_, err := c.RemoveNode(rapid.SampledFrom(names).Draw(r, "gone"))
		require.NoError(r, err)
	}
}

func drawTake(r *rapid.T) nodeset.Use {
	return nodeset.Use{PerNode: rapid.Int64Range(0, 9).Draw(r, "per node"), PerCore: rapid.Int64Range(0, 5).Draw(r, "per core")}
}

func drawWay(r *rapid.T) bids.Request {
	q := bids.Request{MinNodes: rapid.IntRange(0, 3).Draw(r, "nodes"), Contiguous: rapid.Bool().Draw(r, "contiguous"),
		MinGPUs: rapid.IntRange(0, 2).Draw(r, "gpus"), MixedGPUs: rapid.Bool().Draw(r, "mixed")}
	if rapid.Bool().Draw(r, "ranges") {
		q.MaxNodes, q.MaxGPUs = max(1, q.MinNodes)+1, q.MinGPUs+1
	}
	if rapid.Bool().Draw(r, "tasks") {
		q.TasksPerNode = 2
	} else {
		q.Cores = rapid.IntRange(3, 20).Draw(r, "cores")
	}
	return q
}
