// SPDX-License-Identifier: BSD-3-Clause

package main

import "fmt"

// writeTraces adds the section on real traces.
func (f *simulationFigures) writeTraces(p *page) {
	p.heading(2, "Real traces")
	p.say("Two public logs. To replay them, put these two files into a directory and name it with `-traces`:")
	p.list(
		"metacentrum-wagap-2013.swf, on 20 nodes of 80 cores and 48 of 12: in the repository aleasimulator/alea as Alea/data-set/wagap-2013.swf. MetaCentrum's log of early 2013; thanks to CESNET MetaCentrum.",
		"LCG.swf.gz, on 100 nodes of 16 cores: in the repository cloudsimplus/cloudsimplus under src/test/resources. A log of the LHC Computing Grid from the Parallel Workloads Archive; thanks to Hui Li. Its machine is not in the log; this one makes jobs queue.",
	)
	if f.Traces == nil {
		p.say("They were not at hand when this page was made.")
		return
	}
	p.say("Whole traces, replayed by `aucsched simulate`, each in a process of its own, on: %s. Wall time and memory include reading the trace. Every start was checked. Jobs ask for processors only: no nodes, GPUs or contiguity that an auction could trade in.", f.Machine)
	t := table{textColumns: 3, header: []string{"trace", "machine", "policy", "jobs", "not run", "wall time", "peak memory", "cycles", "p50", "p99", "max"}}
	m := table{textColumns: 2, header: []string{"trace", "policy", "CPU %", "runtime h", "wait, mean h", "wait, std h", "slowdown", "fragmentation", "longest queue"}}
	for i := range f.Traces {
		t.add(f.Traces[i].cost()...)
		m.add(f.Traces[i].metrics()...)
	}
	p.table(&t)
	p.say("p50, p99 and max are the wall-clock times of a cycle, of those in which anything had changed. The machine had other work, which shows most in max.")
	p.table(&m)
	for i := 0; i+1 < len(f.Traces); i += 2 {
		p.say("%s", traceReading(&f.Traces[i], &f.Traces[i+1]))
	}
}

// cost is what a replay took.
func (r *traceRow) cost() []string {
	res, memory := &r.Result, "unknown"
	if r.PeakBytes > 0 {
		memory = fmt.Sprintf("%.0f MiB", float64(r.PeakBytes)/(1<<20))
	}
	ms := func(x float64) string { return duration(x * 1e6) }
	return []string{r.Trace, r.Cluster, res.Policy, count(res.Jobs), count(len(res.Unrun)), fmt.Sprintf("%.1f s", r.Wall.Seconds()), memory,
		count(int(res.Cycles)), ms(res.CycleMsP50), ms(res.CycleMsP99), ms(res.CycleMsMax)}
}

// metrics are what a replay measured.
func (r *traceRow) metrics() []string {
	res := &r.Result
	return []string{r.Trace, res.Policy, fmt.Sprintf("%.1f", 100*res.CPUUtilization), fmt.Sprintf("%.1f", float64(res.Runtime)/3600),
		fmt.Sprintf("%.2f", res.WaitMean/3600), fmt.Sprintf("%.2f", res.WaitStd/3600), fmt.Sprintf("%.1f", res.SlowdownMean),
		fmt.Sprintf("%.3f", res.FragmentationMean), count(res.PendingMax)}
}

// traceReading compares backfill and the auction on one trace.
func traceReading(back, auction *traceRow) string {
	b, a := &back.Result, &auction.Result
	return fmt.Sprintf("%s: the auction's jobs wait %.2f h on average, backfill's %.2f h; the slowdowns are %.1f and %.1f, the fragmentations %.3f and %.3f. The replay takes the auction %s times as long as backfill.",
		back.Trace, a.WaitMean/3600, b.WaitMean/3600, a.SlowdownMean, b.SlowdownMean, a.FragmentationMean, b.FragmentationMean, digits(auction.Wall.Seconds()/back.Wall.Seconds()))
}
