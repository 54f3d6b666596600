// SPDX-License-Identifier: BSD-3-Clause

package bids

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/internal/race"
	"github.com/aucsched/aucsched/nodeset"
)

// placeTwin tries every set of nodes of a small machine. It returns whether one
// holds the job, and whether one without a gap does.
func placeTwin(tab *nodeset.Table, r *Request, sh *shape, gpus int) (any, block bool) {
	for set := 1; set < 1<<tab.Len(); set++ {
		nodes, room, first, last, ok := 0, 0, -1, -1, true
		for n := range tab.Len() {
			if set>>n&1 == 0 {
				continue
			}
			if first < 0 {
				first = n
			}
			last = n
			c := tab.Free(n)
			give := int(c.Cores)
			if r.TasksPerNode > 0 {
				give = min(give, r.TasksPerNode)
			}
			ok = ok && tab.Up(n) && r.Eligible.Has(n) && int(c.GPUs) >= gpus && give >= 1
			ok = ok && (r.Cores > 0 || give == r.TasksPerNode)
			nodes++
			room += give
		}
		need := r.Cores
		if need == 0 {
			need = nodes * r.TasksPerNode
		}
		ok = ok && room >= need && need >= nodes && nodes >= r.MinNodes && (r.MaxNodes == 0 || nodes <= r.MaxNodes)
		if sh.perNode && r.Cores > 0 { // a multiple of the tasks per node: all of them full
			ok = ok && nodes*r.TasksPerNode == r.Cores && room == r.Cores
		}
		if r.Cores == 0 && r.MaxNodes == 0 { // the number of nodes is as given, 1 if it is not
			ok = ok && nodes == max(r.MinNodes, 1)
		}
		if ok {
			any = true
			block = block || last-first+1 == nodes
		}
	}
	return any, block
}

func TestPlaceFailsOnlyWhereNothingFits(t *testing.T) {
	var p Placer
	found, missed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		total := make([]nodeset.Capacity, rapid.IntRange(1, 7).Draw(t, "nodes"))
		for i := range total {
			total[i] = nodeset.Capacity{Cores: uint16(rapid.IntRange(0, 6).Draw(t, "cores")), GPUs: uint8(rapid.IntRange(0, 2).Draw(t, "gpus"))}
		}
		tab := table(t, total, nil)
		if rapid.IntRange(0, 3).Draw(t, "one down") == 0 {
			tab.SetUp(rapid.IntRange(0, len(total)-1).Draw(t, "down"), false)
		}
		r := drawRequest(t, tab.Len())
		if r.Cores > 0 {
			r.Cores = max(r.MinNodes, r.Cores%16)
		}
		sh, err := r.shape()
		gpus := rapid.IntRange(0, 2).Draw(t, "gpus a node")
		segs, ok := p.Place(nil, tab, &r, gpus)
		if err != nil {
			require.False(t, ok)
			return
		}
		any, block := placeTwin(tab, &r, &sh, gpus)
		if r.Contiguous {
			any = block
		}
		require.Equal(t, any, ok, "%+v", r)
		if !ok {
			missed++
			return
		}
		found++
		require.NoError(t, tab.Allocate(segs))
		own := r // Place may be asked for any number of GPUs
		own.MinGPUs, own.MaxGPUs = gpus, gpus
		meets(t, &own, segs)
		require.Equal(t, block, nodeset.Blocks(segs) == 1, "one block if there is one that holds it")
	})
	require.Positive(t, found)
	require.Positive(t, missed)
}

