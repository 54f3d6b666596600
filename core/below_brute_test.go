// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/test/draw"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/nodeset"
)

// smallTree draws a topology of up to six leaves below up to two rows, and one root or two.
func smallTree(t require.TestingT, rng *rand.Rand, n int) *nodeset.Topology {
	k, rows := 1+rng.IntN(6), 1+rng.IntN(2)
	runs := rng.IntN(2) == 0
	var switches []draw.Switch
	for i := range k {
		switches = append(switches, draw.Switch{Name: fmt.Sprint(i), Parent: k + i%rows, Nodes: nodeset.NewMask(n)})
	}
	for node := range n {
		if leaf := node * k / n; runs {
			switches[leaf].Nodes.Set(node)
		} else if leaf = rng.IntN(k + 1); leaf < k {
			switches[leaf].Nodes.Set(node)
		}
	}
	root := -1
	if rng.IntN(3) > 0 {
		root = k + rows
	}
	for range rows {
		switches = append(switches, draw.Switch{Parent: root})
	}
	if root >= 0 {
		switches = append(switches, draw.Switch{Parent: -1})
	}
	tree, err := draw.Topology(n, switches)
	require.NoError(t, err)
	return tree
}

// smallBelow draws a machine of at most nine nodes, part of which is taken, below switches, and a
// job that demands something of these.
func smallBelow(t require.TestingT, rng *rand.Rand) *Snapshot {
	n, cores, gpus := 2+rng.IntN(8), 1+rng.IntN(4), rng.IntN(3)
	total := make([]nodeset.Capacity, n)
	odd := rng.IntN(2) == 0
	for i := range total {
		total[i] = nodeset.Capacity{Cores: uint16(cores), GPUs: uint8(gpus)}
		if odd {
			total[i] = nodeset.Capacity{Cores: uint16(1 + rng.IntN(cores)), GPUs: uint8(rng.IntN(gpus + 1))}
		}
	}
	nodes, err := nodeset.New(total)
	require.NoError(t, err)
	s := &Snapshot{Nodes: nodes, Topology: smallTree(t, rng, n)}
	for i := range n {
		if taken := rng.IntN(2*cores + 1); taken > 0 && taken <= int(total[i].Cores) {
			held := uint8(rng.IntN(int(total[i].GPUs) + 1))
			segs := []nodeset.Segment{{First: int32(i), Last: int32(i), Cores: uint16(taken), GPUs: held}}
			require.NoError(t, nodes.Allocate(segs))
			s.Running = append(s.Running, Running{ID: fmt.Sprint("R", i), End: 1000, Segs: segs})
		}
	}
	s.Pending = []*Job{{ID: "J", Priority: 1, TimeLimit: 10, Request: smallDemand(rng, n, cores, gpus)}}
	if r := &s.Pending[0].Request; r.Cores > 0 && rng.IntN(2) == 0 {
		r.Cores = max(r.MinNodes, 1, freeCoresOf(nodes, max(r.MaxNodes, r.MinNodes, 1))-rng.IntN(3))
		r.MaxNodes = min(r.MaxNodes, r.Cores)
	}
	return s
}

// freeCoresOf is how many cores so many nodes have free at most.
func freeCoresOf(t *nodeset.Table, nodes int) (sum int) {
	free := slices.Sorted(slices.Values(t.FreeCores()))
	for _, c := range free[max(0, len(free)-nodes):] {
		sum += int(c)
	}
	return sum
}

func smallDemand(rng *rand.Rand, n, cores, gpus int) bids.Request {
	r := bids.Request{Contiguous: rng.IntN(4) == 0}
	y := 1 + rng.IntN(n)
	switch rng.IntN(3) {
	case 0:
		r.Cores = 1 + rng.IntN(y*cores)
	case 1:
		r.MinNodes, r.MaxNodes = y, y+rng.IntN(3)
		r.Cores = r.MaxNodes + rng.IntN(y*cores)
	default:
		r.MinNodes, r.TasksPerNode = y, 1+rng.IntN(cores)
	}
	if gpus > 0 && rng.IntN(3) == 0 {
		r.MinGPUs = rng.IntN(gpus + 1)
		r.MaxGPUs = r.MinGPUs + rng.IntN(gpus+1-r.MinGPUs)
	}
	if rng.IntN(2) == 0 {
		r.Switches = 1 + rng.IntN(3)
	}
	if rng.IntN(2) == 0 {
		r.Within = 1 + rng.IntN(3)
	}
	if fixed := r.TasksPerNode > 0 || r.MinNodes > 0 && r.MinNodes == r.MaxNodes; fixed && rng.IntN(2) == 0 {
		if k := 2 + rng.IntN(2); r.MinNodes%k == 0 {
			r.Segment = k
		}
	}
	return r
}

