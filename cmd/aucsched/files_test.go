package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/race"
	"github.com/aucsched/aucsched/sim"
)

func TestSimulateWithFiles(t *testing.T) {
	if race.Enabled {
		t.Skip("takes long under the race detector")
	}
	simulate := func(args ...string) (r sim.Result) {
		code, out, errs := aucsched(t, "", append([]string{"simulate", "--json", "--cluster", "32x8x2", "--workload", "gen:esp", "--policy", "backfill", "--first", "60"}, args...)...)
		require.Zero(t, code, errs)
		require.NoError(t, json.Unmarshal([]byte(out), &r))
		return r
	}
	require.Nil(t, simulate().Files)
	slow, fast := simulate("--bandwidth", "100M"), simulate("--bandwidth", "1G")
	require.Equal(t, 60, slow.Files.Jobs)
	require.Equal(t, slow.Jobs, slow.Files.Jobs, "no job is ended by its limit")
	require.Greater(t, slow.Files.Seconds, fast.Files.Seconds)
	require.Greater(t, slow.Files.StretchMean, 0.)
	small := simulate("--bandwidth", "100M", "--file-memory", "1G")
	require.Less(t, small.Files.Seconds, slow.Files.Seconds, "files are in proportion to the memory")
	alone := simulate("--bandwidth", "100M", "--sharers", "1")
	require.Zero(t, alone.Files.Held, "each job has a file of its own")

	code, out, _ := aucsched(t, "", "simulate", "--cluster", "32x8x2", "--workload", "gen:esp", "--first", "20", "--bandwidth", "100M", "--locality")
	require.Zero(t, code)
	require.Regexp(t, `files +\d+ loads, [0-9.]+ h of transfer; \d+ of 20 jobs on holders`, out)
	require.Regexp(t, `stretch +[0-9.]+ ± [0-9.]+`, out)
}

func TestSettingsOfFiles(t *testing.T) {
	f := replayFlags{cfg: sim.NewConfig(nil)}
	without := len(f.settings())
	f.cfg.Files = sim.Files{Bandwidth: 100, Memory: 7, Prefer: true}
	var got []string
	for _, s := range f.settings()[without:] {
		got = append(got, s.Name+" "+s.Value)
	}
	require.Equal(t, []string{"Bandwidth 100 bytes/s", "File memory 7 bytes", "Locality yes"}, got)
}

func TestSimulateRefusesFiles(t *testing.T) {
	for want, args := range map[string][]string{
		"--locality: needs --bandwidth":                  {"--locality"},
		`--bandwidth: "1.5G": must be a number of bytes`: {"--bandwidth", "1.5G"},
		`--bandwidth: "0": must be`:                      {"--bandwidth", "0"},
		`--bandwidth: "9999999999T": must be`:            {"--bandwidth", "9999999999T"},
		`--file-memory: "x": must be`:                    {"--bandwidth", "1M", "--file-memory", "x"},
		"--file-memory: memory: 2251799813685248: must":  {"--bandwidth", "1M", "--file-memory", "2048T"},
		"--sharers: 0: must be at least 1":               {"--bandwidth", "1M", "--sharers", "0"},
	} {
		code, _, errs := aucsched(t, "", append([]string{"simulate", "--cluster", "32x8x2", "--workload", "gen:esp", "--first", "5"}, args...)...)
		require.Equal(t, 2, code)
		require.Contains(t, errs, want)
	}
}