func TestPlacePrefers(t *testing.T) {
	for _, c := range []struct {
		name string
		free []uint16
		req  Request
		want string
	}{
		{"the tightest nodeset", []uint16{8, 8, 8, 0, 8, 8, 0, 8, 8, 8, 8}, Request{Cores: 16}, "4:8 5:8"},
		{"as few nodes as possible if it named none", []uint16{8, 8, 8, 8}, Request{Cores: 10}, "0:8 1:2"},
		{"evenly if it named them", []uint16{8, 8, 8, 8}, Request{Cores: 10, MinNodes: 4}, "0:3 1:3 2:2 3:2"},
		{"the fewest nodesets", []uint16{8, 0, 8, 8, 0, 8, 8, 8}, Request{Cores: 40}, "2:8 3:8 5:8 6:8 7:8"},
		{"nodes with most free cores", []uint16{1, 0, 9, 1, 1, 0, 9, 1}, Request{Cores: 18, MinNodes: 2, MaxNodes: 2}, "2:9 6:9"},
		{"a node that holds all", []uint16{2, 3, 7, 2}, Request{Cores: 7, MaxNodes: 1}, "2:7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var p Placer
			segs, ok := p.Place(nil, coresFree(t, c.free...), &c.req, 0)
			require.True(t, ok)
			require.Equal(t, c.want, layoutOf(segs))
		})
	}
}

// spreadTwin deals cores one by one: to every node the fewest that it may give,
// the others to the first node with room (packUp), to the last (packDown) or to
// the first of those that have least (level).
func spreadTwin(s *shape, free []uint16, nodes []int, l layout) map[int]int {
	out := map[int]int{}
	left := s.cores
	for _, n := range nodes {
		out[n] = s.lo
		left -= s.lo
	}
	for ; left > 0; left-- {
		at := -1
		for _, n := range nodes {
			switch {
			case out[n] >= min(int(free[n]), s.hi):
			case at < 0, l == packDown, l == level && out[n] < out[at]:
				at = n
			}
		}
		out[at]++
	}
	return out
}

func TestSpreadIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := shape{lo: 1, hi: rapid.IntRange(1, 12).Draw(t, "most a node")}
		s.perNode = rapid.IntRange(0, 3).Draw(t, "type 3") == 0
		if s.perNode {
			s.lo = s.hi
		}
		var free []uint16
		var nodes []int
		var spans []span
		room := 0
		for n := range rapid.IntRange(1, 12).Draw(t, "nodes") {
			f := rapid.SampledFrom([]int{s.lo, min(s.lo+1, 14), rapid.IntRange(s.lo, 14).Draw(t, "any"), 14}).Draw(t, "free")
			free = append(free, uint16(f))
			if rapid.IntRange(0, 3).Draw(t, "left out") == 0 {
				continue
			}
			nodes = append(nodes, n)
			room += min(f, s.hi)
			if k := len(spans); k > 0 && spans[k-1].last == n-1 && rapid.Bool().Draw(t, "same span") {
				spans[k-1].last = n
			} else {
				spans = append(spans, span{n, n})
			}
		}
		if len(nodes) == 0 {
			return
		}
		s.cores = rapid.IntRange(len(nodes), room).Draw(t, "cores")
		if s.perNode {
			s.cores = len(nodes) * s.lo
		}
		l := layout(rapid.IntRange(0, 2).Draw(t, "layout"))
		want := spreadTwin(&s, free, nodes, l)
		if s.perNode && rapid.Bool().Draw(t, "cores not given") {
			s.cores = 0
		}
		before := []nodeset.Segment{{First: 0, Last: 0, Cores: 99}}
		all := s.spread(before, s.pieces(nil, coresFree(t, free...), spans), l, 3)
		require.Equal(t, before, all[:1], "what is in the slice stays as it is")
		require.NoError(t, nodeset.CheckSegments(all[1:], len(free)))
		got, cores, gpus := perNode(all[1:])
		require.Equal(t, nodes, got)
		require.Equal(t, want, cores)
		for _, n := range nodes {
			require.Equal(t, 3, gpus[n])
		}
	})
}

func TestPlaceAllocatesNothing(t *testing.T) {
	race.Allocates(t)
	tab := halfBusy(t, 1024)
	r := &Request{Cores: 700, MinNodes: 100, MaxNodes: 300, MinGPUs: 1}
	var p Placer
	var segs []nodeset.Segment
	ok := false
	run := func() { segs, ok = p.Place(segs[:0], tab, r, 1) }
	run()
	require.True(t, ok)
	require.Zero(t, testing.AllocsPerRun(20, run))
}
