// SPDX-License-Identifier: BSD-3-Clause

package selection

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/test/draw"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/internal/test/requests"
	"github.com/aucsched/aucsched/nodeset"
)

func TestSelect(t *testing.T) {
	for _, c := range []struct {
		name string
		free []uint16
		req  bids.Request
		want string // node:cores ..., empty if nothing is found
	}{
		{"tightest set that suffices", []uint16{8, 8, 0, 8, 0, 8, 8, 8}, bids.Request{Cores: 12}, "0:8 1:4"},
		{"fullest node that holds it", []uint16{8, 4, 6, 3}, bids.Request{Cores: 4}, "1:4"},
		{"fullest node with room to spare", []uint16{8, 6, 3, 7}, bids.Request{Cores: 5}, "1:5"},
		{"partial set from its lowest node", []uint16{4, 4, 4, 4}, bids.Request{Cores: 6}, "0:4 1:2"},
		{"largest set first if none suffices", []uint16{8, 0, 8, 8, 0, 4}, bids.Request{Cores: 26}, "0:8 2:8 3:8 5:2"},
		{"rest from the tightest", []uint16{8, 0, 8, 8, 0, 4}, bids.Request{Cores: 18}, "2:8 3:8 5:2"},
		{"a core stays for each node to come", []uint16{8, 8, 8}, bids.Request{Cores: 10, MinNodes: 3, MaxNodes: 3}, "0:8 1:1 2:1"},
		{"a range aims at its upper end", []uint16{8, 8, 8}, bids.Request{Cores: 8, MinNodes: 2, MaxNodes: 3}, "0:6 1:1 2:1"},
		{"its lower end will do", []uint16{8, 8, 0}, bids.Request{Cores: 8, MinNodes: 2, MaxNodes: 3}, "0:7 1:1"},
		{"one node holds all", []uint16{4, 8, 6}, bids.Request{Cores: 6, MaxNodes: 1}, "2:6"},
		{"tasks per node", []uint16{4, 8, 3, 4}, bids.Request{MinNodes: 3, TasksPerNode: 4}, "0:4 1:4 3:4"},
		{"at most so many tasks per node", []uint16{8, 8, 8}, bids.Request{Cores: 10, TasksPerNode: 4}, "0:4 1:3 2:3"},
		{"contiguous", []uint16{8, 0, 4, 4, 4}, bids.Request{Cores: 9, Contiguous: true}, "2:4 3:4 4:1"},
		{"contiguous without the gap that Slurm would leave", []uint16{4, 4, 4, 8},
			bids.Request{Cores: 12, MinNodes: 2, MaxNodes: 2, Contiguous: true}, "2:4 3:8"},
		{"no hole is large enough", []uint16{8, 0, 4, 4}, bids.Request{Cores: 9, Contiguous: true}, ""},
		{"too few nodes", []uint16{8, 0, 0}, bids.Request{Cores: 8, MinNodes: 2}, ""},
		{"too few cores", []uint16{8, 8}, bids.Request{Cores: 17}, ""},
		{"knapsack: poor nodes are left out", []uint16{4, 8, 12}, bids.Request{Cores: 20, MinNodes: 2, MaxNodes: 2}, "1:8 2:12"},
		{"the last node has to hold the rest", []uint16{8, 4, 12, 0, 16}, bids.Request{Cores: 20, MinNodes: 2, MaxNodes: 2}, "0:8 2:12"},
		{"nodes too small for all of it part the sets of a one-node job", []uint16{8, 5, 0, 6, 6},
			bids.Request{Cores: 6, MaxNodes: 1}, "0:6"},
		{"knapsack: what Slurm misses", []uint16{8, 8, 12, 12}, bids.Request{Cores: 32, MinNodes: 2, MaxNodes: 3}, ""},
		{"a fuller set with too few nodes replaces one that suffices", []uint16{1, 1, 1, 1, 0, 8, 8},
			bids.Request{Cores: 4, MinNodes: 4, MaxNodes: 4}, "0:1 1:1 5:1 6:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s Selector
			segs, ok, err := s.Select(draw.CoresFree(t, c.free...), &c.req, nil, nil)
			require.NoError(t, err)
			require.Equal(t, c.want, draw.Layout(segs))
			require.Equal(t, c.want != "", ok)
		})
	}
}

