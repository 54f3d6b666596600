// SPDX-License-Identifier: BSD-3-Clause

package load

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParseUsage(t *testing.T) {
	stat := "12 (a) b) S 1 2 3 4 5 6 7 8 9 10 150 50 0 0 20 0"
	u, err := parseUsage(stat, "Name:\tx\nVmHWM:\t   300 kB\nVmRSS:\t   200 kB\n")
	require.NoError(t, err)
	require.Equal(t, usage{CPU: 2 * time.Second, RSS: 200 << 10, PeakRSS: 300 << 10}, u)
	_, err = parseUsage(stat, "Name:\tx\n")
	require.Error(t, err)
	_, err = parseUsage("12 (a) S 1", "")
	require.Error(t, err)
	_, err = parseUsage(stat, "VmRSS:\tmany kB\n")
	require.Error(t, err)
}

func TestUsageOfThisProcess(t *testing.T) {
	u, err := usageOf(os.Getpid())
	require.NoError(t, err)
	require.Greater(t, u.RSS, int64(1<<20))
	_, err = usageOf(-1)
	require.Error(t, err)
}

func TestParseIdle(t *testing.T) {
	idle, err := parseIdle("cpu  1 2 3 400 50 6 7\ncpu0 9 9 9 9 9 9\n")
	require.NoError(t, err)
	require.Equal(t, 4500*time.Millisecond, idle)
	for _, bad := range []string{"", "cpu0 1 2 3 4 5", "cpu 1 2 3 x 5"} {
		_, err = parseIdle(bad)
		require.Error(t, err, bad)
	}
}

func TestParseCores(t *testing.T) {
	busy, err := parseCores("3/4/1/8\n")
	require.NoError(t, err)
	require.Equal(t, 0.375, busy)
	for _, bad := range []string{"", "1/2/3", "0/0/0/0"} {
		_, err = parseCores(bad)
		require.Error(t, err, bad)
	}
}
