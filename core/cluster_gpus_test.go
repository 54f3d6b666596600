// SPDX-License-Identifier: BSD-3-Clause

package core_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/internal/window"
	"github.com/aucsched/aucsched/nodeset"
)

// takesShare is a job of a core and a share of a GPU, for an hour.
func takesShare(id string, share int64) core.JobSpec {
	return core.JobSpec{ID: id, Request: bids.Request{Cores: 1}, GPUShare: share, Priority: 1, TimeLimit: time.Hour}
}

// takesGPUs is a job of a core and so many GPUs of one node, for an hour.
func takesGPUs(id string, gpus int) core.JobSpec {
	return core.JobSpec{ID: id, Request: bids.Request{Cores: 1, MinNodes: 1, MaxNodes: 1, MinGPUs: gpus}, Priority: 1, TimeLimit: time.Hour}
}

func TestClusterGPUShares(t *testing.T) {
	c, clock := newCluster(t, 2)
	require.Empty(t, decide(t, c).Starts)
	require.NoError(t, c.Submit(takesShare("early", 1)))
	require.Contains(t, decide(t, c).Waiting[0].Reason, "needs 1 gpu_share on a node, most has 0")
	require.NoError(t, c.Cancel("early"))
	require.NoError(t, setGPUShares(c, "n1", 100))
	require.NoError(t, setResources(c, "n1", map[string]int64{"memory": 5}))
	for _, spec := range []core.JobSpec{takesShare("a", 60), takesShare("b", 60), takesShare("c", 40), takesShare("d", 41)} {
		require.NoError(t, c.Submit(spec))
	}
	cycle := decide(t, c)
	gpu := map[string]int{}
	for _, s := range cycle.Starts {
		require.Equal(t, []core.Share{{Node: "n1", Cores: 1}}, s.Nodes)
		gpu[s.Job] = s.SharedGPU
	}
	require.Len(t, gpu, 3, "60 and 40 on one GPU, 60 on the other, and 41 or 40 waits")
	require.NotEqual(t, gpu["a"], gpu["b"])
	require.Equal(t, core.Start{Job: "a", Nodes: []core.Share{{Node: "n1", Cores: 1}}, GPUShare: 60, SharedGPU: gpu["a"],
		Begin: midnight, End: midnight.Add(time.Hour)}, cycle.Starts[0])
	require.Equal(t, "d", cycle.Waiting[0].Job)
	require.Equal(t, midnight.Add(time.Hour), cycle.Waiting[0].Expected, "a place is kept for when a GPU has 41 free")

	require.NoError(t, setResources(c, "n1", nil), "shares are none of these")

	// GPUs are shared, so none is free as a whole; when all who share one have ended, it is.
	require.NoError(t, c.Submit(takesGPUs("whole", 2)))
	require.Equal(t, []core.Share{{Node: "n2", Cores: 1, GPUs: 2}}, decide(t, c).Starts[0].Nodes)
	require.NoError(t, c.Ended("whole"))
	require.NoError(t, setNode(c, "n2", nodeset.Capacity{Cores: 8}, true))
	require.NoError(t, c.Cancel("d"))
	require.NoError(t, c.Submit(takesGPUs("one", 1)))
	require.Empty(t, decide(t, c).Starts)
	var alone string
	for _, id := range []string{"a", "b"} {
		if gpu[id] != gpu["c"] {
			alone = id
		}
	}
	require.NoError(t, c.Ended(alone))
	starts := decide(t, c).Starts
	require.Equal(t, "one", starts[0].Job)

	// A restart of the caller: who shared a GPU shares it again.
	again, err := core.NewCluster(core.ClusterOptions{Clock: clock.Now})
	require.NoError(t, err)
	require.NoError(t, setNode(again, "n1", nodeset.Capacity{Cores: 8, GPUs: 2}, false))
	require.NoError(t, setGPUShares(again, "n1", 100))
	for _, s := range append(cycle.Starts, starts[0]) {
		if s.Job != alone {
			require.NoError(t, again.Adopt(s))
		}
	}
	require.NoError(t, setNode(again, "n1", nodeset.Capacity{Cores: 8, GPUs: 2}, true))
	require.NoError(t, again.Submit(takesShare("e", 1)))
	require.Empty(t, decide(t, again).Starts, "60 and 40 fill one GPU, the other is given whole")
	require.NoError(t, again.Ended("c"))
	require.Equal(t, gpu["c"], decide(t, again).Starts[0].SharedGPU)

	// More shares of each GPU, and more GPUs.
	require.NoError(t, again.Submit(takesShare("f", 99)))
	require.Empty(t, decide(t, again).Starts)
	require.NoError(t, setGPUShares(again, "n1", 160))
	require.Equal(t, gpu["c"], decide(t, again).Starts[0].SharedGPU)
	require.NoError(t, setNode(again, "n1", nodeset.Capacity{Cores: 8, GPUs: 3}, true))
	require.NoError(t, again.Submit(takesShare("g", 160)))
	require.NotContains(t, []int{0, gpu["c"]}, decide(t, again).Starts[0].SharedGPU)

	// The node goes: its jobs hold nothing, wherever a node of that name comes up.
	_, err = again.RemoveNode("n1")
	require.NoError(t, err)
	require.NoError(t, setNode(again, "n1", nodeset.Capacity{Cores: 8, GPUs: 1}, true))
	require.NoError(t, again.Submit(takesShare("h", 100)))
	cycle = decide(t, again)
	require.Contains(t, cycle.Waiting[0].Reason, "needs 100 gpu_share on a node, most has 0")
	require.NoError(t, setGPUShares(again, "n1", 100))
	require.Equal(t, "h", decide(t, again).Starts[0].Job)
	require.NoError(t, again.Ended("g"))
}

