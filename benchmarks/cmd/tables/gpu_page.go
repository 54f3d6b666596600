// SPDX-License-Identifier: BSD-3-Clause

package main

import "fmt"

// gpuColumns are the figures of the page's table.
var gpuColumns = []struct {
	title    string
	decimals int
	of       func(*gpuRun) float64
}{
	{"GPU %", 1, func(r *gpuRun) float64 { return 100 * r.Busy }},
	{"wait, mean h", 2, func(r *gpuRun) float64 { return r.WaitMean / 3600 }},
	{"slowdown", 1, func(r *gpuRun) float64 { return r.SlowdownMean }},
	{"h with a queue", 1, func(r *gpuRun) float64 { return float64(r.GPUQueue.Seconds) / 3600 }},
	{"idle %", 1, func(r *gpuRun) float64 { return 100 * r.GPUQueue.Idle }},
	{"stranded %", 1, func(r *gpuRun) float64 { return 100 * r.GPUQueue.Stranded }},
	{"stranded GPU h", 0, func(r *gpuRun) float64 {
		return r.GPUQueue.Stranded * float64(r.GPUQueue.Seconds) / 3600 * float64(r.GPUs)
	}},
	{"longest queue", 0, func(r *gpuRun) float64 { return float64(r.PendingMax) }},
}

func (r *gpuRow) of(figure func(*gpuRun) float64) []float64 {
	var x []float64
	for i := range r.Runs {
		x = append(x, figure(&r.Runs[i]))
	}
	return x
}

// gpuPage is benchmarks/results/gpu-traces.md. Rows are in pairs, backfill's and the auction's.
func gpuPage(rows []gpuRow) string {
	var p page
	p.heading(1, "Traces of GPU clusters")
	p.say("Written by `go run ./benchmarks/cmd/tables gpu -traces DIR > benchmarks/results/gpu-traces.md`; change the command, not this page. The same command gives the same numbers again. A referee that shares nothing with the policies checked every start.")
	writeGPUTraces(&p)
	writeGPUMeasures(&p)
	p.heading(2, "Figures")
	p.say("Means over the %d machines or weeks, ± their standard deviation; both policies have their default settings, a scheduling interval of 3 s and exact time limits. \"rate\" is how many times as fast as in the trace jobs come (`--rate`).", machines)
	t := table{textColumns: 3, header: []string{"trace", "rate", "policy"}}
	for _, c := range gpuColumns {
		t.header = append(t.header, c.title)
	}
	for i := range rows {
		r := &rows[i]
		cells := []string{r.Trace, fmt.Sprint(r.Rate), r.Policy}
		for _, c := range gpuColumns {
			s := over(r.of(c.of))
			cells = append(cells, fmt.Sprintf("%.*f ± %.*f", c.decimals, s.Mean, c.decimals, s.Dev))
		}
		t.add(cells...)
	}
	p.table(&t)
	for i := 0; i+1 < len(rows); i += 2 {
		p.say("%s", gpuReading(&rows[i], &rows[i+1]))
	}
	return p.String()
}

func writeGPUTraces(p *page) {
	p.heading(2, "The traces, and what is assumed")
	p.say("`aucsched simulate` reads both, and Alibaba's list of nodes as a machine; it knows them by their first lines: `aucsched simulate --cluster openb_node_list_all_node.csv --workload openb_pod_list_default.csv`.")
	p.list(
		fmt.Sprintf("**Alibaba 2023**: %s (here %s), %s (%s), in the repository alibaba/clusterdata under cluster-trace-gpu-v2023/csv (Weng et al., \"Beware of Fragmentation\", USENIX ATC'23). A pod takes one node, its cores rounded up, and whole GPUs: one that asks for a share of a GPU has it alone, since the model counts a node's free GPUs and does not know of which GPU a share is free. Memory, models of GPU and classes of service are not read, and pods that were never scheduled are left out.", "openb_pod_list_default.csv", alibabaPods, "openb_node_list_all_node.csv", alibabaNodes),
		fmt.Sprintf("**Philly 2017**: %s, in the repository pkusys/ElasticFlow as pollux/pollux_simulator/traces/philly.csv, made from msr-fiddle/philly-traces (Jeon et al., USENIX ATC'19). A job takes the fewest nodes that hold its GPUs, as many on each, and a core with each GPU. The file says nothing of nodes and cores; virtual clusters and their quotas are not read.", phillyJobs),
		"Neither has time limits: limits are the run times, so that both policies know when jobs end (`--limit-factor` makes them longer).",
	)
	p.say("The pods of the file use few of the cluster's GPUs at a time, so the replays take a part of it: one node in %d of its list, picked in %d ways, with the pods that ran for at most a day. The others are few, and would hold most of the GPUs of so small a machine until the end. Of Philly's jobs, each of the %d weeks from %s on is replayed alone on %d nodes of %d GPUs, a machine on which a queue forms.",
		everyNode, machines, phillyWeeks, phillyFirst, phillyNodes, phillyGPUs)
}

func writeGPUMeasures(p *page) {
	p.heading(2, "What is measured")
	p.list(
		"GPU %: utilisation until the last job has come.",
		"h with a queue: how long some job waited for GPUs. The next two are means over that time.",
		"idle %: share of the GPUs that were free and wanted. Free GPUs count up to the number that waiting jobs ask for.",
		"stranded %: share of the GPUs that were free, wanted and of no use where they were, because no waiting job could use its node: cores were gone or too few GPUs were left beside them, an idea of Weng et al. (`gpu_queue` in `simulate --json`; see sim.GPUQueue for the exact definition). The rest of the idle ones were kept free for a reserved start, or wait for more nodes.",
		"stranded GPU h: what that comes to over the whole run.",
	)
}

// gpuReading compares the policies at one rate.
func gpuReading(back, auction *gpuRow) string {
	mean := func(r *gpuRow, title string) float64 {
		for _, c := range gpuColumns {
			if c.title == title {
				return over(r.of(c.of)).Mean
			}
		}
		panic("no column " + title)
	}
	wins := 0
	for i := range back.Runs {
		if auction.Runs[i].WaitMean < back.Runs[i].WaitMean {
			wins++
		}
	}
	return fmt.Sprintf("%s at %v: the auction's jobs wait %.2f h on average, backfill's %.2f h (less on %d of %d); stranded are %.0f and %.0f GPU hours.",
		back.Trace, back.Rate, mean(auction, "wait, mean h"), mean(back, "wait, mean h"), wins, len(back.Runs), mean(auction, "stranded GPU h"), mean(back, "stranded GPU h"))
}
