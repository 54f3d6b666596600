// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/test/race"
)

// A policy's row is there, and others' are not.
func TestSharesPage(t *testing.T) {
	race.Slow(t)
	text, err := fairShares(t.Context(), seedRange{1, 1}, "backfill", io.Discard)
	require.NoError(t, err)
	require.Regexp(t, `\| backfill +\| +\d`, text)
	require.NotContains(t, text, "| auction2")
}
