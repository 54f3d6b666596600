// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/aucsched/aucsched/benchmarks/traces"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// Files of the GPU traces, as they are called in shared/traces.
const (
	alibabaPods  = "alibaba-openb_pod_list_default.csv"
	alibabaNodes = "alibaba-openb_node_list_all_node.csv"
	phillyJobs   = "philly-82k-from-ElasticFlow.csv"
)

// gpuCase is jobs, a machine, and how many times as fast as in the trace the jobs come.
type gpuCase struct {
	trace string
	rate  float64
	nodes []nodeset.Capacity
	more  []sim.Resource
	jobs  []workload.Job
}

// row is the name of the case's row.
func (c *gpuCase) row() string { return fmt.Sprintf("%s at %v", c.trace, c.rate) }

// gpuRows are the rows of the page that are of parts of the traces.
func gpuRows() (names []string) {
	for _, rate := range alibabaRates {
		names = append(names, (&gpuCase{trace: "Alibaba 2023", rate: rate}).row())
	}
	for _, rate := range phillyRates {
		names = append(names, (&gpuCase{trace: "Philly 2017", rate: rate}).row())
	}
	return names
}

// gpuRun is one replay.
type gpuRun struct {
	*sim.Result
	GPUs int
	// Busy is the GPUs' utilisation until the last job has come.
	Busy float64
	// WaitP95 is what 95 in 100 jobs wait at most, in seconds. WaitArea is the mean wait, each job
	// counting with its GPU seconds.
	WaitP95, WaitArea float64
}

// gpuRow are one policy's runs of a trace at a rate.
type gpuRow struct {
	Trace  string
	Rate   float64
	Policy string
	Runs   []gpuRun
}

// gpuTraces replays the GPU traces and writes the page.
func gpuTraces(ctx context.Context, dir, match string, errs io.Writer) (string, error) {
	if dir == "" {
		return "", fmt.Errorf("-traces is needed: %w", errUsage)
	}
	var cases []gpuCase
	for _, read := range []func(string) ([]gpuCase, error){alibabaCases, phillyCases, wholeCases} {
		more, err := read(dir)
		if err != nil {
			return "", err
		}
		cases = append(cases, more...)
	}
	cases, err := matching(cases, match, (*gpuCase).row)
	if err != nil {
		return "", err
	}
	rows, err := runGPUCases(ctx, cases, errs)
	if err != nil {
		return "", err
	}
	return gpuPage(rows)
}

// gpuPolicies are the policies of the page, in its order.
var gpuPolicies = []struct {
	name string
	make func() (core.Policy, error)
}{
	{"backfill", backfill},
	{"auction2", auction(core.Preset("none"))},
	{"auction2, default", auction(core.Preset("default"))},
}

// runGPUCases runs each case under all policies, several at a time; cases of one trace and rate,
// which follow each other, make up a row of each policy.
func runGPUCases(ctx context.Context, cases []gpuCase, errs io.Writer) ([]gpuRow, error) {
	var rows []gpuRow
	runs := make([]gpuRun, len(cases)*len(gpuPolicies))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, c := range cases {
		if i == 0 || c.trace != cases[i-1].trace || c.rate != cases[i-1].rate {
			fmt.Fprintf(errs, "replaying: %s at %v\n", c.trace, c.rate)
		}
		for k, policy := range gpuPolicies {
			g.Go(func() error {
				p, err := policy.make()
				if err == nil {
					runs[i*len(gpuPolicies)+k], err = runGPUCase(ctx, c, p)
				}
				if err != nil {
					return fmt.Errorf("%s at %v: %w", c.trace, c.rate, err)
				}
				return nil
			})
		}
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for i, c := range cases {
		if i == 0 || c.trace != cases[i-1].trace || c.rate != cases[i-1].rate {
			for _, policy := range gpuPolicies {
				rows = append(rows, gpuRow{Trace: c.trace, Rate: c.rate, Policy: policy.name})
			}
		}
		for k := range gpuPolicies {
			row := &rows[len(rows)-len(gpuPolicies)+k]
			row.Runs = append(row.Runs, runs[i*len(gpuPolicies)+k])
		}
	}
	return rows, nil
}

func runGPUCase(ctx context.Context, c gpuCase, p core.Policy) (r gpuRun, err error) {
	w := workload.Workload{Jobs: slices.Clone(c.jobs)}
	if err := traces.Accelerate(&w, c.rate); err != nil {
		return r, err
	}
	for _, n := range c.nodes {
		r.GPUs += int(n.GPUs)
	}
	last, busy := w.Jobs[len(w.Jobs)-1].Submit, 0.0
	cfg := sim.NewConfig(c.nodes)
	cfg.Resources = c.more
	var waits []int64
	area, waited := 0.0, 0.0
	cfg.OnEnd = func(j sim.Record) {
		busy += j.GPUs * float64(max(0, min(j.End, last)-j.Start))
		waits = append(waits, j.Start-j.Submit)
		seconds := j.GPUs * float64(j.End-j.Start)
		area, waited = area+seconds, waited+float64(seconds*float64(j.Start-j.Submit))
	}
	if r.Result, err = sim.Run(ctx, cfg, p, w.Jobs); err != nil {
		return r, err
	}
	r.Busy = busy / (float64(last) * float64(r.GPUs))
	slices.Sort(waits)
	r.WaitP95, r.WaitArea = float64(waits[len(waits)*95/100]), waited/area
	return r, nil
}
