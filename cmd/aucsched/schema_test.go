// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/cli"
)

func TestSchemaCommand(t *testing.T) {
	want, err := os.ReadFile("../../docs/schemas/window.json")
	require.NoError(t, err)
	code, out, errs := aucsched(t, "", "schema", "window")
	require.Zero(t, code, errs)
	require.Equal(t, string(want), out)
	code, out, errs = aucsched(t, "", "schema", "windw")
	require.Equal(t, cli.ExitUsage, code)
	require.Empty(t, out)
	require.Equal(t, "aucsched: schema: \"windw\" is unknown; known are check, explain, plan, shadow, simulate, "+
		"solve, status, try, why, window; did you mean \"window\"?\n", errs)
	words, _ := completed(t, "schema", "s")
	require.Equal(t, []string{"shadow", "simulate", "solve", "status"}, words)
}