// Of a job with GPUs no node counts for more cores than its tasks there take, so that it has the
// lowest node that will do and not the fullest, and sets of nodes compare by how many they are.
func TestSelectWithGPUs(t *testing.T) {
	for _, c := range []struct {
		name string
		free []uint16 // cores; each node has a GPU free
		req  bids.Request
		want string
	}{
		{"one node: the lowest", []uint16{8, 4, 6}, bids.Request{Cores: 4, MaxNodes: 1, MinGPUs: 1}, "0:4"},
		{"without GPUs: the fullest", []uint16{8, 4, 6}, bids.Request{Cores: 4, MaxNodes: 1}, "1:4"},
		{"the lowest that has room", []uint16{3, 8, 4}, bids.Request{Cores: 4, MaxNodes: 1, MinGPUs: 1}, "1:4"},
		{"of the smallest set", []uint16{4, 4, 0, 8, 0, 4, 4}, bids.Request{Cores: 4, MaxNodes: 1, MinGPUs: 1}, "3:4"},
		{"one task, on whatever node", []uint16{8, 4, 6}, bids.Request{Cores: 1, MinGPUs: 1}, "0:1"},
		{"a task a node", []uint16{1, 1, 1, 0, 8, 8}, bids.Request{Cores: 2, MinNodes: 2, MaxNodes: 2, MinGPUs: 1}, "4:1 5:1"},
		{"tasks on several nodes", []uint16{8, 8, 0, 8, 4}, bids.Request{Cores: 6, MinNodes: 2, MaxNodes: 2, MinGPUs: 1}, "3:5 4:1"},
		{"tasks on as many nodes as it takes", []uint16{8, 4, 6}, bids.Request{Cores: 4, MinGPUs: 1}, "1:4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			total, free := make([]nodeset.Capacity, len(c.free)), make([]nodeset.Capacity, len(c.free))
			for n, cores := range c.free {
				total[n], free[n] = nodeset.Capacity{Cores: 16, GPUs: 1}, nodeset.Capacity{Cores: cores, GPUs: 1}
			}
			var s Selector
			segs, ok, err := s.Select(draw.Machine(t, total, free), &c.req, nil, nil)
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, c.want, draw.Layout(segs))
		})
	}
}

func TestSelectKeepsToNodes(t *testing.T) {
	tab := draw.Machine(t, []nodeset.Capacity{{Cores: 8, GPUs: 2}, {Cores: 8, GPUs: 2}, {Cores: 8}, {Cores: 8, GPUs: 2}}, nil)
	require.NoError(t, tab.SetFree(0, nodeset.Capacity{Cores: 8, GPUs: 1}))
	avail := nodeset.NewMask(4)
	avail.Set(0)
	avail.Set(2)
	avail.Set(3)
	var s Selector
	r := bids.Request{Cores: 2, MinGPUs: 2, MaxGPUs: 3}
	segs, ok, err := s.Select(tab, &r, avail, nil)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, []nodeset.Segment{{First: 3, Last: 3, Cores: 2, GPUs: 2}}, segs)
	r.Eligible = nodeset.NewMask(4)
	r.Eligible.Set(1)
	_, ok, err = s.Select(tab, &r, avail, nil)
	require.NoError(t, err)
	require.False(t, ok, "node 1 is eligible but not available")
	tab.SetUp(1, false)
	_, ok, _ = s.Select(tab, &r, nil, nil)
	require.False(t, ok, "node 1 is down")
	_, _, err = s.Select(tab, &bids.Request{Cores: -1}, nil, nil)
	require.ErrorContains(t, err, "cores: -1")
}

