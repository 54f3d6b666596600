// SPDX-License-Identifier: BSD-3-Clause

// Command tables measures and writes the pages of benchmarks/results that are not written by
// bin/aucsched, in Markdown, to its standard output. On top of a page is its finding, from
// benchmarks/results/findings. From the top of the module:
//
//	go run ./benchmarks/cmd/tables performance > benchmarks/results/performance.md
//	go run ./benchmarks/cmd/tables simulation -traces DIR > benchmarks/results/simulation.md
//	go run ./benchmarks/cmd/tables gpu -traces DIR > benchmarks/results/gpu-traces.md
//	go run ./benchmarks/cmd/tables backfill > benchmarks/results/backfill.md
//	go run ./benchmarks/cmd/tables alternatives > benchmarks/results/alternatives.md
//	go run ./benchmarks/cmd/tables invasive -plot benchmarks/results/invasive.svg > benchmarks/results/invasive-simulation.md
//	go run ./benchmarks/cmd/tables load > benchmarks/results/load.md
//	go run ./benchmarks/cmd/tables locality -data DIR -plot benchmarks/results/locality-adaptive.svg > benchmarks/results/locality-adaptive.md
//	go run -tags highs ./benchmarks/cmd/tables solver -plot benchmarks/results/solver.svg > benchmarks/results/solver.md
//	go run ./benchmarks/cmd/tables ablation > benchmarks/results/solver-ablation.md
//
// Nothing is written unless all measurements have succeeded and all answers have been
// verified.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/aucsched/aucsched/benchmarks/results"
	"github.com/aucsched/aucsched/ipmodel/highs"
)

const usage = "usage: " +
	"tables performance [-runs N] [-cycles N] | " +
	"tables simulation [-seeds FIRST-LAST] [-traces DIR] | " +
	"tables gpu -traces DIR | " +
	"tables backfill [-seeds FIRST-LAST] | " +
	"tables solver [-fresh N] [-small N] [-seed S] [-instances DIR] [-plot FILE] | " +
	"tables ablation [-seeds FIRST-LAST] [-work UNITS] [-fresh N] [-small N] [-instances DIR] " +
	"[-source DIR] [-match TEXT] | " +
	"tables layouts [-seeds FIRST-LAST] | " +
	"tables alternatives [-seeds FIRST-LAST] | " +
	"tables invasive [-seeds FIRST-LAST] [-plot FILE] | " +
	"tables load [-quick] [-dir DIR] [-seed S] | " +
	"tables locality -data DIR [-seeds FIRST-LAST] [-shrink K] [-tried FIRST-LAST] [-traces DIR] [-trace-days N] " +
	"[-j N] [-dir DIR] [-html FILE] [-plot FILE]"

var errUsage = errors.New(usage)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "solver-worker" { // HiGHS runs this program again
		if err := highs.Worker(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "tables:", err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "tables:", err)
		if errors.Is(err, errUsage) {
			os.Exit(2)
		}
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, errs io.Writer) error {
	if len(args) == 0 {
		return errUsage
	}
	flags := flag.NewFlagSet("tables "+args[0], flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	var page func() (string, error)
	switch args[0] {
	case "performance":
		runs := flags.Int("runs", 11, "how often each figure is measured; the median is shown")
		cycles := flags.Int("cycles", 10_000, "how many cycles are held against a deadline; fewer on large machines")
		page = func() (string, error) { return performance(ctx, *runs, *cycles, errs) }
	case "simulation":
		seeds := seedRange{1, 10}
		flags.Var(&seeds, "seeds", "seeds of the generated workloads, FIRST-LAST")
		traces := flags.String("traces", "", "directory with the real traces; without it they are left out")
		page = func() (string, error) { return simulation(ctx, seeds, *traces, errs) }
	case "gpu":
		traces := flags.String("traces", "", "directory with the GPU traces")
		page = func() (string, error) { return gpuTraces(ctx, *traces, errs) }
	case "backfill":
		seeds := seedRange{1, 5}
		flags.Var(&seeds, "seeds", "seeds of the workloads, FIRST-LAST")
		page = func() (string, error) { return againstBackfill(ctx, seeds, errs) }
	case "solver":
		fresh := flags.Int("fresh", 12, "how many windows are made")
		small := flags.Int("small", 12, "how many small windows are solved to the optimum")
		seed := flags.Uint64("seed", 1, "seed of all these")
		instances := flags.String("instances", "", "directory with MPS files; without it only what is made is solved")
		picture := flags.String("plot", "", "write the plot, SVG, to this file")
		page = func() (string, error) { return solvers(ctx, *fresh, *small, *seed, *instances, *picture, errs) }
	case "ablation":
		var o ablationOptions
		o.register(flags)
		page = func() (string, error) { return ablate(ctx, o, errs) }
	case "layouts":
		seeds := seedRange{1, 5}
		flags.Var(&seeds, "seeds", "seeds of the windows, FIRST-LAST")
		page = func() (string, error) { return layouts(ctx, seeds, errs) }
	case "alternatives":
		seeds := seedRange{1, 5}
		flags.Var(&seeds, "seeds", "seeds of the workloads, FIRST-LAST")
		page = func() (string, error) { return alternatives(ctx, seeds, errs) }
	case "invasive":
		seeds := seedRange{1, 5}
		flags.Var(&seeds, "seeds", "seeds of the jobs and of the shares, FIRST-LAST")
		picture := flags.String("plot", "", "write the plot, SVG, to this file")
		page = func() (string, error) { return invasiveWorth(ctx, seeds, *picture, errs) }
	case "load":
		quick := flags.Bool("quick", false, "a small machine for a short time, to try it")
		dir := flags.String("dir", "", "keep queues and figures in this directory, whose path must be short, and go on with what is there")
		seed := flags.Uint64("seed", 1, "seed of the jobs")
		page = func() (string, error) { return loads(ctx, loadOptions{*quick, *dir, *seed}, errs) }
	case "locality":
		o := localityOptions{seeds: seedRange{301, 312}}
		o.register(flags)
		page = func() (string, error) { return localityDays(ctx, o, errs) }
	default:
		return fmt.Errorf("%q: %w", args[0], errUsage)
	}
	if err := flags.Parse(args[1:]); errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(errs, usage)
		flags.SetOutput(errs)
		flags.PrintDefaults()
		return err
	} else if err != nil {
		return fmt.Errorf("%w: %w", err, errUsage)
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q: %w", flags.Arg(0), errUsage)
	}
	text, err := page()
	if err != nil {
		return err
	}
	if text, err = results.OnTop(text, pageName(args[0]), results.Findings()); err != nil {
		return err
	}
	_, err = io.WriteString(out, text)
	return err
}

// pageName is the name of the page that a subcommand writes.
func pageName(subcommand string) string {
	switch subcommand {
	case "ablation":
		return "solver-ablation"
	case "gpu":
		return "gpu-traces"
	case "invasive":
		return "invasive-simulation"
	case "locality":
		return "locality-adaptive"
	}
	return subcommand
}
