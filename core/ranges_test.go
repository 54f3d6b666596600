// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/settings"
	"github.com/aucsched/aucsched/nodeset"
)

// Further GPUs cost cores less time and, unless all of a job gets shorter, GPUs more.
func TestGPUsOfRange(t *testing.T) {
	ranged := bids.Request{Cores: 4, MinNodes: 1, MaxNodes: 1, MinGPUs: 1, MaxGPUs: 3}
	cores := bids.Request{Cores: 12, MinNodes: 1, MaxNodes: 1}
	gpus := bids.Request{Cores: 1, MinNodes: 1, MaxNodes: 1, MinGPUs: 3, MaxGPUs: 3}
	wide := ranged
	wide.MinNodes, wide.MaxNodes, wide.Cores = 8, 8, 8
	charged := ranged
	charged.Charges = nodeset.Uses{{PerGPU: 50}} // of 100
	for _, c := range []struct {
		name   string
		asks   bids.Request
		others bids.Request
		serial int
		want   []int // its range afterwards
		shrink int64 // its limit of 600 s
	}{
		{"all of it gets shorter", ranged, gpus, 0, []int{3, 3}, 200},
		{"nothing gets shorter", ranged, gpus, 1000, []int{1, 1}, 600},
		{"half does, and cores are scarce", ranged, cores, 500, []int{3, 3}, 400},
		{"half does, and GPUs are scarce", ranged, gpus, 500, []int{1, 1}, 600},
		{"only some nodes have three", wide, cores, 0, []int{1, 1}, 600},
		{"a quota leaves fewer", charged, cores, 0, []int{2, 2}, 300},
	} {
		nodes, err := nodeset.New([]nodeset.Capacity{{Cores: 12, GPUs: 3}, {Cores: 12, GPUs: 3}, {Cores: 12, GPUs: 1},
			{Cores: 12, GPUs: 1}, {Cores: 12, GPUs: 1}, {Cores: 12, GPUs: 1}, {Cores: 12, GPUs: 1}, {Cores: 12, GPUs: 1}})
		require.NoError(t, err)
		s := &Snapshot{Nodes: nodes, Quotas: []Quota{{Left: 100}}, Pending: queue(600, c.asks)}
		s.Pending = append(s.Pending, queue(600, c.others, c.others, c.others, c.others, c.others, c.others)...)
		for i, job := range s.Pending {
			job.ID = fmt.Sprint(i)
		}
		o := Preset("default")
		o.Serial, o.ShrinkLimits = c.serial, true
		a, err := NewAuction(o, nil)
		require.NoError(t, err)
		var p Plan
		require.NoError(t, a.Decide(context.Background(), s, Limits{Seed: 1}, &p))
		got := a.window.jobs[0]
		require.Equal(t, c.want, []int{got.MinGPUs, got.MaxGPUs}, c.name)
		require.Equal(t, c.shrink, got.TimeLimit, c.name)
		require.Equal(t, c.asks, s.Pending[0].Request, "the job itself is as it was")
		require.EqualValues(t, 600, s.Pending[0].TimeLimit)
		require.NoError(t, Verify(s, &p), c.name)
	}
}

// Whatever is scarce, a job asks for a number of its range with which the machine can meet it.
func TestAsksForWhatCanBe(t *testing.T) {
	narrowed := 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawSnapshot(t)
		o := Preset(rapid.SampledFrom(settings.Planned()).Draw(t, "preset"))
		o.Serial, o.Work = rapid.IntRange(0, 1000).Draw(t, "serial"), 10_000
		o.ShrinkLimits = rapid.Bool().Draw(t, "shrink")
		a, err := NewAuction(o, nil)
		require.NoError(t, err)
		var p Plan
		require.NoError(t, a.Decide(context.Background(), s, Limits{Seed: 1}, &p))
		require.NoError(t, Verify(s, &p))
		for j, i := range a.window.index {
			got, asked := a.window.jobs[j], s.Pending[p.Decisions[i].Job]
			if got == asked {
				continue
			}
			narrowed++
			require.True(t, hasRange(&asked.Request))
			require.Equal(t, got.MinGPUs, got.MaxGPUs)
			require.GreaterOrEqual(t, got.MinGPUs, asked.MinGPUs)
			require.LessOrEqual(t, got.MinGPUs, asked.MaxGPUs)
			require.LessOrEqual(t, got.TimeLimit, asked.TimeLimit)
			require.Positive(t, got.TimeLimit)
			var n normal
			n.reset(s)
			n.read(got)
			require.Empty(t, n.never(&a.window.answers, got), "the machine can meet it")
		}
	})
	require.Greater(t, narrowed, 5)
}

