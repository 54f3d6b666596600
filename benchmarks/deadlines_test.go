// SPDX-License-Identifier: BSD-3-Clause

package benchmarks

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/test/race"
)

func TestDeadlineFigures(t *testing.T) {
	f := DeadlineFigures{Limit: 100}
	took := make([]time.Duration, 1000)
	for i := range took {
		took[i] = time.Duration(1000 - i)
	}
	f.count(took)
	require.Equal(t, DeadlineFigures{Limit: 100, Missed: 900, P50: 501, P99: 991, P999: 1000, Max: 1000}, f)
}

func TestDeadlines(t *testing.T) {
	stop, err := Load()
	require.NoError(t, err)
	defer stop()
	planned := core.Preset("default")
	for _, o := range []core.AuctionOptions{core.Preset("none"), planned} {
		f, err := Deadlines(t.Context(), o, 128, 50, 20, 20*time.Millisecond)
		require.NoError(t, err)
		require.Positive(t, f.Started)
		require.Positive(t, f.P50)
		require.LessOrEqual(t, f.P50, f.Max)
	}
}

// On a large machine not even the first plan of 500 jobs is made in time; jobs start nevertheless.
func TestPlanLeavesTime(t *testing.T) {
	race.Slow(t)
	o := core.Preset("short")
	f, err := Deadlines(t.Context(), o, 10_000, 500, 4, 250*time.Millisecond)
	require.NoError(t, err)
	require.Greater(t, f.Started, 10.0)
}
