// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/test/race"
)

func TestDemoTable(t *testing.T) {
	race.Slow(t)
	code, out, errs := aucsched(t, "", "demo", "--variants", "1.FC", "--seeds", "1")
	require.Zero(t, code, errs)
	require.Contains(t, out, "(c) Workloads of the Tsubame machine, 1408 nodes of 12 cores and 3 GPUs")
	require.Contains(t, out, "means over 1 generated workload;")
	require.Regexp(t, `(?m)^ +1\.FC +auction2, GPU ranges +\d+\.\d \[\d+\.\d\] `, out)
}

func TestDemoErrors(t *testing.T) {
	for want, args := range map[string][]string{
		"aucsched: --variants: ": {"demo", "--variants", "9.XX"},
		"aucsched: --seeds: 0":   {"demo", "--seeds", "0"},
	} {
		code, out, errs := aucsched(t, "", args...)
		require.Equal(t, cli.ExitUsage, code)
		require.Contains(t, errs, want)
		require.Empty(t, out)
	}
}
