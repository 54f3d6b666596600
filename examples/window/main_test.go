// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(context.Background(), &out, "../figure3.json"))
	require.Contains(t, out.String(), " starts on ")
	require.ErrorContains(t, run(context.Background(), &out, "none.json"), "none.json")
}
