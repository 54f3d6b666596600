// SPDX-License-Identifier: BSD-3-Clause

package simulate

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/sim"
)

// The more jobs are malleable the more of the machine is in use; none of them is as none was asked
// for; and the settings count.
func TestSimulateMalleable(t *testing.T) {
	simulate := func(args ...string) (r printed) {
		r.ran = &ran{Result: new(sim.Result)}
		code, out, errs := aucsched(t, "", append([]string{"simulate", "--json", "--cluster", "32x1", "--workload",
			"gen:lublin-120", "--policy", "backfill", "--first", "120"}, args...)...)
		require.Zero(t, code, errs)
		require.NoError(t, json.Unmarshal([]byte(out), &r))
		require.LessOrEqual(t, r.RuntimeBound, float64(r.Runtime), "%v", args)
		r.CycleMsP50, r.CycleMsP99, r.CycleMsMax = 0, 0, 0
		return r
	}
	rigid, all := simulate(), simulate("--malleable", "100")
	require.Nil(t, rigid.Crews)
	require.Equal(t, rigid, simulate("--malleable", "0"))
	require.Positive(t, all.Crews.Companions)
	require.Less(t, all.WaitMean, rigid.WaitMean)
	require.InDelta(t, rigid.TheoreticalRuntime, all.TheoreticalRuntime, 1e-9, "as much work")
	some := simulate("--malleable", "30").Crews
	require.Less(t, some.Jobs, all.Crews.Jobs)
	require.Greater(t, simulate("--malleable", "100", "--reconfigure", "30s").Crews.Lost, all.Crews.Lost)
	require.Less(t, simulate("--malleable", "100", "--malleable-nodes", "1:1.5").Crews.Companions, all.Crews.Companions)
	require.Greater(t, simulate("--malleable", "100", "--companion-limit", "10m").Crews.Companions, all.Crews.Companions)
	simulate("--malleable", "100", "--speedup", "amdahl-0.9")

	code, out, errs := aucsched(t, "", "simulate", "--cluster", "32x1", "--workload", "gen:lublin-120", "--policy", "backfill,easy",
		"--first", "20", "--malleable", "50")
	require.Zero(t, code, errs)
	require.Contains(t, out, "malleable jobs")
	require.Contains(t, out, "· turnaround, malleable")
}

func TestMalleableRejects(t *testing.T) {
	for want, args := range map[string][]string{
		"--malleable: 101: must be in 0..100":                       {"--malleable", "101"},
		"--malleable: NaN: must be in 0..100":                       {"--malleable", "NaN"},
		`--malleable-nodes: "2": must be LEAST:MOST`:                {"--malleable", "50", "--malleable-nodes", "2"},
		"--malleable-nodes: least nodes: 2: must be in 0..1":        {"--malleable", "50", "--malleable-nodes", "2:3"},
		"--malleable-nodes: most nodes: 0.5: must be in 1..1024":    {"--malleable", "50", "--malleable-nodes", "0.5:0.5"},
		"--reconfigure: goes with --malleable":                      {"--reconfigure", "1s"},
		"--reconfigure: 1.5s: must be whole seconds":                {"--malleable", "50", "--reconfigure", "1500ms"},
		"--malleable: reconfiguration: 3601: must be between 0 and": {"--malleable", "50", "--reconfigure", "3601s"},
		"--malleable: companions' limit: 1: must be between 2 and":  {"--malleable", "50", "--companion-limit", "1s"},
		"--malleable: goes without --slurmctld":                     {"--malleable", "50", "--slurmctld"},
		"--malleable: goes with --priority basic":                   {"--malleable", "50", "--priority", "multifactor"},
		"--malleable: does not go with policy lea":                  {"--malleable", "50", "--policy", "lea"},
	} {
		code, _, errs := aucsched(t, "", append([]string{"simulate", "--cluster", "32x1", "--workload", "gen:lublin-50"}, args...)...)
		require.Equal(t, 2, code, errs)
		require.Contains(t, errs, want)
	}
}
