// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// All twelve jobs start, and the program says the same each time.
func TestRun(t *testing.T) {
	var first, second strings.Builder
	require.NoError(t, run(context.Background(), &first))
	require.NoError(t, run(context.Background(), &second))
	require.Equal(t, first.String(), second.String())
	require.Equal(t, 12, strings.Count(first.String(), " starts on "))
	require.Contains(t, first.String(), "12:00 job0 starts on 1 nodes, from node1; 0 wait\n")
}
