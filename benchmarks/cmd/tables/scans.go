// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"fmt"
	"runtime"

	"github.com/aucsched/aucsched/benchmarks"
	"github.com/aucsched/aucsched/nodeset"
)

// scanFigures compare a scan with a loop over structs.
type scanFigures struct {
	Rows   []scanRow
	Memory []tableMemory
}

type scanRow struct {
	Nodes int
	Query nodeset.Query
	Table sample
	Loop  sample
}

// tableMemory is the memory that a nodeset.Table of equal nodes takes.
type tableMemory struct {
	Nodes int
	Each  nodeset.Capacity
	Bytes float64
}

// measureScans measures all queries on machines of all sizes.
func measureScans(ctx context.Context, runs int) (*scanFigures, error) {
	f := new(scanFigures)
	for _, n := range benchmarks.NodeCounts {
		w, err := benchmarks.NewWindow(n, 1, windowSeed)
		if err != nil {
			return nil, err
		}
		for _, q := range benchmarks.Queries(n) {
			x, err := measure(ctx, runs, benchmarks.Scan(w, q), benchmarks.NodeLoop(w, q))
			if err != nil {
				return nil, fmt.Errorf("scan of %d nodes for %s: %w", n, queryName(q), err)
			}
			f.Rows = append(f.Rows, scanRow{n, q, x[0], x[1]})
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
