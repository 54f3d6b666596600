// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/benchmarks/emulation"
	"github.com/aucsched/aucsched/benchmarks/traces"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/slurm/params"
	"github.com/aucsched/aucsched/internal/workload"
)

// emulationOptions are what the arguments of a run make of it.
func emulationOptions(args ...string) (*emulation.Options, error) {
	r, flags, err := parseEmulated(append([]string{"--cluster=4x8x2", "--workload=gen:V.1", "--first=5"}, args...))
	if err != nil {
		return nil, err
	}
	return r.options(flags)
}

// Each flag becomes its setting of the plug-in.
func TestEmulatePluginParameters(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", ""},
		{"--preset=paper", "sched_interval=-1,bf_interval=-1,auc_preset=paper"},
		{"--preset=packed", "auc_preset=packed"},
		{"--preset=short", "auc_preset=short"},
		{"--preset=default --promise=1h --patience=2h", "auc_patience=7200,auc_preset=default,auc_promise=3600"},
		{"--window=7", "auc_window=7"},
		{"--depth=8", "auc_depth=8"},
		{"--bids=9", "auc_bids=9"},
		{"--bids=9 --drafts=3", "auc_bids=9,auc_drafts=3"},
		{"--reservations=0", "auc_reservations=0"},
		{"--patience=4h", "auc_patience=14400"},
		{"--compact", "auc_compact=yes"},
		{"--compact=false", "auc_compact=no"},
		{"--contiguous-bids", "auc_contiguous_bids=yes"},
		{"--work=123456", "auc_work=123456"},
		{"--objective=size", "auc_objective=size"},
		{"--deadline=1500ms", "auc_deadline_ms=1500"},
		{"--parameters=bf_interval=7,x=1", "bf_interval=7,x=1"},
		{"--preset=packed --parameters=bf_interval=7", "auc_preset=packed,bf_interval=7"},
	} {
		o, err := emulationOptions(append([]string{"--scheduler=auction2"}, strings.Fields(c.args)...)...)
		require.NoError(t, err, c.args)
		require.Equal(t, strings.TrimSuffix("auc_lab=yes,auc_policy=auction2,auc_interval=3,"+c.want, ","), o.Parameters, c.args)
		require.True(t, o.Auction && o.Ranges)
		require.Empty(t, params.Read(o.Parameters).Said)
	}
	o, err := emulationOptions("--scheduler=ipsched", "--interval=10", "--node-limits=false", "--on-timeout=halve")
	require.NoError(t, err)
	require.Equal(t, "auc_lab=yes,auc_policy=ipsched,auc_interval=10,sched_interval=-1,bf_interval=-1,auc_node_limits=no,auc_on_timeout=halve", o.Parameters)
	require.True(t, o.Auction)
	require.False(t, o.Ranges)
	o, err = emulationOptions("--scheduler=backfill", "--throughput", "--parameters=bf_interval=7")
	require.NoError(t, err)
	require.Equal(t, "bf_interval=7", o.Parameters)
	require.False(t, o.Auction || o.Ranges)
}

func TestEmulateOptions(t *testing.T) {
	o, err := emulationOptions("--scheduler=backfill", "--seed=4")
	require.NoError(t, err)
	require.Len(t, o.Jobs, 5)
	require.Len(t, o.Machine, 4)
	require.Equal(t, []any{200.0, 1.0, false, false}, []any{o.Rate, o.Busy, o.Full, o.Multifactor})
	other, err := emulationOptions("--scheduler=backfill", "--seed=5", "--rate=300",
		"--busy-rate=10", "--nodes=full", "--priority=multifactor")
	require.NoError(t, err)
	require.NotEqual(t, o.Jobs, other.Jobs, "another seed")
	require.Equal(t, []any{300.0, 10.0, true, true}, []any{other.Rate, other.Busy, other.Full, other.Multifactor})
}

// What a flag can't be is an error that names it, and the command ends as after a mistake
// of the user's.
func TestEmulateRefuses(t *testing.T) {
	for arg, want := range map[string]string{
		"--scheduler=fifo":             `--scheduler: "fifo" is unknown; known are auction1`,
		"--scheduler=easy":             `--scheduler: "easy" is unknown; known are auction1, auction2, backfill, ipsched`,
		"--preset=fast":                `preset`,
		"--cluster=4":                  "--cluster: ",
		"--workload=gen:VI":            "--workload: ",
		"--workload=/no/such/file.swf": "--workload: ",
		"--nodes=some":                 `--nodes: "some" is unknown; known are emu, full`,
		"--priority=age":               `--priority: "age" is unknown`,
		"--rate=0.5":                   "--rate: 0.5: must be from 1 to 5000",
		"--rate=NaN":                   "--rate: ",
		"--rate=6000":                  "--rate: ",
		"--busy-rate=0":                "--busy-rate: 0: must be from 1 to 200",
		"--busy-rate=201":              "--busy-rate: ",
		"--first=-1":                   "--first: -1: must not be negative",
		"--interval=0":                 "--interval: 0: must be at least 1 second",
		"--deadline=-1s":               "--deadline: -1s: must be whole milliseconds",
		"--deadline=100us":             "--deadline: ",
		"--window=0":                   "window",
		"--objective=beauty":           "--objective",
		"--patience=1500ms":            "--patience",
		"--bids=x":                     "--bids",
	} {
		_, err := emulationOptions("--scheduler=auction2", arg)
		require.ErrorContains(t, err, want, arg)
	}
	for _, args := range [][]string{
		{}, {"--scheduler=backfill"}, {"--scheduler=backfill", "--cluster=4x8", "--workload=gen:V.1", "-j0"},
		{"--scheduler=backfill", "--cluster=4x8", "--workload=gen:V.1", "--seeds=3-1"},
	} {
		code, _, errs := aucsched(t, "", append([]string{"emulate", "--out=" + t.TempDir()}, args...)...)
		require.Equal(t, cli.ExitUsage, code, errs)
	}
}

// The first jobs of a workload are the same jobs, and all of it if it has fewer.
func TestFirst(t *testing.T) {
	read := func(args ...string) *workload.Workload {
		r, _, err := parseEmulated(args)
		require.NoError(t, err)
		r.replay.Config.Nodes, err = traces.ParseCluster("4x8x2")
		require.NoError(t, err)
		w, err := r.replay.Read("gen:V.1")
		require.NoError(t, err)
		return w
	}
	all := read()
	some := read("--first=3")
	require.Equal(t, all.Jobs[:3], some.Jobs)
	require.Equal(t, all.Name+", its first 3 jobs", some.Name)
	require.Equal(t, all, read("--first=0"))
	require.Equal(t, all, read("--first=1000000"))
	for _, settings := range []func(args ...string) ([]string, error){
		func(args ...string) ([]string, error) { return simulateSettings(append(args, "--policy=backfill")) },
		func(args ...string) ([]string, error) {
			return emulatedSettings(append(args, "--scheduler=backfill"), "22.05.8")
		},
	} {
		whole, err := settings("--cluster=4x8x2", "--workload=gen:V.1")
		require.NoError(t, err)
		require.NotContains(t, whole, "first=0", "results that are on file stay good")
		part, err := settings("--cluster=4x8x2", "--workload=gen:V.1", "--first=3")
		require.NoError(t, err)
		require.Contains(t, part, "first=3")
	}
	code, out, errs := aucsched(t, "", "simulate", "--policy=backfill", "--cluster=4x8x2", "--workload=gen:V.1", "--first=3")
	require.Zero(t, code, errs)
	require.Regexp(t, `jobs run +3\n`, out)
}
