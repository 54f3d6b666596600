// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/benchmarks/mps"
	"github.com/aucsched/aucsched/benchmarks/peers"
	"github.com/aucsched/aucsched/ipmodel"
)

// handMade is a table of two windows whose summary can be done in the head.
func handMade() *solverFigures {
	answers := func(worths ...int64) (out []peers.Answer) {
		for _, w := range worths {
			out = append(out, peers.Answer{Worth: w, Bound: 110})
		}
		return out
	}
	good := solverRow{Window: &peers.Window{Name: "good"}, Busy: "empty", Best: 100,
		Native: answers(-1, 80, 90, 95, 100, 100, 100), Peers: answers(85, -1)}
	good.Native[at1s].Bound, good.Native[at1s].Optimal = 100, true
	bad := solverRow{Window: &peers.Window{Name: "bad"}, Busy: "90% busy", Best: 100,
		Native: answers(10, 20, 30, 40, 50, 60, 70), Peers: answers(60, 100)}
	bad.Peers[1].Bound = 104
	bad.Peers[0].Bound = math.Inf(1)
	return &solverFigures{Machine: "a machine", Peers: []string{"p", "q"},
		Missing: []string{"r is not installed"}, Rows: []solverRow{good, bad}}
}

func TestSolverSummary(t *testing.T) {
	s := handMade().summary()
	require.Equal(t, 2, s.Of)
	require.Equal(t, 1, s.AsGood)
	require.InDelta(t, 70, s.WorstShort, 1e-9, "30 against 100")
	require.Equal(t, 1, s.Near)
	require.InDelta(t, 50, s.WorstAt1s, 1e-9)
	require.Equal(t, 1, s.Tight, "100 against 110; 110 against 104")
	gaps := s.gaps()
	require.Len(t, gaps, 2)
	require.InDelta(t, 120, gaps[0].Median, 1e-9)
	gaps[0].Median = 0
	require.Equal(t, []busyGap{{"90% busy", 1, 0}, {"empty", 1, 0}}, gaps)
}

func TestSolverPage(t *testing.T) {
	f := handMade()
	require.NoError(t, f.checkBounds())
	text, err := f.page()
	require.NoError(t, err)
	for _, want := range []string{"r is not installed", "| good   |",
		"*0.00", " - |", "1 of 2"} {
		require.Contains(t, text, want)
	}
	f.Rows[1].Native[at1s].Bound = 99
	require.ErrorContains(t, f.checkBounds(), "bad: the native bound at 1s is 99")
}

func TestFreshWindows(t *testing.T) {
	a, err := freshWindows(3, 7)
	require.NoError(t, err)
	b, err := freshWindows(3, 7)
	require.NoError(t, err)
	require.Equal(t, a, b)
	require.Equal(t, []string{"90% busy", "half-busy", "empty"}, []string{a[0].Busy, a[1].Busy, a[2].Busy})
	for _, r := range a {
		require.NoError(t, r.Window.Model.Validate())
		require.NotEmpty(t, r.Window.Model.Value)
	}
}

func TestSharedWindows(t *testing.T) {
	dir := t.TempDir()
	_, err := sharedWindows(dir)
	require.ErrorContains(t, err, "no MPS files")
	m := &ipmodel.Model{Value: []int64{5, 6, 7}, GroupStart: []int32{0, 2, 3},
		ColStart: []int32{0, 1, 2, 3}, Row: []int32{0, 0, 0}, Coef: []int32{1, 1, 2}, Cap: []int64{2}}
	f, err := os.Create(filepath.Join(dir, "x_half.mps"))
	require.NoError(t, err)
	require.NoError(t, mps.Write(f, m, "x"))
	require.NoError(t, f.Close())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x_half.sol"), []byte("# best\nc2\n"), 0o600))
	rows, err := sharedWindows(dir)
	require.NoError(t, err)
	require.Len(t, rows, 1)
	require.Equal(t, "x_half", rows[0].Window.Name)
	require.Equal(t, "half-busy", rows[0].Busy)
	require.Equal(t, int64(7), rows[0].Known)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x_half.sol"), []byte("c1 c2"), 0o600))
	_, err = sharedWindows(dir)
	require.ErrorContains(t, err, "x_half.sol: row 0")
}