// couldBePlaced looks at every set of nodes: whether there is one that could give what the request
// asks for, and lies below switches as it demands.
func couldBePlaced(s *Snapshot, r *bids.Request) bool {
	n := s.Nodes.Len()
	for set := 1; set < 1<<n; set++ {
		var segs []nodeset.Segment
		cores, least, enough := 0, max(r.TasksPerNode, 1), true
		for i := range n {
			if set>>i&1 == 0 {
				continue
			}
			free := s.Nodes.Free(i)
			enough = enough && int(free.Cores) >= least && int(free.GPUs) >= r.MinGPUs
			cores += int(free.Cores)
			segs = append(segs, nodeset.Segment{First: int32(i), Last: int32(i)})
		}
		k := len(segs)
		fits := enough && k >= r.MinNodes && (r.MaxNodes == 0 || k <= r.MaxNodes)
		if r.TasksPerNode > 0 {
			fits = fits && k == r.MinNodes
		} else {
			fits = fits && cores >= r.Cores && k <= r.Cores
		}
		if r.Contiguous {
			fits = fits && int(segs[k-1].First-segs[0].First) == k-1
		}
		if fits && checkBelow(s.Topology, r, segs) == nil {
			return true
		}
	}
	return false
}

// maybeMissed reports whether a job may be missed though some allocation is within its demands: one
// of several segments whose nodes give what they have, as which nodes of a leaf these are is not
// searched; and one of several leaves, but not any number, that differ.
func maybeMissed(r *bids.Request) bool {
	return r.TasksPerNode == 0 && (r.Segment > 0 && r.Segment < r.MinNodes || r.Switches > 1)
}

// On machines small enough to look at every set of nodes, demands of switches are kept to, and a
// job starts exactly if there is a set that could be its own.
func TestDemandsOfSwitchesBruteForce(t *testing.T) {
	a := auctionOf(t, func(*AuctionOptions) {})
	could, waits, missed := 0, 0, 0
	seeds := uint64(20_000)
	if race.Enabled {
		seeds = 2000
	}
	for seed := range seeds {
		s := smallBelow(t, rand.New(rand.NewPCG(seed, 77)))
		r := &s.Pending[0].Request
		p := decideOn(t, a, s)
		require.NoError(t, Verify(s, p), "seed %d", seed)
		got, want := p.Decisions[0].Start, couldBePlaced(s, r)
		if want && !got && maybeMissed(r) {
			missed++
			continue
		}
		require.Equal(t, want, got, "seed %d: %+v", seed, r)
		if want {
			could++
		} else {
			waits++
		}
	}
	t.Logf("%d start, %d have no place, %d were missed", could, waits, missed)
	require.Greater(t, could, int(seeds/4))
	require.Greater(t, waits, int(seeds/8))
	require.LessOrEqual(t, missed, int(seeds/2000))
}

// Of several jobs, none of which is worth less than all that come after it, the first starts if it
// could be placed on the machine as it is.
func TestFirstOfSeveralBelowSwitches(t *testing.T) {
	a, firsts := auctionOf(t, func(*AuctionOptions) {}), 0
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 78))
		s := smallBelow(t, rng)
		n := s.Nodes.Len()
		for i := range 1 + rng.IntN(4) {
			job := &Job{ID: fmt.Sprint("J", i), Priority: 1000 >> (2 * i), TimeLimit: 10, Request: smallDemand(rng, n, 3, 1)}
			s.Pending = append(s.Pending, job)
		}
		s.Pending[0].Priority = 10_000
		p := decideOn(t, a, s)
		require.NoError(t, Verify(s, p), "seed %d", seed)
		if r := &s.Pending[0].Request; !maybeMissed(r) && couldBePlaced(s, r) {
			require.Contains(t, nodesOf(p), 0, "seed %d", seed)
			firsts++
		}
	}
	require.Greater(t, firsts, 500)
}
