// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/aucsched/aucsched/benchmarks/traces"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/generate"
)

// rangeRow is a workload whose jobs have ranges of GPUs, what more of them do for a job, and the
// preset that decides.
type rangeRow struct {
	workload, speedup string
	serial            int // sim.Config.Serial
	preset            string
	runs              [3][]*sim.Result // by how many GPUs jobs ask for, and seed
}

// What rangeRow.runs are of. Two of up to three GPUs are not among them: a third of all GPUs is
// idle then.
const (
	fewestGPUs = iota
	greatestGPUs
	chosenGPUs
)

// rangeRows are those of the page, without runs.
func rangeRows(match string) (rows []*rangeRow) {
	for _, w := range []string{"tsubame-1.NC-ranges", "tsubame-1.FC-ranges", "tsubame-2.NC-ranges"} {
		for _, s := range []struct {
			name   string
			serial int
		}{{"linear", sim.LinearSpeedup}, {"amdahl-0.9", 100}, {"amdahl-0.7", 300}} {
			for _, p := range []string{"short", "throughput"} {
				if strings.Contains(w, match) {
					rows = append(rows, &rangeRow{workload: w, speedup: s.name, serial: s.serial, preset: p})
				}
			}
		}
	}
	return rows
}

// decideRanges runs the rows, several at a time, but for what is done.
func decideRanges(ctx context.Context, rows []*rangeRow, seeds seedRange, done *kept[worthFigure], errs io.Writer) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, row := range rows {
		fmt.Fprintf(errs, "simulating: %s, %s, %s\n", row.workload, row.speedup, row.preset)
		for k := range row.runs {
			row.runs[k] = make([]*sim.Result, seeds.Last-seeds.First+1)
			for i := range row.runs[k] {
				at, seed := new(sim.Result), seeds.First+uint64(i)
				row.runs[k][i] = at
				gpus := [...]string{fewestGPUs: "fewest", greatestGPUs: "greatest", chosenGPUs: "chosen"}[k]
				part := fmt.Sprintf("%s, seed %d, %s, %s, %s", row.workload, seed, row.speedup, row.preset, gpus)
				g.Go(func() (err error) {
					*at, err = worthResult(done, part, func() (*sim.Result, error) { return row.run(ctx, k, seed) })
					return err
				})
			}
		}
	}
	return g.Wait()
}

// run is that with one seed.
func (r *rangeRow) run(ctx context.Context, gpus int, seed uint64) (*sim.Result, error) {
	nodes, err := traces.ParseCluster("1408x12x3")
	if err != nil {
		return nil, err
	}
	w, err := generate.Generate(generate.GeneratorPrefix+r.workload, nodes, seed)
	if err != nil {
		return nil, err
	}
	cfg := sim.NewConfig(nodes)
	cfg.Interval, cfg.Seed, cfg.Serial, cfg.ShrinkLimits = 5, seed, r.serial, true
	machine, err := cfg.Table()
	if err != nil {
		return nil, err
	}
	switch gpus {
	case fewestGPUs:
		generate.FixGPUs(machine, w.Jobs, 0, r.serial)
	case greatestGPUs:
		generate.FixGPUs(machine, w.Jobs, generate.GreatestGPUs, r.serial)
	}
	o := core.Preset(r.preset)
	o.Serial, o.ShrinkLimits = r.serial, true
	a, err := core.NewAuction(o, nil)
	if err != nil {
		return nil, err
	}
	return sim.Run(ctx, cfg, a, w.Jobs)
}

var (
	rangeRuntime = &worthFigures[slices.IndexFunc(worthFigures, func(c criterion) bool { return c.title == "runtime" })]
	rangeWait    = &worthFigures[slices.IndexFunc(worthFigures, func(c criterion) bool { return c.title == "mean" })]
)

// rangeSection holds the numbers that the presets choose against the better of the fixed ones: that
// with the shorter runtime, the mean over the seeds.
func rangeSection(rows []*rangeRow) *worthSection {
	s := &worthSection{Table: &table{textColumns: 3, header: []string{
		"workload", "speed-up", "preset", "fewest: runtime, wait", "greatest", "chosen", "runtime to the better", "wait"}}}
	hours := func(runs []*sim.Result) string {
		return fmt.Sprintf("%.2f, %.2f", rangeRuntime.mean(runs)/3600, rangeWait.mean(runs)/3600)
	}
	for _, r := range rows {
		better := r.runs[fewestGPUs]
		if rangeRuntime.mean(r.runs[greatestGPUs]) < rangeRuntime.mean(better) {
			better = r.runs[greatestGPUs]
		}
		chosen := r.runs[chosenGPUs]
		s.Table.add(r.workload, r.speedup, r.preset, hours(r.runs[fewestGPUs]), hours(r.runs[greatestGPUs]), hours(chosen),
			s.cell(rangeRuntime, chosen, better), s.cell(rangeWait, chosen, better))
	}
	return s
}
