// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/nodeset"
)

// leaderAndWorkers asks for one node with a GPU and so many whole nodes of 8 cores.
func leaderAndWorkers(workers int) bids.Request {
	return bids.Request{Cores: 2, MinNodes: 1, MaxNodes: 1, MinGPUs: 1,
		Components: []bids.Request{{MinNodes: workers, TasksPerNode: 8}}}
}

// drawParts draws a machine with memory, quotas and a tree of switches, and a queue of which about
// half the jobs consist of several parts.
func drawParts(t *rapid.T) *Snapshot {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7))
	leaf := 1 + rng.IntN(5)
	n := leaf * (1 + rng.IntN(4))
	cores, gpus := 2+rng.IntN(7), rng.IntN(3)
	total := make([]nodeset.Capacity, n)
	memory := make([]int64, n)
	for i := range total {
		total[i] = nodeset.Capacity{Cores: uint16(1 + rng.IntN(cores)), GPUs: uint8(rng.IntN(gpus + 1))}
		memory[i] = int64(rng.IntN(40))
	}
	nodes, err := nodeset.New(total)
	require.NoError(t, err)
	_, err = nodes.AddResource("memory", memory)
	require.NoError(t, err)
	s := &Snapshot{Now: rng.Int64N(1000), Nodes: nodes, Quotas: []Quota{{"a", rng.Int64N(60)}, {"b", rng.Int64N(9)}}}
	if rng.IntN(2) == 0 {
		s.Topology = leaves(t, slices.Repeat([]int{leaf}, n/leaf)...)
	}
	draw := func() bids.Request {
		r := *randomRequest(rng, max(1, n/2), cores, gpus)
		if rng.IntN(3) == 0 {
			r.MaxGPUs = r.MinGPUs
			r.Uses = nodeset.Uses{{Row: 0, PerNode: rng.Int64N(9), PerCore: rng.Int64N(4), PerGPU: rng.Int64N(3)}}
		}
		if rng.IntN(3) == 0 {
			r.Charges = nodeset.Uses{{Row: rng.IntN(2), PerJob: rng.Int64N(3), PerNode: rng.Int64N(2), PerCore: rng.Int64N(2)}}
		}
		if s.Topology != nil && rng.IntN(4) == 0 {
			r.Within = 1
		}
		r.Apart = rng.IntN(3) == 0
		return r
	}
	several := func() bids.Request {
		r := draw()
		if rng.IntN(2) == 0 {
			return r
		}
		for range 1 + rng.IntN(3) {
			r.Components = append(r.Components, draw())
		}
		if s.Topology != nil {
			r.AllWithin = rng.IntN(3)
		}
		return r
	}
	for i := range rng.IntN(5) {
		r := draw()
		segs, ok := firstPlace(nodes, &r)
		if ok && nodes.Allocate(segs, r.Uses...) == nil {
			run := Running{ID: fmt.Sprint("R", i), End: s.Now + rng.Int64N(300), Segs: segs, Uses: r.Uses}
			if rng.IntN(3) == 0 {
				run.Price, run.Class = 1+rng.Int64N(20), rng.IntN(2)
			}
			s.Running = append(s.Running, run)
		}
	}
	for i := range 1 + rng.IntN(12) {
		job := &Job{ID: fmt.Sprint("J", i), Request: several(), Priority: 50 - int64(i), TimeLimit: 1 + 50*rng.Int64N(9)}
		if rng.IntN(4) == 0 {
			job.Alternatives = append(job.Alternatives, several())
		}
		if rng.IntN(3) == 0 {
			job.Preempts = uint64(rng.IntN(4))
		}
		if i > 0 && rng.IntN(4) == 0 {
			job.Request = s.Pending[rng.IntN(i)].Request
		}
		s.Pending = append(s.Pending, job)
	}
	return s
}