// By the way that is met a job has its share, or none; the caller's spec stays as it was.
func TestClusterAlternativesWithShares(t *testing.T) {
	c, _ := newCluster(t, 1)
	require.NoError(t, setGPUShares(c, "n1", 10))
	spec := takesGPUs("a", 2)
	spec.Alternatives = []core.Way{{Request: bids.Request{Cores: 2}, GPUShare: 11}, {Request: bids.Request{Cores: 2}, GPUShare: 6}}
	require.NoError(t, c.Submit(takesGPUs("first", 1)))
	require.NoError(t, c.Submit(spec))
	starts := decide(t, c).Starts
	require.Equal(t, 2, starts[1].Alternative)
	require.EqualValues(t, 6, starts[1].GPUShare)
	require.NotZero(t, starts[1].SharedGPU)
	require.Zero(t, starts[0].GPUShare+int64(starts[0].SharedGPU))
	require.Equal(t, bids.Request{Cores: 2}, spec.Alternatives[1].Request)
	require.NoError(t, c.Ended("first"))
	require.NoError(t, c.Ended("a"))
	require.NoError(t, c.Submit(spec))
	require.Zero(t, decide(t, c).Starts[0].Alternative)
}

// A start whose GPU is another's by then is dropped; one whose GPU has room still is not.
func TestClusterDropsShares(t *testing.T) {
	two := nodeset.Capacity{Cores: 8, GPUs: 2}
	on := []core.Share{{Node: "n1", Cores: 1}}
	for name, x := range map[string]struct {
		do   func(c *core.Cluster) error
		want string // of the job's drop; "" if it starts
	}{
		"nothing happens":              {func(*core.Cluster) error { return nil }, ""},
		"who shared its GPU has ended": {func(c *core.Cluster) error { return c.Ended("runs") }, ""},
		"another takes of its GPU": {func(c *core.Cluster) error {
			return c.Adopt(core.Start{Job: "x", Nodes: on, GPUShare: 11, SharedGPU: 1})
		}, "node n1: gpu_share: 19: 20 would have to be free"},
		"another takes little of its GPU": {func(c *core.Cluster) error {
			return c.Adopt(core.Start{Job: "x", Nodes: on, GPUShare: 10, SharedGPU: 1})
		}, ""},
		"another takes of the other GPU": {func(c *core.Cluster) error {
			return c.Adopt(core.Start{Job: "x", Nodes: on, GPUShare: 100, SharedGPU: 2})
		}, ""},
		"its GPU is given whole": {func(c *core.Cluster) error {
			return errors.Join(c.Ended("runs"), c.Adopt(core.Start{Job: "x", Nodes: []core.Share{{Node: "n1", Cores: 1, GPUs: 2}}}))
		}, "node n1: gpu_share: 0: 20 would have to be free"},
		"GPUs have fewer shares": {func(c *core.Cluster) error { return setGPUShares(c, "n1", 89) },
			"node n1: gpu_share: 19: 20 would have to be free"},
		"GPUs are not shared any more": {func(c *core.Cluster) error { return errors.Join(c.Ended("runs"), setGPUShares(c, "n1", 0)) },
			"node n1: gpu_shares: 0: it has no GPU that jobs may share"},
		"the node has lost its GPUs": {func(c *core.Cluster) error {
			return errors.Join(c.Ended("runs"), setNode(c, "n1", nodeset.Capacity{Cores: 8}, true))
		}, "node n1: gpu_shares: 100: it has no GPU that jobs may share"},
		"the node before it goes": {func(c *core.Cluster) error {
			_, err := c.RemoveNode("n0")
			return err
		}, ""},
		"it is drained": {func(c *core.Cluster) error { return setNode(c, "n1", two, false) }, "node n1: state: down"},
	} {
		t.Run(name, func(t *testing.T) {
			auction, err := core.NewAuction(core.Preset("none"), nil)
			require.NoError(t, err)
			policy := &meddler{auction, func() {}}
			c, err := core.NewCluster(core.ClusterOptions{Policy: policy})
			require.NoError(t, err)
			require.NoError(t, setNode(c, "n0", nodeset.Capacity{}, true))
			require.NoError(t, setNode(c, "n1", two, true))
			require.NoError(t, setGPUShares(c, "n1", 100))
			require.NoError(t, c.Adopt(core.Start{Job: "runs", Nodes: on, GPUShare: 70, SharedGPU: 1}))
			require.NoError(t, c.Submit(takesShare("job", 20)))
			policy.do = func() { require.NoError(t, x.do(c)) }
			cycle := decide(t, c)
			policy.do = func() {}
			if x.want == "" {
				require.Equal(t, 1, cycle.Starts[0].SharedGPU)
				return
			}
			require.Empty(t, cycle.Starts)
			require.ErrorContains(t, cycle.Dropped["job"], x.want)
			require.Equal(t, "job", append(decide(t, c).Waiting, core.Waiting{Job: "job"})[0].Job)
		})
	}
}

