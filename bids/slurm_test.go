// SPDX-License-Identifier: BSD-3-Clause

package bids

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/internal/race"
	"github.com/aucsched/aucsched/nodeset"
)

// table makes a machine of which free is free; all of it where that is nil.
func table(t require.TestingT, total []nodeset.Capacity, free []nodeset.Capacity) *nodeset.Table {
	tab, err := nodeset.New(total)
	require.NoError(t, err)
	for n, c := range free {
		require.NoError(t, tab.SetFree(n, c))
	}
	return tab
}

func coresFree(t require.TestingT, free ...uint16) *nodeset.Table {
	total := make([]nodeset.Capacity, len(free))
	left := make([]nodeset.Capacity, len(free))
	for n, c := range free {
		total[n], left[n] = nodeset.Capacity{Cores: 16}, nodeset.Capacity{Cores: c}
	}
	return table(t, total, left)
}

func TestSelect(t *testing.T) {
	for _, c := range []struct {
		name string
		free []uint16
		req  Request
		want string // node:cores ..., empty if nothing is found
	}{
		{"tightest set that suffices", []uint16{8, 8, 0, 8, 0, 8, 8, 8}, Request{Cores: 12}, "0:8 1:4"},
		{"fullest node that holds it", []uint16{8, 4, 6, 3}, Request{Cores: 4}, "1:4"},
		{"fullest node with room to spare", []uint16{8, 6, 3, 7}, Request{Cores: 5}, "1:5"},
		{"partial set from its lowest node", []uint16{4, 4, 4, 4}, Request{Cores: 6}, "0:4 1:2"},
		{"largest set first if none suffices", []uint16{8, 0, 8, 8, 0, 4}, Request{Cores: 26}, "0:8 2:8 3:8 5:2"},
		{"rest from the tightest", []uint16{8, 0, 8, 8, 0, 4}, Request{Cores: 18}, "2:8 3:8 5:2"},
		{"a core stays for each node to come", []uint16{8, 8, 8}, Request{Cores: 10, MinNodes: 3, MaxNodes: 3}, "0:8 1:1 2:1"},
		{"a range aims at its upper end", []uint16{8, 8, 8}, Request{Cores: 8, MinNodes: 2, MaxNodes: 3}, "0:6 1:1 2:1"},
		{"its lower end will do", []uint16{8, 8, 0}, Request{Cores: 8, MinNodes: 2, MaxNodes: 3}, "0:7 1:1"},
		{"one node holds all", []uint16{4, 8, 6}, Request{Cores: 6, MaxNodes: 1}, "2:6"},
		{"tasks per node", []uint16{4, 8, 3, 4}, Request{MinNodes: 3, TasksPerNode: 4}, "0:4 1:4 3:4"},
		{"at most so many tasks per node", []uint16{8, 8, 8}, Request{Cores: 10, TasksPerNode: 4}, "0:4 1:3 2:3"},
		{"contiguous", []uint16{8, 0, 4, 4, 4}, Request{Cores: 9, Contiguous: true}, "2:4 3:4 4:1"},
		{"contiguous without the gap that Slurm would leave", []uint16{4, 4, 4, 8}, Request{Cores: 12, MinNodes: 2, MaxNodes: 2, Contiguous: true}, "2:4 3:8"},
		{"no hole is large enough", []uint16{8, 0, 4, 4}, Request{Cores: 9, Contiguous: true}, ""},
		{"too few nodes", []uint16{8, 0, 0}, Request{Cores: 8, MinNodes: 2}, ""},
		{"too few cores", []uint16{8, 8}, Request{Cores: 17}, ""},
		{"knapsack: poor nodes are left out", []uint16{4, 8, 12}, Request{Cores: 20, MinNodes: 2, MaxNodes: 2}, "1:8 2:12"},
		{"the last node has to hold the rest", []uint16{8, 4, 12, 0, 16}, Request{Cores: 20, MinNodes: 2, MaxNodes: 2}, "0:8 2:12"},
		{"nodes too small for all of it part the sets of a one-node job", []uint16{8, 5, 0, 6, 6}, Request{Cores: 6, MaxNodes: 1}, "0:6"},
		{"knapsack: what Slurm misses", []uint16{8, 8, 12, 12}, Request{Cores: 32, MinNodes: 2, MaxNodes: 3}, ""},
		{"a fuller set with too few nodes replaces one that suffices", []uint16{1, 1, 1, 1, 0, 8, 8}, Request{Cores: 4, MinNodes: 4, MaxNodes: 4}, "0:1 1:1 5:1 6:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s Selector
			segs, ok, err := s.Select(coresFree(t, c.free...), &c.req, nil, nil)
			require.NoError(t, err)
			require.Equal(t, c.want, layoutOf(segs))
			require.Equal(t, c.want != "", ok)
		})
	}
}

