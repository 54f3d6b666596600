// SPDX-License-Identifier: BSD-3-Clause

package simulate

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/sim"
)

// More GPUs of a range are in use, the less they do for a job's run time.
func TestSimulateWithRanges(t *testing.T) {
	simulate := func(args ...string) (r sim.Result) {
		code, out, errs := aucsched(t, "", append([]string{"simulate", "--json", "--cluster", "1408x12x3", "--workload",
			"gen:tsubame-1.NC-ranges", "--policy", "easy-sjf", "--first", "30"}, args...)...)
		require.Zero(t, code, errs)
		require.NoError(t, json.Unmarshal([]byte(out), &r))
		r.CycleMsP50, r.CycleMsP99, r.CycleMsMax = 0, 0, 0
		return r
	}
	own, least, two := simulate(), simulate("--gpus-of-range", "least"), simulate("--gpus-of-range", "2")
	greatest := simulate("--gpus-of-range", "greatest")
	require.Equal(t, own, least)
	require.Equal(t, greatest, simulate("--gpus-of-range", "3"))
	require.NotEqual(t, own, two)
	require.NotEqual(t, greatest, two)
	busy := func(r sim.Result) float64 { return r.GPUUtilization * float64(r.Runtime) }
	amdahl := simulate("--gpus-of-range", "greatest", "--speedup", "amdahl-0.7")
	require.Greater(t, busy(amdahl), 1.1*busy(greatest))
	require.Greater(t, busy(simulate("--gpus-of-range", "3", "--speedup", "amdahl-0")), busy(amdahl))
	require.Equal(t, own.TheoreticalRuntime, amdahl.TheoreticalRuntime)
}

func TestRangesReject(t *testing.T) {
	for want, args := range map[string][]string{
		`--gpus-of-range: "most": must be least, greatest or a number in 1..255`: {"--gpus-of-range", "most"},
		`--gpus-of-range: "0": must be`:                                          {"--gpus-of-range", "0"},
		`--gpus-of-range: "256": must be`:                                        {"--gpus-of-range", "256"},
		`--speedup: "amdahl": must be linear, or amdahl-F with F in 0..1`:        {"--speedup", "amdahl"},
		`--speedup: "amdahl-1.1": must be`:                                       {"--speedup", "amdahl-1.1"},
		`--speedup: "amdahl-0.1234": must be`:                                    {"--speedup", "amdahl-0.1234"},
		`--speedup: "amdahl-NaN": must be`:                                       {"--speedup", "amdahl-NaN"},
		"--speedup: does not go with policy lea":                                 {"--policy", "lea", "--speedup", "linear"},
	} {
		code, _, errs := aucsched(t, "", append([]string{"simulate", "--cluster", "32x8x2", "--workload", "gen:esp"}, args...)...)
		require.Equal(t, 2, code, errs)
		require.Contains(t, errs, want)
	}
}
