// SPDX-License-Identifier: BSD-3-Clause

// Package race is for tests: what they do otherwise under the race detector, which makes code many
// times slower, and some of it allocate that does not otherwise.
package race

import (
	"flag"
	"os"
	"strconv"
	"testing"
)

// Skip skips a test under the race detector, and says why.
func Skip(t testing.TB, why string) {
	if Enabled {
		t.Helper()
		t.Skip("under the race detector: " + why)
	}
}

// Slow skips a test under the race detector that takes long, and has nothing run at
// once that others don't. AUCSCHED_QUICK=1 skips it as well, which is not -short: see [Draws].
func Slow(t testing.TB) {
	t.Helper()
	if os.Getenv("AUCSCHED_QUICK") != "" {
		t.Skip("AUCSCHED_QUICK: takes long")
	}
	Skip(t, "takes long, and has nothing run at once that others do not")
}

// Allocates skips a test of allocations under the race detector, which has code allocate
// that does not otherwise.
func Allocates(t testing.TB) {
	t.Helper()
	Skip(t, "code allocates that does not otherwise")
}

// Fewer is how many of n cases are tried: a quarter under the race detector.
func Fewer(n int) int {
	if Enabled {
		return n / 4
	}
	return n
}

// Draws runs the tests of a package with as many draws by -short as without. rapid tries a fifth of
// the cases then, of which tests that count what has come up have too few.
func Draws(m *testing.M) {
	flag.Parse()
	if checks := flag.Lookup("rapid.checks"); checks != nil && testing.Short() {
		if n, err := strconv.Atoi(checks.Value.String()); err == nil {
			_ = flag.Set(checks.Name, strconv.Itoa(5*n))
		}
	}
	os.Exit(m.Run())
}
