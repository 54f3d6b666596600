// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aucsched/aucsched/benchmarks/emulation/matrix"
	"github.com/aucsched/aucsched/benchmarks/replay"
	"github.com/aucsched/aucsched/benchmarks/reproduce"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/sim"
)

// experimentsFlags are the settings of emulate experiments.
type experimentsFlags struct {
	where    emulationDirs
	seeds    string
	jobs     int
	out      string
	figures  string
	markdown string
	stored   bool
	best     bool
}

func experimentsCommand() *cobra.Command {
	var f experimentsFlags
	names := experimentNames()
	c := &cobra.Command{
		Use:   "experiments [WORD...]",
		Short: "Run the papers' experiments on a real Slurm and in the simulator, and print both beside the papers' figures",
		Long: `experiments runs every method of every experiment with every seed, on a real slurmctld under
an accelerated clock and in the simulator. Each result is stored as it comes: the same command
goes on where it was interrupted. All of it takes hours.

With --figures, what is in that file is not run, and what has been run is added to it.

A WORD chooses the experiments whose name contains it: ` + strings.Join(names, ", ") + `.`,
		Example: "  aucsched emulate experiments esp S-V --seeds 1-3 --markdown emulation.md",
		RunE:    func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	flags := c.Flags()
	flags.StringVar(&f.seeds, "seeds", "1-3", "seeds of the workloads: FIRST-LAST, or some with commas")
	flags.IntVarP(&f.jobs, "jobs", "j", 2, "clusters at a time; each computes on one core most of the time")
	flags.StringVar(&f.out, "out", "", "directory of the results; without it one in the user's cache, which is then said")
	flags.StringVar(&f.figures, "figures", "", "keep the figures of the runs on the real Slurm in this CSV file")
	flags.StringVar(&f.markdown, "markdown", "", "write the page to this file, instead of standard output")
	flags.BoolVar(&f.stored, "stored", false, "run nothing: the page of what is stored")
	flags.BoolVar(&f.best, "best", false, "only backfill and our best settings")
	f.where.register(flags)
	c.ValidArgsFunction = cli.CompleteArgs(names...)
	return c
}

func experimentNames() (names []string) {
	for _, e := range matrix.Experiments() {
		names = append(names, e.Name)
	}
	return names
}

func (f *experimentsFlags) run(c *cobra.Command, words []string) error {
	experiments, err := matrix.Select(words)
	if err != nil {
		return cli.BadInput(err)
	}
	if f.best {
		matrix.KeepBest(experiments)
	}
	seeds, err := replay.ParseSeeds(f.seeds)
	if err != nil {
		return cli.BadInput(fmt.Errorf("--seeds: %w", err))
	}
	if f.jobs < 1 {
		return cli.BadInput(errors.New("-j: must be at least 1"))
	}
	if f.markdown != "" {
		if err := reproduce.TryFile(f.markdown); err != nil {
			return cli.BadInput(fmt.Errorf("--markdown: %w", err))
		}
	}
	kept, err := f.keptFigures()
	if err != nil {
		return cli.BadInput(fmt.Errorf("--figures: %w", err))
	}
	store, err := openStore(c, f.out)
	if err != nil {
		return cli.BadInput(err)
	}
	bar := emulationBar(c.ErrOrStderr(), len(seeds)*methodsOf(experiments))
	defer bar.clear()
	emulate, err := f.where.program(bar.jobs)
	if err != nil {
		return cli.BadInput(err)
	}
	defer f.where.alone.Leave()
	simulate, err := simulateProgram()
	if err != nil {
		return err
	}
	programs := map[string]*reproduce.Program{"emulate": emulate, "simulate": simulate}
	if !f.stored {
		for _, command := range []string{"simulate", "emulate"} { // what is quick first
			if command == "emulate" {
				collectSeldom()
			}
			if err := f.cells(c, programs[command], store, command, experiments, seeds, kept, bar); err != nil {
				return err
			}
		}
	}
	bar.clear()
	find := func(command string, args []string, seed uint64) (string, *sim.Result) {
		cell, err := programs[command].Prepare(matrixCell(command, args, seed))
		if err != nil {
			return "", nil
		}
		if s, err := store.Load(&cell); err == nil {
			return cell.Key, s.Result
		}
		return cell.Key, kept[cell.Key].Result
	}
	if f.figures != "" {
		kept.Add(experiments, seeds, find)
		if err := reproduce.WriteFile(f.figures, kept.CSV()); err != nil {
			return err
		}
	}
	report := matrix.NewReport(experiments, seeds, find)
	page := report.Page(f.commandLine(words))
	if f.markdown == "" {
		_, err := io.Copy(c.OutOrStdout(), bytes.NewReader(page))
		return err
	}
	return writePage(f.markdown, string(page))
}

// keptFigures are those of the file, none if there is none yet.
func (f *experimentsFlags) keptFigures() (matrix.Figures, error) {
	if f.figures == "" {
		return nil, nil
	}
	if err := reproduce.TryFile(f.figures); err != nil {
		return nil, err
	}
	file, err := os.Open(f.figures)
	if errors.Is(err, fs.ErrNotExist) {
		return make(matrix.Figures), nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return matrix.ReadFigures(file, f.figures)
}

// matrixCell is the cell of a run; simulate's are those of `aucsched reproduce`.
func matrixCell(command string, args []string, seed uint64) reproduce.Cell {
	cell := reproduce.Cell{Args: args, Seed: seed}
	if command != "simulate" {
		cell.Command = command
	}
	return cell
}

func methodsOf(experiments []matrix.Experiment) (n int) {
	for i := range experiments {
		n += len(experiments[i].Methods)
	}
	return n
}

// cells runs what has no result yet, seed by seed: what is done when a run is interrupted
// is whole seeds.
func (f *experimentsFlags) cells(c *cobra.Command, program *reproduce.Program,
	store *reproduce.Store, command string, experiments []matrix.Experiment, seeds []uint64,
	kept matrix.Figures, bar *emulationProgress) error {
	var cells []reproduce.Prepared
	done := 0
	for _, seed := range seeds {
		for i := range experiments {
			e := &experiments[i]
			for k := range e.Methods {
				cell, err := program.Prepare(matrixCell(command, e.ArgsOf(command, &e.Methods[k]), seed))
				if err != nil {
					return cli.BadInput(err)
				}
				if _, ok := kept[cell.Key]; ok {
					done++
				} else {
					cells = append(cells, cell)
				}
			}
		}
	}
	r := reproduce.Runner{Program: program, Store: store, Jobs: f.jobs,
		Say: func(s string) { slog.Warn(s) }, Done: func(n int) { bar.cells(done + n) }}
	_, err := r.Run(c.Context(), cells)
	return err
}

// commandLine is what makes the page anew.
func (f *experimentsFlags) commandLine(words []string) string {
	line := strings.Join(append([]string{"aucsched emulate experiments"}, words...), " ") + " --seeds " + f.seeds
	if f.best {
		line += " --best"
	}
	if f.figures != "" {
		line += " --figures " + f.figures
	}
	if f.markdown != "" {
		line += " --markdown " + f.markdown
	}
	return line
}