// firstPlace are all cores of the first node that is free and eligible, for a running job.
func firstPlace(t *nodeset.Table, r *bids.Request) ([]nodeset.Segment, bool) {
	for n := range t.Len() {
		if t.Free(n).Cores > 0 && r.Eligible.Has(n) {
			return []nodeset.Segment{{First: int32(n), Last: int32(n), Cores: t.Free(n).Cores}}, true
		}
	}
	return nil, false
}

// Whatever is asked for in parts, no node, quota or further resource gives more than it has, and
// no part starts alone: Verify counts. An auction that was used before decides as a fresh one.
func TestPartsHoldTogether(t *testing.T) {
	race.Slow(t)
	starts, waits, shared, preempts := 0, 0, 0, 0
	enough := func() bool { return starts > 50 && waits > 20 && shared > 5 && preempts > 3 }
	used := map[string]*Auction{}
	checkUntil(t, enough, func(t *rapid.T) {
		s := drawParts(t)
		o := Preset("none")
		o.Work = 50_000
		o.Window = rapid.IntRange(1, 12).Draw(t, "window")
		o.Reservations = rapid.IntRange(0, 3).Draw(t, "reservations")
		o.Compact = rapid.Bool().Draw(t, "compact")
		o.ContiguousOnly = rapid.Bool().Draw(t, "contiguous")
		p := decideOn(t, partsAuction(t, o), s)
		key := fmt.Sprint(o.Window, o.Reservations, o.Compact, o.ContiguousOnly)
		if used[key] == nil {
			used[key] = partsAuction(t, o)
		}
		again := decideOn(t, used[key], s)
		require.Equal(t, p.Decisions, again.Decisions)
		for _, d := range p.Decisions {
			way, _ := s.Pending[d.Job].Way(d.Alternative)
			if len(way.Components) == 0 {
				continue
			}
			if d.Start {
				starts++
				if slices.ContainsFunc(p.Preempted, func(x Preemption) bool { return slices.Contains(x.For, d.Job) }) {
					preempts++
				}
				if maskUnder(d.Segs, s.Nodes.Len()).Count() < nodeset.Nodes(d.Segs) {
					shared++
				}
			} else if d.Why != Never {
				waits++
			}
		}
		copyOf := new(nodeset.Table)
		copyOf.CopyFrom(s.Nodes)
		_, err := p.Apply(copyOf)
		require.NoError(t, err)
	})
	t.Logf("%d starts, %d of them with shared nodes, %d preempt, %d wait", starts, shared, preempts, waits)
}

// Verify finds every way in which a plan can be wrong about parts.
func TestVerifyKnowsParts(t *testing.T) {
	nodes, err := nodeset.NewUniform(4, nodeset.Capacity{Cores: 8, GPUs: 1})
	require.NoError(t, err)
	_, err = nodes.AddResource("memory", []int64{10, 10, 10, 10})
	require.NoError(t, err)
	uses := nodeset.Uses{{Row: 0, PerNode: 6}}
	r := leaderAndWorkers(2)
	r.Uses, r.Components[0].Uses = uses, nodeset.Uses{{Row: 0, PerNode: 5}}
	r.AllWithin = 1
	s := &Snapshot{Nodes: nodes, Topology: leaves(t, 3, 1), Pending: []*Job{{ID: "a", Priority: 1, TimeLimit: 1, Request: r}}}
	good := func() Decision {
		return Decision{Start: true, PartUses: []nodeset.Uses{r.Uses, r.Components[0].Uses}, Segs: []nodeset.Segment{
			{First: 0, Last: 0, Cores: 2, GPUs: 1}, {First: 1, Last: 2, Cores: 8, Part: 1}}}
	}
	require.NoError(t, Verify(s, &Plan{Decisions: []Decision{good()}}))
	for name, c := range map[string]struct {
		change func(d *Decision)
		want   string
	}{
		"a part alone":    {func(d *Decision) { d.Segs = d.Segs[:1] }, "part 1: no node at all"},
		"the other alone": {func(d *Decision) { d.Segs = d.Segs[1:] }, "part 0: no node at all"},
		"too small":       {func(d *Decision) { d.Segs[1].Last = 1 }, "part 1: 1 nodes"},
		"no such part":    {func(d *Decision) { d.Segs[1].Part = 2 }, "part 2 of a job of 2"},
		"order":           {func(d *Decision) { slices.Reverse(d.Segs) }, "part 0 comes after part 1"},
		"uses":            {func(d *Decision) { d.PartUses[1] = uses }, "part 1 uses"},
		"no uses":         {func(d *Decision) { d.PartUses = nil }, "in 0 parts instead of 2"},
		"far apart":       {func(d *Decision) { d.Segs[0].First, d.Segs[0].Last = 3, 3 }, "below 2 switches of level 1"},
		"sum of parts": {func(d *Decision) {
			d.Segs[1].First, d.Segs[1].Last = 0, 1
		}, "node 0: 10 cores"},
	} {
		d := good()
		c.change(&d)
		require.ErrorContains(t, Verify(s, &Plan{Decisions: []Decision{d}}), c.want, name)
	}
	job := s.Pending[0]
	job.Cores, job.Components[0].TasksPerNode = 1, 7
	d := good()
	d.Segs[0].Cores, d.Segs[1] = 1, nodeset.Segment{First: 0, Last: 1, Cores: 7, Part: 1}
	require.ErrorContains(t, Verify(s, &Plan{Decisions: []Decision{d}}), "11 memory taken, 10 free")
	job.Components[0].Apart = true
	require.ErrorContains(t, Verify(s, &Plan{Decisions: []Decision{d}}), "share node 0")
}

