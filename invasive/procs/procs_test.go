// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package procs

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A thread that has bound itself keeps what it may of that.
func TestConfined(t *testing.T) {
	set := func(cpus ...int) *unix.CPUSet { s, err := CPUSet(cpus); require.NoError(t, err); return s }
	for _, c := range []struct {
		now, before, cpus, want *unix.CPUSet
		force                   bool
	}{
		{set(0, 1), set(0, 1), set(0, 1, 2), set(0, 1, 2), false},
		{set(0), set(0, 1), set(0, 1, 2), set(0), false},
		{set(0, 1), set(0, 1, 2), set(1, 2), set(1), false},
		{set(0), set(0, 1), set(1, 2), set(1, 2), false},
		{set(1), set(0, 1), set(1, 2), set(1, 2), true},
	} {
		require.Equal(t, *c.want, confined(c.now, c.before, c.cpus, c.force))
	}
}
