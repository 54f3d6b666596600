// SPDX-License-Identifier: BSD-3-Clause

// Package costtest has tests say how the cost of something grows with its input.
package costtest

import (
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/test/race"
)

// grown is how much larger the second input is. Something linear takes about as many times as long,
// something quadratic the square of it; most is between the two.
const (
	grown = 8
	most  = 3 * grown
)

// least is what the first input is taken to need: less can't be measured.
const least = 5 * time.Millisecond

// Linear fails t if the processor time of what prepare returns grows faster than the size of its
// input, from n to 8n. It looks at the processor time of one thread, which other load changes
// little, and at the fastest of three runs. prepare is not measured.
func Linear(t testing.TB, n int, prepare func(n int) (run func())) {
	t.Helper()
	if race.Enabled {
		n /= 8
	}
	small, large := fastest(t, prepare(n)), fastest(t, prepare(grown*n))
	t.Logf("%v for %d, %v for %d times as many", small, n, large, grown)
	require.Less(t, large, most*max(small, least), "%d times the input takes more than %d times as long", grown, most)
}

func fastest(t testing.TB, run func()) time.Duration {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	best := time.Duration(1<<63 - 1)
	for range 3 {
		runtime.GC()
		from := processor(t)
		run()
		best = min(best, processor(t)-from)
	}
	return best
}

// processor is the time that the thread has had a processor.
func processor(t testing.TB) time.Duration {
	t.Helper()
	const thread = 1 // RUSAGE_THREAD
	var u syscall.Rusage
	require.NoError(t, syscall.Getrusage(thread, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
