// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package soak

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCountLines(t *testing.T) {
	back := func(by string) string {
		return "[2026-01-02T03:04:05.006] error: The modification time of /s/job_state moved backwards by " + by + " seconds"
	}
	n := CountLines(strings.Join([]string{
		back("46"), "[..] a save", back("47"), back("46"), // a clock that is off, at three saves
		back("5"), back("46"),
		"[..] error: aucsched: can't write /s/journal: No space left on device",
		"[..] error: aucsched: no decision",
		"[..] fatal: Unable to load job batch script",
	}, "\n"))
	for name, want := range map[string]int{"moved backwards": 3, fullDisk: 1, "aucsched errors": 1,
		"fatal": 1, "Bad job state": 0, "errors in all": 4} {
		require.Equal(t, want, n[name], name)
	}
}
