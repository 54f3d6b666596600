// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/aucsched/aucsched/benchmarks"
	"github.com/aucsched/aucsched/nodeset"
)

// scanFigures compare a scan with other ways to the same answer, and with others that do
// less.
type scanFigures struct {
	Others []string // what Other of each row is of
	Rows   []scanRow
	Memory []tableMemory
	// NoSlurm says why Slurm's bit strings are not among them, if they are not.
	NoSlurm string
}

type scanRow struct {
	Nodes int
	Query nodeset.Query
	Table sample
	Other []sample
}

// tableMemory is the memory that a nodeset.Table of equal nodes takes.
type tableMemory struct {
	Nodes int
	Each  nodeset.Capacity
	Bytes float64
}

// The others.
const (
	structLoop = "struct loop"
	bitsetLib  = "bitset"
	slurmRuns  = "Slurm's runs"
	slurmCount = "Slurm's count"
	plainRead  = "plain read"
)

// measureScans measures all queries on machines of all sizes. The command is run from the
// top of the module.
func measureScans(ctx context.Context, runs int) (*scanFigures, error) {
	f := &scanFigures{Others: []string{structLoop, bitsetLib, plainRead}}
	dir, err := os.MkdirTemp("", "aucsched-tables-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	slurm, err := benchmarks.BuildBitstrings(ctx, ".", dir)
	switch {
	case errors.Is(err, benchmarks.ErrNoSlurm):
		f.NoSlurm = err.Error()
	case err != nil:
		return nil, err
	default:
		f.Others = append(f.Others, slurmRuns, slurmCount)
	}
	for _, n := range benchmarks.NodeCounts {
		w, err := benchmarks.NewWindow(n, 1, windowSeed)
		if err != nil {
			return nil, err
		}
		for _, q := range benchmarks.Queries(n) {
			row, err := measureScan(ctx, runs, w, q, slurm)
			if err != nil {
				return nil, fmt.Errorf("scan of %d nodes for %s: %w", n, queryName(q), err)
			}
			f.Rows = append(f.Rows, row)
		}
	}
	for _, c := range []nodeset.Capacity{{Cores: benchmarks.CoresPerNode, GPUs: benchmarks.GPUsPerNode}, {Cores: 128, GPUs: 8}} {
		m, err := measureMemory(1_000_000, c)
		if err != nil {
			return nil, err
		}
		f.Memory = append(f.Memory, m)
	}
	return f, nil
}

func measureMemory(n int, c nodeset.Capacity) (tableMemory, error) {
	heap := func() float64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	before := heap()
	t, err := nodeset.NewUniform(n, c)
	bytes := heap() - before
	runtime.KeepAlive(t)
	return tableMemory{n, c, bytes}, err
}

// measureScan measures one query; slurm is the program of benchmarks.BuildBitstrings, or
// empty.
func measureScan(ctx context.Context, runs int, w *benchmarks.Window, q nodeset.Query, slurm string) (scanRow, error) {
	stages := []benchmarks.Stage{benchmarks.Scan(w, q), benchmarks.NodeLoop(w, q), benchmarks.Bitset(w, q), benchmarks.MemoryRead(w, q)}
	if slurm != "" {
		b, err := benchmarks.StartBitstrings(ctx, slurm, w, q)
		if err != nil {
			return scanRow{}, err
		}
		defer b.Close()
		stages = append(stages, b.Runs(), b.Count())
	}
	x, err := measure(ctx, runs, stages...)
	if err != nil {
		return scanRow{}, err
	}
	return scanRow{w.Snapshot.Nodes.Len(), q, x[0], x[1:]}, nil
}

// queryName is a query in words.
func queryName(q nodeset.Query) string {
	name := plural(max(q.MinCores, 1), "core")
	if q.GPUs > 0 {
		name = plural(q.GPUs, "GPU") + ", " + name
	}
	if q.Eligible != nil {
		name += ", partition"
	}
	return name
}
