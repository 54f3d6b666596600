// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/benchmarks"
	"github.com/aucsched/aucsched/benchmarks/highs"
	"github.com/aucsched/aucsched/benchmarks/peers"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/ipmodel/native"
	"github.com/aucsched/aucsched/nodeset"
)

// figures measures what thresholds are about, by name.
var figures = map[string]func(t *testing.T, runs int) float64{
	"scan-1gpu-1core-10000":  func(t *testing.T, runs int) float64 { return scanRatio(t, runs, nodeset.Query{GPUs: 1}) },
	"scan-1gpu-4cores-10000": func(t *testing.T, runs int) float64 { return scanRatio(t, runs, nodeset.Query{GPUs: 1, MinCores: 4}) },
	"cycle-growth-nodes":     cycleGrowth,
	"worth-native-highs":     worthAgainstHighs,
}

// TestThresholds holds this machine's figures against testdata/thresholds.txt.
func TestThresholds(t *testing.T) {
	race.Skip(t, "the race detector changes what things cost")
	file, err := os.Open("testdata/thresholds.txt")
	require.NoError(t, err)
	defer file.Close()
	seen := map[string]bool{}
	for s := bufio.NewScanner(file); s.Scan(); {
		if strings.HasPrefix(s.Text(), "#") || s.Text() == "" {
			continue
		}
		var name string
		var runs int
		var least float64
		_, err := fmt.Sscan(s.Text(), &name, &runs, &least)
		require.NoError(t, err, s.Text())
		require.Contains(t, figures, name)
		require.False(t, seen[name], "%s is there twice", name)
		seen[name] = true
		t.Run(name, func(t *testing.T) {
			got := figures[name](t, runs)
			t.Logf("%.3f, at least %.3f", got, least)
			require.GreaterOrEqual(t, got, least)
		})
	}
	require.Len(t, seen, len(figures), "figures without a threshold")
}

func scanRatio(t *testing.T, runs int, q nodeset.Query) float64 {
	w, err := benchmarks.NewWindow(10_000, 1, windowSeed)
	require.NoError(t, err)
	x, err := measure(t.Context(), runs, benchmarks.Scan(w, q), benchmarks.NodeLoop(w, q))
	require.NoError(t, err)
	require.Less(t, x[0].Allocs, 0.01, "the runtime itself allocates now and then")
	return x[1].Ns / x[0].Ns
}

func cycleGrowth(t *testing.T, runs int) float64 {
	var stages []benchmarks.Stage
	for _, n := range []int{1024, 10_000} {
		w, err := benchmarks.NewWindow(n, 200, windowSeed)
		require.NoError(t, err)
		s, err := benchmarks.Cycle(w)
		require.NoError(t, err)
		stages = append(stages, s)
	}
	x, err := measure(t.Context(), runs, stages...)
	require.NoError(t, err)
	return (10_000.0 / 1024) / (x[1].Ns / x[0].Ns)
}

func worthAgainstHighs(t *testing.T, _ int) float64 {
	if !highs.Built {
		t.Skip("HiGHS is not built in")
	}
	windows, err := freshWindows(3, 5)
	require.NoError(t, err)
	worst := math.Inf(1)
	dir := t.TempDir()
	for _, r := range windows {
		require.NoError(t, r.Window.Write(dir))
		own, err := peers.Library{Solver: native.New()}.Solve(t.Context(), r.Window, 100*time.Millisecond)
		require.NoError(t, err)
		other, err := peers.Library{Solver: highs.New(highs.Options{Command: []string{os.Args[0], workerArgument}})}.Solve(
			t.Context(), r.Window, 2*time.Second)
		require.NoError(t, err)
		if other.Worth > 0 {
			worst = min(worst, float64(own.Worth)/float64(other.Worth))
		}
	}
	return worst
}

// workerArgument makes this test program HiGHS's worker.
const workerArgument = "solver-worker"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == workerArgument {
		if err := highs.Worker(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}