func TestClusterGPUShareErrors(t *testing.T) {
	c, _ := newCluster(t, 2)
	require.NoError(t, setGPUShares(c, "n1", 100))
	require.NoError(t, c.Submit(takesShare("runs", 70)))
	gpu := decide(t, c).Starts[0].SharedGPU
	submit := func(change func(*core.JobSpec)) error {
		s := takesShare("new", 10)
		change(&s)
		return c.Submit(s)
	}
	adopt := func(node string, share int64, gpu int) error {
		return c.Adopt(core.Start{Job: "x", Nodes: []core.Share{{Node: node, Cores: 1}}, GPUShare: share, SharedGPU: gpu})
	}
	for _, x := range []struct {
		err  error
		want string
	}{
		{setGPUShares(c, "n1", -1), "node n1: gpu_shares: -1: must be 0 to 2147483647"},
		{setGPUShares(c, "n1", 1<<31), "node n1: gpu_shares: 2147483648: must be"},
		{setGPUShares(c, "n1", 69), "node n1: gpu_shares: 69: jobs hold more of a GPU there"},
		{setGPUShares(c, "n1", 0), "node n1: gpu_shares: 0: jobs hold more of a GPU there"},
		{setNode(c, "n1", nodeset.Capacity{Cores: 8}, true), "node n1: gpus: 0: jobs hold more there"},
		{setResources(c, "n1", map[string]int64{"gpu_share": 5}), `"gpu_share" is no further resource`},
		{submit(func(s *core.JobSpec) { s.GPUShare = -1 }), "job new: gpu_share: -1: must be 0 to 2147483647"},
		{submit(func(s *core.JobSpec) { s.GPUShare = 1 << 31 }), "job new: gpu_share: 2147483648: must be"},
		{submit(func(s *core.JobSpec) { s.MinNodes, s.MaxNodes = 2, 2 }), "job new: gpu_share: 10: a share of a GPU is on one node"},
		{submit(func(s *core.JobSpec) { s.MaxNodes = 2 }), "job new: gpu_share: 10: a share of a GPU is on one node"},
		{submit(func(s *core.JobSpec) { s.MinGPUs = 1 }), "job new: gpu_share: 10: a job with a share of a GPU asks for no GPUs"},
		{submit(func(s *core.JobSpec) { s.Takes = map[string]nodeset.Use{"gpu_share": {PerNode: 1}} }),
			"job new: uses: gpu_share: is no further resource: ask for a share of a GPU"},
		{submit(func(s *core.JobSpec) {
			s.Alternatives = []core.Way{{Request: bids.Request{Cores: 1, MaxGPUs: 1}, GPUShare: 3}}
		}), "job new: alternatives[0].gpu_share: 3: a job with a share"},
		{submit(func(s *core.JobSpec) { s.Components = []core.Way{{Request: bids.Request{Cores: 1}}} }),
			"job new: gpu_share: 10: jobs of several components have whole GPUs only"},
		{submit(func(s *core.JobSpec) {
			s.GPUShare, s.Components = 0, []core.Way{{Request: bids.Request{Cores: 1}, GPUShare: 4}}
		}), "job new: components[0].gpu_share: 4: jobs of several components"},
		{adopt("n1", -1, 1), "job x: gpu_share: -1: must be"},
		{adopt("n1", 0, 1), "job x: shared_gpu: 1: the job has no share of a GPU"},
		{adopt("n1", 10, 0), "node n1: shared_gpu: 0: must be 1 to 4"},
		{adopt("n1", 10, 5), "node n1: shared_gpu: 5: must be 1 to 4"},
		{adopt("n1", 31, gpu), "node n1: gpu_share: 30: 31 would have to be free"},
		{adopt("n1", 101, gpu%4+1), "node n1: gpu_share: 100: 101 would have to be free"},
		{adopt("n2", 1, 1), "node n2: gpu_shares: 0: it has no GPU that jobs may share"},
		{adopt("n7", 1, 1), "node n7: name: n7: there is no such node"},
		{c.Adopt(core.Start{Job: "x", Nodes: []core.Share{{Node: "n1", Cores: 1}, {Node: "n2", Cores: 1}}, GPUShare: 1, SharedGPU: 1}),
			"job x: gpu_share: 1: a share of a GPU is on one node"},
	} {
		require.ErrorContains(t, x.err, x.want)
		var field *bids.FieldError
		require.ErrorAs(t, x.err, &field)
		require.ErrorAs(t, x.err, new(*core.Error))
	}
	require.NoError(t, c.Submit(takesShare("still", 30)))
	require.Equal(t, gpu, decide(t, c).Starts[0].SharedGPU, "none of this has changed anything")

	many := make(map[string]int64)
	for i := range nodeset.MaxResources {
		many[fmt.Sprint("r", i)] = 1
	}
	require.ErrorContains(t, setResources(c, "n2", many), "there would be more than 64 in all")
	other, _ := newCluster(t, 1)
	require.NoError(t, setResources(other, "n1", many))
	require.ErrorContains(t, setGPUShares(other, "n1", 1), "node n1: resources: 65: there would be more than 64 in all")
	require.ErrorContains(t, other.Submit(takesShare("a", 7)), "job a: gpu_share: 7: there would be more than 64 in all")
}

