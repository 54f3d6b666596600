// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// countShare counts the share that a start takes, by node and bin.
func countShare(j *Job, segs []Segment, taken map[[2]uint32]uint64) error {
	if j.Share == 0 {
		return nil
	}
	if len(segs) != 1 || segs[0].First != segs[0].Last || segs[0].GPUs != 0 {
		return fmt.Errorf("a share on %+v", segs)
	}
	taken[[2]uint32{segs[0].First, uint32(segs[0].Bin)}] += uint64(j.Share)
	return nil
}

// checkShares reports a GPU of which more is taken than is free, and adds those that begin to be
// shared to gpus, which are taken.
func checkShares(in *Input, taken map[[2]uint32]uint64, gpus []int) error {
	for at, sum := range taken {
		node, bin := at[0], at[1]
		i := slices.IndexFunc(in.SharedGPUs, func(g SharedGPU) bool { return g.Node == node && uint32(g.Bin) == bin })
		free := uint64(in.ShareSizes[node])
		if i >= 0 {
			free = uint64(in.SharedGPUs[i].Free)
		} else {
			gpus[node]++
		}
		if bin == 0 || bin > 2*uint32(in.Nodes[node].GPUs) || sum > free {
			return fmt.Errorf("node %d: %d of the %d free shares of GPU %d of %d", node, sum, free, bin, in.Nodes[node].GPUs)
		}
	}
	return nil
}

// addShares has jobs ask for shares of GPUs, and puts some GPUs that are free in shared use, by
// running jobs too.
func (in *Input) addShares(rng *rand.Rand) {
	sizes := []uint32{0, 1, 4, 100}
	for n := range in.Nodes {
		in.ShareSizes = append(in.ShareSizes, sizes[rng.IntN(1+min(n, 3))])
	}
	for n := range in.Nodes {
		node, size := &in.Nodes[n], in.ShareSizes[n]
		for bin := uint8(1); bin <= 2*node.GPUs && node.FreeGPUs > 0 && size > 0; bin++ {
			if rng.IntN(3) > 0 {
				continue
			}
			node.FreeGPUs--
			g := SharedGPU{Node: uint32(n), Bin: bin, Free: rng.Uint32N(size)}
			for left := size - g.Free; left > 0 && node.FreeCores > 0 && rng.IntN(3) > 0; {
				share := 1 + rng.Uint32N(left)
				left -= share
				node.FreeCores--
				in.Running = append(in.Running, Running{End: in.Now + rng.Int64N(5000), FirstSegment: uint32(len(in.Segments)),
					Segments: 1, Share: share})
				in.Segments = append(in.Segments, Segment{First: g.Node, Last: g.Node, Cores: 1, Bin: bin})
			}
			in.SharedGPUs = append(in.SharedGPUs, g)
		}
	}
	for i := range in.Jobs {
		if j := &in.Jobs[i]; rng.IntN(2) == 0 {
			j.Share, j.MinGPUs, j.MaxGPUs, j.MinNodes, j.MaxNodes = 1+rng.Uint32N(40), 0, 0, 1, 1
			j.Cores, j.CoresPerNode = 1+j.Cores%8, 0
			if rng.IntN(4) > 0 {
				j.Share = 1 + rng.Uint32N(3)
			}
		}
	}
	for i := range in.Alternatives {
		if a := &in.Alternatives[i]; rng.IntN(2) == 0 {
			a.Share, a.MinGPUs, a.MaxGPUs, a.MinNodes, a.MaxNodes, a.CoresPerNode = 1+rng.Uint32N(3), 0, 0, 1, 1, 0
		}
	}
}

// repairShares makes shares those of GPUs that there are, and drops those of running jobs.
func (in *Input) repairShares() {
	if len(in.ShareSizes) < len(in.Nodes) {
		in.ShareSizes = nil
	}
	in.ShareSizes = in.ShareSizes[:min(len(in.ShareSizes), len(in.Nodes))]
	for i := range in.Running {
		in.Running[i].Share, in.Running[i].PreemptClass = 0, in.Running[i].PreemptClass%64
	}
	for i := range in.Segments {
		in.Segments[i].Bin = 0
	}
	share := func(s *uint32, most *uint32, least, gpus *uint8, nodes *uint32) {
		if *s %= 1 << 20; len(in.ShareSizes) == 0 || *nodes > 1 {
			*s = 0
		} else if *s > 0 {
			*most, *least, *gpus = 1, 0, 0
		}
	}
	for i := range in.Jobs {
		if j := &in.Jobs[i]; j.CoresPerNode == 0 && j.Segment < 2 {
			share(&j.Share, &j.MaxNodes, &j.MinGPUs, &j.MaxGPUs, &j.MinNodes)
		} else {
			j.Share = 0
		}
	}
	for i := range in.Alternatives {
		a := &in.Alternatives[i]
		share(&a.Share, &a.MaxNodes, &a.MinGPUs, &a.MaxGPUs, &a.MinNodes)
	}
	given := in.SharedGPUs
	in.SharedGPUs = nil
	slices.SortFunc(given, func(a, b SharedGPU) int { return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Bin, b.Bin)) })
	for _, g := range slices.Compact(given) {
		if len(in.ShareSizes) == 0 || int(g.Node) >= len(in.Nodes) || g.Bin == 0 {
			continue
		}
		last, n := len(in.SharedGPUs)-1, &in.Nodes[g.Node]
		twice := last >= 0 && in.SharedGPUs[last].Node == g.Node && in.SharedGPUs[last].Bin == g.Bin
		if !twice && g.Bin <= 2*n.GPUs && n.FreeGPUs > 0 && g.Free < in.ShareSizes[g.Node] {
			n.FreeGPUs--
			in.SharedGPUs = append(in.SharedGPUs, g)
		}
	}
}

