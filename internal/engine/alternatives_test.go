// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// fourNodes is one job that is too large for what is free of four nodes, with alternatives.
func fourNodes(alternatives ...Alternative) *Input {
	in := &Input{Jobs: []Job{{Priority: 1, Cores: 30, TimeLimit: 60, Mask: -1}}, Alternatives: alternatives}
	for range 4 {
		in.Nodes = append(in.Nodes, Node{Cores: 8, FreeCores: 7, GPUs: 2, FreeGPUs: 2, Up: 1})
	}
	return in
}

func TestAnAlternativeWins(t *testing.T) {
	e := open(t, "reservations=0")
	var out Output
	require.NoError(t, e.Cycle(fourNodes(), &out))
	require.Zero(t, out.Starts)
	in := fourNodes(
		Alternative{Cores: 29, Mask: -1},
		Alternative{Cores: 6, MinNodes: 2, MaxNodes: 2, CoresPerNode: 3, MinGPUs: 1, MaxGPUs: 2, Flags: Contiguous, Mask: -1},
	)
	require.NoError(t, e.Cycle(in, &out))
	require.NoError(t, check(in, &out))
	require.Equal(t, 1, out.Starts)
	require.Equal(t, uint8(2), out.Decisions[0].Alternative)
	require.Equal(t, []Segment{{First: out.Segments[0].First, Last: out.Segments[0].First + 1, Cores: 3, GPUs: 2}}, out.Segments)

	require.NoError(t, e.Cycle(fourNodes(), &out))
	require.Zero(t, out.Starts, "the alternatives of the cycle before are forgotten")
}

func TestNodesOfAnAlternative(t *testing.T) {
	for _, c := range []struct {
		mask int32
		want uint32 // its first node
	}{{-1, 2}, {0, 2}, {1, 0}} {
		in := fourNodes(Alternative{Cores: 14, MinNodes: 2, MaxNodes: 2, Mask: c.mask})
		in.Masks, in.MaskCount, in.MaskWords = []uint64{0b1100, 0b0011}, 2, 1
		in.Jobs[0].Mask = 0
		var out Output
		require.NoError(t, open(t, "").Cycle(in, &out))
		require.NoError(t, check(in, &out))
		require.Equal(t, []Segment{{First: c.want, Last: c.want + 1, Cores: 7}}, out.Segments)
	}
}

func TestAlternativeFaults(t *testing.T) {
	good := Alternative{Cores: 4, Mask: -1}
	valid := func() *Input {
		in := fourNodes(good, good)
		in.Jobs = append(in.Jobs, in.Jobs[0])
		in.Alternatives[1].Job = 1
		return in
	}
	var out Output
	require.NoError(t, open(t, "").Cycle(valid(), &out))
	for want, c := range map[string]struct {
		odd   int // the job that is left out, or -1
		spoil func(in *Input)
	}{
		"alternatives[1].job: 2: there are 2 jobs":          {-1, func(in *Input) { in.Alternatives[1].Job = 2 }},
		"alternatives[0].job: 4294967295: there are 2 jobs": {-1, func(in *Input) { in.Alternatives[0].Job = 1<<32 - 1 }},
		"alternatives[1].job: 0: must be at least 1": {0,
			func(in *Input) { in.Alternatives[0].Job, in.Alternatives[1].Job = 1, 0 }},
		"alternatives[0].cores: 0: must be at least 1": {0, func(in *Input) { in.Alternatives[0].Cores = 0 }},
		"alternatives[1].min_nodes: 1048577: must be at most": {1,
			func(in *Input) { in.Alternatives[1].MinNodes = MaxNodes + 1 }},
		"alternatives[1].max_nodes: 1: is below min_nodes, 2": {1,
			func(in *Input) { in.Alternatives[1].MinNodes, in.Alternatives[1].MaxNodes = 2, 1 }},
		"alternatives[0].cores_per_node: 3: does not divide its 4 cores":    {0, func(in *Input) { in.Alternatives[0].CoresPerNode = 3 }},
		"alternatives[0].max_gpus: 0: is below min_gpus, 1":                 {0, func(in *Input) { in.Alternatives[0].MinGPUs = 1 }},
		"alternatives[0].flags: 2: has unknown bits":                        {0, func(in *Input) { in.Alternatives[0].Flags = 2 }},
		"alternatives[0].reserved: 1: must be 0":                            {0, func(in *Input) { in.Alternatives[0].Reserved = 1 }},
		"alternatives[0].mask: 0: must be -1, or the index of one of the 0": {0, func(in *Input) { in.Alternatives[0].Mask = 0 }},
		"alternatives[9].job: 1: has more than 8 alternatives":              {1, func(in *Input) { in.repeat(9, 1) }},
		"alternatives[9].job: 1: has more than 8":                           {1, func(in *Input) { in.repeat(16, 1) }},
	} {
		t.Run(want, func(t *testing.T) {
			in := valid()
			c.spoil(in)
			out := decideInSpite(t, open(t, ""), in, c.odd, want)
			for j, d := range out.Decisions {
				require.Equal(t, j == c.odd, d.Why == Faulty, "job %d", j)
			}
		})
	}
	in := valid()
	in.repeat(8, 1) // as many as may be
	require.NoError(t, open(t, "").Cycle(in, &out))
}

// repeat gives job j, the last one, n alternatives.
func (in *Input) repeat(n, j int) {
	last := in.Alternatives[len(in.Alternatives)-1]
	in.Alternatives = in.Alternatives[:1]
	for range n {
		last.Job = uint32(j)
		in.Alternatives = append(in.Alternatives, last)
	}
}
