// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"

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

// What of them is replayed.
const (
	day          = 24 * 3600
	everyNode    = 32 // of Alibaba's, every so many in a machine
	machines     = 4  // such machines
	phillyNodes  = 80
	phillyGPUs   = 8 // of a node
	phillyFirst  = "2017-10-02"
	phillyStart  = 1506902400 // phillyFirst in seconds since 1970
	phillyWindow = 7 * day
	phillyWeeks  = 4
)

var (
	alibabaRates = []float64{20, 25, 30}
	phillyRates  = []float64{1, 1.2, 1.4}
)

// gpuCase is jobs, a machine, and how many times as fast as in the trace the jobs come.
type gpuCase struct {
	trace string
	rate  float64
	nodes []nodeset.Capacity
	jobs  []workload.Job
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
func gpuTraces(ctx context.Context, dir string, errs io.Writer) (string, error) {
	if dir == "" {
		return "", fmt.Errorf("-traces is needed: %w", errUsage)
	}
	var cases []gpuCase
	for _, read := range []func(string) ([]gpuCase, error){alibabaCases, phillyCases} {
		more, err := read(dir)
		if err != nil {
			return "", err
		}
		cases = append(cases, more...)
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
	{"auction2", auction(core.DefaultAuctionOptions())},
	{"auction2, holes kept", auction(keepingHoles())},
}

func keepingHoles() core.AuctionOptions {
	o := core.DefaultAuctionOptions()
	o.KeepHoles = true
	return o
}

// runGPUCases runs each case under all policies; cases of one trace and rate, which
// follow each other, make up a row of each policy.
func runGPUCases(ctx context.Context, cases []gpuCase, errs io.Writer) ([]gpuRow, error) {
	var rows []gpuRow
	for i, c := range cases {
		if i == 0 || c.trace != cases[i-1].trace || c.rate != cases[i-1].rate {
			fmt.Fprintf(errs, "replaying: %s at %v\n", c.trace, c.rate)
			for _, policy := range gpuPolicies {
				rows = append(rows, gpuRow{Trace: c.trace, Rate: c.rate, Policy: policy.name})
			}
		}
		for k, policy := range gpuPolicies {
			p, err := policy.make()
			if err != nil {
				return nil, err
			}
			r, err := runGPUCase(ctx, c, p)
			if err != nil {
				return nil, fmt.Errorf("%s at %v: %w", c.trace, c.rate, err)
			}
			row := &rows[len(rows)-len(gpuPolicies)+k]
			row.Runs = append(row.Runs, r)
		}
	}
	return rows, nil
}

func runGPUCase(ctx context.Context, c gpuCase, p core.Policy) (r gpuRun, err error) {
	w := workload.Workload{Jobs: slices.Clone(c.jobs)}
	if err := w.Accelerate(c.rate); err != nil {
		return r, err
	}
	for _, n := range c.nodes {
		r.GPUs += int(n.GPUs)
	}
	last, busy := w.Jobs[len(w.Jobs)-1].Submit, int64(0)
	cfg := sim.NewConfig(c.nodes)
	var waits []int64
	area, waited := 0.0, 0.0
	cfg.OnEnd = func(j sim.Record) {
		gpus := int64(nodeset.GPUs(j.Segs))
		busy += max(0, min(j.End, last)-j.Start) * gpus
		waits = append(waits, j.Start-j.Submit)
		seconds := float64(gpus * (j.End - j.Start))
		area, waited = area+seconds, waited+seconds*float64(j.Start-j.Submit)
	}
	if r.Result, err = sim.Run(ctx, cfg, p, w.Jobs); err != nil {
		return r, err
	}
	r.Busy = float64(busy) / (float64(last) * float64(r.GPUs))
	slices.Sort(waits)
	r.WaitP95, r.WaitArea = float64(waits[len(waits)*95/100]), waited/area
	return r, nil
}

// window are the jobs that came from first to before end, in seconds of w, with times from then.
func window(jobs []workload.Job, first, end int64) []workload.Job {
	var in []workload.Job
	for _, j := range jobs {
		if j.Submit >= first && j.Submit < end {
			j.Submit -= first
			in = append(in, j)
		}
	}
	return in
}

// alibabaCases are the pods that ran for at most a day, on every 32nd node.
func alibabaCases(dir string) ([]gpuCase, error) {
	all, err := workload.ParseCluster(filepath.Join(dir, alibabaNodes))
	if err != nil {
		return nil, err
	}
	w, err := workload.ReadFile(filepath.Join(dir, alibabaPods), workload.Options{})
	if err != nil {
		return nil, err
	}
	pods := slices.DeleteFunc(w.Jobs, func(j workload.Job) bool { return j.Duration > day })
	if len(pods) == 0 {
		return nil, fmt.Errorf("%s: no pod ran for at most a day", alibabaPods)
	}
	pods = window(pods, pods[0].Submit, workload.MaxSeconds)
	var cases []gpuCase
	for _, rate := range alibabaRates {
		for k := range machines {
			var nodes []nodeset.Capacity
			for n := k * everyNode / machines; n < len(all); n += everyNode {
				nodes = append(nodes, all[n])
			}
			cases = append(cases, gpuCase{"Alibaba 2023", rate, nodes, pods})
		}
	}
	return cases, nil
}

// phillyCases are weeks of Philly's jobs.
func phillyCases(dir string) ([]gpuCase, error) {
	w, err := workload.ReadFile(filepath.Join(dir, phillyJobs), workload.Options{GPU: workload.GPUTraceOptions{GPUsPerNode: phillyGPUs}})
	if err != nil {
		return nil, err
	}
	nodes := slices.Repeat([]nodeset.Capacity{{Cores: phillyGPUs, GPUs: phillyGPUs}}, phillyNodes)
	var cases []gpuCase
	for _, rate := range phillyRates {
		for k := range int64(phillyWeeks) {
			first := phillyStart - w.Start + k*phillyWindow
			jobs := window(w.Jobs, first, first+phillyWindow)
			if len(jobs) < 2 {
				return nil, fmt.Errorf("%s: no jobs in week %d after %s", phillyJobs, k+1, phillyFirst)
			}
			cases = append(cases, gpuCase{"Philly 2017", rate, nodes, jobs})
		}
	}
	return cases, nil
}
