// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/aucsched/aucsched/benchmarks/reproduce"
)

func (f *localityFigures) page() string {
	var p page
	p.heading(1, "A scheduler for data locality that follows the load")
	o := f.Options
	p.say("Written by `%s`; change the command, not this page. The same command gives the same numbers again.", f.command())
	p.say("Gonthier et al. (RR-9497) leave open how LEM, which switches from EFT to LEA at 80%% of busy nodes, can follow the load gradually, and how LEO can reuse more files. " +
		"`lead` (locality and eviction, by demand) is an answer to both. It ranks nodes by the same sum, start + a x load + b x eviction:")
	p.list("nodes that are busy as LEA does, with a = 500 and b = 1;",
		"nodes that are free now between EFT, a = 1 and b = 0, and LEA, by how many cores the jobs behind in the queue ask for, LEA's weights from 3% of the cluster's cores on and in proportion below; that share of the way counts in full from 90% of busy cores on, not at all up to 70%, and in proportion between.")
	p.say("A job that waits for a node with its file, while another is free, leaves that one to the jobs behind it. With nobody behind, or with other free nodes for them, cores would be idle, and lead is LEO then, which takes the free node. " +
		"With a long queue they are not, and each load that is saved helps all who wait: lead is LEA then. It is in package locality and in `aucsched simulate --policy fcfs,lem,lead`; with `--html page.html` that shows the cores in use, in the queue and loading over time, and job by job who is better off.")
	if o.svg != "" {
		p.WriteString("\n![On what share of the days each scheduler comes to at most so much](" + filepath.Base(o.svg) + ")\n")
	}
	p.say("With `-html page.html` the command above also writes that page for one of the days, with box plots and distributions over all of them.")
	p.heading(2, "Days")
	p.say("The workloads are %d days made of the authors' log of 2022-09-10 by package benchmarks/resample: whole sessions of users, with all jobs that share a file, are left out, or come a second time under another name up to two hours earlier or later, "+
		"as a seed and a load say (%s of the sessions). The evaluated %d h begin 6 to 45 h after the log does. To simulate many days, the cluster has %d of the log's 486 nodes, and of each session one job in %d is kept, so that a node and a file have as many jobs as in the log. "+
		"Seeds %s, each with each load; the rule and its numbers, 3%%, 70%% and 90%%, were chosen with others.", o.seeds.count()*len(dayLoads), strings.Trim(strings.Join(strings.Fields(fmt.Sprint(dayLoads)), ", "), "[]"), windowLength/3600, f.Nodes, o.shrink, o.seeds.String())
	if o.traces != "" {
		p.say("Further days are of other users: those of the MetaCentrum's log (%s, Parallel Workloads Archive) every %d days, each after three days that warm up, those with at least %d jobs, with files made as the report does in section 5.1, on %d nodes of %d cores and on %d.",
			otherTrace, otherEvery, leastJobsOfADay, otherNodes[0], otherCores, otherNodes[1])
	}
	p.say("A day is under-used if waiting jobs ask for less than %g%% of the cluster's cores in the mean of the evaluated time under FCFS, saturated from %g%% on, and nearly saturated between.", 100*underusedTo, 100*saturatedFrom)
	plain, backfill := localityRatios(f.Days, plainPolicies[0], plainPolicies[0]), localityRatios(f.Days, plainPolicies[0], backfilled[0])
	f.results(&p, "Without backfilling", &plain, plainPolicies, "FCFS")
	f.results(&p, "With backfilling", &backfill, backfilled, "FCFS-BF")
	if f.Tried != nil {
		f.triedText(&p)
	}
	return p.String()
}

// results are the tables of one family of schedulers, the baseline first.
func (f *localityFigures) results(p *page, title string, r *ratios, names []string, baseline string) {
	p.heading(2, title)
	p.say("The mean stretch under %s, over the scheduler's: above 1 is better. Columns 1/8 to 7/8 are quantiles over the days; of the kinds of days there is the geometric mean, with their number. Loads: the time spent on transfers, of %s's.", baseline, baseline)
	p.table(r.table(names[1:]))
	lead := names[len(names)-1]
	p.say("On how many days %s is better than another, equal within half a per cent, and worse; and how likely as many wins would be if wins and losses were equally likely:", lead)
	p.table(r.duels(lead, names[:len(names)-1]))
	p.say("%s", r.verdict(lead, names[1:len(names)-1]))
}

