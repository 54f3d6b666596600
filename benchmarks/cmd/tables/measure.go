// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/aucsched/aucsched/benchmarks"
	"github.com/aucsched/aucsched/benchmarks/stats"
)

// sample is what a stage costs.
type sample struct {
	Ns     float64 // a run, the median of measurements
	Allocs float64 // a run, the mean
	Bytes  float64 // a run, the mean
	Sizes  []benchmarks.Size
}

// enough is how long stages are repeated within one measurement.
const enough = 20 * time.Millisecond

// measure times stages in their steady state, that many times each and in turns, so
// that a slow moment of the machine strikes all alike. It checks the first and the last
// answer of each.
func measure(ctx context.Context, runs int, stages ...benchmarks.Stage) ([]sample, error) {
	repeat := make([]int, len(stages))
	for i, s := range stages {
		var err error
		if repeat[i], err = warmUp(s); err != nil {
			return nil, fmt.Errorf("measurement %d of %d: %w", i+1, len(stages), err)
		}
	}
	samples, ns := make([]sample, len(stages)), make([][]float64, len(stages))
	for range runs {
		for i, s := range stages {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			x, err := measureOnce(s, repeat[i])
			if err != nil {
				return nil, err
			}
			ns[i] = append(ns[i], x.Ns)
			samples[i].Allocs += x.Allocs / float64(runs)
			samples[i].Bytes += x.Bytes / float64(runs)
		}
	}
	for i, s := range stages {
		samples[i].Ns, samples[i].Sizes = stats.Median(ns[i]), s.Sizes()
		if err := s.Check(); err != nil {
			return nil, fmt.Errorf("measurement %d of %d: %w", i+1, len(stages), err)
		}
	}
	return samples, nil
}

// warmUp runs a stage until its memory has grown to its size, checks the answer, and
// says how many runs make a measurement long enough.
func warmUp(s benchmarks.Stage) (repeat int, err error) {
	if _, err := s.Times(1); err != nil {
		return 0, err
	}
	if err := s.Check(); err != nil {
		return 0, err
	}
	for repeat = 1; ; repeat *= 2 {
		if d, err := s.Times(repeat); err != nil || d >= enough {
			return repeat, err
		}
	}
}

// parts is into how many parts a measurement is cut if it has as many runs. The time is
// that of the fastest: the others were held up by other work of the machine.
const parts = 8

// measureOnce is what one run costs, of repeat runs.
func measureOnce(s benchmarks.Stage, repeat int) (x sample, err error) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	x.Ns = math.Inf(1)
	part, done := max(1, repeat/parts), 0
	for ; done < repeat; done += part {
		d, err := s.Times(part)
		if err != nil {
			return x, err
		}
		x.Ns = min(x.Ns, float64(d)/float64(part))
	}
	runtime.ReadMemStats(&after)
	n := float64(done)
	x.Allocs, x.Bytes = float64(after.Mallocs-before.Mallocs)/n, float64(after.TotalAlloc-before.TotalAlloc)/n
	return x, nil
}
