// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package slurm

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStepSockets(t *testing.T) {
	for name, want := range map[string]uint64{"n1_7.4294967291": 7, "n1_12.0": 12, "n1_12.0.1": 12} {
		job, ok := stepSocket(name, "n1")
		require.True(t, ok, name)
		require.Equal(t, want, job, name)
	}
	for _, name := range []string{"n1_7", "n1_7.", "n1_0.1", "n1_x.1", "n11_7.1", "n1_7.1.lock", "pid", "job00007", "n1_99999999999.1"} {
		_, ok := stepSocket(name, "n1")
		require.False(t, ok, name)
	}
}

// The kernel tells who listens, though it isn't asked and says nothing.
func TestStepd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n1_7.0")
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	defer l.Close()
	p, err := stepdOf(path)
	require.NoError(t, err)
	require.Equal(t, os.Getpid(), p.PID)
	require.True(t, p.Is())
	_, err = stepdOf(path + "x")
	require.Error(t, err)
}