// A leader and its workers wait until all have places, and start together then; meanwhile the
// places are kept.
func TestPartsStartTogetherOrNotAtAll(t *testing.T) {
	nodes, err := nodeset.New([]nodeset.Capacity{{Cores: 8, GPUs: 1}, {Cores: 8}, {Cores: 8}, {Cores: 8}})
	require.NoError(t, err)
	busy := []nodeset.Segment{{First: 3, Last: 3, Cores: 8}}
	require.NoError(t, nodes.Allocate(busy))
	s := &Snapshot{Nodes: nodes, Running: []Running{{ID: "r", End: 50, Segs: busy}}, Pending: []*Job{
		{ID: "group", Priority: 3, TimeLimit: 100, Request: leaderAndWorkers(3)},
		{ID: "long", Priority: 2, TimeLimit: 100, Request: bids.Request{Cores: 8}},
		{ID: "short", Priority: 1, TimeLimit: 50, Request: bids.Request{Cores: 8}},
	}}
	p := decideOn(t, partsAuction(t, Preset("none")), s)
	require.False(t, p.Decisions[0].Start)
	require.True(t, p.Decisions[0].Kept)
	require.EqualValues(t, 50, p.Decisions[0].Expected)
	require.False(t, p.Decisions[1].Start, "it would run into the group's place")
	require.True(t, p.Decisions[2].Start)

	require.NoError(t, nodes.Release(busy))
	s.Running = nil
	p = decideOn(t, partsAuction(t, Preset("none")), s)
	require.True(t, p.Decisions[0].Start)
	leader, _ := p.Decisions[0].part(0)
	require.Equal(t, []nodeset.Segment{{First: 0, Last: 0, Cores: 2, GPUs: 1}}, leader)
	workers, _ := p.Decisions[0].part(1)
	require.Equal(t, []nodeset.Segment{{First: 1, Last: 3, Cores: 8, Part: 1}}, workers)
}

