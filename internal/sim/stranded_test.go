// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// TestStrandedOnPaper: 2 nodes of 8 cores and 4 GPUs. From 0 to 30, J1 has 8 cores and 1
// GPU of node 0, and J2 has 1 core and 2 GPUs of node 1. So 5 GPUs are free: 3 on node
// 0, without a core, and 2 on node 1.
func TestStrandedOnPaper(t *testing.T) {
	where := map[string][]nodeset.Segment{
		"J1": {{First: 0, Last: 0, Cores: 8, GPUs: 1}}, "J2": {{First: 1, Last: 1, Cores: 1, GPUs: 2}},
	}
	p := scripted(func(s *core.Snapshot, p *core.Plan) error {
		for i, j := range s.Pending {
			d := core.Decision{Job: i, Start: true, Segs: where[j.ID]}
			if d.Segs == nil { // waits until it is alone
				d.Start = len(s.Running) == 0 && i == 0
				d.Segs = []nodeset.Segment{{First: 0, Last: 0, Cores: uint16(max(j.Cores, j.TasksPerNode)), GPUs: uint8(j.MinGPUs)}}
			}
			p.Decisions = append(p.Decisions, d)
		}
		return nil
	})
	type req = bids.Request
	for _, c := range []struct {
		name           string
		waits          []req
		idle, stranded float64 // GPUs of the 8
	}{
		{"nobody waits", nil, 0, 0},
		{"without a GPU", []req{{Cores: 8}}, 0, 0},
		{"one could start", []req{{MinNodes: 1, MaxNodes: 1, TasksPerNode: 1, MinGPUs: 1}}, 1, 0},
		{"too few GPUs: 4 are missed, not 5", []req{{Cores: 1, MaxNodes: 1, MinGPUs: 4}}, 4, 4},
		{"too few GPUs for two", []req{{Cores: 1, MaxNodes: 1, MinGPUs: 4}, {Cores: 1, MaxNodes: 1, MinGPUs: 4}}, 5, 5},
		{"too few cores", []req{{Cores: 8, MaxNodes: 1, MinGPUs: 2}}, 2, 2},
		{"of use on node 1", []req{{Cores: 8, MaxNodes: 1, MinGPUs: 4}, {Cores: 7, MaxNodes: 1, MinGPUs: 2}}, 5, 3},
	} {
		jobs := []workload.Job{jobOf(1, req{Cores: 8, MinGPUs: 1}, 0, 30, 30), jobOf(2, req{Cores: 1, MinGPUs: 2}, 0, 30, 30)}
		for i, r := range c.waits {
			jobs = append(jobs, jobOf(3+i, r, 0, 60, 60))
		}
		_, res := records(t, p, nodesOf([3]int{2, 8, 4}), jobs)
		want := &GPUQueue{}
		switch gpuJobs := len(c.waits); {
		case c.idle == 0:
		case gpuJobs == 1:
			want = &GPUQueue{Seconds: 30, Idle: c.idle / 8, Stranded: c.stranded / 8}
		default: // the second waits while the first has node 0, with node 1 free
			want = &GPUQueue{Seconds: 90}
			second := float64(min(c.waits[1].MinGPUs, 8-c.waits[0].MinGPUs))
			want.Idle = (30*c.idle + 60*second) / 90 / 8
			want.Stranded = 30 * c.stranded / 90 / 8
		}
		require.Equal(t, want.Seconds, res.GPUQueue.Seconds, c.name)
		require.InDelta(t, want.Idle, res.GPUQueue.Idle, 1e-12, c.name)
		require.InDelta(t, want.Stranded, res.GPUQueue.Stranded, 1e-12, c.name)
		require.InDelta(t, want.Stranded*8*float64(want.Seconds)/3600, *res.StrandedGPUHours, 1e-12, c.name)
	}
}