// siteOfShares is a node with two GPUs of four shares each, of which a job has three of one until
// second 200, and jobs that want so many shares each.
func siteOfShares(shares ...uint32) *Input {
	in := &Input{Now: 100, Nodes: []Node{{Cores: 16, FreeCores: 15, GPUs: 2, FreeGPUs: 1, Up: 1}}, ShareSizes: []uint32{4},
		SharedGPUs: []SharedGPU{{Bin: 3, Free: 1}}, Running: []Running{{End: 200, Segments: 1, Share: 3}},
		Segments: []Segment{{Cores: 1, Bin: 3}}}
	for i, share := range shares {
		in.Jobs = append(in.Jobs, Job{Priority: uint64(99 - i), Cores: 1, MaxNodes: 1, TimeLimit: 60, Share: share, Mask: -1})
	}
	return in
}

func TestShares(t *testing.T) {
	e, in := open(t, ""), siteOfShares(1, 3, 1, 5)
	var out Output
	for range 2 {
		require.NoError(t, e.Cycle(in, &out))
		require.NoError(t, check(in, &out))
		require.Zero(t, out.Faults, "%v", out.Fault)
		require.Equal(t, []uint8{Starts, Starts, Starts, WaitsNever}, whys(&out))
		bins := []uint8{out.Segments[0].Bin, out.Segments[1].Bin, out.Segments[2].Bin}
		require.Contains(t, bins, uint8(3), "the share that is left of the GPU in shared use")
		require.NotEqual(t, uint8(3), bins[1])
	}

	in.Jobs[1].Share = 4
	require.NoError(t, e.Cycle(in, &out))
	require.NoError(t, check(in, &out))
	require.Equal(t, []uint8{Starts, Starts, WaitsReserved, WaitsNever}, whys(&out))
	require.EqualValues(t, 160, out.Decisions[2].Expected, "when the first one of the queue has ended")

	in.Jobs[0].Share, in.Jobs[0].MinGPUs, in.Jobs[0].MaxGPUs, in.Jobs[0].TimeLimit = 0, 1, 1, 900
	require.NoError(t, e.Cycle(in, &out))
	require.NoError(t, check(in, &out))
	require.Equal(t, Decision{Why: WaitsReserved, Expected: 200}, out.Decisions[1], "the other GPU is whole again then")

	in.SharedGPUs, in.Running, in.Nodes[0].FreeGPUs, in.Nodes[0].FreeCores = nil, nil, 2, 16
	require.NoError(t, e.Cycle(in, &out))
	require.NoError(t, check(in, &out))
	require.Equal(t, Starts, out.Decisions[1].Why, "no GPU is in shared use any more")
	in.ShareSizes = nil
	require.NoError(t, e.Cycle(in, &out))
	require.Equal(t, []int{3, 3, 1}, []int{out.Faults, out.LeftOut, out.Starts})
	require.EqualError(t, out.Fault, "jobs[1].share: 4: there are no share_sizes")
}

// One that asks for another share otherwise gets that.
func TestSharesOfAlternatives(t *testing.T) {
	in := siteOfShares(1, 4, 4)
	in.Alternatives = []Alternative{{Job: 2, Cores: 2, MaxNodes: 1, Share: 1, Mask: -1}}
	in.SharedGPUs[0].Free, in.Running[0].Share = 2, 2
	var out Output
	require.NoError(t, open(t, "").Cycle(in, &out))
	require.NoError(t, check(in, &out))
	require.Equal(t, []uint8{Starts, Starts, Starts}, whys(&out))
	require.EqualValues(t, 1, out.Decisions[2].Alternative)
}

func twiceShared(in *Input) { in.SharedGPUs = append(in.SharedGPUs, in.SharedGPUs[0]) }

