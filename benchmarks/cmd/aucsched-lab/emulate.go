// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package main

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/benchmarks/replay"
	"github.com/aucsched/aucsched/benchmarks/reproduce"
	"github.com/aucsched/aucsched/benchmarks/simulate"
	"github.com/aucsched/aucsched/internal/cli"
)

// emulateFlags are the settings of emulate: those of a run, and what is done with several.
type emulateFlags struct {
	run emulatedRun

	where  emulationDirs
	seeds  string
	jobs   int
	out    string
	html   string
	asJSON bool
}

func emulateCommand() *cobra.Command {
	var f emulateFlags
	c := &cobra.Command{
		Use:   "emulate --scheduler S --cluster C --workload W",
		Short: "Run a workload on a real slurmctld under an accelerated clock, and print the papers' metrics",
		Long: `emulate brings up a private cluster of stock Slurm for each scheduler and seed, submits
the workload's jobs with sbatch when they are due, and measures from Slurm's own records what
became of them, as simulate does. All of Slurm's daemons live by a clock that runs --rate times
as fast as the world's while they have nothing to do, and as fast as the world's while they
compute. One process plays all nodes; --nodes full has a stock slurmd for each.

S is backfill, Slurm's own, or auction2, auction1 or ipsched, with aucsched's plug-ins; several
with commas. C and W are those of simulate, and so are the settings of schedulers. Backfill
and ipsched give jobs with a range of GPUs the fewest.

Each result is stored as it comes: a run that was interrupted goes on where it was. Runs that
were not faithful (jobs that did not complete, or lasted more than a hundredth too long, or
were submitted late) are done again, and fail if that does not help. Needs root and Debian's
packages of Slurm; make emulation builds the rest. Jobs that the machine can never run are left
out, with a warning. Whatever part of it is killed, nothing of a cluster stays. One emulate
runs on a machine at a time; -j has it do several runs at once.

Besides the metrics it prints what a pass of Slurm's backfill took and how many jobs it looked
at ("pass s" and "depth", sdiag's means), and how long after a job's end the next one started
on one of its nodes ("handover s", the median of those within 10 s).`,
		Example: "  aucsched emulate --scheduler backfill,auction2 --preset packed --cluster 128x8x2 --workload gen:V.1 --seeds 1-3",
		Args:    cli.ExactArgs(0),
		RunE:    func(c *cobra.Command, _ []string) error { return f.emulate(c) },
	}
	f.run.register(c.Flags())
	flags := c.Flags()
	flags.StringVar(&f.seeds, "seeds", "1", "seeds of the workload: FIRST-LAST, or some with commas")
	flags.IntVarP(&f.jobs, "jobs", "j", 1, "clusters at a time; each computes on one core most of the time")
	flags.StringVar(&f.out, "out", "", "directory of the results; without it one in the user's cache, which is then said")
	flags.StringVar(&f.html, "html", "",
		"write a page with pictures of the runs to this `file`, for several seeds one each; it needs no network")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON, an object a line for each run")
	f.where.register(flags)
	f.run.describe(c)
	c.AddCommand(experimentsCommand(), dayCommand())
	return c
}

// emulate runs the cells that have no result yet, and prints all.
func (f *emulateFlags) emulate(c *cobra.Command) error {
	cells, store, err := f.check(c)
	if err != nil {
		return cli.BadInput(err)
	}
	bar := emulationBar(c.ErrOrStderr(), len(cells))
	defer bar.clear()
	program, err := f.where.program(bar.jobs)
	if err != nil {
		return cli.BadInput(err)
	}
	defer f.where.alone.Leave()
	prepared := make([]reproduce.Prepared, len(cells))
	for i := range cells {
		if prepared[i], err = program.Prepare(cells[i]); err != nil {
			return cli.BadInput(err)
		}
	}
	runner := reproduce.Runner{Program: program, Store: store, Jobs: f.jobs, Say: func(s string) { slog.Warn(s) }, Done: bar.cells}
	collectSeldom()
	results, err := runner.Run(c.Context(), prepared)
	bar.clear()
	if err != nil {
		return err
	}
	var runs []emulated
	for i := range prepared {
		r, err := readEmulated(results[prepared[i].Key])
		if err != nil {
			return err
		}
		replay.WarnUnrun(r.Result.Metrics)
		runs = append(runs, r)
	}
	if err := f.pages(c, runs); err != nil {
		return err
	}
	return printEmulated(c.OutOrStdout(), runs, f.asJSON)
}

// check makes the cells: schedulers within seeds, so that what is done when a run is
// interrupted is whole seeds.
func (f *emulateFlags) check(c *cobra.Command) ([]reproduce.Cell, *reproduce.Store, error) {
	if err := simulate.Needed(c, "scheduler", "cluster", "workload"); err != nil {
		return nil, nil, err
	}
	if f.jobs < 1 {
		return nil, nil, fmt.Errorf("-j: %d: must be at least 1", f.jobs)
	}
	seeds, err := replay.ParseSeeds(f.seeds)
	if err != nil {
		return nil, nil, fmt.Errorf("--seeds: %w", err)
	}
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(emulatedRun).register(own)
	var shared []string
	c.Flags().Visit(func(flag *pflag.Flag) {
		if flag.Name != "scheduler" && own.Lookup(flag.Name) != nil {
			shared = append(shared, "--"+flag.Name+"="+flag.Value.String())
		}
	})
	var cells []reproduce.Cell
	for _, seed := range seeds {
		for scheduler := range strings.SplitSeq(f.run.policy.Policy, ",") {
			cells = append(cells, reproduce.Cell{Command: "emulate",
				Args: append([]string{"--scheduler=" + scheduler}, shared...), Seed: seed})
		}
	}
	store, err := openStore(c, f.out)
	return cells, store, err
}