// verdict says on which kinds of days lead is at least as good as the best of the others, and by how much, day by day.
func (r *ratios) verdict(lead string, others []string) string {
	var parts []string
	for k, kind := range dayKinds {
		own := r.of(r.stretch[lead], k)
		if len(own) == 0 {
			continue
		}
		best, bestOf := "", []float64(nil)
		for _, name := range others {
			if x := r.of(r.stretch[name], k); best == "" || geometric(x) > geometric(bestOf) {
				best, bestOf = name, x
			}
		}
		d := reproduce.Paired(logs(own), logs(bestOf))
		percent := func(x float64) float64 { return 100 * math.Expm1(x) }
		word := "worse than"
		switch {
		case d.Mean >= -0.0005:
			word = "at least as good as"
		case d.Seeds < 2:
			word = "on its one day worse than"
		case -d.Mean <= d.Noise:
			word = "worse by no more than chance would have it than"
		}
		part := fmt.Sprintf("on %s days %s the best of the others there, %s (%.3f, %.3f", kind, word, best, geometric(own), geometric(bestOf))
		if d.Seeds > 1 {
			part += fmt.Sprintf("; %+.1f%%, with an interval of 95%% from %+.1f to %+.1f", percent(d.Mean), percent(d.Mean-d.Noise), percent(d.Mean+d.Noise))
		}
		parts = append(parts, part+")")
	}
	return fmt.Sprintf("In the geometric mean %s is ", lead) + strings.Join(parts, "; ") + "."
}

func logs(x []float64) []float64 {
	y := make([]float64, len(x))
	for i := range x {
		y[i] = math.Log(x[i])
	}
	return y
}

// triedText tells of the rules that lead was chosen from.
func (f *localityFigures) triedText(p *page) {
	p.heading(2, "Rules that were tried")
	p.say("On the days of seeds %s, none of which is above, without backfilling. Each says how far from EFT to LEA a job's weights are. "+
		"The number had first been chosen, as 50%%, on an eighth of the cluster, where every rule with the queue came to about the same; days of a quarter, with seeds 101-112, showed that it was too big, and are not reported. "+
		"The rules by busy nodes and cores and by all waiting jobs, LEM among them, gain most on full days, and lose on days with cores to spare, where a job waits and nobody else takes its place; the rules by the jobs behind do not. "+
		"Without a look at idle cores they lose there a little as well; where that look begins hardly matters up to 90%% of busy cores, but some cores are always idle, and a rule that waits until hardly any are loses most of the gain on full days. "+
		"A bound on a job's wait by its time limit gives most of the gain away.", f.Options.tried.String())
	r := localityRatios(f.Tried, plainPolicies[0], plainPolicies[0])
	var items, names []string
	for _, s := range triedRules {
		items = append(items, fmt.Sprintf("%s: %s", s.name, s.meaning))
		names = append(names, s.name)
	}
	p.list(items...)
	p.table(r.table(append(plainPolicies[1:len(plainPolicies):len(plainPolicies)], names...)))
}

// command is what the page was written with.
func (f *localityFigures) command() string {
	o := f.Options
	line := fmt.Sprintf("go run ./benchmarks/cmd/tables locality -data DIR -seeds %s -shrink %d", o.seeds.String(), o.shrink)
	if o.tried.First > 0 {
		line += " -tried " + o.tried.String()
	}
	if o.traces != "" {
		line += fmt.Sprintf(" -traces DIR -trace-days %d", o.traceDays)
	}
	if o.svg != "" {
		line += " -plot benchmarks/results/locality-adaptive.svg"
	}
	return line + " > benchmarks/results/locality-adaptive.md"
}
