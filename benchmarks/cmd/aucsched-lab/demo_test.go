// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/test/race"
)

func TestDemoTable(t *testing.T) {
	race.Slow(t)
	code, out, errs := aucsched(t, "", "demo", "--part", "c", "--variants", "1.FC", "--seeds", "1")
	require.Zero(t, code, errs)
	require.Contains(t, out, "(c) Workloads of the Tsubame machine, 1408 nodes of 12 cores and 3 GPUs")
	require.Contains(t, out, "means over 1 generated workload;")
	require.Regexp(t, `(?m)^ +1\.FC +auction2, GPU ranges +\d+\.\d \[\d+\.\d\] `, out)
}

func TestDemoErrors(t *testing.T) {
	for want, args := range map[string][]string{
		"aucsched: --variants: ":         {"demo", "--part", "c", "--variants", "9.XX"},
		"aucsched: --seeds: 0":           {"demo", "--part", "c", "--seeds", "0"},
		"--part: \"x\" is not a, b or c": {"demo", "--part", "x"},
	} {
		code, out, errs := aucsched(t, "", args...)
		require.Equal(t, cli.ExitUsage, code)
		require.Contains(t, errs, want)
		require.Empty(t, out)
	}
}

func TestDemoPictures(t *testing.T) {
	code, out, errs := aucsched(t, "", "demo", "--part", "a,b")
	require.Zero(t, code, errs)
	want, err := os.ReadFile("testdata/demo.txt")
	require.NoError(t, err)
	require.Equal(t, string(want), out)
}

// Of a list the next word is offered, not one that is there.
func TestCompleteLists(t *testing.T) {
	code, out, errs := aucsched(t, "", "__complete", "demo", "--part", "b,")
	require.Zero(t, code, errs)
	require.Equal(t, []string{"b,a", "b,c"}, strings.Fields(out)[:2])
	require.Contains(t, errs, "NoSpace")
}