func TestFaultsOfShares(t *testing.T) {
	for words, c := range map[string]struct {
		spoil   func(in *Input)
		whole   bool
		leftOut int
	}{
		"share_sizes: 2: there must be one for each of 1 nodes": {func(in *Input) { in.ShareSizes = []uint32{4, 4} }, true, 0},
		"share_sizes[0].size: 2147483648: must be at most":      {func(in *Input) { in.ShareSizes[0] = 1 << 31 }, true, 0},
		"shared_gpus: 1: there are no share_sizes":              {func(in *Input) { in.ShareSizes = nil }, true, 0},
		"resources: 64: there must be at most 63 beside": {func(in *Input) {
			in.Resources, in.Amounts = 64, make([]Amount, 64)
		}, true, 0},
		"shared_gpus[0].node: 1: there are 1 nodes":                       {func(in *Input) { in.SharedGPUs[0].Node = 1 }, true, 0},
		"shared_gpus[0].bin: 5: must be 1 to 4 on a node with 2 GPUs":     {func(in *Input) { in.SharedGPUs[0].Bin = 5 }, true, 0},
		"shared_gpus[0].bin: 0: must be 1 to 4":                           {func(in *Input) { in.SharedGPUs[0].Bin = 0 }, true, 0},
		"shared_gpus[0].free: 4: must be less than the 4":                 {func(in *Input) { in.SharedGPUs[0].Free = 4 }, true, 0},
		"shared_gpus[0].node: 0: has 2 GPUs, of which 2 are free":         {func(in *Input) { in.Nodes[0].FreeGPUs = 2 }, true, 0},
		"shared_gpus[0].reserved: 7: must be 0":                           {func(in *Input) { in.SharedGPUs[0].Reserved[1] = 7 }, true, 0},
		"shared_gpus[1].bin: 3: must be above 3":                          {twiceShared, true, 0},
		"running_segments[0].bin: 2: node 0 has no such shared_gpus":      {func(in *Input) { in.Segments[0].Bin = 2 }, false, 0},
		"running_segments[0].bin: 0: node 0 has no such shared_gpus":      {func(in *Input) { in.Segments[0].Bin = 0 }, false, 0},
		"running_segments[0].bin: 3: it has 4 shares, of which 1 are fre": {func(in *Input) { in.Running[0].Share = 4 }, false, 0},
		"running_segments[0].bin: 3: the job has no share":                {func(in *Input) { in.Running[0].Share = 0 }, false, 0},
		"running_segments[0].gpus: 1: node 0 has 2 GPUs, of which 1":      {func(in *Input) { in.Segments[0].GPUs = 1 }, false, 0},
		"running[0].reserved: 1: must be 0":                               {func(in *Input) { in.Running[0].Reserved[1] = 1 }, false, 0},
		"jobs[0].share: 2147483648: must be at most":                      {func(in *Input) { in.Jobs[0].Share = 1 << 31 }, false, 1},
		"jobs[0].max_nodes: 0: must be 1: a share":                        {func(in *Input) { in.Jobs[0].MaxNodes = 0 }, false, 1},
		"jobs[0].max_gpus: 1: must be 0: a job with a share":              {func(in *Input) { in.Jobs[0].MaxGPUs = 1 }, false, 1},
		"alternatives[0].max_nodes: 2: must be 1": {func(in *Input) {
			in.Alternatives = []Alternative{{Cores: 1, MaxNodes: 2, Share: 1, Mask: -1}}
		}, false, 1},
	} {
		t.Run(words, func(t *testing.T) {
			e, in := open(t, ""), siteOfShares(1)
			c.spoil(in)
			var out Output
			err := e.Cycle(in, &out)
			if c.whole {
				require.ErrorContains(t, err, words)
				require.NoError(t, e.Cycle(siteOfShares(1), &out), "the engine can be used again")
				return
			}
			require.NoError(t, err)
			require.NoError(t, check(in, &out))
			require.ErrorContains(t, out.Fault, words)
			require.Equal(t, []int{1, c.leftOut}, []int{out.Faults, out.LeftOut})
		})
	}
}

// What a running job with a fault holds of a GPU never comes back.
func TestAShareWithAFaultStays(t *testing.T) {
	in := siteOfShares(4, 4)
	e := open(t, "")
	var out Output
	require.NoError(t, e.Cycle(in, &out))
	require.Equal(t, Decision{Why: WaitsReserved, Expected: 160}, out.Decisions[1], "two GPUs at 200, one at 160")
	in.Jobs[0].TimeLimit, in.Running[0].Price = NoLimit, 1<<41
	require.NoError(t, e.Cycle(in, &out))
	require.EqualError(t, out.Fault, "running[0].price: 2199023255552: must be at most 1099511627776")
	require.NotEqual(t, int64(200), out.Decisions[1].Expected)
}