// With GPUs the nodes that are left out are those with fewest cores and GPUs
// together, so that Slurm misses nodes 1 and 2 here.
func TestSelectRanksNodesByCoresAndGPUs(t *testing.T) {
	nodes := []nodeset.Capacity{{Cores: 4, GPUs: 4}, {Cores: 5, GPUs: 2}, {Cores: 6, GPUs: 3}}
	var s Selector
	for gpus, want := range []bool{true, false} {
		r := bids.Request{Cores: 11, MinNodes: 2, MaxNodes: 2, MinGPUs: gpus}
		_, ok, err := s.Select(draw.Machine(t, nodes, nil), &r, nil, nil)
		require.NoError(t, err)
		require.Equal(t, want, ok)
	}
}

// twin is choose_nodes and _eval_nodes, line by line, on plain arrays.
type twin struct {
	avail, gpus []int
	q           query
}

func (w *twin) choose() ([]int, bool) {
	in := make([]bool, len(w.avail))
	rem := 0
	for n := range in {
		if in[n] = w.avail[n] > 0; in[n] {
			rem++
		}
	}
	if rem < w.q.minNodes {
		return nil, false
	}
	if got, ok := w.eval(in); ok {
		return got, true
	}
	if rem <= w.q.minNodes {
		return nil, false
	}
	value := func(n int) int {
		if w.q.gpus > 0 {
			return w.avail[n] + w.gpus[n]
		}
		return w.avail[n]
	}
	most := 0
	for n := range in {
		if in[n] {
			most = max(most, value(n))
		}
	}
	for count := 1; count < most; count++ {
		changed := false
		for n := range in {
			if in[n] && value(n) <= count {
				changed, in[n] = true, false
				if rem--; rem <= w.q.minNodes {
					break
				}
			}
		}
		if !changed && count != 1 {
			continue
		}
		if got, ok := w.eval(in); ok {
			return got, true
		}
		if rem <= w.q.minNodes {
			break
		}
	}
	return nil, false
}

func (w *twin) enough(nodes, rem int) bool {
	needed := rem
	if w.q.reqNodes > w.q.minNodes {
		needed = rem + w.q.minNodes - w.q.reqNodes
	}
	return nodes >= needed
}

