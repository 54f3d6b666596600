// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/aucsched/aucsched/benchmarks/emulation/load"
)

// negotiationSize is a row's partition and workload, and how many runs it is taken from.
type negotiationSize struct{ nodes, jobs, runs int }

// negotiationSizes are those of the page. Few jobs are few transactions: these are run more often.
func negotiationSizes() (all []negotiationSize) {
	for _, nodes := range []int{16, 256, 1024, 4096, 10_000} {
		all = append(all, negotiationSize{nodes, 64, 10}, negotiationSize{nodes, 1000, 3}, negotiationSize{nodes, 10_000, 1})
	}
	return all
}

// negotiationRow is what BenchmarkNegotiation tells, by the names of its metrics.
type negotiationRow struct {
	negotiationSize
	of     map[string]float64
	others float64 // processors that everything else kept busy
}

// negotiationFigures are those of the page.
type negotiationFigures struct {
	machine, files string
	rows           []negotiationRow
}

func negotiations(ctx context.Context, errs io.Writer) (string, error) {
	f, err := measureNegotiations(ctx, negotiationSizes(), errs)
	if err != nil {
		return "", err
	}
	return f.page()
}

// measureNegotiations builds the benchmark, and runs it for each size as a process of its own.
func measureNegotiations(ctx context.Context, sizes []negotiationSize, errs io.Writer) (f *negotiationFigures, err error) {
	dir, err := os.MkdirTemp("", "negotiation")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	f = &negotiationFigures{machine: machine()}
	if f.files, err = fileSystem(dir); err != nil {
		return nil, err
	}
	program := filepath.Join(dir, "bench")
	build := exec.CommandContext(ctx, "go", "test", "-c", "-o", program, "github.com/aucsched/aucsched/invasive/simulation")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building the benchmark: %w: %s", err, bytes.TrimSpace(out))
	}
	for _, s := range sizes {
		fmt.Fprintf(errs, "negotiating: %d jobs on %d nodes\n", s.jobs, s.nodes)
		r, err := negotiate(ctx, program, s)
		if err != nil {
			return nil, fmt.Errorf("%d jobs on %d nodes: %w", s.jobs, s.nodes, err)
		}
		f.rows = append(f.rows, r)
	}
	return f, nil
}

// negotiate runs the benchmark, which verifies its answer.
func negotiate(ctx context.Context, program string, s negotiationSize) (r negotiationRow, err error) {
	c := exec.CommandContext(ctx, program, "-test.run", "^$", "-test.bench", "^BenchmarkNegotiation$",
		"-test.benchtime", fmt.Sprintf("%dx", s.runs), "-test.timeout", "0")
	c.Env = append(os.Environ(), fmt.Sprintf("AUCSCHED_BENCH_NODES=%d", s.nodes), fmt.Sprintf("AUCSCHED_BENCH_JOBS=%d", s.jobs))
	idle, err := load.IdleTime()
	if err != nil {
		return r, err
	}
	begin := time.Now()
	out, err := c.CombinedOutput()
	if err != nil {
		return r, fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
	}
	took := time.Since(begin)
	after, err := load.IdleTime()
	if err != nil {
		return r, err
	}
	own := c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	r = negotiationRow{negotiationSize: s, others: max(float64(runtime.NumCPU())-(after-idle+own).Seconds()/took.Seconds(), 0)}
	r.of, err = benchmarkMetrics(string(out), "BenchmarkNegotiation")
	return r, err
}

// benchmarkMetrics are the metrics of a benchmark in what `go test -bench` prints. The last run of
// several counts: those before it find out how many are to be made.
func benchmarkMetrics(out, name string) (map[string]float64, error) {
	of := map[string]float64{}
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		if len(fields) < 2 || !strings.HasPrefix(fields[0], name) {
			continue
		}
		for pair := fields[2:]; len(pair) >= 2; pair = pair[2:] {
			x, err := strconv.ParseFloat(pair[0], 64)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", pair[1], err)
			}
			of[pair[1]] = x
		}
	}
	if len(of) == 0 {
		return nil, fmt.Errorf("no %s in %.200q", name, out)
	}
	return of, nil
}
