// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A word that names no cluster is an error: nothing would run, and nothing would be found.
func TestOnly(t *testing.T) {
	for word, ok := range map[string]bool{"": true, "stock": true, "aucsched": true, "auction": false, "Stock": false, "both": false} {
		f := flags{only: word}
		require.Equal(t, ok, f.check() == nil, word)
	}
	cmd := command()
	cmd.SetArgs([]string{"--only", "slurm"})
	require.EqualError(t, cmd.Execute(), `--only "slurm": must be stock or aucsched`)
}