// sharedNode is a node of the twin: jobs may share its GPUs if they have shares.
type sharedNode struct {
	cores, gpus int
	shares      int64
}

// sharingTwin counts by name what runs where, job by job, whenever it is asked.
type sharingTwin struct {
	nodes map[string]sharedNode
	runs  map[string]core.Start
	waits map[string]core.JobSpec
}

// held is what jobs hold of a node: cores, GPUs given whole, and shares by GPU.
func (w *sharingTwin) held(node string) (cores, whole int, shared map[int]int64) {
	shared = map[int]int64{}
	for _, s := range w.runs {
		for _, x := range s.Nodes {
			if x.Node == node {
				cores, whole = cores+x.Cores, whole+x.GPUs
				if s.GPUShare > 0 {
					shared[s.SharedGPU] += s.GPUShare
				}
			}
		}
	}
	return cores, whole, shared
}

// has reports whether all that jobs hold of a node would be there if it were like n.
func (w *sharingTwin) has(node string, n sharedNode) bool {
	cores, whole, shared := w.held(node)
	for gpu, sum := range shared {
		if gpu < 1 || gpu > 2*n.gpus || sum > n.shares {
			return false
		}
	}
	return cores <= n.cores && whole+len(shared) <= n.gpus
}

// start enters a job into the books, and reports whether all is there still.
func (w *sharingTwin) start(s core.Start) bool {
	w.runs[s.Job] = s
	delete(w.waits, s.Job)
	for _, x := range s.Nodes {
		if !w.has(x.Node, w.nodes[x.Node]) {
			return false
		}
	}
	return true
}

