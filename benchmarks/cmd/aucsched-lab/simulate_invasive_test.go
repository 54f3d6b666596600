// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/invasive/simulation"
)

func TestSimulateInvasive(t *testing.T) {
	race.Slow(t)
	args := []string{"simulate-invasive", "--partition", "4x1x8", "--jobs", "40", "--shares", "0,1", "--seeds", "1-2"}
	code, out, errs := aucsched(t, "", append(args, "--json")...)
	require.Zero(t, code, errs)
	var cases []simulation.Case
	for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
		var c simulation.Case
		require.NoError(t, json.Unmarshal([]byte(line), &c))
		cases = append(cases, c)
	}
	require.Len(t, cases, 4)
	assert.Equal(t, []any{0.0, uint64(1), 40, 0}, []any{cases[0].Share, cases[0].Seed, cases[0].Jobs, cases[0].Malleable})
	assert.Equal(t, 40, cases[2].Malleable+cases[2].Urgent)
	_, again, _ := aucsched(t, "", append(args, "--json")...)
	assert.Equal(t, out, again, "same seeds, same figures")
	_, other, _ := aucsched(t, "", append(args, "--json", "--resize-cost", "30s")...)
	assert.NotEqual(t, out, other)

	trace := filepath.Join(t.TempDir(), "trace.swf")
	require.NoError(t,
		os.WriteFile(trace,
			[]byte("1 0 0 100 4 -1 -1 4 200 -1 1 1 1 1 1 1 -1 -1\n2 10 0 50 8 -1 -1 8 60 -1 1 1 1 1 1 1 -1 -1\n"), 0o600))
	code, out, errs = aucsched(t, "", "simulate-invasive", "--partition", "4x1x4",
		"--shares", "0", "--urgent", "0", "--seeds", "1", "--workload", trace, "--json")
	require.Zero(t, code, errs)
	var c simulation.Case
	require.NoError(t, json.Unmarshal([]byte(out), &c))
	assert.Equal(t, 2, c.Jobs)
	assert.InDelta(t, 100.3, c.Makespan, 0.3, "both run side by side")
}

func TestSimulateInvasiveErrors(t *testing.T) {
	race.Slow(t)
	tests := []struct {
		args []string
		err  string
	}{
		{[]string{"--partition", "4x8"}, `--partition: "4x8": must be NODESxSOCKETSxCORES`},
		{[]string{"--partition", "4x0x8"}, `--partition: "4x0x8": "0": must be a number from 1 to 16777216`},
		{[]string{"--partition", "70000x70000x1"}, "must be 1 to 16777216 cores in all"},
		{[]string{"--shares", "0,2"}, `--shares: "2": must be 0 to 1`},
		{[]string{"--seeds", "x"}, "--seeds: "},
		{[]string{"--jobs", "0"}, "jobs 0: must be 1 to"},
		{[]string{"--serial", "2"}, "serial fraction 2: must be 0 to 1"},
		{[]string{"--power-cap", "-10"}, "--power-cap -10, --socket-watts 50, --core-watts 5: must not be negative"},
		{[]string{"--means", "shrink,beg"}, `--means: "beg": must be shrink, suspend or kill`},
		{[]string{"--workload", "gen:none"}, "no such generator"},
	}
	for _, test := range tests {
		code, _, errs := aucsched(t, "", append([]string{"simulate-invasive"}, test.args...)...)
		assert.Equal(t, cli.ExitUsage, code, errs)
		assert.Contains(t, errs, test.err)
	}
}
