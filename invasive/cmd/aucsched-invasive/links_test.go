// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLinksNoHiGHS: the programme solves no models, so no build of it has the C library.
func TestLinksNoHiGHS(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-tags", "highs", ".").Output()
	require.NoError(t, err)
	require.Contains(t, string(out), "github.com/aucsched/aucsched/internal/cli\n")
	require.NotContains(t, string(out), "highs")
}