func layoutOf(segs []nodeset.Segment) string {
	out := ""
	for _, s := range segs {
		for n := s.First; n <= s.Last; n++ {
			if out != "" {
				out += " "
			}
			out += fmt.Sprintf("%d:%d", n, s.Cores)
		}
	}
	return out
}

func TestSelectKeepsToNodes(t *testing.T) {
	tab := table(t, []nodeset.Capacity{{Cores: 8, GPUs: 2}, {Cores: 8, GPUs: 2}, {Cores: 8}, {Cores: 8, GPUs: 2}}, nil)
	require.NoError(t, tab.SetFree(0, nodeset.Capacity{Cores: 8, GPUs: 1}))
	avail := nodeset.NewMask(4)
	avail.Set(0)
	avail.Set(2)
	avail.Set(3)
	var s Selector
	r := Request{Cores: 2, MinGPUs: 2, MaxGPUs: 3}
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
	_, _, err = s.Select(tab, &Request{Cores: -1}, nil, nil)
	require.ErrorContains(t, err, "cores: -1")
}

// With GPUs the nodes that are left out are those with fewest cores and GPUs
// together, so that Slurm misses nodes 1 and 2 here.
func TestSelectRanksNodesByCoresAndGPUs(t *testing.T) {
	nodes := []nodeset.Capacity{{Cores: 4, GPUs: 4}, {Cores: 5, GPUs: 2}, {Cores: 6, GPUs: 3}}
	var s Selector
	for gpus, want := range []bool{true, false} {
		r := Request{Cores: 11, MinNodes: 2, MaxNodes: 2, MinGPUs: gpus}
		_, ok, err := s.Select(table(t, nodes, nil), &r, nil, nil)
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

func drawTable(t *rapid.T) *nodeset.Table {
	n := rapid.IntRange(1, 140).Draw(t, "nodes")
	if rapid.Bool().Draw(t, "few") {
		n = min(n, 12)
	}
	total, free := make([]nodeset.Capacity, n), make([]nodeset.Capacity, n)
	most := rapid.IntRange(1, 12).Draw(t, "most cores")
	for i := range total {
		total[i] = nodeset.Capacity{Cores: uint16(rapid.IntRange(1, most).Draw(t, "cores")), GPUs: uint8(rapid.IntRange(0, 3).Draw(t, "gpus"))}
		free[i] = nodeset.Capacity{
			Cores: uint16(rapid.IntRange(0, int(total[i].Cores)).Draw(t, "free cores")),
			GPUs:  uint8(rapid.IntRange(0, int(total[i].GPUs)).Draw(t, "free gpus")),
		}
	}
	tab := table(t, total, free)
	for range rapid.IntRange(0, 2).Draw(t, "down") {
		tab.SetUp(rapid.IntRange(0, n-1).Draw(t, "down node"), false)
	}
	return tab
}

func drawMask(t *rapid.T, n int, name string) nodeset.Mask {
	if rapid.IntRange(0, 3).Draw(t, name+" given") > 0 {
		return nil
	}
	m := nodeset.NewMask(n)
	for i := range n {
		if rapid.IntRange(0, 4).Draw(t, name) > 0 {
			m.Set(i)
		}
	}
	return m
}

func drawRequest(t *rapid.T, n int) Request {
	r := Request{Contiguous: rapid.Bool().Draw(t, "contiguous"), Eligible: drawMask(t, n, "eligible")}
	r.MinGPUs = max(0, rapid.IntRange(-3, 2).Draw(t, "gpus"))
	r.MaxGPUs = r.MinGPUs + rapid.IntRange(0, 1).Draw(t, "range")
	if rapid.Bool().Draw(t, "nodes given") {
		r.MinNodes = rapid.IntRange(1, min(n, 8)+1).Draw(t, "min nodes")
		if rapid.Bool().Draw(t, "max nodes given") {
			r.MaxNodes = r.MinNodes + max(0, rapid.IntRange(-2, 3).Draw(t, "more nodes"))
		}
	}
	kind := rapid.IntRange(0, 3).Draw(t, "type")
	if kind == 0 || kind == 3 {
		r.TasksPerNode = rapid.IntRange(1, 6).Draw(t, "tasks per node")
	}
	if kind != 0 {
		r.Cores = max(r.MinNodes, rapid.IntRange(1, 40).Draw(t, "cores"))
	}
	return r
}

// drawTight asks for just what a few nodes have free.
func drawTight(t *rapid.T, tab *nodeset.Table) Request {
	r := Request{MinGPUs: rapid.IntRange(0, 1).Draw(t, "gpus of tight")}
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
		tab := drawTable(t)
		avail := drawMask(t, tab.Len(), "avail")
		r := drawRequest(t, tab.Len())
		if rapid.IntRange(0, 2).Draw(t, "tight") == 0 {
			r = drawTight(t, tab)
		}
		sh, err := r.shape()
		if err != nil {
			t.Skip("contradictory request")
		}
		before := new(nodeset.Table)
		before.CopyFrom(tab)
		segs, ok, err := s.Select(tab, &r, avail, nil)
		require.NoError(t, err)
		require.Equal(t, before, tab, "the table is not changed")

		// The terms of job_details, written out for each type of job.
		q := query{cores: r.Cores, minNodes: sh.minNodes, maxNodes: sh.maxNodes, reqNodes: sh.minNodes, perNode: 1, gpus: r.MinGPUs, contiguous: r.Contiguous}
		if r.MaxNodes > 0 {
			q.reqNodes = sh.maxNodes
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
			if r.TasksPerNode > 0 {
				w.avail[n] = min(w.avail[n], r.TasksPerNode)
			}
			if w.avail[n] < r.TasksPerNode || (q.maxNodes == 1 && w.avail[n] < q.cores) {
				w.avail[n] = 0
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

// meetsRequest checks that an allocation can be made and is what was asked for.
func meetsRequest(t require.TestingT, tab *nodeset.Table, r *Request, sh *shape, segs []nodeset.Segment) {
	copied := new(nodeset.Table)
	copied.CopyFrom(tab)
	require.NoError(t, copied.Allocate(segs))
	nodes := nodeset.Nodes(segs)
	require.GreaterOrEqual(t, nodes, sh.minNodes)
	require.LessOrEqual(t, nodes, sh.maxNodes)
	if r.Cores > 0 {
		require.Equal(t, r.Cores, nodeset.Cores(segs))
	}
	if r.Contiguous {
		require.Equal(t, 1, nodeset.Blocks(segs))
	}
	for _, g := range segs {
		require.GreaterOrEqual(t, int(g.Cores), sh.lo)
		require.LessOrEqual(t, int(g.Cores), sh.hi)
		for n := g.First; n <= g.Last; n++ {
			require.True(t, r.Eligible.Has(int(n)))
		}
	}
	require.NoError(t, CanEverRun(tab, r), "what runs now can run")
}

// canRun tries every set of nodes of a tiny idle machine.
func canRun(tab *nodeset.Table, r *Request, sh *shape) (fewest int) {
	for set := 1; set < 1<<tab.Len(); set++ {
		nodes, first, last, room, ok := 0, -1, -1, 0, true
		for n := range tab.Len() {
			if set>>n&1 == 0 {
				continue
			}
			if first < 0 {
				first = n
			}
			last = n
			nodes++
			c := tab.Total(n)
			ok = ok && r.Eligible.Has(n) && int(c.GPUs) >= sh.minGPUs && int(c.Cores) >= sh.lo
			room += min(int(c.Cores), sh.hi)
		}
		ok = ok && nodes >= sh.minNodes && nodes <= sh.maxNodes && room >= sh.cores
		if ok && !(r.Contiguous && last-first+1 != nodes) && (fewest == 0 || nodes < fewest) {
			fewest = nodes
		}
	}
	return fewest
}

func TestFewestNodesIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := make([]nodeset.Capacity, rapid.IntRange(1, 8).Draw(t, "nodes"))
		for i := range total {
			total[i] = nodeset.Capacity{Cores: uint16(rapid.IntRange(0, 8).Draw(t, "cores")), GPUs: uint8(rapid.IntRange(0, 2).Draw(t, "gpus"))}
		}
		tab := table(t, total, nil)
		r := drawRequest(t, tab.Len())
		sh, err := r.shape()
		if err != nil {
			require.Error(t, CanEverRun(tab, &r))
			return
		}
		n, err := FewestNodes(tab, &r)
		require.Equal(t, canRun(tab, &r, &sh), n)
		require.Equal(t, n == 0, err != nil)
	})
}

func TestCanEverRunSaysWhy(t *testing.T) {
	tab := table(t, []nodeset.Capacity{{Cores: 8, GPUs: 2}, {Cores: 8}, {Cores: 4, GPUs: 1}, {Cores: 8}}, nil)
	only := nodeset.NewMask(4)
	only.Set(2)
	for _, c := range []struct {
		req  Request
		want string
	}{
		{Request{Cores: 28, MinNodes: 4}, ""},
		{Request{Cores: 9, MaxNodes: 1}, "can never run: needs 9 cores on a node, largest has 8"},
		{Request{MinNodes: 1, TasksPerNode: 9}, "can never run: needs 9 cores on a node, largest has 8"},
		{Request{MinNodes: 4, TasksPerNode: 5}, "can never run: needs 4 nodes that can serve it, there are 3"},
		{Request{MinNodes: 3, TasksPerNode: 5, Contiguous: true}, "can never run: needs 3 consecutive nodes that can serve it, there are 2"},
		{Request{Cores: 1, MinGPUs: 3}, "can never run: needs 3 GPUs on a node, most has 2"},
		{Request{Cores: 29}, "can never run: needs 29 cores, its nodes have at most 28"},
		{Request{Cores: 17, MinNodes: 2, MaxNodes: 2}, "can never run: needs 17 cores, its 2 nodes have at most 16"},
		{Request{Cores: 5, Eligible: only}, "can never run: needs 5 cores, its nodes have at most 4"},
		{Request{Cores: 1, Eligible: nodeset.NewMask(4)}, "can never run: it may use no node at all"},
		{Request{Cores: -1}, "cores: -1: must not be negative"},
	} {
		err := CanEverRun(tab, &c.req)
		if c.want == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, c.want)
		}
	}
	tab.SetUp(0, false)
	require.NoError(t, CanEverRun(tab, &Request{Cores: 1, MinGPUs: 2}), "a node that is down comes back")
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
func fragmented(t require.TestingT, n int) (*nodeset.Table, Request) {
	tab, err := nodeset.NewUniform(n, nodeset.Capacity{Cores: 8, GPUs: 2})
	require.NoError(t, err)
	for i := 0; i < n; i += 3 {
		require.NoError(t, tab.SetFree(i, nodeset.Capacity{}))
	}
	return tab, Request{Cores: n, MinNodes: n / 8, MinGPUs: 1}
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
	segs, ok, err := s.Select(machine, &Request{Cores: 10}, nil, nil)
	fmt.Println(segs, ok, err)
	// Output: [{0 1 4 0} {2 2 2 0}] true <nil>
}
