// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

// Slurmsoak runs Slurm for hours under faults, with aucsched and without, the same plan on both,
// and counts the jobs that were lost or ran twice:
//
//	slurmsoak --hours 0.1 --seed 7 --plugins build/slurm/22.05.8 --json soak.json
//
// Its exit status is 1 if aucsched does worse than stock Slurm.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/aucsched/aucsched/internal/test/slurmtest"
	"github.com/aucsched/aucsched/internal/test/slurmtest/soak"
)

var errWorse = errors.New("aucsched does worse than stock Slurm")

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command().ExecuteContext(ctx)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "slurmsoak:", err)
		os.Exit(1)
	}
}

type flags struct {
	hours      float64
	seed       uint64
	plugins    string
	json, keep string
	inTurn     bool
	only       string
	quick      bool
}

func command() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use: "slurmsoak", Short: "Run Slurm for hours under faults, with and without aucsched",
		SilenceUsage: true, SilenceErrors: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return run(cmd.Context(), f)
		},
	}
	flags := cmd.Flags()
	flags.Float64Var(&f.hours, "hours", 1, "how long jobs are submitted and faults are made")
	flags.Uint64Var(&f.seed, "seed", 0, "of the plan; 0: any")
	flags.StringVar(&f.plugins, "plugins", "", "directory of aucsched's plug-ins")
	flags.StringVar(&f.json, "json", "", "file for the report")
	flags.StringVar(&f.keep, "keep", "", "directory, which must not exist, for the clusters' files")
	flags.BoolVar(&f.inTurn, "in-turn", false, "one cluster after the other, instead of side by side")
	flags.StringVar(&f.only, "only", "", "stock or aucsched alone")
	flags.BoolVar(&f.quick, "quick", false, "more in less time")
	return cmd
}

// check refuses what would run no cluster at all, and so find no fault.
func (f *flags) check() error {
	switch soak.Mode(f.only) {
	case "", soak.Stock, soak.Auction:
		return nil
	}
	return fmt.Errorf("--only %q: must be %s or %s", f.only, soak.Stock, soak.Auction)
}

func run(ctx context.Context, f flags) error {
	if f.seed == 0 {
		f.seed = uint64(time.Now().UnixNano() % 1e6)
	}
	pace := soak.Usual
	if f.quick {
		pace = soak.Quick
	}
	plan := soak.NewPlan(f.seed, time.Duration(f.hours*float64(time.Hour)), pace)
	fmt.Fprintf(os.Stderr, "seed %d: %d submissions, %d actions, %d faults\n", f.seed,
		len(plan.Submissions), len(plan.Actions), len(plan.Faults))
	dir := f.keep
	var err error
	if dir == "" {
		if dir, err = os.MkdirTemp("", "soak"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		err = os.Chmod(dir, 0o755) // the jobs' users write below it
	} else {
		err = os.Mkdir(dir, 0o755)
	}
	if err != nil {
		return err
	}
	outcomes, err := runModes(ctx, &plan, f, dir)
	if err != nil {
		return err
	}
	return report(&plan, f, outcomes)
}

// runModes runs the plan in each mode that is wanted.
func runModes(ctx context.Context, plan *soak.Plan, f flags, dir string) (map[soak.Mode]*soak.Outcome, error) {
	plugins, err := filepath.Abs(f.plugins)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx) // one that fails ends the other
	defer cancel(nil)
	outcomes := map[soak.Mode]*soak.Outcome{}
	var mu sync.Mutex
	var both sync.WaitGroup
	for _, mode := range []soak.Mode{soak.Stock, soak.Auction} {
		if f.only != "" && f.only != string(mode) {
			continue
		}
		both.Go(func() {
			out, err := soak.Run(ctx, plan, soak.Options{Mode: mode, Dir: filepath.Join(dir, string(mode)),
				Plugins: plugins, Settle: 5 * time.Minute,
				Say: func(format string, v ...any) {
					fmt.Fprintf(os.Stderr, "%s %s: %s\n", time.Now().Format(time.TimeOnly), mode, fmt.Sprintf(format, v...))
				}})
			if err != nil {
				cancel(fmt.Errorf("%s: %w", mode, err))
				return
			}
			mu.Lock()
			defer mu.Unlock()
			outcomes[mode] = out
		})
		if f.inTurn {
			both.Wait()
		}
	}
	both.Wait()
	return outcomes, context.Cause(ctx)
}

func report(plan *soak.Plan, f flags, outcomes map[soak.Mode]*soak.Outcome) error {
	version, err := slurmtest.Version()
	if err != nil {
		return err
	}
	r := soak.Compare(plan.Seed, plan.Length, version, outcomes[soak.Stock], outcomes[soak.Auction])
	r.Table(os.Stdout)
	if f.json != "" {
		file, err := os.Create(f.json)
		if err != nil {
			return err
		}
		if err := errors.Join(r.JSON(file), file.Close()); err != nil {
			return err
		}
	}
	if len(r.Worse) > 0 {
		return errWorse
	}
	return nil
}
