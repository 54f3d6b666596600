// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/aucsched/aucsched/benchmarks/stats"
)

// page is benchmarks/results/locality-adaptive.md.
func (f *localityFigures) page() (string, error) {
	o := f.Options
	figures := map[string]any{
		"Command": f.command(), "Picture": "",
		"DayCount": o.seeds.count() * len(dayLoads), "Seeds": &o.seeds, "Shrink": o.shrink,
		"Loads": strings.Trim(strings.Join(strings.Fields(fmt.Sprint(dayLoads)), ", "), "[]"),
		"Hours": windowLength / 3600, "Nodes": f.Nodes, "Others": nil,
		"UnderusedTo": 100 * underusedTo, "SaturatedFrom": 100 * saturatedFrom,
		"Plain": f.family(plainPolicies, "FCFS"), "Backfilled": f.family(backfilled, "FCFS-BF"),
		"Tried": nil,
	}
	if o.svg != "" {
		figures["Picture"] = filepath.Base(o.svg)
	}
	if o.traces != "" {
		figures["Others"] = map[string]any{"Trace": otherTrace, "Every": otherEvery,
			"Least": leastJobsOfADay, "Nodes": otherNodes, "Cores": otherCores}
	}
	if f.Tried != nil {
		figures["Tried"] = f.tried()
	}
	return render("locality", figures)
}

// family are the tables of one family of schedulers, the baseline first.
type family struct {
	Baseline, Lead string
	Table, Duels   *table
	Verdict        verdict
}

func (f *localityFigures) family(names []string, baseline string) family {
	r, last := localityRatios(f.Days, plainPolicies[0], names[0]), len(names)-1
	return family{
		Baseline: baseline, Lead: names[last],
		Table: r.table(names[1:]), Duels: r.duels(names[last], names[:last]),
		Verdict: r.verdict(names[last], names[1:last]),
	}
}

// verdict says on which kinds of days lead is at least as good as the best of the others, and by
// how much, day by day.
type verdict struct {
	Lead  string
	Kinds []kindVerdict
}

type kindVerdict struct {
	Days             string // of what kind
	Best             string // of the others
	Mean, BestMean   float64
	Seeds            int // days
	AsGood, ByChance bool
	// Percent is by how much lead is better in the mean, From and To are its interval of 95%.
	Percent, From, To float64
}

func (r *ratios) verdict(lead string, others []string) verdict {
	v := verdict{Lead: lead}
	for k, kind := range dayKinds {
		own := r.of(r.stretch[lead], k)
		if len(own) == 0 {
			continue
		}
		best, bestOf := "", []float64(nil)
		for _, name := range others {
			if x := r.of(r.stretch[name], k); best == "" || stats.Geometric(x) > stats.Geometric(bestOf) {
				best, bestOf = name, x
			}
		}
		d := stats.Paired(stats.Logs(own), stats.Logs(bestOf))
		percent := func(x float64) float64 { return 100 * math.Expm1(x) }
		v.Kinds = append(v.Kinds, kindVerdict{
			Days: kind, Best: best, Mean: stats.Geometric(own), BestMean: stats.Geometric(bestOf), Seeds: d.Seeds,
			AsGood: d.Mean >= -0.0005, ByChance: -d.Mean <= d.Noise,
			Percent: percent(d.Mean), From: percent(d.Mean - d.Noise), To: percent(d.Mean + d.Noise),
		})
	}
	return v
}

// triedSection has the rules that lead was chosen from.
type triedSection struct {
	Seeds *seedRange
	Table *table
}

func (f *localityFigures) tried() triedSection {
	s := triedSection{Seeds: &f.Options.tried}
	names := plainPolicies[1:len(plainPolicies):len(plainPolicies)]
	for _, r := range triedRules {
		names = append(names, r.name)
	}
	r := localityRatios(f.Tried, plainPolicies[0], plainPolicies[0])
	s.Table = r.table(names)
	return s
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
	return line + " -into benchmarks/results"
}
