// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/benchmarks/emulation/load"
	"github.com/aucsched/aucsched/internal/test/slurmtest"
)

// inventedLoad are figures that nobody measured.
func inventedLoad(size load.Size, rival load.Rival, x int) *load.Figures {
	f := &load.Figures{Size: size, Rival: rival, Window: 30 * time.Second, Started: 10 * x, Pending: 4000 + x, Running: 400,
		CPU: 0.1 * float64(x), RSS: int64(x) << 24, PeakRSS: int64(x) << 25, Busy: 0.9, Looks: 6, Others: 0.5,
		Main: slurmtest.Cycles{Count: 7, Last: 1500, Mean: 2000, Max: 1234567, DepthMean: 100}}
	for i := range 100 {
		f.Squeue.Sorted = append(f.Squeue.Sorted, time.Duration(i+1)*time.Duration(x)*time.Millisecond)
	}
	f.Sbatch = load.Latencies{Sorted: f.Squeue.Sorted[:50], Failed: 50}
	if x > 1 {
		f.Registrations = x
		f.Filled = 4500 * time.Millisecond
	}
	if rival.Auction {
		t := load.Times{N: 9, Mean: 20 * time.Millisecond, Max: 30 * time.Millisecond}
		f.Auction = &load.Auction{Cycles: 10, Cycle: load.Times{N: 9, Mean: 100 * time.Millisecond,
			Max: time.Second}, Snapshot: t, Decide: t, Lock: t,
			Start: load.Times{N: 3, Mean: 30 * time.Millisecond, Max: 50 * time.Millisecond}}
		f.Sbatch = load.Latencies{Failed: 100}
	}
	return f
}

func TestLoadPage(t *testing.T) {
	f := loadFigures{Machine: "Some CPU, 4 logical CPUs, go1, linux/amd64", Slurm: "22.05.8", Rivals: load.Rivals()[1:4]}
	f.Options = load.Options{Seed: 3, Warm: 30 * time.Second, Window: 50 * time.Second, Asks: 100}
	for _, s := range load.Sizes()[:1] {
		for i, r := range f.Rivals {
			f.All = append(f.All, inventedLoad(s, r, i+1))
		}
	}
	text, err := f.page()
	require.NoError(t, err)
	goldenPage(t, "load.golden", text)
}

func TestAgainst(t *testing.T) {
	r := load.Rivals()
	a, b := inventedLoad(load.Size{}, r[0], 1), inventedLoad(load.Size{}, r[0], 2)
	require.Equal(t, "squeue p50 ×2.00, squeue p99 ×2.00, sbatch p50 ×2.00, sbatch p99 ×2.00, CPU ×2.00, memory ×2.00", against(a, b))
	require.Equal(t, "starts ×2.00", against(b, a))
	require.Equal(t, "nothing", against(a, a))
	b.Sbatch = load.Latencies{Failed: 100}
	require.NotContains(t, against(b, a), "sbatch", "no answer is not a fast one")
	require.Contains(t, against(a, b), "sbatch p50")
}

func TestRest(t *testing.T) {
	require.Equal(t, 50*time.Millisecond, rest(inventedLoad(load.Size{}, load.Rivals()[2], 1).Auction))
	require.Zero(t, rest(&load.Auction{}))
}

func TestLoadWrongUse(t *testing.T) {
	for want, args := range map[string][]string{"usage:": {"load", "more"}, "-seed": {"load", "-seed", "x"}} {
		var out, errs bytes.Buffer
		require.ErrorContains(t, run(context.Background(), args, &out, &errs), want)
		require.Empty(t, out.String())
	}
}