func (w *twin) eval(in []bool) ([]int, bool) {
	q := w.q
	avail := append([]int(nil), w.avail...)
	got := make([]int, len(in))
	type run struct{ start, end, cpus, nodes int }
	var sets []run
	for n := range in {
		if !in[n] {
			continue
		}
		if n == 0 || !in[n-1] {
			sets = append(sets, run{start: n})
		}
		s := &sets[len(sets)-1]
		s.end, s.cpus, s.nodes = n, s.cpus+avail[n], s.nodes+1
	}
	remCPUs, remMax := q.cores, q.cores
	remNodes, minRem, maxNodes := max(q.minNodes, q.reqNodes), q.minNodes, q.maxNodes
	success := false
	for len(sets) > 0 && maxNodes > 0 {
		bestCPUs, bestNodes, bestSuff, best := 0, 0, false, 0
		for i, s := range sets {
			if s.nodes == 0 {
				continue
			}
			suff := s.cpus >= remCPUs && w.enough(s.nodes, remNodes)
			isNew := bestNodes == 0
			if !isNew && (suff && !bestSuff || suff && s.cpus < bestCPUs || !suff && s.cpus > bestCPUs) {
				isNew = true
			}
			if isNew {
				bestCPUs, bestNodes, best, bestSuff = s.cpus, s.nodes, i, suff
			}
		}
		if bestNodes == 0 || (q.contiguous && !bestSuff) {
			break
		}
		s := sets[best]
		for q.contiguous && s.start <= s.end { // no gaps, unlike Slurm
			room := 0
			for n := s.start; n <= min(s.end, s.start+q.maxNodes-1); n++ {
				room += avail[n]
			}
			if room >= q.cores && s.end-s.start+1 >= q.minNodes {
				break
			}
			s.start++
		}
		if remNodes <= 1 {
			fit, size := -1, 0
			for n := s.start; n <= s.end; n++ {
				if avail[n] < remCPUs {
					continue
				}
				if fit == -1 || avail[n] < size {
					fit, size = n, avail[n]
				}
			}
			if fit != -1 {
				for n := s.start; n <= s.end; n++ {
					if n != fit {
						avail[n] = 0
					}
				}
			}
		}
		for n := s.start; n <= s.end; n++ {
			if maxNodes == 0 || (remNodes <= 0 && remCPUs <= 0) {
				break
			}
			a := avail[n]
			if a <= 0 || (maxNodes == 1 && a < remCPUs) {
				continue
			}
			if lim := remMax - max(minRem-1, 0); a > lim {
				a = max(lim, q.perNode)
			}
			got[n] = a
			remCPUs, remMax = remCPUs-a, remMax-a
			remNodes, minRem, maxNodes = remNodes-1, minRem-1, maxNodes-1
		}
		if remNodes <= 0 && remCPUs <= 0 {
			success = true
			break
		}
		if q.contiguous {
			break
		}
		sets[best].cpus, sets[best].nodes = 0, 0
	}
	if !success && remCPUs <= 0 && w.enough(0, remNodes) {
		success = true
	}
	return got, success
}

// deal is _dist_tasks_compute_c_b: a core to each node, then one in turn.
func deal(got []int, cores int) []int {
	out := make([]int, len(got))
	for cores > 0 {
		for n := range got {
			if out[n] < got[n] && cores > 0 {
				out[n]++
				cores--
			}
		}
	}
	return out
}

// drawTight asks for just what a few nodes have free.
func drawTight(t *rapid.T, tab *nodeset.Table) bids.Request {
	r := bids.Request{MinGPUs: rapid.IntRange(0, 1).Draw(t, "gpus of tight")}
	nodes := map[int]bool{}
	for range rapid.IntRange(2, 4).Draw(t, "nodes of tight") {
		nodes[rapid.IntRange(0, tab.Len()-1).Draw(t, "node of tight")] = true
	}
	for n := range nodes {
		r.Cores += int(tab.Free(n).Cores)
	}
	r.MinNodes, r.MaxNodes = len(nodes), len(nodes)
	r.Cores = max(r.Cores, r.MinNodes)
	return r
}

