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
	// The parts without which choices, bounds and proofs are worst.
	choice := most(rows, func(r *ablationRow) float64 { return -r.Change })
	bound := most(rows, func(r *ablationRow) float64 { return r.Gap })
	work := most(rows, func(r *ablationRow) float64 { return r.SmallWork })
	of := func(i int) string { return strings.TrimLeft(f.Trials[i].Name, ". ") }
	return render("ablation", map[string]any{
		"Whole": rows[0], "Near": math.Round(rows[0].Near), "Windows": len(f.Names),
		"Choice": of(choice), "ChoiceChange": rows[choice].Change,
		"Bound": of(bound), "BoundChange": rows[bound].Gap - rows[0].Gap,
		"Work": rows[0].work(), "WorkWithout": rows[work].work(), "WorkSaver": of(work),
		"Shared": f.Shared, "Made": len(f.Names) - f.Shared, "Units": int(f.Options.work),
		"Small": f.Options.small, "Seeds": &f.Options.seeds, "Table": f.table(rows),
	})
}

// table has a row for each trial.
func (f *ablationFigures) table(rows []ablationRow) *table {
	t := &table{textColumns: 1, header: []string{"without", "lines", "value %", "change",
		"better", "worse", "far", "gap %", "near", "optimal", "work"}}
	for i, r := range rows {
		change := signed(r.Change, 2)
		if i == 0 {
			change = "-"
		}
		t.add(f.Trials[i].Name, fmt.Sprint(f.Trials[i].Lines), fmt.Sprintf("%.2f", r.Value), change,
			fmt.Sprintf("%.1f", r.Better), fmt.Sprintf("%.1f", r.Worse), fmt.Sprintf("%.1f", r.Far),
			fmt.Sprintf("%.2f", r.Gap), fmt.Sprintf("%.1f", r.Near), fmt.Sprintf("%.1f", r.Optimal), r.work())
	}
	return t
}

// work is SmallWork in words.
func (r *ablationRow) work() string { return digits(max(r.SmallWork, 1e-3)) }

// most is the first row with the most of a figure.
func most(rows []ablationRow, figure func(*ablationRow) float64) (best int) {
	for i := range rows {
		if figure(&rows[i]) > figure(&rows[best]) {
			best = i
		}
	}
	return best
}
