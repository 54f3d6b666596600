// SPDX-License-Identifier: BSD-3-Clause

package load

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/test/slurmtest"
)

func TestLook(t *testing.T) {
	status := func(cycles, started int64, us float64) *slurmtest.Status {
		f := slurmtest.Figure{Last: us, Mean: 1e9, Max: 1e9}
		return &slurmtest.Status{Cycles: cycles, Started: started, Cycle: f, Snapshot: f,
			Decide: f, Lock: f, StartFigure: f, Queue: 7, Window: 5}
	}
	steps := []*slurmtest.Status{status(10, 100, 9), status(10, 100, 9), status(11, 100, 1000), status(13, 104, 3000)}
	var a Auction
	for i := range steps[1:] {
		a.look(steps[i], steps[i+1])
	}
	two := Times{N: 2, Mean: 2 * time.Millisecond, Max: 3 * time.Millisecond, sum: 4 * time.Millisecond}
	require.Equal(t, Auction{Cycle: two, Snapshot: two, Decide: two, Lock: two, Cycles: 3, Started: 4, Queue: 7, Window: 5,
		Start: Times{N: 1, Mean: 3 * time.Millisecond, Max: 3 * time.Millisecond, sum: 3 * time.Millisecond}}, a)
}