func TestSelectIsSlurms(t *testing.T) {
	var s Selector // one for all, so that stale scratch would show
	rapid.Check(t, func(t *rapid.T) {
		tab := draw.Table(t)
		avail := draw.Mask(t, tab.Len(), "avail")
		r := requests.DrawAny(t, tab.Len())
		if rapid.IntRange(0, 2).Draw(t, "tight") == 0 {
			r = drawTight(t, tab)
		}
		memory, u := drawMemory(t, tab), nodeset.Use{}
		if memory != nil {
			u = nodeset.Use{PerNode: rapid.Int64Range(0, 9).Draw(t, "per node"), PerCore: rapid.Int64Range(0, 4).Draw(t, "per core")}
			r.Uses = nodeset.Uses{u}
		}
		sh, err := place.SpecOf(&r)
		if err != nil {
			t.Skip("contradictory request")
		}
		before := new(nodeset.Table)
		before.CopyFrom(tab)
		segs, ok, err := s.Select(tab, &r, avail, nil)
		require.NoError(t, err)
		require.Equal(t, before, tab, "the table is not changed")
		if sh.Coreless() {
			require.False(t, ok)
			return
		}

		// The terms of job_details, written out for each type of job.
		q := query{cores: r.Cores, minNodes: sh.Nodes.Min, maxNodes: sh.Nodes.Max,
			reqNodes: sh.Nodes.Min, perNode: 1, gpus: r.MinGPUs, contiguous: r.Contiguous}
		if r.MaxNodes > 0 {
			q.reqNodes = sh.Nodes.Max
		}
		if r.TasksPerNode > 0 {
			q.perNode = r.TasksPerNode
		}
		if r.Cores == 0 {
			q.cores = q.minNodes * r.TasksPerNode
		}
		w := twin{make([]int, tab.Len()), make([]int, tab.Len()), q}
		for n := range w.avail {
			f := tab.Free(n)
			if !tab.Up(n) || !avail.Has(n) || !r.Eligible.Has(n) || int(f.GPUs) < r.MinGPUs {
				continue
			}
			w.avail[n], w.gpus[n] = int(f.Cores), int(f.GPUs)
			for memory != nil && w.avail[n] > 0 && u.PerNode+u.PerCore*int64(w.avail[n]) > memory[n] {
				w.avail[n]--
			}
			if r.TasksPerNode > 0 {
				w.avail[n] = min(w.avail[n], r.TasksPerNode)
			}
			if w.avail[n] < r.TasksPerNode || (q.maxNodes == 1 && w.avail[n] < q.cores) {
				w.avail[n] = 0
			}
			if tasks := tasksOfEachNode(&r, &q); r.MinGPUs > 0 && tasks > 0 {
				w.avail[n] = min(w.avail[n], tasks)
			}
		}
		got, found := w.choose()
		require.Equal(t, found, ok)
		if !ok {
			return
		}
		if r.Cores > 0 {
			got = deal(got, r.Cores)
		}
		var want []nodeset.Segment
		for n, c := range got {
			if c > 0 {
				want = nodeset.Append(want, nodeset.Segment{First: int32(n), Last: int32(n), Cores: uint16(c), GPUs: uint8(r.MinGPUs)})
			}
		}
		require.Equal(t, want, segs)
		meetsRequest(t, tab, &r, &sh, segs)
	})
}

// tasksOfEachNode is max_tasks_this_node of _select_cores where that is known, for jobs of one core
// a task; 0 where it is NO_VAL.
func tasksOfEachNode(r *bids.Request, q *query) int {
	switch {
	case r.TasksPerNode > 0:
		return r.TasksPerNode
	case r.MaxNodes == 1:
		return r.Cores
	case r.Cores == 1, r.Cores == q.minNodes && r.Cores == q.maxNodes:
		return 1
	}
	return 0
}

// drawMemory gives a table memory, of which some is taken, and returns what is free; nil: none.
func drawMemory(t *rapid.T, tab *nodeset.Table) []int64 {
	if rapid.Bool().Draw(t, "no memory") {
		return nil
	}
	total, free := make([]int64, tab.Len()), make([]int64, tab.Len())
	for n := range total {
		total[n] = rapid.Int64Range(0, 40).Draw(t, "memory")
		free[n] = rapid.Int64Range(0, total[n]).Draw(t, "free memory")
	}
	_, err := tab.AddResource("memory", total)
	require.NoError(t, err)
	for n := range free {
		require.NoError(t, tab.SetFreeOf(0, n, free[n]))
	}
	return free
}

// Typed GPUs: a node counts as many cores and GPUs as those of the type suffice for.
func TestSelectWithTypedGPUs(t *testing.T) {
	tab, err := nodeset.NewUniform(3, nodeset.Capacity{Cores: 8, GPUs: 4})
	require.NoError(t, err)
	_, err = tab.AddResource("gpu:a100", []int64{0, 1, 4})
	require.NoError(t, err)
	r := bids.Request{Cores: 2, MinGPUs: 2, MinNodes: 1, MaxNodes: 1, Uses: nodeset.Uses{{PerGPU: 1}}}
	var s Selector
	segs, ok, err := s.Select(tab, &r, nil, nil)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, []nodeset.Segment{{First: 2, Last: 2, Cores: 2, GPUs: 2}}, segs)
	r.MinNodes, r.MaxNodes = 2, 2
	_, ok, _ = s.Select(tab, &r, nil, nil)
	require.False(t, ok)
	r.Uses[0].Row = 1
	_, ok, err = s.Select(tab, &r, nil, nil)
	require.NoError(t, err)
	require.False(t, ok, "nobody has that")
}

