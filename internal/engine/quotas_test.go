// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// siteOfQuotas is eight nodes of 16 cores, on the first of which a job of 8 cores runs until 900,
// and jobs of 16 cores: first four of an account that has 40 cores left, then one of nobody's.
func siteOfQuotas() *Input {
	in := &Input{Now: 100, Quotas: []uint64{7, 40}, Running: []Running{{End: 900, Segments: 1}}, Segments: []Segment{{Cores: 8}},
		RunningCharges: []Charge{{Quota: 1, PerCore: 1}}}
	for range 8 {
		in.Nodes = append(in.Nodes, Node{Cores: 16, FreeCores: 16, Up: 1})
	}
	in.Nodes[0].FreeCores = 8
	for i := range 5 {
		in.Jobs = append(in.Jobs, Job{Priority: uint64(9 - i), Cores: 16, MinNodes: 1, MaxNodes: 1, TimeLimit: 2000, Mask: -1})
		if i < 4 {
			in.JobCharges = append(in.JobCharges, Charge{Of: uint32(i), Quota: 1, PerCore: 1})
		}
	}
	return in
}

func TestQuotasBind(t *testing.T) {
	e, in := open(t, ""), siteOfQuotas()
	var out Output
	require.NoError(t, e.Cycle(in, &out))
	require.NoError(t, check(in, &out))
	require.Zero(t, out.Faults, "%v", out.Fault)
	require.Equal(t, 3, out.Starts, "two of the account, and nobody's")
	d := out.Decisions[2]
	require.Equal(t, []any{WaitsQuota, uint32(1), int64(900)}, []any{d.Why, d.Quota, d.Expected}, "8 are left then, and 8 come back")
	d = out.Decisions[3]
	require.Equal(t, []any{WaitsQuota, uint32(1), int64(0)}, []any{d.Why, d.Quota, d.Expected})
	require.Equal(t, Starts, out.Decisions[4].Why)

	in.Quotas[1] = 15
	require.NoError(t, e.Cycle(in, &out))
	require.NoError(t, check(in, &out))
	require.Equal(t, 1, out.Starts)
}

func TestFaultsOfQuotas(t *testing.T) {
	for words, c := range map[string]struct {
		spoil   func(in *Input)
		whole   bool
		leftOut int
	}{
		"quotas: 1099511627777: element 0 must be at most":  {func(in *Input) { in.Quotas[0] = 1<<40 + 1 }, true, 0},
		"job_charges[3].of: 5: there are 5":                 {func(in *Input) { in.JobCharges[3].Of = 5 }, false, 0},
		"job_charges[2].of: 0: must be at least 1":          {func(in *Input) { in.JobCharges[2].Of = 0 }, false, 1},
		"job_charges[1].quota: 2: there are 2":              {func(in *Input) { in.JobCharges[1].Quota = 2 }, false, 1},
		"job_charges[1].quota: 1: must be above 1":          {func(in *Input) { in.JobCharges[1].Of = 0 }, false, 1},
		"job_charges[1].per_gpu: 1099511627777: must be at": {func(in *Input) { in.JobCharges[1].PerGPU = 1<<40 + 1 }, false, 1},
		"running_charges[0].of: 1: there are 1":             {func(in *Input) { in.RunningCharges[0].Of = 1 }, false, 0},
		"running_charges[0].per_job: 18446744073709551615":  {func(in *Input) { in.RunningCharges[0].PerJob = 1<<64 - 1 }, false, 0},
		"alternative_charges[0].of: 0: there are 0":         {func(in *Input) { in.AlternativeCharges = []Charge{{}} }, false, 0},
		"alternative_charges[0].quota: 9: there are 2": {func(in *Input) {
			in.Alternatives = []Alternative{{Job: 2, Cores: 1, Mask: -1}}
			in.AlternativeCharges = []Charge{{Quota: 9}}
		}, false, 1},
	} {
		t.Run(words, func(t *testing.T) {
			e, in := open(t, ""), siteOfQuotas()
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
