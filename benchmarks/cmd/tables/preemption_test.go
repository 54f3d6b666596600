// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/test/race"
)

// What -match names is there, for all policies, and others are not.
func TestPreemptionAndSharesPages(t *testing.T) {
	race.Slow(t)
	text, err := preemptions(t.Context(), seedRange{1, 1}, "whole nodes", io.Discard)
	require.NoError(t, err)
	for _, p := range stoppers {
		require.Regexp(t, `\| whole nodes +\| `+p.name+` +\| +\d`, text)
	}
	require.NotRegexp(t, `\| GPUs +\| auction2`, text)
	text, err = fairShares(t.Context(), seedRange{1, 1}, "backfill", io.Discard)
	require.NoError(t, err)
	require.Regexp(t, `\| backfill +\| +\d`, text)
	require.NotContains(t, text, "| auction2")
}
