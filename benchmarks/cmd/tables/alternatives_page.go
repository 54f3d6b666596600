// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"

	"github.com/aucsched/aucsched/core"
)

// alternativeColumns are the figures of the page's tables.
var alternativeColumns = []struct {
	title    string
	decimals int
	of       func(*alternativeRun) float64
}{
	{"CPU %", 1, func(r *alternativeRun) float64 { return 100 * r.CPUUtilization }},
	{"GPU %", 1, func(r *alternativeRun) float64 { return 100 * r.GPUUtilization }},
	{"wait, mean h", 2, func(r *alternativeRun) float64 { return r.WaitMean / 3600 }},
	{"slowdown", 1, func(r *alternativeRun) float64 { return r.SlowdownMean }},
	{"fragmentation", 2, func(r *alternativeRun) float64 { return r.FragmentationMean }},
	{"spread", 2, func(r *alternativeRun) float64 { return r.SpreadMean }},
	{"taken %", 1, func(r *alternativeRun) float64 { return 100 * r.Taken }},
}

func (r *alternativeRow) of(figure func(*alternativeRun) float64) (x []float64) {
	for i := range r.Runs {
		x = append(x, figure(&r.Runs[i]))
	}
	return x
}

// alternativesPage is benchmarks/results/alternatives.md.
func alternativesPage(seeds seedRange, rows []alternativeRow) string {
	var p page
	p.heading(1, "Alternative requests and flexible GPUs")
	p.say("Written by `go run ./benchmarks/cmd/tables alternatives -seeds %s > benchmarks/results/alternatives.md`; change the command, not this page. The same command gives the same numbers again. A referee that shares nothing with the policies checked every start against the request that it meets.", seeds.String())
	writeAlternativesHow(&p)
	writeAlternativesAssumed(&p)
	p.heading(2, "Figures")
	p.say("Means over the seeds, ± their standard deviation. \"taken\" is the share of all jobs that start by the alternative or with numbers of GPUs that differ.")
	t := table{textColumns: 2, header: []string{"workload", "jobs and policy"}}
	for _, c := range alternativeColumns {
		t.header = append(t.header, c.title)
	}
	for i := range rows {
		cells := []string{rows[i].Case, offerings()[rows[i].Offering].name}
		for _, c := range alternativeColumns {
			s := over(rows[i].of(c.of))
			cells = append(cells, fmt.Sprintf("%.*f ± %.*f", c.decimals, s.Mean, c.decimals, s.Dev))
		}
		t.add(cells...)
	}
	p.table(&t)
	writeAlternativesPaired(&p, seeds, rows)
	return p.String()
}

// writeAlternativesPaired holds each offering against its rival, seed by seed.
func writeAlternativesPaired(p *page, seeds seedRange, rows []alternativeRow) {
	p.heading(2, "Seed by seed")
	p.say("Differences on the same %d seeds, mean ± standard deviation: alternatives against auction2 on the same jobs without them, mixed ranges against ranges. In brackets, on how many seeds it is higher and lower.", seeds.count())
	t := table{textColumns: 2, header: []string{"workload", "jobs and policy", "offered %"}}
	shown := alternativeColumns[:len(alternativeColumns)-1]
	for _, c := range shown {
		t.header = append(t.header, c.title)
	}
	for i := range rows {
		r := &rows[i]
		o := offerings()[r.Offering]
		rival := findOffering(rows, r.Case, o.against)
		if o.change == nil || rival == nil {
			continue
		}
		cells := []string{r.Case, o.name, fmt.Sprintf("%.0f", over(r.of(func(r *alternativeRun) float64 { return 100 * r.Offer })).Mean)}
		for _, c := range shown {
			x := pair(r.of(c.of), rival.of(c.of))
			cells = append(cells, fmt.Sprintf("%s ± %.*f (%d, %d)", signed(x.Difference.Mean, c.decimals), c.decimals, x.Difference.Dev, x.Wins, x.Losses))
		}
		t.add(cells...)
	}
	p.table(&t)
	for k, o := range offerings() {
		if o.change != nil {
			p.say("%s", alternativesReading(rows, k))
		}
	}
}

