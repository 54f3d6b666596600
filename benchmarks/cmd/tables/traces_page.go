// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"

	"github.com/aucsched/aucsched/internal/sim"
)

// traceSection is what the page says of real traces.
type traceSection struct {
	Costs, Metrics *table
	Readings       []traceReading
}

// traceReading compares the auction and backfill on one trace.
type traceReading struct {
	Trace string
	traceResult
	Backfill traceResult
	Longer   float64 // how many times as long the auction's replay takes
}

type traceResult struct{ *sim.Result }

// Wait is the mean wait in hours.
func (r traceResult) Wait() float64 { return r.WaitMean / 3600 }

// newTraceSection is nil without traces. They are in pairs, backfill's and the auction's.
func newTraceSection(traces []traceRow) *traceSection {
	if traces == nil {
		return nil
	}
	s := &traceSection{
		Costs: &table{textColumns: 3, header: []string{"trace", "machine", "policy", "jobs", "not run",
			"CPU time", "peak memory", "cycles", "p50", "p99", "max"}},
		Metrics: &table{textColumns: 2, header: []string{"trace", "policy", "CPU %", "runtime h",
			"wait, mean h", "wait, std h", "slowdown", "fragmentation", "longest queue"}},
	}
	for i := range traces {
		s.Costs.add(traces[i].cost()...)
		s.Metrics.add(traces[i].metrics()...)
	}
	for i := 0; i+1 < len(traces); i += 2 {
		back, auction := &traces[i], &traces[i+1]
		s.Readings = append(s.Readings, traceReading{back.Trace, traceResult{&auction.Result},
			traceResult{&back.Result}, auction.CPU.Seconds() / back.CPU.Seconds()})
	}
	return s
}

// cost is what a replay took.
func (r *traceRow) cost() []string {
	res, memory := &r.Result, "unknown"
	if r.PeakBytes > 0 {
		memory = fmt.Sprintf("%.0f MiB", float64(r.PeakBytes)/(1<<20))
	}
	ms := func(x float64) string { return duration(x * 1e6) }
	return []string{r.Trace, r.Cluster, res.Policy, count(res.Jobs), count(len(res.Unrun)),
		fmt.Sprintf("%.1f s", r.CPU.Seconds()), memory,
		count(int(res.Cycles)), ms(res.CycleMsP50), ms(res.CycleMsP99), ms(res.CycleMsMax)}
}

// metrics are what a replay measured.
func (r *traceRow) metrics() []string {
	res := &r.Result
	return []string{r.Trace, res.Policy, fmt.Sprintf("%.1f", 100*res.CPUUtilization),
		fmt.Sprintf("%.1f", float64(res.Runtime)/3600),
		fmt.Sprintf("%.2f", res.WaitMean/3600), fmt.Sprintf("%.2f", res.WaitStd/3600),
		fmt.Sprintf("%.1f", res.SlowdownMean),
		fmt.Sprintf("%.3f", res.FragmentationMean), count(res.PendingMax)}
}
