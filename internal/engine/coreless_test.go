// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestJobsWithoutCores has jobs that take GPUs, a share of one or memory start where no core is
// free.
func TestJobsWithoutCores(t *testing.T) {
	in := &Input{
		Nodes:     []Node{{Cores: 8, GPUs: 2, FreeGPUs: 2, Up: 1}, {Cores: 8, FreeCores: 1, GPUs: 2, FreeGPUs: 1, Up: 1}},
		Resources: 1, Amounts: []Amount{{Total: 10, Free: 4}, {Total: 10, Free: 10}},
		ShareSizes: []uint32{4, 4},
		Running:    []Running{{End: 50, Segments: 1}},
		Segments:   []Segment{{First: 1, Last: 1, GPUs: 1}},
		Jobs: []Job{
			{Priority: 5, MinGPUs: 1, MaxGPUs: 1, MinNodes: 2, TimeLimit: 9, Mask: -1},
			{Priority: 4, Share: 3, MinNodes: 1, MaxNodes: 1, TimeLimit: 9, Mask: -1},
			{Priority: 3, TimeLimit: 9, Mask: -1},
			{Priority: 2, Cores: 1, TimeLimit: 9, Mask: -1},
			{Priority: 1, TimeLimit: 9, Mask: -1},
		},
		JobUses: []Use{{Of: 2, PerNode: 8}},
	}
	var out Output
	require.NoError(t, open(t, "").Cycle(in, &out))
	require.NoError(t, check(in, &out))
	require.EqualError(t, out.Fault, "jobs[4].cores: 0: must be at least 1 for who takes nothing else of each node")
	require.Equal(t, []int{1, 4, 4}, []int{out.Faults, out.FirstFault, out.Starts})
	segs := func(job int) []Segment {
		d := out.Decisions[job]
		return out.Segments[d.FirstSegment:][:d.Segments]
	}
	require.Equal(t, []Segment{{First: 0, Last: 1, GPUs: 1}}, segs(0))
	require.Equal(t, []Segment{{First: 0, Last: 0, Bin: 1}}, segs(1))
	require.Equal(t, []Segment{{First: 1, Last: 1}}, segs(2))
	require.Equal(t, []Segment{{First: 1, Last: 1, Cores: 1}}, segs(3))
}

// TestAlternativesWithoutCores has a job start with the one of its requests that needs no core.
func TestAlternativesWithoutCores(t *testing.T) {
	in := &Input{
		Nodes:        []Node{{Cores: 8, GPUs: 2, FreeGPUs: 2, Up: 1}},
		Jobs:         []Job{{Priority: 5, Cores: 8, TimeLimit: 9, Mask: -1}},
		Alternatives: []Alternative{{MinGPUs: 2, MaxGPUs: 2, Mask: -1}},
	}
	var out Output
	require.NoError(t, open(t, "").Cycle(in, &out))
	require.NoError(t, check(in, &out))
	require.Equal(t, 1, out.Starts)
	require.Equal(t, uint8(1), uint8(out.Decisions[0].Alternative))

	in.Alternatives[0].MinGPUs, in.Alternatives[0].MaxGPUs = 0, 0
	require.NoError(t, open(t, "").Cycle(in, &out))
	require.EqualError(t, out.Fault, "alternatives[0].cores: 0: must be at least 1 for who takes nothing else of each node")
	require.Equal(t, Faulty, out.Decisions[0].Why)
}
