// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/aucsched/aucsched/benchmarks"
	"github.com/aucsched/aucsched/internal/cycle"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/ipmodel/native"
)

// organ is a part of the native solver, and the files and functions that it consists of.
type organ struct {
	Name string
	Off  cycle.Parts
	Code []string
}

// organs are turned off one at a time.
var organs = []organ{
	{"annealing", cycle.Parts{Annealing: true}, []string{"anneal.go", "eject.go", "packing.go"}},
	{". order by prices", cycle.Parts{Rank: true}, []string{"rankColumns", "shuffle", "setMisses", "sortRowCols", "promote", "demote"}},
	{". . order by success", cycle.Parts{Promotion: true}, []string{"promote", "demote"}},
	{". moves near the last exchange", cycle.Parts{Near: true}, []string{"columnsOf", "freedRow"}},
	{". repair", cycle.Parts{Repair: true}, []string{"repair", "fill", "fillRow", "undo"}},
	{". . rows filled", cycle.Parts{Fill: true}, []string{"fillRow"}},
	{"prices (volume algorithm)", cycle.Parts{Prices: true}, []string{"prices.go"}},
	{"dominated rows", cycle.Parts{Dominated: true}, []string{"dropDominatedRows", "renumberRows"}},
	{"enumeration", cycle.Parts{Enumeration: true}, []string{"enumerate.go"}},
}

// ablationOptions say what is measured.
type ablationOptions struct {
	seeds        seedRange
	work         int64 // units a window
	fresh, small int   // windows that are made
	dir          string
	source       string
	match        string // only parts whose name has this in it
}

// register has the flags that the ablation takes, with what it does without them.
func (o *ablationOptions) register(flags *flag.FlagSet) {
	o.seeds = seedRange{1, 1}
	flags.Var(&o.seeds, "seeds", "seeds of the solver, FIRST-LAST; the windows are of the first")
	flags.Int64Var(&o.work, "work", 100_000_000, "units of work a window; small ones get ten times as many")
	flags.IntVar(&o.fresh, "fresh", 12, "how many windows are made")
	flags.IntVar(&o.small, "small", 8, "how many small windows are solved to the optimum")
	flags.StringVar(&o.dir, "instances", "", "directory with MPS files; without it only what is made is solved")
	flags.StringVar(&o.source, "source", "ipmodel/native", "the solver's code, whose lines are counted")
	flags.StringVar(&o.match, "match", "", "turn only parts off whose name has this in it")
}

// proofWork is how many times the work a small window gets, to be solved to the optimum.
const proofWork = 10

// trial is the solver without a part, or the whole one.
type trial struct {
	Name  string
	Lines int
	Off   cycle.Parts
	Large [][]answer // by seed and window
	Small [][]answer
}

// answer is what the solver made of a window.
type answer struct {
	Worth, Bound, Work int64
	Optimal            bool
}

type ablationFigures struct {
	Options ablationOptions
	Shared  int      // of the windows: those that came as files
	Names   []string // of the windows
	Best    []int64  // by window: the most that anything here is worth
	Trials  []*trial // the whole solver first
}

// ablate measures the native solver without each of its parts, and writes the page.
func ablate(ctx context.Context, o ablationOptions, errs io.Writer) (string, error) {
	if o.work < 1 || o.fresh < 0 || o.small < 0 || o.fresh > 1000 || o.small > 1000 {
		return "", fmt.Errorf("-work %d -fresh %d -small %d: must be at least 1, and 0 to 1000", o.work, o.fresh, o.small)
	}
	f := ablationFigures{Options: o}
	lines, err := readLines(o.source)
	if err != nil {
		return "", err
	}
	f.Trials = append(f.Trials, &trial{Name: "nothing", Lines: lines.total})
	for _, part := range organs {
		if !strings.Contains(part.Name, o.match) {
			continue
		}
		n, err := lines.of(part.Code)
		if err != nil {
			return "", fmt.Errorf("%s: %w", part.Name, err)
		}
		f.Trials = append(f.Trials, &trial{Name: part.Name, Off: part.Off, Lines: n})
	}
	large, err := f.largeWindows()
	if err != nil {
		return "", err
	}
	small, err := smallWindows(o.small, o.seeds.First)
	if err != nil {
		return "", err
	}
	for i, t := range f.Trials {
		fmt.Fprintf(errs, "measuring %d of %d: without %s\n", i+1, len(f.Trials), t.Name)
		if err := t.measure(ctx, o, large, small); err != nil {
			return "", fmt.Errorf("without %s: %w", t.Name, err)
		}
	}
	return f.page()
}

// largeWindows are those of files and those that are made. The latter leave out machines that
// are 90% busy, which every variant solves.
func (f *ablationFigures) largeWindows() (models []*ipmodel.Model, err error) {
	var rows []solverRow
	if f.Options.dir != "" {
		if rows, err = sharedWindows(f.Options.dir); err != nil {
			return nil, err
		}
	}
	f.Shared = len(rows)
	fresh, err := freshWindows((3*f.Options.fresh+1)/2, f.Options.seeds.First)
	if err != nil {
		return nil, err
	}
	for i, r := range append(rows, fresh...) {
		if i >= f.Shared && r.Busy == "90% busy" {
			continue
		}
		models = append(models, r.Window.Model)
		f.Names = append(f.Names, r.Window.Name)
		f.Best = append(f.Best, r.Known)
	}
	if len(models) == 0 {
		return nil, errors.New("-fresh 0 without -instances: no windows")
	}
	return models, nil
}

// smallWindows are made.
func smallWindows(n int, seed uint64) (models []*ipmodel.Model, err error) {
	for i := range n {
		m, err := smallInstance(i, seed).Model(false)
		if err != nil {
			return nil, err
		}
		models = append(models, m)
	}
	return models, nil
}

// smallInstance is a window that the solver can solve to the optimum.
func smallInstance(i int, seed uint64) benchmarks.Instance {
	return benchmarks.Instance{
		Nodes: 64, Jobs: 15, Bids: 5, Busy: 0.9, Priority: benchmarks.Multifactor,
		Combined: i%2 == 1, GPURanges: i%3 == 1, Seed: seed*1000 + uint64(i),
	}
}

// measure solves all windows with all seeds.
func (t *trial) measure(ctx context.Context, o ablationOptions, large, small []*ipmodel.Model) (err error) {
	ctx = cycle.Without(ctx, t.Off)
	t.Large, t.Small = make([][]answer, o.seeds.count()), make([][]answer, o.seeds.count())
	for s := range o.seeds.count() {
		set := ipmodel.Options{Seed: o.seeds.First + uint64(s), Work: o.work}
		if t.Large[s], err = answers(ctx, large, set); err != nil {
			return err
		}
		set.Work *= proofWork
		if t.Small[s], err = answers(ctx, small, set); err != nil {
			return err
		}
	}
	return nil
}

// answers solves windows and checks what comes out.
func answers(ctx context.Context, models []*ipmodel.Model, o ipmodel.Options) (out []answer, err error) {
	var r ipmodel.Result
	solver := native.New()
	for i, m := range models {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := solver.Solve(ctx, m, o, &r); err != nil {
			return nil, fmt.Errorf("window %d: %w", i, err)
		}
		worth, err := m.Check(r.Chosen)
		if err != nil {
			return nil, fmt.Errorf("window %d: %w", i, err)
		}
		out = append(out, answer{worth, r.Bound, r.Work, r.Status == ipmodel.Optimal})
	}
	return out, nil
}