// The best choice is that of all choices that fit: jobs of up to three parts of one node each, of
// which a brute force tries all places. What starts is worth as much as the brute force finds, or a
// little less where no draft has come upon the best places.
func TestPartsAreNearlyBruteForce(t *testing.T) {
	best, got, misses, windows := 0, 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 9))
		total := make([]nodeset.Capacity, 2+rng.IntN(3))
		for i := range total {
			total[i] = nodeset.Capacity{Cores: uint16(1 + rng.IntN(6)), GPUs: uint8(rng.IntN(2))}
		}
		nodes, err := nodeset.New(total)
		require.NoError(t, err)
		s := &Snapshot{Nodes: nodes}
		one := func() bids.Request {
			g := rng.IntN(2)
			cores := max(1-g, rng.IntN(5)) // none, if it has a GPU
			return bids.Request{MinNodes: 1, TasksPerNode: cores, MinGPUs: g, MaxGPUs: g, Apart: rng.IntN(3) == 0}
		}
		for i := range 1 + rng.IntN(3) {
			r := one()
			for range rng.IntN(3) {
				r.Components = append(r.Components, one())
			}
			s.Pending = append(s.Pending, &Job{ID: fmt.Sprint(i), Priority: 10 - int64(i), TimeLimit: 10, Request: r})
		}
		o := Preset("none")
		o.Reservations = 0
		p := decideOn(t, partsAuction(t, o), s)
		worth := 0
		for _, d := range p.Decisions {
			if d.Start {
				worth += int(s.Pending[d.Job].Priority)
			}
		}
		most := bruteParts(s, 0, nodes)
		require.LessOrEqual(t, worth, most)
		windows++
		if best, got = best+most, got+worth; worth < most {
			misses++
		}
	})
	t.Logf("%d of %d in %d windows, %d of them missed", got, best, windows, misses)
	require.GreaterOrEqual(t, float64(got), 0.95*float64(best))
}

// bruteParts is the most that jobs from the given one on are worth on t.
func bruteParts(s *Snapshot, job int, t *nodeset.Table) int {
	if job == len(s.Pending) {
		return 0
	}
	best := bruteParts(s, job+1, t)
	r := &s.Pending[job].Request
	on := make([]int, 1+len(r.Components))
	var set func(k int)
	set = func(k int) {
		if k == len(on) {
			best = max(best, int(s.Pending[job].Priority)+bruteParts(s, job+1, t))
			return
		}
		part := place.PartOf(r, k)
		for n := range t.Len() {
			apart := false
			for i := range k {
				apart = apart || on[i] == n && (part.Apart || place.PartOf(r, i).Apart)
			}
			segs := []nodeset.Segment{{First: int32(n), Last: int32(n), Cores: uint16(part.TasksPerNode), GPUs: uint8(part.MinGPUs)}}
			if on[k] = n; !apart && t.Allocate(segs) == nil {
				set(k + 1)
				must(t.Release(segs))
			}
		}
	}
	set(0)
	return best
}

// A job of parts on the nodes of a machine starts as well on that machine with its nodes reversed;
// and one of two equal parts of one node, apart, as one of two nodes.
func TestPartsAndOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		free := make([]nodeset.Capacity, 2+rng.IntN(6))
		for i := range free {
			free[i] = nodeset.Capacity{Cores: uint16(rng.IntN(8)), GPUs: uint8(rng.IntN(2))}
			free[i].Cores = max(free[i].Cores, 1)
		}
		each := 1 + rng.IntN(6)
		starts := func(free []nodeset.Capacity, r bids.Request) bool {
			nodes, err := nodeset.New(free)
			require.NoError(t, err)
			s := &Snapshot{Nodes: nodes, Pending: []*Job{{ID: "a", Priority: 1, TimeLimit: 1, Request: r}}}
			return decideOn(t, partsAuction(t, Preset("none")), s).Decisions[0].Start
		}
		half := bids.Request{MinNodes: 1, TasksPerNode: each, Apart: true}
		two := half
		two.Components = []bids.Request{half}
		whole := starts(free, bids.Request{MinNodes: 2, TasksPerNode: each})
		require.Equal(t, whole, starts(free, two))
		slices.Reverse(free)
		require.Equal(t, whole, starts(free, two))
	})
}

