// SPDX-License-Identifier: BSD-3-Clause

package simulate

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/benchmarks/replay"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/inputs"
	"github.com/aucsched/aucsched/internal/test/race"
)

func TestSimulateWithFiles(t *testing.T) {
	race.Slow(t)
	simulate := func(args ...string) (r sim.Result) {
		code, out, errs := aucsched(t, "",
			append([]string{"simulate", "--json", "--cluster", "32x8x2", "--workload",
				"gen:esp", "--policy", "backfill", "--first", "60"}, args...)...)
		require.Zero(t, code, errs)
		require.NoError(t, json.Unmarshal([]byte(out), &r))
		return r
	}
	require.Nil(t, simulate().Files)
	slow, fast := simulate("--files", "--sharers", "100"), simulate("--files", "--sharers", "100", "--bandwidth", "1")
	require.Equal(t, 60, slow.Files.Jobs)
	require.Equal(t, slow.Jobs, slow.Files.Jobs, "no job is ended by its limit")
	require.Greater(t, slow.Files.Seconds, fast.Files.Seconds)
	require.Greater(t, slow.Files.StretchMean, 0.)
	small := simulate("--files", "--sharers", "100", "--memory", "1")
	require.Less(t, small.Files.Seconds, slow.Files.Seconds, "files are in proportion to the memory")
	alone := simulate("--files", "--sharers", "1")
	require.Zero(t, alone.Files.Held, "each job has a file of its own")

	code, out, _ := aucsched(t, "", "simulate", "--cluster", "32x8x2", "--workload", "gen:esp", "--first", "20", "--locality")
	require.Zero(t, code)
	require.Regexp(t, `files loaded +\d+
· time of transfer \(\S+\) +\S+
· jobs on holders \(%\) +[0-9.]+
`, out)
	require.Regexp(t, `stretch, mean +[0-9.]+\n`, out)
}

func TestSettingsOfFiles(t *testing.T) {
	f := replay.Flags{Config: sim.NewConfig(nil)}
	without := len(f.Settings())
	f.Files = inputs.Files{Bandwidth: 100, Memory: 7, Prefer: true}
	var got []string
	for _, s := range f.Settings()[without:] {
		got = append(got, s.Name+" "+s.Value)
	}
	require.Equal(t, []string{"Bandwidth 100 bytes/s", "File memory 7 bytes", "Locality yes"}, got)
}

func TestSimulateRefusesFiles(t *testing.T) {
	race.Slow(t)
	for want, args := range map[string][]string{
		"--bandwidth: goes with --files, --locality, or": {"--bandwidth", "1"},
		"--memory: goes with --files, --locality, or":    {"--memory", "64"},
		"--bandwidth: 0: must be above 0":                {"--files", "--bandwidth", "0"},
		"--memory: -1: must be above 0":                  {"--files", "--memory", "-1"},
		"--memory: NaN: must be":                         {"--files", "--memory", "NaN"},
		"--sharers: -1: must not be negative":            {"--locality", "--sharers", "-1"},
		"--locality: does not go with policy lea":        {"--policy", "lea", "--locality"},
	} {
		code, _, errs := aucsched(t, "",
			append([]string{"simulate", "--cluster", "32x8x2", "--workload", "gen:esp", "--first", "5"}, args...)...)
		require.Equal(t, 2, code)
		require.Contains(t, errs, want)
	}
}
