// SPDX-License-Identifier: BSD-3-Clause

package highs

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/ipmodel"
)

// roleVariable makes the test's own program a worker, a good or a bad one.
const roleVariable = "AUCSCHED_TEST_WORKER"

func TestMain(m *testing.M) {
	role := os.Getenv(roleVariable)
	if f := confinedRoles()[role]; f != nil {
		os.Exit(f())
	}
	if role != "" {
		os.Exit(play(role))
	}
	os.Exit(m.Run())
}

// worker is a Solver whose process plays a role.
func worker(t testing.TB, role string) *Solver {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	return New(Options{Command: []string{self}, Env: []string{roleVariable + "=" + role}})
}

// pair has two columns, worth 5 and 7, that exclude each other in a capacity row.
func pair() *ipmodel.Model {
	return &ipmodel.Model{
		Value: []int64{5, 7}, GroupStart: []int32{0, 1, 2},
		ColStart: []int32{0, 1, 2}, Row: []int32{0, 0}, Coef: []int32{1, 1}, Cap: []int64{1},
	}
}
