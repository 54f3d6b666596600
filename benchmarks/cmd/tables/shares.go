// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/aucsched/aucsched/benchmarks/shares"
	"github.com/aucsched/aucsched/core"
)

// sharers are the policies of the page, by name, stock's order first.
var sharers = []contender{
	{"backfill", backfill},
	{"auction2, none", auction(core.Preset("none"))},
	{"auction2, default", auction(core.Preset("default"))},
	{"auction2, short", auction(core.Preset("short"))},
	{"auction2, throughput", auction(core.Preset("throughput"))},
}

var sharesColumns = []column[*shares.Result]{
	{"not as owed %", 1, func(r *shares.Result) float64 { return 100 * r.Off }},
	{"least %", 1, func(r *shares.Result) float64 { return 100 * r.Least }},
	{"passed over %", 1, func(r *shares.Result) float64 { return 100 * r.Passed }},
	{"CPU %", 1, func(r *shares.Result) float64 { return 100 * r.Use }},
	{"wait, mean h", 1, func(r *shares.Result) float64 { return r.Wait / 3600 }},
}

func sharesRows() (names []string) {
	for _, p := range sharers {
		names = append(names, p.name)
	}
	return names
}

// fairShares is benchmarks/results/shares.md.
func fairShares(ctx context.Context, seeds seedRange, match string, errs io.Writer) (string, error) {
	figures := tableOf(sharesColumns, "policy")
	some, err := matching(slices.Clone(sharers), match, func(c *contender) string { return c.name })
	if err != nil {
		return "", err
	}
	for _, p := range some {
		fmt.Fprintf(errs, "simulating: %s, seeds %s\n", p.name, seeds.String())
		all, err := runs(ctx, &p, seeds, shares.Run)
		if err != nil {
			return "", err
		}
		addRuns(figures, sharesColumns, all, p.name)
	}
	return render("shares", map[string]any{
		"Command": fmt.Sprintf("shares -seeds %s -into benchmarks/results", &seeds),
		"Users":   shares.Users, "Nodes": shares.Nodes, "Cores": shares.Cores, "Days": shares.Days,
		"HalfLife": shares.HalfLife / 3600, "Period": shares.Period,
		"Figures": figures,
	})
}
