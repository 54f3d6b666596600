// SPDX-License-Identifier: BSD-3-Clause

package place_test

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

func TestMain(m *testing.M) { race.Draws(m) }

// placeTwin tries every set of nodes of a small machine. It returns whether one
// holds the job, and whether one without a gap does: of a range of nodes one of the fewest.
func placeTwin(tab *nodeset.Table, r *bids.Request, sh *place.Spec, gpus int) (any, block bool) {
	fewest := tab.Len()
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
			if none := r.Cores == 0 && r.TasksPerNode == 0; none {
				give = 0
			} else {
				ok = ok && give >= 1
			}
			ok = ok && tab.Up(n) && r.Eligible.Has(n) && int(c.GPUs) >= gpus
			ok = ok && (r.Cores > 0 || give == r.TasksPerNode)
			nodes++
			room += give
		}
		need := r.Cores
		if need == 0 {
			need = nodes * r.TasksPerNode
		}
		ok = ok && room >= need && (need >= nodes || need == 0) && nodes >= r.MinNodes && (r.MaxNodes == 0 || nodes <= r.MaxNodes)
		if sh.Exact() && r.Cores > 0 { // a multiple of the tasks per node: all of them full
			ok = ok && nodes*r.TasksPerNode == r.Cores && room == r.Cores
		}
		if r.Cores == 0 && r.MaxNodes == 0 { // the number of nodes is as given, 1 if it is not
			ok = ok && nodes == max(r.MinNodes, 1)
		}
		if !ok {
			continue
		}
		if any = true; sh.NodesGiven && r.Cores > 0 && !r.Contiguous && nodes < fewest {
			fewest, block = nodes, false
		}
		block = block || last-first+1 == nodes && (nodes <= fewest || r.Contiguous)
	}
	return any, block
}

func TestPlaceFailsOnlyWhereNothingFits(t *testing.T) {
	var p place.Placer
	var l place.Limited
	found, missed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		total := make([]nodeset.Capacity, rapid.IntRange(1, 7).Draw(t, "nodes"))
		for i := range total {
			total[i] = nodeset.Capacity{Cores: uint16(rapid.IntRange(0, 6).Draw(t, "cores")),
				GPUs: uint8(rapid.IntRange(0, 2).Draw(t, "gpus"))}
		}
		tab := draw.Machine(t, total, nil)
		if rapid.IntRange(0, 3).Draw(t, "one down") == 0 {
			tab.SetUp(rapid.IntRange(0, len(total)-1).Draw(t, "down"), false)
		}
		r := requests.DrawAny(t, tab.Len())
		if r.Cores > 0 {
			r.Cores = max(r.MinNodes, r.Cores%16)
		}
		sh, err := place.SpecOf(&r)
		gpus := rapid.IntRange(0, 2).Draw(t, "gpus a node")
		segs, ok := p.Place(nil, l.Of(tab, &sh), &sh, gpus)
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
		require.True(t, requests.Met(&own, segs), "%+v: %v", own, segs)
		require.Equal(t, block, nodeset.Blocks(segs) == 1, "one block if there is one that holds it")
	})
	require.Positive(t, found)
	require.Positive(t, missed)
}

func TestPlacePrefers(t *testing.T) {
	for _, c := range []struct {
		name string
		free []uint16
		req  bids.Request
		want string
	}{
		{"the tightest nodeset", []uint16{8, 8, 8, 0, 8, 8, 0, 8, 8, 8, 8}, bids.Request{Cores: 16}, "4:8 5:8"},
		{"as few nodes as possible if it named none", []uint16{8, 8, 8, 8}, bids.Request{Cores: 10}, "0:8 1:2"},
		{"evenly if it named them", []uint16{8, 8, 8, 8}, bids.Request{Cores: 10, MinNodes: 4}, "0:3 1:3 2:2 3:2"},
		{"the fewest nodesets", []uint16{8, 0, 8, 8, 0, 8, 8, 8}, bids.Request{Cores: 40}, "2:8 3:8 5:8 6:8 7:8"},
		{"nodes with most free cores", []uint16{1, 0, 9, 1, 1, 0, 9, 1}, bids.Request{Cores: 18, MinNodes: 2, MaxNodes: 2}, "2:9 6:9"},
		{"a node that holds all", []uint16{2, 3, 7, 2}, bids.Request{Cores: 7, MaxNodes: 1}, "2:7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var p place.Placer
			spec := requests.Spec(&c.req)
			segs, ok := p.Place(nil, draw.CoresFree(t, c.free...), &spec, 0)
			require.True(t, ok)
			require.Equal(t, c.want, draw.Layout(segs))
		})
	}
}

func TestPlaceAllocatesNothing(t *testing.T) {
	race.Allocates(t)
	tab := draw.HalfBusy(t, 1024)
	spec := requests.Spec(&bids.Request{Cores: 700, MinNodes: 100, MaxNodes: 300, MinGPUs: 1})
	var p place.Placer
	var segs []nodeset.Segment
	ok := false
	run := func() { segs, ok = p.Place(segs[:0], tab, &spec, 1) }
	run()
	require.True(t, ok)
	require.Zero(t, testing.AllocsPerRun(20, run))
}

// A placer finds one place for one job.
func ExamplePlacer_Place() {
	machine, _ := nodeset.NewUniform(6, nodeset.Capacity{Cores: 4, GPUs: 2})
	_ = machine.Allocate([]nodeset.Segment{{First: 0, Last: 0, Cores: 3}, {First: 3, Last: 3, Cores: 4}})
	request := bids.Request{Cores: 7, MinNodes: 2, MaxNodes: 2, MinGPUs: 2}
	spec, err := place.SpecOf(&request)
	if err != nil {
		panic(err)
	}
	var p place.Placer
	segs, ok := p.Place(nil, machine, &spec, 2)
	fmt.Println(segs, ok)
	// Output: [{4 4 4 2} {5 5 3 2}] true
}
