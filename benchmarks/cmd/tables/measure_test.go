// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/benchmarks"
	"github.com/aucsched/aucsched/nodeset"
)

var sink []byte

// sleeper is a stage that takes about that long and allocates once a run.
func sleeper(d time.Duration, check error) benchmarks.Stage {
	return benchmarks.Stage{
		Run:   func() error { time.Sleep(d); sink = make([]byte, 4096); return nil },
		Check: func() error { return check },
		Sizes: func() []benchmarks.Size { return []benchmarks.Size{{Of: "naps", N: 1}} },
	}
}

func TestMeasure(t *testing.T) {
	x, err := measure(context.Background(), 5, sleeper(5*time.Millisecond, nil), sleeper(30*time.Millisecond, nil))
	require.NoError(t, err)
	require.Len(t, x, 2)
	require.GreaterOrEqual(t, x[0].Ns, 5e6)
	require.GreaterOrEqual(t, x[1].Ns, 30e6)
	require.GreaterOrEqual(t, x[0].Allocs, 1.0)
	require.GreaterOrEqual(t, x[0].Bytes, 4096.0)
	require.Equal(t, "naps", x[0].Sizes[0].Of)
}

func TestMeasureFailsOnAWrongAnswer(t *testing.T) {
	wrong := errors.New("wrong")
	_, err := measure(context.Background(), 5, sleeper(0, wrong))
	require.ErrorIs(t, err, wrong)
	failing := sleeper(0, nil)
	failing.Run = func() error { return wrong }
	_, err = measure(context.Background(), 5, failing)
	require.ErrorIs(t, err, wrong)
	late := sleeper(0, nil)
	checks := 0
	late.Check = func() error {
		if checks++; checks > 1 {
			return wrong
		}
		return nil
	}
	_, err = measure(context.Background(), 5, late)
	require.ErrorIs(t, err, wrong, "the last answer counts as well")
}

func TestMeasureMemory(t *testing.T) {
	m, err := measureMemory(100_000, nodeset.Capacity{Cores: 8, GPUs: 2})
	require.NoError(t, err)
	require.Greater(t, m.Bytes, 7e5, "the numbers alone take 7 bytes a node")
	require.Less(t, m.Bytes, 20e5)
}