func TestNoGPUQueueWithoutGPUs(t *testing.T) {
	_, res := records(t, startOn(nodeset.Segment{Cores: 1}), nodesOf([3]int{1, 4, 0}),
		[]workload.Job{jobOf(1, bids.Request{Cores: 1}, 0, 10, 10)})
	require.Nil(t, res.GPUQueue)
	text, err := json.Marshal(res)
	require.NoError(t, err)
	require.NotContains(t, string(text), "gpu_queue")
	require.NotContains(t, string(text), "stranded_gpu_h")
}

// dumbQueue is a GPUQueue in the words of its definition: at every moment it asks of
// every node whether some waiting job could use it.
type dumbQueue struct {
	waits                  []bids.Request
	free, stuck            int
	seconds, idle, wastage int64
}

func (q *dumbQueue) look(nodes *nodeset.Table) {
	q.free, q.stuck = 0, 0
	for n := range nodes.Len() {
		c := nodes.Free(n)
		q.free += int(c.GPUs)
		useful := false
		for _, r := range q.waits {
			least := 1
			if r.TasksPerNode > 0 {
				least = r.TasksPerNode
			} else if r.MaxNodes == 1 {
				least = r.Cores
			}
			useful = useful || int(c.GPUs) >= r.MinGPUs && int(c.Cores) >= least
		}
		if !useful {
			q.stuck += int(c.GPUs)
		}
	}
}

func (q *dumbQueue) pass(seconds int) {
	wanted := 0
	for _, r := range q.waits {
		wanted += r.MinGPUs * max(1, r.MinNodes)
	}
	if wanted > 0 {
		q.seconds += int64(seconds)
		q.idle += int64(seconds * min(q.free, wanted))
		missed := min(q.free, wanted)
		for useful := q.free - q.stuck; missed > 0 && useful > 0; useful-- {
			missed--
		}
		q.wastage += int64(seconds * missed)
	}
}

// TestPropertyStranded: the meter says what its definition says, whatever comes and goes.
func TestPropertyStranded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m strandedMeter
		var q dumbQueue
		nodes, err := nodeset.New(nodesOf([3]int{3, 8, 4}, [3]int{2, 4, 0}, [3]int{2, 16, 8}))
		require.NoError(t, err)
		m.parts = gpuPartsOf(nodes)
		for range rapid.IntRange(1, 20).Draw(t, "cycles") {
			for range rapid.IntRange(0, 3).Draw(t, "come") {
				r := bids.Request{MinGPUs: rapid.IntRange(1, 8).Draw(t, "GPUs"), MinNodes: rapid.IntRange(1, 3).Draw(t, "nodes")}
				r.MaxNodes = r.MinNodes
				if cores := rapid.IntRange(1, 16).Draw(t, "cores"); rapid.Bool().Draw(t, "each") {
					r.TasksPerNode = cores
				} else {
					r.Cores = cores * r.MinNodes
				}
				q.waits = append(q.waits, r)
				m.come(&r)
			}
			for range min(len(q.waits), rapid.IntRange(0, 3).Draw(t, "start")) {
				i := rapid.IntRange(0, len(q.waits)-1).Draw(t, "which")
				m.start(&q.waits[i])
				q.waits = append(q.waits[:i], q.waits[i+1:]...)
			}
			for n := range nodes.Len() {
				c := nodes.Total(n)
				c.Cores, c.GPUs = uint16(rapid.IntRange(0, int(c.Cores)).Draw(t, "free cores")),
					uint8(rapid.IntRange(0, int(c.GPUs)).Draw(t, "free GPUs"))
				require.NoError(t, nodes.SetFree(n, c))
			}
			seconds := rapid.IntRange(0, 100).Draw(t, "seconds")
			m.look(nodes)
			m.pass(int64(seconds))
			q.look(nodes)
			q.pass(seconds)
		}
		want := &GPUQueue{Seconds: q.seconds}
		if q.seconds > 0 {
			all := float64(q.seconds) * 28
			want.Idle, want.Stranded = float64(q.idle)/all, float64(q.wastage)/all
		}
		require.Equal(t, want, m.result(28))
	})
}