// meetsRequest checks that an allocation can be made and is what was asked for.
func meetsRequest(t require.TestingT, tab *nodeset.Table, r *bids.Request, sh *place.Spec, segs []nodeset.Segment) {
	copied := new(nodeset.Table)
	copied.CopyFrom(tab)
	require.NoError(t, copied.Allocate(segs, r.Uses...))
	nodes := nodeset.Nodes(segs)
	require.GreaterOrEqual(t, nodes, sh.Nodes.Min)
	require.LessOrEqual(t, nodes, sh.Nodes.Max)
	if r.Cores > 0 {
		require.Equal(t, r.Cores, nodeset.Cores(segs))
	}
	if r.Contiguous {
		require.Equal(t, 1, nodeset.Blocks(segs))
	}
	for _, g := range segs {
		require.GreaterOrEqual(t, int(g.Cores), sh.Cores.PerNode.Min)
		require.LessOrEqual(t, int(g.Cores), sh.Cores.PerNode.Max)
		for n := g.First; n <= g.Last; n++ {
			require.True(t, r.Eligible.Has(int(n)))
		}
	}
	require.NoError(t, place.CanEverRun(tab, r), "what runs now can run")
}

func TestSelectAllocatesNothing(t *testing.T) {
	race.Allocates(t)
	tab, r := fragmented(t, 1024)
	var s Selector
	var segs []nodeset.Segment
	var ok bool
	run := func() { segs, ok, _ = s.Select(tab, &r, nil, segs[:0]) }
	run()
	require.True(t, ok)
	require.Zero(t, testing.AllocsPerRun(20, run))
}

// fragmented is a machine on which no set of nodes suffices.
func fragmented(t require.TestingT, n int) (*nodeset.Table, bids.Request) {
	tab, err := nodeset.NewUniform(n, nodeset.Capacity{Cores: 8, GPUs: 2})
	require.NoError(t, err)
	for i := 0; i < n; i += 3 {
		require.NoError(t, tab.SetFree(i, nodeset.Capacity{}))
	}
	return tab, bids.Request{Cores: n, MinNodes: n / 8, MinGPUs: 1}
}

func BenchmarkSelect(b *testing.B) {
	for _, n := range []int{128, 1024, 8192} {
		tab, r := fragmented(b, n)
		b.Run(fmt.Sprintf("fragmented/%d", n), func(b *testing.B) {
			var s Selector
			var segs []nodeset.Segment
			for b.Loop() {
				segs, _, _ = s.Select(tab, &r, nil, segs[:0])
			}
		})
		b.Run(fmt.Sprintf("full/%d", n), func(b *testing.B) {
			var s Selector
			full := new(nodeset.Table)
			full.CopyFrom(tab)
			for i := range n {
				require.NoError(b, full.SetFree(i, nodeset.Capacity{}))
			}
			for b.Loop() {
				_, _, _ = s.Select(full, &r, nil, nil)
			}
		})
	}
}

func ExampleSelector_Select() {
	machine, _ := nodeset.NewUniform(8, nodeset.Capacity{Cores: 4})
	_ = machine.Allocate([]nodeset.Segment{{First: 3, Last: 3, Cores: 4}})
	var s Selector
	segs, ok, err := s.Select(machine, &bids.Request{Cores: 10}, nil, nil)
	fmt.Println(segs, ok, err)
	// Output: [{0 1 4 0} {2 2 2 0}] true <nil>
}