func findOffering(rows []alternativeRow, name string, offering int) *alternativeRow {
	for i := range rows {
		if rows[i].Case == name && rows[i].Offering == offering {
			return &rows[i]
		}
	}
	return nil
}

// alternativesReading says what an offering comes to over all workloads that have it.
func alternativesReading(rows []alternativeRow, offering int) string {
	o := offerings()[offering]
	var cpu, base, wait, waited []float64
	for i := range rows {
		r := &rows[i]
		if rival := findOffering(rows, r.Case, o.against); r.Offering == offering && rival != nil {
			cpu, base = append(cpu, r.of(alternativeColumns[0].of)...), append(base, rival.of(alternativeColumns[0].of)...)
			wait, waited = append(wait, r.of(alternativeColumns[2].of)...), append(waited, rival.of(alternativeColumns[2].of)...)
		}
	}
	if len(cpu) == 0 {
		return fmt.Sprintf("There is no run of %s.", o.name)
	}
	c, w := pair(cpu, base), pair(wait, waited)
	return fmt.Sprintf("With %s, over all of these workloads, CPU utilisation is %s on average, higher on %d of %d (chance %s if either were as likely), and the mean wait is %.2f h instead of %.2f h, shorter on %d.",
		o.name, points(c.Difference.Mean), c.Wins, len(cpu), chance(c.signTest()), over(wait).Mean, over(waited).Mean, w.Losses)
}

func writeAlternativesHow(p *page) {
	p.heading(2, "What they are")
	p.say("The papers name both as future work. A job may have up to %d alternatives (`core.Job.Alternatives`; `\"alternatives\"` of a job in a window file): further requests, each complete by itself, of which the first is liked best. It may also let its nodes give different numbers of GPUs of its range (`bids.Request.MixedGPUs`; `\"gpus_uniform\": false`). The format is in package window's documentation.", core.MaxAlternatives)
	p.list(
		"Every request makes bids. They are one group of the model, so that at most one wins. A job is worth as much whichever is met, and preferences are shared out among the requests as they are among counts of GPUs (aucsched2, section 3): any bid of an earlier request is preferred to one of a later.",
		"A draft serves a job once: when its easiest request has its turn, by the first request that fits; every other draft tries the cheapest request at flat prices first.",
		"A job at the head of the queue starts by the first request that can start; if none can, the earliest place of any of them is kept free.",
		"Nodes that may differ each give at least the fewest GPUs of the range. Once all jobs of a draft have their places, they take what is left free on each node, up to the most. They also bid for the fewest alone, so that others can have the rest. Preference grows with the mean over the nodes.",
		"auction1 has the same groups. backfill and ipsched know of neither: they take a job's own request, with the fewest GPUs of a range.",
	)
}

func writeAlternativesAssumed(p *page) {
	p.heading(2, "What was assumed")
	p.say("The workloads of benchmarks/results/simulation.md and docs/workloads.md, with default settings and a scheduling interval of 3 s; Tsubame has 1408 nodes of 12 cores and 3 GPUs, V.1 to V.3 are for 128 nodes of 8 cores and 2 GPUs. None of these says what else its jobs could do, so this is made up, alike for all:")
	p.list(
		"jobs that ask for a number of nodes can as well have twice as many with half the cores and GPUs of each, where both are even;",
		"jobs with GPUs of which one is odd can have half the nodes with twice the cores and GPUs of each, where nodes are even in number and a node has as many;",
		"either way they take as long, whatever more communication would cost; cores and GPUs are the same in all. Jobs that ask for cores alone have no alternative;",
		"jobs that ask for ranges of GPUs can use different numbers on different nodes and balance their work: a job runs as long as the sum of its GPUs says (equation 5 of aucsched2 with sums in place of the number a node);",
		"the utilisation of the CPUs counts a job with a range as long as it takes with the fewest GPUs, as in benchmarks/results/simulation.md, so that running it faster raises the figure: compare mixed ranges with ranges only.",
	)
}

// chance is a probability with three decimals.
func chance(p float64) string {
	if p < 0.001 {
		return "under 0.001"
	}
	return fmt.Sprintf("%.3f", p)
}
