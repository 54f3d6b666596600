// SPDX-License-Identifier: BSD-3-Clause

package mpsread

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSchedulingTakesNoParserAlong: an embedder of core gets no reader of files
// that it never reads.
func TestSchedulingTakesNoParserAlong(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "../../core", "../../cshim").Output()
	require.NoError(t, err)
	require.Contains(t, string(out), "github.com/aucsched/aucsched/ipmodel/native\n")
	require.NotContains(t, string(out), "mpsread")
}