// All parts are below one switch where the job demands that, though there is more room elsewhere.
func TestPartsBelowOneSwitch(t *testing.T) {
	nodes, err := nodeset.NewUniform(9, nodeset.Capacity{Cores: 8})
	require.NoError(t, err)
	require.NoError(t, nodes.Allocate([]nodeset.Segment{{First: 0, Last: 1, Cores: 8}, {First: 7, Last: 7, Cores: 8}}))
	r := bids.Request{MinNodes: 1, TasksPerNode: 8, AllWithin: 1, Components: []bids.Request{{MinNodes: 2, TasksPerNode: 8}}}
	s := &Snapshot{Nodes: nodes, Topology: leaves(t, 3, 3, 3), Pending: []*Job{
		{ID: "a", Priority: 2, TimeLimit: 10, Request: r}, {ID: "b", Priority: 1, TimeLimit: 10, Request: r}}}
	p := decideOn(t, partsAuction(t, Preset("none")), s)
	require.True(t, p.Decisions[0].Start)
	require.False(t, p.Decisions[1].Start)
	for _, seg := range p.Decisions[0].Segs {
		require.EqualValues(t, 1, s.Topology.SwitchOf(1)[seg.First])
	}
	e, err := NewExplainer(context.Background(), partsAuction(t, Preset("none")), s, Limits{})
	require.NoError(t, err)
	x, err := e.Explain(context.Background(), 1, ExplainOptions{Trials: 20})
	require.NoError(t, err)
	require.Equal(t, Lost, x.Why)
	require.Len(t, x.Rivals, 1)

	s.Pending[0].Components[0].MinNodes = 3
	s.Pending[1].Components = s.Pending[0].Components
	e, err = NewExplainer(context.Background(), partsAuction(t, Preset("none")), s, Limits{})
	require.NoError(t, err)
	x, err = e.Explain(context.Background(), 0, ExplainOptions{})
	require.NoError(t, err)
	require.Equal(t, Never, x.Why, "no leaf has four nodes")
	require.Contains(t, x.NeverWhy, "no place is found for all of its components")
}

// What is said of a job of parts names the part that finds no place.
func TestExplainNamesThePart(t *testing.T) {
	nodes, err := nodeset.New([]nodeset.Capacity{{Cores: 8, GPUs: 1}, {Cores: 8}, {Cores: 8}, {Cores: 8}})
	require.NoError(t, err)
	busy := []nodeset.Segment{{First: 3, Last: 3, Cores: 8}}
	require.NoError(t, nodes.Allocate(busy))
	s := &Snapshot{Nodes: nodes, Running: []Running{{ID: "r", End: 50, Segs: busy}}, Pending: []*Job{
		{ID: "group", Priority: 3, TimeLimit: 100, Request: leaderAndWorkers(3)}}}
	explain := func() *Explanation {
		e, err := NewExplainer(context.Background(), partsAuction(t, Preset("none")), s, Limits{})
		require.NoError(t, err)
		x, err := e.Explain(context.Background(), 0, ExplainOptions{Trials: 20})
		require.NoError(t, err)
		return x
	}
	x := explain()
	require.Equal(t, NoFit, x.Why)
	require.Len(t, x.Lacks, 1)
	require.Equal(t, []int{1, 0}, x.Lacks[0].Parts, "alone it has a place, with the leader's node")
	require.Equal(t, "cores_per_node", x.Lacks[0].Row)
	require.EqualValues(t, 2, x.Lacks[0].Has)
	require.Len(t, x.Rivals, 1)
	require.Equal(t, roleRuns, x.Rivals[0].Role)
	require.True(t, x.Foreseen)
	require.EqualValues(t, 50, x.Expected)

	s.Pending[0].Components[0].MinNodes = 4
	require.Equal(t, Never, explain().Why)
	s.Pending[0].Components[0].MinNodes = 3
	s.Pending[0].Components[0].Eligible = maskOf(4, 1, 2, 3)
	x = explain()
	require.Equal(t, []int{1}, x.Lacks[0].Parts, "it finds none even alone")
}

