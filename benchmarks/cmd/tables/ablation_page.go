// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// ablationRow is what a trial comes to, over windows and seeds.
type ablationRow struct {
	Value, Gap    float64 // of the choices and the bounds, in % of the best, the mean
	Change        float64 // of the value, against the whole solver
	Better, Worse float64 // windows, the mean over seeds
	Near, Optimal float64 // windows proven within 1%, and small ones to the optimum
	SmallWork     float64 // in millions, the geometric mean
	Far           float64 // windows further than 0.5% from the best
}

// nearGap is the gap within which a window counts as proven.
const nearGap = 0.01

// findBest notes the most that a choice is worth on each window, and looks for bounds below it.
func (f *ablationFigures) findBest() error {
	for _, t := range f.Trials {
		for _, run := range t.Large {
			for i, a := range run {
				f.Best[i] = max(f.Best[i], a.Worth)
			}
		}
	}
	if slices.Contains(f.Best, 0) {
		return errors.New("a window without a choice")
	}
	for _, t := range f.Trials {
		for _, run := range t.Large {
			for i, a := range run {
				if a.Bound < f.Best[i] {
					return fmt.Errorf("%s without %s: the bound is %d, but %d can be had", f.Names[i], t.Name, a.Bound, f.Best[i])
				}
			}
		}
	}
	return nil
}

// row sums a trial up.
func (f *ablationFigures) row(t *trial) (r ablationRow) {
	seeds, whole := float64(len(t.Large)), f.Trials[0]
	for s, run := range t.Large {
		n := seeds * float64(len(run))
		for i, a := range run {
			best, other := float64(f.Best[i]), whole.Large[s][i].Worth
			r.Value += 100 * float64(a.Worth) / best / n
			r.Change += 100 * float64(a.Worth-other) / best / n
			gap := float64(a.Bound)/best - 1
			r.Gap += 100 * gap / n
			r.Better += one(a.Worth > other) / seeds
			r.Worse += one(a.Worth < other) / seeds
			r.Near += one(float64(a.Bound) <= float64(a.Worth)*(1+nearGap)) / seeds
			r.Far += one(float64(a.Worth) < best*0.995) / seeds
		}
	}
	logs := 0.0
	for _, run := range t.Small {
		for _, a := range run {
			r.Optimal += one(a.Optimal) / seeds
			logs += math.Log(float64(a.Work)/1e6) / seeds / float64(len(run))
		}
	}
	r.SmallWork = math.Exp(logs)
	return r
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// page is benchmarks/results/solver-ablation.md.
func (f *ablationFigures) page() (string, error) {
	if err := f.findBest(); err != nil {
		return "", err
	}
	rows := make([]ablationRow, len(f.Trials))
	for i, t := range f.Trials {
		rows[i] = f.row(t)
	}
	var p page
	p.heading(1, "What each part of the native solver is worth")
	p.say("%s", f.finding(rows))
	p.say("Written by `make ablation%s`; change the command, not this page. Each part is turned off alone, `.` marks the parts of a part. %d windows of MPS files and %d made (half-busy and empty machines) get %s units of work, about 0.2 s of a processor for 100 million; %d small ones (128 nodes, 50 jobs) get ten times as many, to be solved to the optimum. Seeds %v. A limit on work makes the figures the same on every machine, however busy. Every choice is added up again from the model, and no bound is below any choice.",
		f.arguments(), f.Shared, len(f.Names)-f.Shared, count(int(f.Options.work)), f.Options.small, &f.Options.seeds)
	p.say("Value: of the choices, in %% of the best that anything here found, the mean; change: against the whole solver. Better, worse: windows. Far: windows more than 0.5%% below the best. Gap: of the bound above the best, the mean. Near: windows proven within 1%%. Optimal, work: of the small windows, how many are proven, and the work that takes, in millions, the geometric mean. Lines: of the files or functions, comments included.")
	t := table{textColumns: 1, header: []string{"without", "lines", "value %", "change", "better", "worse", "far", "gap %", "near", "optimal", "work"}}
	for i, r := range rows {
		change := signed(r.Change, 2)
		if i == 0 {
			change = "-"
		}
		t.add(f.Trials[i].Name, fmt.Sprint(f.Trials[i].Lines), fmt.Sprintf("%.2f", r.Value), change,
			fmt.Sprintf("%.1f", r.Better), fmt.Sprintf("%.1f", r.Worse), fmt.Sprintf("%.1f", r.Far),
			fmt.Sprintf("%.2f", r.Gap), fmt.Sprintf("%.1f", r.Near), fmt.Sprintf("%.1f", r.Optimal), digits(max(r.SmallWork, 1e-3)))
	}
	p.table(&t)
	return p.String(), nil
}

// arguments are those of make.
func (f *ablationFigures) arguments() string {
	if f.Shared > 0 {
		return " INSTANCES=DIR"
	}
	return ""
}

// finding says in three sentences what the table shows.
func (f *ablationFigures) finding(rows []ablationRow) string {
	choice, bound, work := 0, 0, 0
	for i, r := range rows {
		if r.Change < rows[choice].Change {
			choice = i
		}
		if r.Gap > rows[bound].Gap {
			bound = i
		}
		if r.SmallWork > rows[work].SmallWork {
			work = i
		}
	}
	of := func(i int) string { return strings.TrimLeft(f.Trials[i].Name, ". ") }
	return fmt.Sprintf("The whole solver's choices are worth %.2f%% of the best known and its bounds are %.2f%% above it; %.0f of %d windows are proven within 1%%. "+
		"Its choices come from the %s (%+.2f points without), its bounds from the %s (%+.2f points of gap without). "+
		"On small windows a proof takes %s million units of work, %s without the %s.",
		rows[0].Value, rows[0].Gap, math.Round(rows[0].Near), len(f.Names),
		of(choice), rows[choice].Change, of(bound), rows[bound].Gap-rows[0].Gap,
		digits(max(rows[0].SmallWork, 1e-3)), digits(max(rows[work].SmallWork, 1e-3)), of(work))
}