func TestDemandOf(t *testing.T) {
	for _, c := range []struct {
		r            bids.Request
		cores, nodes int
	}{
		{bids.Request{Cores: 8}, 1, 1},
		{bids.Request{Cores: 8, MaxNodes: 1}, 8, 1},
		{bids.Request{Cores: 8, MinNodes: 2, MaxNodes: 2}, 1, 2},
		{bids.Request{TasksPerNode: 4, MinNodes: 3}, 4, 3},
		{bids.Request{Cores: 8, TasksPerNode: 4}, 4, 2},
		{bids.Request{Cores: 8, TasksPerNode: 4, MinNodes: 3}, 1, 3},
		{bids.Request{Cores: 9, TasksPerNode: 4}, 1, 3},
	} {
		c.r.MinGPUs = 2
		d, nodes := demandOf(&c.r)
		require.Equal(t, []any{gpuDemand{gpus: 2, cores: c.cores}, c.nodes}, []any{d, nodes}, "%+v", c.r)
	}
}

// TestStrandedDoesNotAllocate once it has met the demands that there are.
func TestStrandedDoesNotAllocate(t *testing.T) {
	var m strandedMeter
	nodes, err := nodeset.New(nodesOf([3]int{1523, 96, 8}))
	require.NoError(t, err)
	m.parts = gpuPartsOf(nodes)
	r := []bids.Request{{TasksPerNode: 4, MinGPUs: 1}, {TasksPerNode: 97, MinGPUs: 8}}
	require.Zero(t, testing.AllocsPerRun(10, func() {
		for i := range r {
			m.come(&r[i])
		}
		m.look(nodes)
		m.pass(3)
		for i := range r {
			m.start(&r[i])
		}
	}))
}

// TestPoliciesStrandDifferently: the figure tells a policy that spreads small jobs over
// all nodes from one that packs them.
func TestPoliciesStrandDifferently(t *testing.T) {
	run := func(spread bool) float64 {
		p := scripted(func(s *core.Snapshot, p *core.Plan) error {
			for i, j := range s.Pending {
				d := core.Decision{Job: i}
				for n := int32(0); n < 2 && !d.Start; n++ {
					c := s.Nodes.Free(int(n))
					if int(c.GPUs) >= j.MinGPUs && (!spread || j.MinGPUs == 4 || c.GPUs == 4) {
						d.Start, d.Segs = true, []nodeset.Segment{{First: n, Last: n, Cores: 1, GPUs: uint8(j.MinGPUs)}}
						require.NoError(t, s.Nodes.Allocate(d.Segs))
					}
				}
				p.Decisions = append(p.Decisions, d)
			}
			for _, d := range p.Decisions {
				if d.Start {
					require.NoError(t, s.Nodes.Release(d.Segs))
				}
			}
			return nil
		})
		jobs := []workload.Job{jobOf(1, bids.Request{Cores: 1, MinGPUs: 2}, 0, 30, 30),
			jobOf(2, bids.Request{Cores: 1, MinGPUs: 2}, 0, 30, 30),
			jobOf(3, bids.Request{Cores: 1, MinGPUs: 4}, 0, 30, 30)}
		res, err := Run(context.Background(), NewConfig(nodesOf([3]int{2, 8, 4})), p, jobs)
		require.NoError(t, err)
		return res.GPUQueue.Stranded
	}
	require.Equal(t, 0.5, run(true), "2 GPUs on each of 2 nodes, and a job of 4 waits")
	require.Zero(t, run(false))
}

// BenchmarkStranded is what a cycle pays for the figure on Alibaba's machine.
func BenchmarkStranded(b *testing.B) {
	var m strandedMeter
	nodes, err := nodeset.New(nodesOf([3]int{1523, 96, 8}))
	require.NoError(b, err)
	m.parts = gpuPartsOf(nodes)
	for i := range 400 { // more demands than Alibaba's pods have
		m.come(&bids.Request{TasksPerNode: 1 + i%50, MinGPUs: 1 + i/50})
	}
	r := bids.Request{TasksPerNode: 97, MinGPUs: 8}
	b.ReportAllocs()
	for b.Loop() { // a demand comes and goes, so that nothing can be kept
		m.come(&r)
		m.look(nodes)
		m.start(&r)
	}
}
