// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package main

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aucsched/aucsched/benchmarks/emulation"
	"github.com/aucsched/aucsched/benchmarks/emulation/day"
	"github.com/aucsched/aucsched/benchmarks/simulate"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/test/slurmtest"
)

// dayFlags are the settings of emulate day.
type dayFlags struct {
	where    emulationDirs
	o        day.Options
	priority string
}

func dayCommand() *cobra.Command {
	var f dayFlags
	c := &cobra.Command{
		Use:   "day --out DIR",
		Short: "Run a site's day of mixed load on a real Slurm with accounts, and keep what aucsched try reads",
		Long: `day has a real slurmctld, with slurmdbd, run a site's mixed load under an accelerated clock:
partitions that share nodes, arrays, memory, GPUs of two types, jobs that are cancelled or
requeued. It leaves slurm.conf and what sacct prints, jobs.txt, in DIR. A day takes some ten
minutes. Needs root, Debian's packages of Slurm and MariaDB; make emulation builds the rest.

Seed and settings draw the jobs. What becomes of them is never the same twice, as on any Slurm.`,
		Example: "  aucsched emulate day --seed 5 --priority fair-share --out day\n" +
			"  aucsched try --sacct day/jobs.txt --conf day/slurm.conf",
		Args: cli.ExactArgs(0),
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	flags := c.Flags()
	flags.StringVar(&f.o.Out, "out", "", "directory of slurm.conf and jobs.txt")
	flags.Uint64Var(&f.o.Seed, "seed", 1, "seed of the jobs")
	flags.Float64Var(&f.o.Hours, "hours", 24, "hours in which they come")
	flags.Float64Var(&f.o.Load, "load", 1, "what part of the machine they would fill in that time")
	flags.StringVar(&f.priority, "priority", string(day.Basic), "how jobs are ranked: "+strings.Join(day.Priorities(), ", "))
	flags.Float64Var(&f.o.Rate, "rate", 300, "how many times as fast as the world's the clock runs while nothing computes")
	flags.Float64Var(&f.o.Busy, "busy", 60, "the same while one of the daemons computes: they are that much slower")
	f.where.register(flags)
	_ = c.RegisterFlagCompletionFunc("priority", cli.CompleteArgs(day.Priorities()...))
	return c
}

func (f *dayFlags) run(c *cobra.Command) error {
	if err := simulate.Needed(c, "out"); err != nil {
		return err
	}
	f.o.Priority = day.Priority(f.priority)
	if err := f.o.Validate(); err != nil {
		return cli.BadInput(err)
	}
	if _, err := slurmtest.Programs(); err != nil {
		return cli.BadInput(err)
	}
	version, err := slurmtest.Version()
	if err != nil {
		return cli.BadInput(err)
	}
	if err := f.where.fillTools(version); err != nil {
		return cli.BadInput(err)
	}
	alone := emulation.NewAlone()
	if err := alone.Enter(); err != nil {
		return err
	}
	defer alone.Leave()
	f.o.Tools, f.o.Dir = f.where.tools, filepath.Join(scratch(), fmt.Sprintf("aucday%x", rand.Uint32()))
	f.o.Log = func(format string, a ...any) { slog.Info(fmt.Sprintf(format, a...)) }
	return day.Run(c.Context(), f.o)
}