// A job starts with fewer GPUs than it should have where it ends sooner so, also in its own place for
// more of them.
func TestStartsWithFewer(t *testing.T) {
	for _, c := range []struct {
		others int64 // for how long two of four GPUs are in use
		limit  int64 // with the fewest
		gpus   uint8 // with which it starts; 0: it waits
	}{
		{10_000, 600, 2}, {301, 600, 2}, {100, 600, 0}, {150, 600, 2}, {300, 1000, 2}, {100, 200, 2},
	} {
		nodes, err := nodeset.NewUniform(1, nodeset.Capacity{Cores: 16, GPUs: 4})
		require.NoError(t, err)
		busy := []nodeset.Segment{{Cores: 4, GPUs: 2}}
		require.NoError(t, nodes.Allocate(busy))
		s := &Snapshot{Nodes: nodes, Running: []Running{{ID: "r", End: c.others, Segs: busy}},
			Pending: queue(c.limit, bids.Request{Cores: 4, MinNodes: 1, MaxNodes: 1, MinGPUs: 1, MaxGPUs: 4})}
		named(s.Pending)
		for _, name := range settings.Planned() {
			o := Preset(name)
			o.ShrinkLimits = true
			a, err := NewAuction(o, nil)
			require.NoError(t, err)
			p := decideOn(t, a, s)
			require.NoError(t, Verify(s, p))
			require.Equal(t, c.gpus > 0, p.Decisions[0].Start, "%+v %s: %s", c, name, p.Decisions[0].Reason)
			if c.gpus > 0 {
				require.Equal(t, c.gpus, p.Decisions[0].Segs[0].GPUs)
			}
		}
	}
}

// The last job of a queue starts, whatever hides it: it has a range of GPUs in an alternative or behind
// the window, it takes no core of a full machine, or those before it differ in what they would rather have.
func TestNothingHidesWhoCouldStart(t *testing.T) {
	gpus := bids.Request{Cores: 4, MinNodes: 1, MaxNodes: 1, MinGPUs: 1, MaxGPUs: 4}
	wide, wider := bids.Request{Cores: 32, MinNodes: 2, MaxNodes: 2}, bids.Request{Cores: 48, MinNodes: 3, MaxNodes: 3}
	ranged := wider
	ranged.MinGPUs, ranged.MaxGPUs = 1, 2
	whole := bids.Request{Cores: 16, MinNodes: 1, MaxNodes: 1}
	coreless := bids.Request{MinNodes: 1, MaxNodes: 1, Uses: nodeset.Uses{{Row: 0, PerNode: 1}}}
	for name, c := range map[string]struct {
		preset        string
		window, depth int
		busy          nodeset.Segment
		queue         []bids.Request
		change        func(queue []*Job)
	}{
		"a range in an alternative": {"default", 9, 9, nodeset.Segment{Last: 2, Cores: 12, GPUs: 2}, []bids.Request{wide},
			func(queue []*Job) { queue[0].Alternatives = []bids.Request{gpus} }},
		"a range behind the window": {"default", 1, 9, nodeset.Segment{Last: 2, Cores: 12, GPUs: 2}, []bids.Request{ranged, gpus}, nil},
		"no core, behind like ones": {"none", 1, 2, nodeset.Segment{Last: 2, Cores: 16}, []bids.Request{whole, whole, whole, coreless}, nil},
		"other preferred nodes": {"none", 1, 2, nodeset.Segment{Last: 1, Cores: 16}, []bids.Request{wide, wider, wider, gpus},
			func(queue []*Job) { queue[2].Prefer = nodeset.NewMask(3); queue[2].Prefer.Set(1) }},
	} {
		t.Run(name, func(t *testing.T) {
			nodes, err := nodeset.NewUniform(3, nodeset.Capacity{Cores: 16, GPUs: 4})
			require.NoError(t, err)
			_, err = nodes.AddResource("memory", []int64{9, 9, 9})
			require.NoError(t, err)
			busy := []nodeset.Segment{c.busy}
			require.NoError(t, nodes.Allocate(busy))
			s := &Snapshot{Nodes: nodes, Running: []Running{{ID: "r", End: 10_000, Segs: busy}}, Pending: queue(600, c.queue...)}
			named(s.Pending)
			if c.change != nil {
				c.change(s.Pending)
			}
			o := Preset(c.preset)
			o.Window, o.Depth = c.window, c.depth
			a, err := NewAuction(o, nil)
			require.NoError(t, err)
			p := decideOn(t, a, s)
			require.NoError(t, Verify(s, p))
			last := p.Decisions[len(p.Decisions)-1]
			require.Equal(t, len(s.Pending)-1, last.Job)
			require.True(t, last.Start, last.Reason)
		})
	}
}