// remove takes a node out of the books, and of what jobs hold.
func (w *sharingTwin) remove(node string) {
	delete(w.nodes, node)
	for id, s := range w.runs {
		s.Nodes = slices.DeleteFunc(slices.Clone(s.Nodes), func(x core.Share) bool { return x.Node == node })
		w.runs[id] = s
	}
}

// agrees compares the state that a cluster writes with the books.
func (w *sharingTwin) agrees(t require.TestingT, c *core.Cluster) {
	if len(w.nodes) == 0 {
		return
	}
	var file bytes.Buffer
	require.NoError(t, c.WriteWindow(&file))
	read, err := window.Read(&file, "window")
	require.NoError(t, err)
	table := read.Snapshot.Nodes
	for n, name := range read.Names {
		cores, whole, shared := w.held(name)
		x := w.nodes[name]
		require.Equal(t, nodeset.Capacity{Cores: uint16(x.cores - cores), GPUs: uint8(x.gpus - whole - len(shared))}, table.Free(n))
		for gpu := 1; gpu <= len(table.BinsLeft(n)); gpu++ {
			free, inUse := table.BinFree(n, uint8(gpu))
			require.Equal(t, shared[gpu] > 0, inUse)
			require.True(t, !inUse || free == x.shares-shared[gpu])
		}
	}
}

