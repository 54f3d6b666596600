// SPDX-License-Identifier: BSD-3-Clause

// Command tables measures, and writes the pages of benchmarks/results that are not written by
// bin/aucsched, in Markdown: with all tables to its standard output, or, with -into, into a
// directory with the long tables in CSV files. The finding on top of a page that is there stays; its
// text is in pages. From the top of the module:
//
//	go run ./benchmarks/cmd/tables performance -into benchmarks/results
//
// and likewise simulation, gpu, backfill, worth, solver, ablation, stages, alternatives, invasive,
// negotiation, load, load-long, locality, pods and topology, with the flags that make gives
// them. HiGHS is among the solvers with -tags highs. layouts writes a page that is not kept.
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

	"github.com/aucsched/aucsched/benchmarks/highs"
	"github.com/aucsched/aucsched/benchmarks/results"
)

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
	err := write(ctx, args, out, errs)
	if errors.Is(err, errUsage) {
		return fmt.Errorf("%w: %s", err, usage())
	}
	return err
}

// write writes the page of a subcommand.
func write(ctx context.Context, args []string, out, errs io.Writer) error {
	if len(args) == 0 {
		return errUsage
	}
	c := find(args[0])
	if c == nil {
		return fmt.Errorf("%q: %w", args[0], errUsage)
	}
	flags := flag.NewFlagSet("tables "+c.name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	page := c.prepare(flags)
	into := flags.String("into", "", "write the page into this directory, and its long tables into csv in it, instead of standard output")
	if err := flags.Parse(args[1:]); errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(errs, "usage:", usage())
		flags.SetOutput(errs)
		flags.PrintDefaults()
		return err
	} else if err != nil {
		return fmt.Errorf("%w: %w", err, errUsage)
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q: %w", flags.Arg(0), errUsage)
	}
	if match := flags.Lookup("match"); *into != "" && match != nil && match.Value.String() != "" {
		return fmt.Errorf("-into: a page with -match lacks rows: %w", errUsage)
	}
	text, err := page(ctx, errs)
	if err != nil {
		return err
	}
	if *into != "" {
		return results.Write(*into, c.page, text)
	}
	_, err = io.WriteString(out, text)
	return err
}
