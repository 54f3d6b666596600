// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/docs/schemas"
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

// The schema of solve has the fields that it prints, and those that are always there are required.
func TestSchemaOfSolve(t *testing.T) {
	text, ok := schemas.Text("solve")
	require.True(t, ok)
	var schema struct {
		Properties map[string]any `json:"properties"`
		Required   []string       `json:"required"`
	}
	require.NoError(t, json.Unmarshal(text, &schema))
	number := 1.0
	for want, of := range map[*solution][]string{
		{Objective: &number, Bound: &number}: slices.Collect(maps.Keys(schema.Properties)), {}: schema.Required,
	} {
		text, err := json.Marshal(want)
		require.NoError(t, err)
		var printed map[string]any
		require.NoError(t, json.Unmarshal(text, &printed))
		require.ElementsMatch(t, of, slices.Collect(maps.Keys(printed)))
	}
}
