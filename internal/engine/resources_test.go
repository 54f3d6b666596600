// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// siteOfMemory is two nodes of 62 GB, of which the first holds a job of 40, and four jobs that
// want 30 each and 2 cores of 16.
func siteOfMemory() *Input {
	in := &Input{Now: 100, Resources: 1, Running: []Running{{End: 900, Segments: 1}},
		Segments: []Segment{{Cores: 1}}, RunningUses: []Use{{PerNode: 40}}}
	for n := range 2 {
		in.Nodes = append(in.Nodes, Node{Cores: 16, FreeCores: 16, Up: 1})
		in.Amounts = append(in.Amounts, Amount{62, 62})
		if n == 0 {
			in.Nodes[0].FreeCores, in.Amounts[0].Free = 15, 22
		}
	}
	for i := range 4 {
		in.Jobs = append(in.Jobs, Job{Priority: uint64(9 - i), Cores: 2, MinNodes: 1, MaxNodes: 1, TimeLimit: 60, Mask: -1})
		in.JobUses = append(in.JobUses, Use{Of: uint32(i), PerNode: 20, PerCore: 5})
	}
	return in
}

func TestMemoryBinds(t *testing.T) {
	e, in := open(t, ""), siteOfMemory()
	var out Output
	require.NoError(t, e.Cycle(in, &out))
	require.NoError(t, check(in, &out))
	require.Zero(t, out.Faults, "%v", out.Fault)
	require.Equal(t, 2, out.Starts, "two of 30 on the second node, none beside the job of 40")
	require.Equal(t, WaitsReserved, out.Decisions[2].Why)

	in.Amounts[0].Free, in.RunningUses = 62, nil
	require.NoError(t, e.Cycle(in, &out))
	require.NoError(t, check(in, &out))
	require.Equal(t, 4, out.Starts)

	in.JobUses[0].PerCore = 50
	require.NoError(t, e.Cycle(in, &out))
	require.Equal(t, WaitsNever, out.Decisions[0].Why)
}

func TestFaultsOfResources(t *testing.T) {
	for words, c := range map[string]struct {
		spoil   func(in *Input)
		whole   bool
		leftOut int
	}{
		"resources: 65: there must be at most 64":                {func(in *Input) { in.Resources = 65 }, true, 0},
		"amounts: 2: for 2 resources of 2 nodes":                 {func(in *Input) { in.Resources = 2 }, true, 0},
		"amounts[1].free: 63: must be at most total, 62":         {func(in *Input) { in.Amounts[1].Free = 63 }, true, 0},
		"amounts[0].total: 2147483648: must be at most":          {func(in *Input) { in.Amounts[0].Total = 1 << 31 }, true, 0},
		"job_uses[3].of: 4: there are 4":                         {func(in *Input) { in.JobUses[3].Of = 4 }, false, 0},
		"job_uses[2].of: 0: must be at least 1":                  {func(in *Input) { in.JobUses[2].Of = 0 }, false, 1},
		"job_uses[1].resource: 1: there are 1":                   {func(in *Input) { in.JobUses[1].Resource = 1 }, false, 1},
		"job_uses[1].resource: 0: must be above 0":               {func(in *Input) { in.JobUses[1].Of = 0 }, false, 1},
		"job_uses[1].reserved: 7: must be 0":                     {func(in *Input) { in.JobUses[1].Reserved = 7 }, false, 1},
		"job_uses[1].per_core: 2147483648: must be at most":      {func(in *Input) { in.JobUses[1].PerCore = 1 << 31 }, false, 1},
		"running_uses[0].resource: 0: node 0: what is free and":  {func(in *Input) { in.RunningUses[0].PerNode = 41 }, false, 0},
		"running_uses[0].per_gpu: 2147483648: must be at most":   {func(in *Input) { in.RunningUses[0].PerGPU = 1 << 31 }, false, 0},
		"alternative_uses[0].of: 0: there are 0":                 {func(in *Input) { in.AlternativeUses = []Use{{}} }, false, 0},
		"alternative_uses[0].per_node: 4294967295: must be at m": {withBadAlternative, false, 1},
	} {
		t.Run(words, func(t *testing.T) {
			e, in := open(t, ""), siteOfMemory()
			c.spoil(in)
			var out Output
			err := e.Cycle(in, &out)
			if c.whole {
				require.ErrorContains(t, err, words)
				return
			}
			require.NoError(t, err)
			require.ErrorContains(t, out.Fault, words)
			require.Equal(t, 1, out.Faults)
			require.Equal(t, c.leftOut, out.LeftOut)
		})
	}
}

func withBadAlternative(in *Input) {
	in.Alternatives = []Alternative{{Job: 2, Cores: 1, Mask: -1}}
	in.AlternativeUses = []Use{{PerNode: 1<<32 - 1}}
}
