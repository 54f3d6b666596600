// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"fmt"
	"io"

	"github.com/aucsched/aucsched/benchmarks/shares"
	"github.com/aucsched/aucsched/core"
)

// sharers are the policies of the page, by name, stock's order first.
var sharers = []struct {
	name   string
	policy func() (core.Policy, error)
}{
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
	some, err := matching(sharers, match, func(p *struct {
		name   string
		policy func() (core.Policy, error)
	}) string {
		return p.name
	})
	if err != nil {
		return "", err
	}
	for _, p := range some {
		fmt.Fprintf(errs, "simulating: %s, seeds %s\n", p.name, seeds.String())
		var runs []*shares.Result
		for seed := seeds.First; seed <= seeds.Last; seed++ {
			policy, err := p.policy()
			if err != nil {
				return "", err
			}
			r, err := shares.Run(ctx, policy, seed)
			if err != nil {
				return "", fmt.Errorf("%s, seed %d: %w", p.name, seed, err)
			}
			runs = append(runs, r)
		}
		addRuns(figures, sharesColumns, runs, p.name)
	}
	return render("shares", map[string]any{
		"Command": fmt.Sprintf("shares -seeds %s > benchmarks/results/shares.md", &seeds),
		"Users":   shares.Users, "Nodes": shares.Nodes, "Cores": shares.Cores, "Days": shares.Days,
		"HalfLife": shares.HalfLife / 3600, "Period": shares.Period,
		"Figures": figures,
	})
}
