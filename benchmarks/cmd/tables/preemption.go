// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"fmt"
	"io"

	"github.com/aucsched/aucsched/benchmarks/preemption"
	"github.com/aucsched/aucsched/core"
)

// stoppers are the policies of the page, stock's rule first.
var stoppers = []contender{
	{"backfill", backfill},
	{"auction2, none", auction(core.Preset("none"))},
	{"auction2, default", auction(core.Preset("default"))},
}

var preemptionColumns = []column[*preemption.Result]{
	{"urgent: mean s", 0, func(r *preemption.Result) float64 { return r.UrgentMean }},
	{"95% s", 0, func(r *preemption.Result) float64 { return r.UrgentHigh }},
	{"longest s", 0, func(r *preemption.Result) float64 { return r.UrgentMost }},
	{"scavengers: mean h", 2, func(r *preemption.Result) float64 { return r.ScavengersMean / 3600 }},
	{"stops", 0, func(r *preemption.Result) float64 { return float64(r.Stops) }},
	{"of one job", 0, func(r *preemption.Result) float64 { return float64(r.Most) }},
	{"lost %", 2, func(r *preemption.Result) float64 { return 100 * r.Lost }},
	{"over after h", 2, func(r *preemption.Result) float64 { return r.Hours }},
}

func preemptionRows() (names []string) {
	for _, s := range preemption.Sites() {
		names = append(names, s.Name)
	}
	return names
}

// preemptions is benchmarks/results/preemption.md.
func preemptions(ctx context.Context, seeds seedRange, match string, errs io.Writer) (string, error) {
	sites, err := matching(preemption.Sites(), match, func(s *preemption.Site) string { return s.Name })
	if err != nil {
		return "", err
	}
	figures := tableOf(preemptionColumns, "site", "policy")
	for i := range sites {
		for _, p := range stoppers {
			fmt.Fprintf(errs, "simulating: %s, %s, seeds %s\n", sites[i].Name, p.name, seeds.String())
			all, err := runs(ctx, &p, seeds, func(ctx context.Context, policy core.Policy, seed uint64) (*preemption.Result, error) {
				return preemption.Run(ctx, &sites[i], policy, seed)
			})
			if err != nil {
				return "", err
			}
			addRuns(figures, preemptionColumns, all, sites[i].Name, p.name)
		}
	}
	return render("preemption", map[string]any{
		"Command": fmt.Sprintf("preemption -seeds %s -into benchmarks/results", &seeds),
		"Sites":   siteTable(),
		"Figures": figures,
	})
}

// siteTable says what the sites are.
func siteTable() *table {
	t := &table{textColumns: 4, header: []string{"site", "machine", "scavengers ask for", "urgent jobs"}}
	for _, s := range preemption.Sites() {
		machine, each, urgent := fmt.Sprintf("%d nodes of %d cores", s.Nodes, s.Cores), "up to a quarter of a node", "one GPU"
		switch {
		case s.GPUs > 0:
			machine, each = fmt.Sprintf("%s and %d GPUs", machine, s.GPUs), "one GPU"
		case s.Widest > 0:
			each = fmt.Sprintf("1 to %d nodes", s.Widest)
		}
		if !s.PerGPU {
			urgent = fmt.Sprintf("1 to %d nodes", s.Wide)
		}
		t.add(s.Name, machine, fmt.Sprintf("%g of all cores for %g h, %s each", s.Load, s.Hours, each),
			fmt.Sprintf("%d of %s", s.Urgent, urgent))
	}
	return t
}
