// SPDX-License-Identifier: BSD-3-Clause

//go:build highs

package highs

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/ipmodel"
)

// A worker on a machine of many CPUs doesn't die of its threads' stacks, though each may be half of
// the memory that it has.
func TestManyThreadsFitIntoMemory(t *testing.T) {
	race.Skip(t, "its programmes have terabytes of addresses")
	var was unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_STACK, &was))
	if was.Max < 1<<30 {
		t.Skip("the stack can't be that large here")
	}
	large := unix.Rlimit{Cur: 1 << 30, Max: was.Max}
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_STACK, &large)) // the worker inherits it
	defer func() { require.NoError(t, unix.Setrlimit(unix.RLIMIT_STACK, &was)) }()
	s := worker(t, "solve")
	s.options.Memory = 2 << 30
	s.options.Env = append(s.options.Env, "GOMAXPROCS=192")
	m := randomModel(rand.New(rand.NewPCG(1, 2)), 2000, 300, 20, false)
	var r ipmodel.Result
	err := s.Solve(context.Background(), m, ipmodel.Options{Deadline: time.Now().Add(5 * time.Second)}, &r)
	require.NoError(t, err)
	if err := s.Fault(); err != nil {
		require.ErrorContains(t, err, "at the deadline", "this machine may be slow")
	}
}
