// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/test/race"
)

// A site's rows are there for all policies, and others' are not.
func TestPreemptionPage(t *testing.T) {
	race.Slow(t)
	text, err := preemptions(t.Context(), seedRange{1, 1}, "whole nodes", io.Discard)
	require.NoError(t, err)
	for _, p := range stoppers {
		require.Equal(t, 1, strings.Count(text, "| whole nodes      | "+p.name+" ")+strings.Count(text, "| whole nodes | "+p.name+" "), p.name)
	}
	require.NotContains(t, text, "| GPUs | auction2")
}