// Whatever is done to a cluster whose jobs share GPUs, also while it decides and with restarts in
// between, no GPU gives more shares than it has and none is given whole and shared, a call fails
// exactly where the twin's books say so, and what starts has what was asked for.
func TestClusterSharesAreTheTwins(t *testing.T) {
	race.Slow(t)
	shares, whole, dropped, refused := 0, 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 53))
		w := &sharingTwin{map[string]sharedNode{}, map[string]core.Start{}, map[string]core.JobSpec{}}
		var c *core.Cluster
		var policy *meddler
		fresh := func() {
			o := core.Preset("none")
			o.Work, o.Reservations = 20_000, rng.IntN(4)
			auction, err := core.NewAuction(o, nil)
			require.NoError(t, err)
			policy = &meddler{auction, func() {}}
			c, err = core.NewCluster(core.ClusterOptions{Policy: policy, Clock: (&fakeClock{midnight}).Now})
			require.NoError(t, err)
		}
		fresh()
		serial := 0
		meddle := func() {
			name := fmt.Sprint("n", rng.IntN(4))
			now, there := w.nodes[name]
			switch kind := rng.IntN(12); {
			case kind < 3:
				next := sharedNode{1 + rng.IntN(8), rng.IntN(4), now.shares}
				err := setNode(c, name, nodeset.Capacity{Cores: uint16(next.cores), GPUs: uint8(next.gpus)}, rng.IntN(4) > 0)
				require.Equal(t, w.has(name, next), err == nil, "%v", err)
				if refused++; err == nil {
					refused--
					w.nodes[name] = next
				}
			case kind < 5:
				next := sharedNode{now.cores, now.gpus, []int64{0, 10, 10, 7, 12}[rng.IntN(5)]}
				err := setGPUShares(c, name, next.shares)
				require.Equal(t, there && w.has(name, next), err == nil, "%v", err)
				if refused++; err == nil {
					refused--
					w.nodes[name] = next
				}
			case kind == 5:
				if _, err := c.RemoveNode(name); there {
					require.NoError(t, err)
					w.remove(name)
				}
			case kind < 8:
				for _, id := range slices.Sorted(maps.Keys(w.runs)) {
					if rng.IntN(3) == 0 {
						require.NoError(t, c.Ended(id))
						delete(w.runs, id)
					}
				}
			default:
				serial++
				spec := takesShare(fmt.Sprint("J", serial), 1+rng.Int64N(10))
				if spec.Cores, spec.Priority = rng.IntN(3), 1+rng.Int64N(3); rng.IntN(3) == 0 {
					spec.GPUShare, spec.MinNodes, spec.MaxNodes, spec.MinGPUs = 0, 1, 1, 1+rng.IntN(2)
				}
				require.NoError(t, c.Submit(spec))
				w.waits[spec.ID] = spec
			}
		}
		for range 40 {
			meddle()
			switch rng.IntN(8) {
			case 0: // another process takes over
				ids := slices.Sorted(maps.Keys(w.runs))
				rng.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
				fresh()
				for _, name := range slices.Sorted(maps.Keys(w.nodes)) {
					n := w.nodes[name]
					require.NoError(t, setNode(c, name, nodeset.Capacity{Cores: uint16(n.cores), GPUs: uint8(n.gpus)}, true))
					require.NoError(t, setGPUShares(c, name, n.shares))
				}
				for _, id := range ids {
					require.NoError(t, c.Adopt(w.runs[id]))
				}
				for _, id := range slices.Sorted(maps.Keys(w.waits)) {
					require.NoError(t, c.Submit(w.waits[id]))
				}
			case 1, 2, 3:
				if policy.do = func() {}; rng.IntN(2) == 0 {
					policy.do = func() { meddle(); meddle() }
				}
				cycle, err := c.Decide(context.Background())
				require.NoError(t, err)
				dropped += len(cycle.Dropped)
				for _, s := range cycle.Starts {
					spec, waits := w.waits[s.Job]
					require.True(t, waits)
					require.Equal(t, spec.GPUShare, s.GPUShare)
					require.Equal(t, spec.GPUShare > 0, s.SharedGPU > 0)
					require.Len(t, s.Nodes, 1)
					require.Equal(t, spec.MinGPUs, s.Nodes[0].GPUs)
					require.True(t, w.start(s), "%v", s)
					if shares++; s.GPUShare == 0 {
						shares, whole = shares-1, whole+1
					}
				}
			}
			w.agrees(t, c)
		}
	})
	t.Log(shares, "shares start,", whole, "whole GPUs,", dropped, "are dropped,", refused, "calls are refused")
	require.Greater(t, shares, 100)
	require.Greater(t, whole, 30)
	require.Positive(t, min(dropped, refused))
}
