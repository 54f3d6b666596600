// SPDX-License-Identifier: BSD-3-Clause

//go:build highs

package ipsched

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	lanl "github.com/lanl/highs"
	"github.com/stretchr/testify/require"

	_ "github.com/aucsched/aucsched/benchmarks/highs" // HiGHS's constants
	"github.com/aucsched/aucsched/benchmarks/intprog"
	"github.com/aucsched/aucsched/benchmarks/mps"
	"github.com/aucsched/aucsched/ipmodel"
)

// bySolver is the optimum of a program by HiGHS, which reads it as it is written.
func bySolver(t *testing.T, m *intprog.Program) int64 {
	file := filepath.Join(t.TempDir(), "window.mps")
	out, err := os.Create(file)
	require.NoError(t, err)
	require.NoError(t, mps.WriteProgram(out, m, "window"))
	require.NoError(t, out.Close())
	raw := lanl.NewRawModel()
	for _, err := range []error{raw.SetBoolOption("output_flag", false), raw.SetIntOption("threads", 1),
		raw.SetFloat64Option("mip_rel_gap", 0), raw.SetFloat64Option("mip_abs_gap", 0), raw.ReadModelFromFile(file)} {
		require.NoError(t, err)
	}
	s, err := raw.Solve()
	if status := (lanl.CallStatus{}); !errors.As(err, &status) || !status.IsWarning() {
		require.NoError(t, err)
	}
	require.Equal(t, lanl.Optimal, s.Status)
	return int64(math.Round(s.Objective))
}

// The program as the paper has it, solved by HiGHS, is worth what trying everything finds.
func TestDirectByHiGHS(t *testing.T) {
	for seed := range uint64(150) {
		p := small(rand.New(rand.NewPCG(seed, 5)))
		d, err := Direct(p)
		require.NoError(t, err)
		require.Equal(t, optimum(p), bySolver(t, d), "seed %d: %+v", seed, p)
	}
}

// On windows that are too large to try everything, HiGHS's optimum lies between the
// answer and its bound.
func TestAnswerAgainstHiGHS(t *testing.T) {
	s, r := New(), Result{}
	missed, gap := 0, 0.0
	for seed := range uint64(12) {
		p := queueOf(seed, 6, 8)
		for j := range p.Jobs {
			p.Jobs[j].Worth = 100 - int64(j)
		}
		solve(t, s, p, 1_000_000, &r)
		d, err := Direct(p)
		require.NoError(t, err)
		best := bySolver(t, d)
		require.LessOrEqual(t, r.Worth, best)
		require.GreaterOrEqual(t, r.Bound, best)
		if r.Worth < best {
			missed++
		}
		require.True(t, r.Status != ipmodel.Optimal || r.Worth == best)
		gap = max(gap, float64(best)/float64(r.Worth)-1)
	}
	t.Logf("%d of 12 optima missed, by %.2f%% at most", missed, 100*gap)
	require.LessOrEqual(t, missed, 2)
}