// Faults of components are named by the field.
func TestFaultsOfComponents(t *testing.T) {
	ok := bids.Request{Cores: 1}
	for want, r := range map[string]bids.Request{
		"components[1].cores: -1":         {Cores: 1, Components: []bids.Request{ok, {Cores: -1}}},
		"components[0].components: 1":     {Cores: 1, Components: []bids.Request{{Cores: 1, Components: []bids.Request{ok}}}},
		"components[0].all_within: 1":     {Cores: 1, Components: []bids.Request{{Cores: 1, AllWithin: 1}}},
		"all_within: 1: the job has no":   {Cores: 1, AllWithin: 1},
		"all_within: -1: must not":        {Cores: 1, AllWithin: -1, Components: []bids.Request{ok}},
		"components: 16: must be at most": {Cores: 1, Components: slices.Repeat([]bids.Request{ok}, 16)},
		"cores: -1: must not":             {Cores: -1, Components: []bids.Request{ok}},
	} {
		require.ErrorContains(t, place.Validate(&r), want)
		_, err := place.SpecOf(&r)
		require.Error(t, err)
	}
	r := bids.Request{Cores: 3, Components: []bids.Request{{MinNodes: 2, TasksPerNode: 4}}}
	require.NoError(t, place.Validate(&r))
	require.EqualValues(t, 11, place.LeastCores(&r))
}

// Cycles with jobs of several parts allocate nothing in steady state either.
func TestPartsAllocateNothingInSteadyState(t *testing.T) {
	race.Allocates(t)
	nodes, err := nodeset.NewUniform(100, nodeset.Capacity{Cores: 8, GPUs: 2})
	require.NoError(t, err)
	_, err = nodes.AddResource("memory", slices.Repeat([]int64{100}, 100))
	require.NoError(t, err)
	s := &Snapshot{Nodes: nodes, Topology: leaves(t, slices.Repeat([]int{10}, 10)...), Quotas: []Quota{{"a", 1 << 30}}}
	busy := []nodeset.Segment{{First: 0, Last: 30, Cores: 8, GPUs: 1}}
	require.NoError(t, nodes.Allocate(busy))
	s.Running = append(s.Running, Running{ID: "r", End: 100, Segs: busy})
	wide := leaderAndWorkers(75)
	reqs := []bids.Request{wide}
	for i := range 40 {
		r := leaderAndWorkers(1 + i%7)
		r.Apart = i%2 == 0
		r.Components[0].Uses = nodeset.Uses{{Row: 0, PerNode: int64(1 + i)}}
		r.Charges = nodeset.Uses{{Row: 0, PerCore: 1}}
		if i%3 == 0 {
			r.AllWithin = 1
		}
		reqs = append(reqs, r, bids.Request{Cores: 8 + i})
	}
	s.Pending = queue(600, reqs...)
	o := Preset("none")
	o.Work = 100_000
	allocatesNothing(t, o, s)
}

func partsAuction(t require.TestingT, o AuctionOptions) *Auction {
	a, err := NewAuction(o, nil)
	require.NoError(t, err)
	return a
}

// A component can't take a share of a GPU: the job waits for ever, and is told so.
func TestPartsTakeNoShares(t *testing.T) {
	nodes, err := nodeset.NewUniform(2, nodeset.Capacity{Cores: 8, GPUs: 2})
	require.NoError(t, err)
	shares, err := nodes.AddShares("shard", []int64{100, 100})
	require.NoError(t, err)
	half := bids.Request{Cores: 1, MinNodes: 1, MaxNodes: 1, Uses: nodeset.Uses{{Row: shares, PerNode: 50}}}
	r := bids.Request{Cores: 1, Components: []bids.Request{half}}
	s := &Snapshot{Nodes: nodes, Pending: []*Job{{ID: "a", Priority: 1, TimeLimit: 1, Request: r}}}
	p := decideOn(t, partsAuction(t, Preset("none")), s)
	require.Equal(t, Never, p.Decisions[0].Why)
	require.Contains(t, p.Decisions[0].Reason, "components[0].uses: a share of a GPU")
}
